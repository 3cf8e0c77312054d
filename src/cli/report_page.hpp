// Where a report goes: a folder with a page and its figures, whatever it is about.
#pragma once

#include <functional>
#include <string>

#include "cli/world.hpp"
#include "report/page.hpp"

namespace cotillion::cli {

struct PageOptions {
  std::string output;  // a folder
  bool png = true;
  bool dark = false;  // each figure a second time, for pages with a dark ground
  double scale = 2;
};

// All throw Stop.
void make_folder(const std::string& path, const char* option = "-o");

// Writes all of it there; the paths of the files.
Json write_page(const PageOptions& options, const IllustratedPage& page,
                const std::function<void(const std::string&)>& progress);

// "20 figures (SVG and PNG) and report.html written to build/demo/report\n"
[[nodiscard]] std::string written_text(const PageOptions& options, const IllustratedPage& page);

}  // namespace cotillion::cli
