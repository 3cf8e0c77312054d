#include "search/small_rounds.hpp"

#include <algorithm>
#include <cmath>

#include "search/round_state.hpp"

namespace cotillion {

SmallRounds::SmallRounds(const Stage& stage, const Rules& rules, int fragments) {
  const int n = stage.map().island_count();
  if (n < 2 || n > kSmallIslandsMost) return;
  CliqueBook book(stage, fragments);
  const auto add = [&](const Round& round) {
    const double price = state_of(round, book).price;
    if (std::isinf(price)) return;
    double squares = 0;
    for (const Clique& clique : round.cliques) squares += double(clique.size()) * clique.size();
    rounds_.push_back(
        {price, {(n - squares / n) / (n - 1), (double(round.cliques.size()) - 1) / (n - 1)}});
  };
  // Each island joins a clique that exists already, or opens the next one.
  std::vector<Clique> cliques;
  const auto place = [&](const auto& self, IslandId island) -> void {
    if (island == n) {
      const Round round = completed(cliques, n);
      if (rules.allows(round)) add(round);
      return;
    }
    for (std::size_t c = 0; c < cliques.size(); ++c) {
      cliques[c].islands.push_back(island);
      self(self, island + 1);
      cliques[c].islands.pop_back();
    }
    cliques.push_back({{island}, {}});
    self(self, island + 1);
    cliques.pop_back();
  };
  place(place, 0);
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
