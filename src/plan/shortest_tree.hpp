// Shortest trees when some lanes may not be used. Ties go as in Routes: to fewer hops, then to the
// predecessor whose name sorts first.
#pragma once

#include <functional>
#include <vector>

#include "plan/ways.hpp"

namespace cotillion {

class TreeFinder {
 public:
  explicit TreeFinder(const NetworkModel& network);

  // The latency-shortest tree from a member to the others over lanes that `may` be used. It does
  // not reach all where they are not connected by them.
  [[nodiscard]] PlaceTree find(const Clique& clique, int sender,
                               const std::function<bool(LaneId)>& may) const;

 private:
  const NetworkModel& network_;
  IdVector<PlaceId, int> name_rank_;
  IdVector<PlaceId, std::vector<LaneId>> out_;
};

}  // namespace cotillion
