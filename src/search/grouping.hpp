// A partition of the islands into groups: a round as the search holds it, with the members of every
// group side by side.
#pragma once

#include <span>
#include <vector>

#include "plan/schedule.hpp"

namespace cotillion {

class Grouping {
 public:
  Grouping() = default;
  explicit Grouping(const Round& round, int island_count);
  // Groups by number, 0 … count − 1, none of them empty.
  Grouping(std::vector<int> which, int count);

  [[nodiscard]] int count() const { return int(start_.size()) - 1; }
  [[nodiscard]] int island_count() const { return int(which_.size()); }
  [[nodiscard]] int group_of(IslandId island) const { return which_[island]; }
  [[nodiscard]] int size(int group) const { return start_[group + 1] - start_[group]; }
  // Ascending.
  [[nodiscard]] std::span<const IslandId> members(int group) const {
    return {&members_[start_[group]], std::size_t(size(group))};
  }

 private:
  void index(int count);

  std::vector<int> which_;
  std::vector<int> start_{0};
  std::vector<IslandId> members_;
};

// e(1), what one round leaves of a generation: (N − Σ|c|²/N)/(N − 1), and for the squared curve
// (number of cliques − 1)/(N − 1). Of one island alone nothing can be said.
[[nodiscard]] double e_of_one(const Grouping& round, bool squared);

}  // namespace cotillion
