// The half of `cotillion report` that is about plans that were played.
#pragma once

#include <string>
#include <vector>

#include "cli/report_page.hpp"

namespace cotillion::cli {

struct InputFile {
  std::string path;
  std::string text;
};

// Prints planned | simulated | measured, or all of it as JSON; draws it where a folder is given.
void report_outcomes(const std::vector<InputFile>& files, const PageOptions& options, bool json);

}  // namespace cotillion::cli
