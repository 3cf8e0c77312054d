// The ways of a round: which tree each sender's stream takes, and how long it flies to each member.
// The paper takes latency-shortest paths (shortest_ways); `routes` decides otherwise where
// that is worth it (reroute.hpp, detours.hpp). Whoever prices, plans or checks a round takes trees
// and latencies from here, and nobody else routes.
#pragma once

#include <vector>

#include "plan/streams.hpp"
#include "topology/lane_walk.hpp"

namespace cotillion {

// How the stream of one member gets to the others of its clique. The tree is one that routers can
// hold: each place is entered by one lane.
struct Way {
  StreamRoute route;
  std::vector<Duration> latency;  // by member, by way of its edge; zero to itself
};
using CliqueWays = std::vector<Way>;  // by member; empty for a clique of one

struct RoundWays {
  std::vector<CliqueWays> cliques;
};

[[nodiscard]] RoundWays shortest_ways(const NetworkModel& network, const Round& round);

// The latencies inside a clique on these ways.
void latencies_of(const CliqueWays& ways, CliqueLatencies& into);

// The bound of each clique on these ways, and what they put on every lane.
[[nodiscard]] RoundRates rates_of(const NetworkModel& network, const Round& round,
                                  const RoundWays& ways);

// A tree as it grows: by which lane each place is entered. Ways are made of it and read from it.
class PlaceTree {
 public:
  static constexpr LaneId kNotEntered{-1};

  // The tree of member `sender` of a clique; no lane yet.
  PlaceTree(const NetworkModel& network, const Clique& clique, int sender);

  [[nodiscard]] LaneId entered_by(PlaceId place) const { return lane_[place]; }
  // The lane's end is entered by this lane from now on, whatever entered it before.
  void enter(LaneId lane) { lane_[lane_ends(network_->map(), lane)] = lane; }

  // Whether every member's meeting place is reached, without going round in a circle.
  [[nodiscard]] bool reaches_all() const;
  // Requires reaches_all(). What leads to no member is left out.
  [[nodiscard]] Way way() const;

 private:
  [[nodiscard]] PlaceId meeting(int member) const;

  const NetworkModel* network_;
  const Clique* clique_;
  int sender_;
  IdVector<PlaceId, LaneId> lane_;
};
[[nodiscard]] PlaceTree tree_of(const NetworkModel& network, const Clique& clique, int sender,
                                const Way& way);

}  // namespace cotillion
