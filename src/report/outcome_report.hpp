// One outcome for people, as soon as it is there.
#pragma once

#include <string>

#include "job/outcome_file.hpp"

namespace cotillion {

[[nodiscard]] std::string outcome_text(const OutcomeFile& file);

}  // namespace cotillion
