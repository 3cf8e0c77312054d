// Somebody's contribution that did not come: the receiver's account of a round, what islands report
// of it, the outcome of a run and what training code hears of a correction are all made of these.
// It lies in memory that processes share, so its form does not change.
#pragma once

#include <cstdint>
#include <type_traits>

namespace cotillion {

struct Absence {
  // Whose: its bit in the round's clique, as a receiver gives account; its number in the map
  // everywhere else.
  std::int32_t contributor = 0;
  std::uint32_t chunks = 0;  // that lack it
  std::uint32_t first_chunk = 0;

  friend bool operator==(const Absence&, const Absence&) = default;
};
static_assert(sizeof(Absence) == 12 && std::is_trivially_copyable_v<Absence>);

}  // namespace cotillion
