// What a plan may do that the paper's core model does not, by name. Each relaxation replaces one
// pass of the planner, whose default is the paper's: shortest trees, rounds of one length, a round
// that ends before the next begins. None of them needs other hardware.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cotillion {

struct Relaxations {
  bool lengths = false;  // each round as long as it needs
  bool overlap = false;  // a round begins while the one before it still flies
  bool routes = false;   // trees are decided, not only shortest

  [[nodiscard]] bool any() const { return lengths || overlap || routes; }
  friend bool operator==(const Relaxations&, const Relaxations&) = default;
};

inline constexpr std::array<std::string_view, 3> kRelaxationNames = {"lengths", "overlap",
                                                                     "routes"};

// "lengths,routes", or "all"; nothing is an empty text. The error says which word is unknown.
[[nodiscard]] Result<Relaxations> relaxations_named(std::string_view text);
// Switches one on; false where nobody knows the name.
[[nodiscard]] bool relax(Relaxations& relaxations, std::string_view name);
// In the order of kRelaxationNames.
[[nodiscard]] std::vector<std::string_view> to_names(const Relaxations& relaxations);

}  // namespace cotillion
