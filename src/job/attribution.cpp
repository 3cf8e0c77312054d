#include "job/attribution.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "topology/lane_walk.hpp"

namespace cotillion {
namespace {

struct CliqueParts {
  Duration store_and_forward, emulator;
};

class Attribution {
 public:
  Attribution(const PlanFile& plan, const Outcome& outcome) : plan_(plan), outcome_(outcome) {
    for (const LaneOutcome& lane : outcome.lanes) lanes_.emplace(lane.lane, &lane);
  }

  [[nodiscard]] const EdgeSpec& spec_of(IslandId island) const {
    const AggregatorId edge = plan_.ingress[island].edge;
    return edge == kNoAggregator ? plan_.map.edge : plan_.map.aggregators[edge].spec;
  }

  [[nodiscard]] RealDuration packet_on(BitsPerSecond rate, IslandId receiver) const {
    const EdgeSpec& spec = spec_of(receiver);
    return transfer_time(std::min(spec.chunk, plan_.map.payload) + spec.framing, rate);
  }

  // The last chunk leaves one packet's time before a fluid stream would have ended, and then takes
  // a packet's time on every lane.
  [[nodiscard]] CliqueParts parts_of(const PlannedClique& clique) const {
    double last = clique.price.ps;
    Duration emulator;
    for (const Stream& stream : clique.streams)
      for (const Arrival& arrival : stream.receivers) {
        const Bytes wire = wire_bytes(spec_of(arrival.receiver), stream.payload);
        double when = stream.offset.ps + transfer_time(wire, stream.rate).ps +
                      double(arrival.latency.ps) - packet_on(stream.rate, arrival.receiver).ps;
        Duration late;
        for (const LaneId lane : way_to(stream, arrival.receiver, true)) {
          when += packet_on(lane_rate(plan_.map, lane), arrival.receiver).ps;
          if (const LaneOutcome* seen = seen_on(lane)) late = late + seen->late_median;
        }
        if (when < last) continue;
        last = when;
        emulator = late;
      }
    return {{std::llround(last - clique.price.ps)}, emulator};
  }

  // In the rounds of the plan that were played.
  void describe(EdgeOutcome& edge, const std::set<std::size_t>& phases) const {
    edge.slot = spec_of(edge.island).slot;
    edge.streams = 0;
    edge.late = {};
    edge.late_packets = 0;
    for (const std::size_t phase : phases) {
      int streams = 0;
      for (const PlannedClique& clique : plan_.plan.rounds[phase].cliques)
        for (const Stream& stream : clique.streams) {
          if (!hears(edge.island, stream)) continue;
          ++streams;
          const Duration late = lateness(stream, edge.island);
          const double packets = double(late.ps) / packet_on(stream.rate, edge.island).ps;
          if (packets <= edge.late_packets) continue;
          edge.late = late;
          edge.late_packets = packets;
        }
      edge.streams = std::max(edge.streams, streams);
    }
  }

 private:
  [[nodiscard]] const LaneOutcome* seen_on(LaneId lane) const {
    const auto found = lanes_.find(lane);
    return found == lanes_.end() ? nullptr : found->second;
  }

  [[nodiscard]] static bool hears(IslandId island, const Stream& stream) {
    return std::any_of(stream.receivers.begin(), stream.receivers.end(),
                       [&](const Arrival& arrival) { return arrival.receiver == island; });
  }

  // To what sums for an island, or on from there to the island itself.
  [[nodiscard]] std::vector<LaneId> way_to(const Stream& stream, IslandId island, bool on) const {
    const Ingress& ingress = plan_.ingress[island];
    std::vector<LaneId> way = way_along(plan_.map, stream.tree, ingress.from);
    if (on || ingress.edge == kNoAggregator)
      way.insert(way.end(), ingress.lanes.begin(), ingress.lanes.end());
    return way;
  }

  // At most: the sender's latest departure, and the latest packet on every lane after it.
  [[nodiscard]] Duration lateness(const Stream& stream, IslandId island) const {
    Duration late{std::int64_t(outcome_.senders[stream.sender].late_ps)};
    for (const LaneId lane : way_to(stream, island, false))
      if (const LaneOutcome* seen = seen_on(lane)) late = late + seen->late_most;
    return late;
  }

  const PlanFile& plan_;
  const Outcome& outcome_;
  std::map<LaneId, const LaneOutcome*> lanes_;
};

}  // namespace

void attribute(const PlanFile& plan, Outcome& outcome) {
  const EdgeSpec& spec =
      plan.map.aggregators.empty() ? plan.map.edge : plan.map.aggregators.front().spec;
  for (LaneOutcome& lane : outcome.lanes)
    lane.packet = {std::llround(transfer_time(std::min(spec.chunk, plan.map.payload) + spec.framing,
                                              lane_rate(plan.map, lane.lane))
                                    .ps)};
  const Attribution attribution(plan, outcome);
  const std::size_t period = plan.plan.rounds.size();
  std::map<std::size_t, std::map<std::vector<IslandId>, CliqueParts>> known;  // by phase
  std::set<std::size_t> phases;
  for (RoundOutcome& round : outcome.rounds) {
    const std::size_t phase = (round.round - 1) % period;
    auto& parts = known[phase];
    if (phases.insert(phase).second)
      for (const PlannedClique& clique : plan.plan.rounds[phase].cliques)
        parts.emplace(clique.islands, attribution.parts_of(clique));
    for (CliqueOutcome& clique : round.cliques)
      if (const auto found = parts.find(clique.islands); found != parts.end()) {
        clique.store_and_forward = found->second.store_and_forward;
        clique.emulator = found->second.emulator;
      }
  }
  for (EdgeOutcome& edge : outcome.edges) attribution.describe(edge, phases);
}

}  // namespace cotillion
