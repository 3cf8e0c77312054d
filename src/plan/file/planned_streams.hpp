// The streams of a clique, read back from a plan. A tree must be one: it starts at the sender, each
// lane is in it once, it reaches where the streams of every receiver meet and goes nowhere else;
// copies and latencies follow from it and must agree. When they flow is the plan's word alone: that
// is for the player to find out.
#pragma once

#include <vector>

#include "plan/file/plan_members.hpp"
#include "plan/file/plan_network.hpp"

namespace cotillion {

class StreamReader {
 public:
  // Keeps references; the network must be sound.
  StreamReader(const PlanNetwork& network, const NetworkModelSettings& settings);

  // The stream that member number `sender` of a clique sends to the others; what is wrong has been
  // reported.
  [[nodiscard]] Stream read(const PlanField& field, const std::vector<IslandId>& members,
                            std::size_t sender, MemberReader& names);

 private:
  // How the tree of the stream in hand reaches a place.
  struct Reach {
    int tree = -1;     // the last tree that entered this place
    int settled = -1;  // the last tree that was found to lead there from its sender
    LaneId lane = -1;
    Duration latency;
    int behind = 0;  // receivers that are reached by way of this place
  };

  bool read_tree(const PlanField& field, Stream& stream);
  bool read_receivers(const PlanField& field, const std::vector<IslandId>& members,
                      MemberReader& names, Stream& stream);
  bool settle(PlaceId place);
  void check_tree(const PlanField& field, Stream& stream);
  void check_copies(const PlanField& field, Stream& stream);

  const Map& map_;
  const IdVector<IslandId, Ingress>& ingress_;
  bool multicast_;
  Bytes payload_;
  int tree_ = 0;  // counts streams, so that nothing has to be cleared between them
  IdVector<PlaceId, Reach> reach_;
  std::vector<PlaceId> way_;    // scratch: from a place back towards the sender
  std::vector<PlaceId> order_;  // places reached, each after the one before it
};

}  // namespace cotillion
