#include "plan/flow_ways.hpp"

#include <algorithm>
#include <limits>

#include "plan/shortest_tree.hpp"

namespace cotillion {
namespace {

constexpr double kFlowRounding = 1e-12;  // relative; rates are quotients of capacities

class FlowSpread {
 public:
  FlowSpread(const NetworkModel& network, const std::vector<Flow>& flows, BitsPerSecond rate)
      : network_(network),
        flows_(flows),
        finder_(network),
        ways_(shortest_flow_ways(network, flows)),
        load_(network.map().lane_count(), 0) {
    for (const LaneId lane : load_.ids())
      room_.push_back(int(
          std::min(1e9, lane_rate(network.map(), lane).value / rate.value * (1 + kFlowRounding))));
    for (const FlowWay& way : ways_) count(way, 1);
  }

  std::optional<std::vector<FlowWay>> run() {
    // Each move takes a flow off one lane too full and fills none.
    for (std::size_t moves = flows_.size() * load_.size();; --moves) {
      const std::vector<LaneId> full = overfull();
      if (full.empty()) return std::move(ways_);
      if (moves == 0 ||
          std::none_of(full.begin(), full.end(), [&](LaneId lane) { return relieve(lane); }))
        return std::nullopt;
    }
  }

 private:
  void count(const FlowWay& way, int sign) {
    for (const LaneId lane : way.lanes) load_[lane] += sign;
  }

  // The fullest first.
  [[nodiscard]] std::vector<LaneId> overfull() const {
    std::vector<LaneId> lanes;
    for (const LaneId lane : load_.ids())
      if (load_[lane] > room_[lane]) lanes.push_back(lane);
    std::stable_sort(lanes.begin(), lanes.end(),
                     [&](LaneId a, LaneId b) { return load_[a] - room_[a] > load_[b] - room_[b]; });
    return lanes;
  }

  static bool uses(const FlowWay& way, LaneId lane) {
    return std::find(way.lanes.begin(), way.lanes.end(), lane) != way.lanes.end();
  }

  // Moves one flow off the lane; false when none can go another way.
  bool relieve(LaneId full) {
    std::optional<FlowWay> best;
    std::size_t mover = 0;
    Duration least{std::numeric_limits<std::int64_t>::max()};
    for (std::size_t f = 0; f < flows_.size(); ++f) {
      if (!uses(ways_[f], full)) continue;
      const Clique pair{{flows_[f].from, flows_[f].to}, {}};
      const PlaceTree tree = finder_.find(pair, 0, [&](LaneId lane) {
        return lane != full && (load_[lane] < room_[lane] || uses(ways_[f], lane));
      });
      if (!tree.reaches_all()) continue;
      const Way way = tree.way();
      const Duration added = way.latency[1] - ways_[f].latency;
      if (added >= least) continue;
      least = added;
      best = FlowWay{way.route.tree, way.latency[1]};
      best->lanes.push_back(lane_down(network_.map(), flows_[f].to));
      mover = f;
    }
    // Access lanes stay what they are.
    if (!best || uses(*best, full)) return false;
    count(ways_[mover], -1);
    count(*best, 1);
    ways_[mover] = std::move(*best);
    return true;
  }

  const NetworkModel& network_;
  const std::vector<Flow>& flows_;
  TreeFinder finder_;
  std::vector<FlowWay> ways_;
  IdVector<LaneId, int> load_, room_;
};

}  // namespace

std::vector<FlowWay> shortest_flow_ways(const NetworkModel& network,
                                        const std::vector<Flow>& flows) {
  std::vector<FlowWay> ways;
  for (const Flow& flow : flows) {
    ways.push_back({{}, network.routes().latency(flow.to, flow.from)});
    visit_lanes(network, flow, [&](LaneId lane) { ways.back().lanes.push_back(lane); });
  }
  return ways;
}

std::optional<std::vector<FlowWay>> spread_flows(const NetworkModel& network,
                                                 const std::vector<Flow>& flows,
                                                 BitsPerSecond rate) {
  return FlowSpread(network, flows, rate).run();
}

std::vector<FlowShare> share_flows(const NetworkModel& network, const std::vector<FlowWay>& ways) {
  IdVector<LaneId, int> load(network.map().lane_count(), 0);
  for (const FlowWay& way : ways)
    for (const LaneId lane : way.lanes) ++load[lane];
  std::vector<FlowShare> shares;
  for (const FlowWay& way : ways) {
    FlowShare least{{std::numeric_limits<double>::infinity()}, -1, 0};
    for (const LaneId lane : way.lanes) {
      const BitsPerSecond share = lane_rate(network.map(), lane) / load[lane];
      if (share < least.rate) least = {share, lane, load[lane]};
    }
    shares.push_back(least);
  }
  return shares;
}

}  // namespace cotillion
