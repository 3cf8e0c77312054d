#include "plan/schedule.hpp"

#include <algorithm>
#include <numeric>

#include "base/check.hpp"

namespace cotillion {
namespace {

void sort_members(Clique& clique) {
  const std::size_t n = clique.islands.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return clique.islands[a] < clique.islands[b]; });
  Clique sorted;
  for (const std::size_t from : order) sorted.islands.push_back(clique.islands[from]);
  if (!clique.weights.empty()) {
    COTILLION_CHECK(clique.weights.size() == n * n);
    for (const std::size_t row : order)
      for (const std::size_t column : order)
        sorted.weights.push_back(clique.weights[row * n + column]);
  }
  clique = std::move(sorted);
}

}  // namespace

Round completed(std::vector<Clique> cliques, int island_count) {
  std::vector<bool> named(island_count, false);
  Round round;
  for (Clique& clique : cliques) {
    if (clique.islands.empty()) continue;
    for (const IslandId island : clique.islands) {
      COTILLION_CHECK(island >= 0 && island < island_count && !named[island]);
      named[island] = true;
    }
    sort_members(clique);
    round.cliques.push_back(std::move(clique));
  }
  for (IslandId island = 0; island < island_count; ++island)
    if (!named[island]) round.cliques.push_back({{island}, {}});
  std::sort(round.cliques.begin(), round.cliques.end(),
            [](const Clique& a, const Clique& b) { return a.islands.front() < b.islands.front(); });
  return round;
}

bool connects_all(const Schedule& schedule, int island_count) {
  std::vector<IslandId> root(island_count);
  std::iota(root.begin(), root.end(), IslandId(0));
  const auto find = [&](IslandId island) {
    while (root[island] != island) island = root[island] = root[root[island]];
    return island;
  };
  int parts = island_count;
  const auto join = [&](IslandId a, IslandId b) {
    a = find(a);
    b = find(b);
    if (a == b) return;
    root[a] = b;
    --parts;
  };
  for (const Round& round : schedule.rounds)
    for (const Clique& clique : round.cliques)
      for (int i = 0; i < clique.size(); ++i)
        for (int j = 0; j < i; ++j)
          if (clique.weights.empty() || clique.weights[std::size_t(i) * clique.size() + j] > 0 ||
              clique.weights[std::size_t(j) * clique.size() + i] > 0)
            join(clique.islands[i], clique.islands[j]);
  return parts <= 1;
}

}  // namespace cotillion
