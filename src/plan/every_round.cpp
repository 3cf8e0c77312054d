#include "plan/every_round.hpp"

#include "base/check.hpp"

namespace cotillion {

std::vector<Round> every_round(int island_count) {
  COTILLION_CHECK(island_count >= 1 && island_count <= kSmallIslandsMax);
  std::vector<Round> rounds;
  std::vector<Clique> cliques;
  // Each island joins a clique that exists already, or opens the next one.
  const auto place = [&](const auto& self, IslandId island) -> void {
    if (island == island_count) {
      rounds.push_back(completed(cliques, island_count));
      return;
    }
    for (std::size_t c = 0; c < cliques.size(); ++c) {
      cliques[c].islands.push_back(island);
      self(self, IslandId(island + 1));
      cliques[c].islands.pop_back();
    }
    cliques.push_back({{island}, {}});
    self(self, IslandId(island + 1));
    cliques.pop_back();
  };
  place(place, 0);
  return rounds;
}

}  // namespace cotillion
