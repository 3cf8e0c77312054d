// Files of plans, outcomes, recipes and reports are made of this. Their fields appear in the order
// in which they are written. Whoever makes or reads one includes <nlohmann/json.hpp> as well, which
// takes a compiler two seconds; whoever only passes it on does not.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/id.hpp"

namespace cotillion {

using Json = nlohmann::ordered_json;

// An id is written as its number.
template <class AnyJson, class Tag>
void to_json(AnyJson& json, Id<Tag> id) {
  json = std::int32_t(id);
}

}  // namespace cotillion
