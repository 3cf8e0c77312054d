// Why a found plan is as it is, for people and as JSON.
#pragma once

#include <string>

#include "plan/file/plan_file.hpp"
#include "search/why.hpp"

namespace cotillion {

[[nodiscard]] std::string why_text(const SearchResult& result, const Why& why);

// The object `why` of a plan.
[[nodiscard]] Json why_json(const Why& why);

}  // namespace cotillion
