// Conservative parallel simulation. The map is cut into partitions that influence each other only
// over links. Partitions may run ahead of each other by the minimum link latency (the lookahead),
// each with its own lanes, edge and island in the cache. Events of one partition keep their order,
// so the outcome equals that of a single event queue, to the picosecond.
#pragma once

#include <vector>

#include "plan/file/plan_file.hpp"

namespace cotillion {

class Partitions {
 public:
  // Places whose latency to each other is negligible share a partition, and so do an island and its
  // edge.
  Partitions(const Map& map, const IdVector<IslandId, Ingress>& ingress);
  // One partition for everything: observers then see all events in the order of time.
  [[nodiscard]] static Partitions single(const Map& map);

  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] int of_island(IslandId island) const { return of_[island]; }
  [[nodiscard]] int of_place(PlaceId place) const { return of_[place]; }
  // How far partitions may run ahead of each other.
  [[nodiscard]] Duration lookahead() const { return lookahead_; }

 private:
  Partitions() = default;

  IdVector<PlaceId, int> of_;
  int count_ = 1;
  Duration lookahead_{INT64_MAX / 4};
};

}  // namespace cotillion
