#include "search/small_rounds.hpp"

#include <algorithm>
#include <cmath>

#include "plan/every_round.hpp"
#include "search/round_state.hpp"

namespace cotillion {

SmallRounds::SmallRounds(const NetworkModel& network, const Rules& rules, int fragments) {
  const int n = network.map().island_count();
  if (n < 2 || n > kSmallIslandsMax) return;
  CliqueCache cache(network, fragments);
  const auto add = [&](const Round& round) {
    const RoundState state = state_of(round, cache);
    if (std::isinf(state.price)) return;
    rounds_.push_back({state.price, {e_of_one(state.groups, false), e_of_one(state.groups, true)}});
  };
  for (const Round& round : every_round(n))
    if (rules.allows(round)) add(round);
  for (const Round& round : rules.pinned()) {
    // With weights of its own a clique still reaches only its members, and that is not exact.
    const bool uniform = std::all_of(round.cliques.begin(), round.cliques.end(),
                                     [](const Clique& clique) { return clique.weights.empty(); });
    if (!uniform) {
      rounds_.clear();
      return;
    }
    add(round);
  }
  std::sort(rounds_.begin(), rounds_.end(),
            [](const Priced& a, const Priced& b) { return a.price < b.price; });
  for (std::size_t r = 1; r < rounds_.size(); ++r)
    for (int curve = 0; curve < 2; ++curve)
      rounds_[r].survival[curve] =
          std::min(rounds_[r].survival[curve], rounds_[r - 1].survival[curve]);
}

double SmallRounds::survival(double price, bool squared) const {
  const auto dearer =
      std::upper_bound(rounds_.begin(), rounds_.end(), price * (1 + 1e-12),
                       [](double most, const Priced& round) { return most < round.price; });
  if (dearer == rounds_.begin()) return 0;
  return (dearer - 1)->survival[squared ? 1 : 0];
}

}  // namespace cotillion
