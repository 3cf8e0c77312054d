// What a policy sends: on which wire, and AdamW's moments besides models. Every policy may be asked
// for it; few can carry it.
#pragma once

#include <string>

#include "policy/policy_text.hpp"
#include "policy/recipe.hpp"

namespace cotillion {

struct Load {
  WireFormat wire = WireFormat::kF32;
  int moments = 0;        // of AdamW: none, v, or v and m
  int moments_every = 1;  // each fragment of them once in so many rounds
  double payload = 1;     // all of it, as a share of the map's payload
};

// A map's payload is taken to be of four-byte numbers.
[[nodiscard]] Load read_load(PolicyText& policy);
// What it adds to a recipe's name.
[[nodiscard]] std::string load_text(const Load& load);
// Why a recipe cannot carry it; empty where it can.
[[nodiscard]] std::string why_not_carried(const Recipe& recipe, const Load& load);

}  // namespace cotillion
