#include "report/training_pairs.hpp"

#include <fmt/format.h>

namespace cotillion {

Pairs pairs_of(const Runs& runs, const Runs& others) {
  Pairs pairs;
  for (const Training* run : runs)
    for (const Training* other : others)
      if (run->settings.seed == other->settings.seed) {
        ++pairs.of;
        pairs.ahead += final_loss(*run) < final_loss(*other);
      }
  return pairs;
}

Rows pair_rows(const std::vector<Runs>& policies) {
  Rows rows = {{"ahead of, in pairs of the same seed", ""}};
  for (std::size_t column = 1; column <= policies.size(); ++column)
    rows[0].push_back(fmt::format("({})", column));
  bool any = false;
  Rows body;
  for (std::size_t p = 0; p < policies.size(); ++p) {
    body.push_back({policies[p][0]->recipe.name, fmt::format("({})", p + 1)});
    for (std::size_t other = 0; other < policies.size(); ++other) {
      const Pairs pairs = p == other ? Pairs{} : pairs_of(policies[p], policies[other]);
      any = any || pairs.of > 1;
      body.back().push_back(pairs.of > 0 ? fmt::format("{} of {}", pairs.ahead, pairs.of) : "–");
    }
  }
  if (any) rows.insert(rows.end(), body.begin(), body.end());
  return rows;
}

}  // namespace cotillion
