// Who meets whom: rounds of cliques, repeated for ever. Every round is a partition of all
// islands; an island that sits out is a clique of one.
#pragma once

#include <string>
#include <vector>

#include "topology/map.hpp"

namespace cotillion {

struct Clique {
  std::vector<IslandId> islands;  // ascending
  // Row i holds the weights from which islands[i] is mixed; row-major, symmetric and doubly
  // stochastic. Empty for the paper's uniform average.
  std::vector<double> weights;

  [[nodiscard]] int size() const { return int(islands.size()); }
  friend bool operator==(const Clique&, const Clique&) = default;
};

struct Round {
  std::vector<Clique> cliques;
  friend bool operator==(const Round&, const Round&) = default;
};

struct Schedule {
  std::string name;
  std::vector<Round> rounds;  // one period; never empty
};

// Completes a round: sorts members, adds everyone who was not named as a clique of one, and
// orders cliques by their first island, so that equal partitions are equal objects.
// Requires that no island is named twice; `weights` move with their islands.
[[nodiscard]] Round completed(std::vector<Clique> cliques, int island_count);

// Whether islands are joined, through whatever intermediaries, by the cliques of one period.
[[nodiscard]] bool connects_all(const Schedule& schedule, int island_count);

}  // namespace cotillion
