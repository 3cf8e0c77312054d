#include "search/grouping.hpp"

#include "base/check.hpp"

namespace cotillion {

Grouping::Grouping(const Round& round, int island_count) : which_(std::size_t(island_count), -1) {
  for (std::size_t c = 0; c < round.cliques.size(); ++c)
    for (const IslandId island : round.cliques[c].islands) {
      COTILLION_CHECK(which_[island] < 0);  // nobody is in two cliques
      which_[island] = int(c);
    }
  index(int(round.cliques.size()));
}

Grouping::Grouping(std::vector<int> which, int count) : which_(std::move(which)) {
  index(count);
}

void Grouping::index(int count) {
  start_.assign(std::size_t(count) + 1, 0);
  for (const int group : which_) {
    COTILLION_CHECK(group >= 0 && group < count);
    ++start_[group + 1];
  }
  for (int group = 0; group < count; ++group) {
    COTILLION_CHECK(start_[group + 1] > 0);
    start_[group + 1] += start_[group];
  }
  members_.resize(which_.size());
  std::vector<int> next(start_.begin(), start_.end() - 1);
  for (IslandId island = 0; island < island_count(); ++island)
    members_[next[which_[island]]++] = island;
}

double e_of_one(const Grouping& round, bool squared) {
  const int n = round.island_count();
  if (squared) return (round.count() - 1.0) / (n - 1.0);
  double squares = 0;
  for (int c = 0; c < round.count(); ++c) squares += double(round.size(c)) * round.size(c);
  return (n - squares / n) / (n - 1.0);
}

}  // namespace cotillion
