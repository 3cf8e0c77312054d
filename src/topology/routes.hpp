// Latency-shortest paths and the multicast trees made of them.
//
// Ties go to the path with fewer hops, then to the predecessor whose name sorts first: the
// tree decides the congestion, so it must not depend on the machine or on the order of lines
// in a file. All paths of one sender form a tree, because each place has one predecessor.
#pragma once

#include <vector>

#include "topology/map.hpp"

namespace cotillion {

class Routes {
 public:
  // Requires a connected map (read_map refuses others).
  explicit Routes(const Map& map);

  // Time of flight to `to` from `from`, which must be an island or an aggregator's place.
  [[nodiscard]] Duration latency(PlaceId to, PlaceId from) const { return hop(to, from).latency; }
  [[nodiscard]] int hops(PlaceId to, PlaceId from) const { return hop(to, from).hops; }

  // Calls visit(lane) for each lane between them, the last one first; stops early when visit
  // returns false, which is how a tree is walked without touching its trunk twice.
  template <class Visit>
  void walk_back(PlaceId to, PlaceId from, Visit visit) const {
    for (PlaceId at = to; at != from;) {
      const Hop& last = hop(at, from);
      if (!visit(last.lane)) return;
      at = last.predecessor;
    }
  }

  // The lanes from `from` to `to`, in the order of travel.
  [[nodiscard]] std::vector<LaneId> path(PlaceId to, PlaceId from) const;

  // The multicast tree from `from` to all of `receivers`: each lane once, sorted by id.
  [[nodiscard]] std::vector<LaneId> tree(PlaceId from, const std::vector<PlaceId>& receivers) const;

 private:
  struct Hop {
    Duration latency;
    int hops = -1;
    PlaceId predecessor = -1;
    LaneId lane = -1;
  };
  void search(const Map& map, PlaceId from, const std::vector<int>& name_rank);
  [[nodiscard]] const Hop& hop(PlaceId to, PlaceId from) const {
    return hops_[std::size_t(row_[from]) * places_ + to];
  }

  std::size_t places_;
  IdVector<PlaceId, int> row_;  // by place; -1 where nothing ever starts
  IdVector<PlaceId, std::vector<LaneId>> out_;
  std::vector<Hop> hops_;
};

}  // namespace cotillion
