// The network in partitions. What happens in one reaches another only over a link, and takes as
// long as the light does: so far ahead a partition may play alone, with its own lanes, edge and
// island in the cache, before the next one's turn comes. In each of them everything happens in the
// same order as if all played together, so the outcome is the same, to the picosecond.
#pragma once

#include <vector>

#include "plan/file/plan_file.hpp"

namespace cotillion {

class Partitions {
 public:
  // Places that hear of one another at once, or nearly, are in the same partition; so are an island
  // and its edge.
  Partitions(const Map& map, const std::vector<Ingress>& ingress);
  // All in one, for those who watch them all in the order of time.
  [[nodiscard]] static Partitions single(const Map& map);

  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] int of_island(IslandId island) const { return of_[std::size_t(island)]; }
  [[nodiscard]] int of_place(PlaceId place) const { return of_[std::size_t(place)]; }
  // For how long no partition hears of what the others do.
  [[nodiscard]] Duration lookahead() const { return lookahead_; }

 private:
  Partitions() = default;

  std::vector<int> of_;  // by place; islands come first
  int count_ = 1;
  Duration lookahead_{INT64_MAX / 4};
};

}  // namespace cotillion
