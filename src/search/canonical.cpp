#include "search/canonical.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace cotillion {

bool precedes(const std::vector<Round>& a, const std::vector<Round>& b) {
  if (a.size() != b.size()) return a.size() < b.size();
  const auto by_islands = [](const Clique& x, const Clique& y) { return x.islands < y.islands; };
  for (std::size_t r = 0; r < a.size(); ++r) {
    if (a[r] == b[r]) continue;
    return std::lexicographical_compare(a[r].cliques.begin(), a[r].cliques.end(),
                                        b[r].cliques.begin(), b[r].cliques.end(), by_islands);
  }
  return false;
}

std::vector<Round> canonical(const std::vector<Round>& rounds) {
  std::vector<Round> best = rounds, turned = rounds;
  for (int way = 0; way < 2; ++way) {
    for (std::size_t k = 0; k < rounds.size(); ++k) {
      std::rotate(turned.begin(), turned.begin() + 1, turned.end());
      if (precedes(turned, best)) best = turned;
    }
    std::reverse(turned.begin(), turned.end());
  }
  COTILLION_CHECK(best.size() == rounds.size() && !precedes(rounds, best));
  return best;
}

}  // namespace cotillion
