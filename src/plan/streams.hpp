// Which streams use which lanes, and what share of a lane each gets.
//
// In a round a lane's rate is shared equally by all streams on it, of all cliques together; a
// clique's bound is the least share on any lane that any of its streams uses. With multicast a
// stream is on each lane of its tree once, without it once per receiver behind the lane. After
// an edge one summed stream goes on to the island; without edges all of them do.
#pragma once

#include <vector>

#include "plan/network_model.hpp"

namespace cotillion {

struct LaneLoad {
  LaneId lane = 0;
  int streams = 0;
};

// The stream that one member sends to the others of its clique.
struct StreamRoute {
  std::vector<LaneId> tree;  // the sender's up lane, then core lanes sorted by id
  std::vector<int> copies;   // by lane of the tree: 1 with multicast
};
[[nodiscard]] StreamRoute route_stream(const NetworkModel& network, const Clique& clique,
                                       int sender);

// Counts the streams of cliques on lanes. Reusable, so that pricing many cliques allocates once.
class LoadCounter {
 public:
  explicit LoadCounter(const NetworkModel& network)
      : network_(network), streams_(network.map().lane_count(), 0), seen_(streams_.size(), -1) {}

  // The lanes a clique uses, sorted by id, with the number of its streams on each.
  void count(const Clique& clique, std::vector<LaneLoad>& loads);

 private:
  void add(LaneId lane, int streams) {
    if (streams_[lane] == 0) used_.push_back(lane);
    streams_[lane] += streams;
  }
  void count_sender(const Clique& clique, int sender);
  void count_receiver(const Clique& clique, int receiver);

  const NetworkModel& network_;
  IdVector<LaneId, int> streams_;
  IdVector<LaneId, int> seen_;  // the last tree that used it
  int tree_ = 0;
  std::vector<LaneId> used_;
};

// The bound on a clique's streams and the lane that sets it.
struct RateBound {
  BitsPerSecond rate;  // on the wire, framing included
  LaneId lane = -1;    // -1 for a clique of one, which sends nothing
  int streams = 0;     // on that lane, of the whole round
};

// One bound per clique. `loads` gives each clique's lanes; `total` is scratch, all
// zero on entry and on return.
void share_lanes(const IdVector<LaneId, BitsPerSecond>& rates,
                 const std::vector<const std::vector<LaneLoad>*>& loads,
                 IdVector<LaneId, int>& total, std::vector<RateBound>& bounds);

// The same for a round, from scratch.
struct RoundRates {
  std::vector<RateBound> bounds;               // by clique
  std::vector<std::vector<LaneLoad>> cliques;  // by clique
  std::vector<LaneLoad> lanes;                 // of the whole round, sorted by lane
};
[[nodiscard]] RoundRates rates_of(const NetworkModel& network, const Round& round);

}  // namespace cotillion
