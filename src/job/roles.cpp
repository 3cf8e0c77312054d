#include "job/roles.hpp"

#include <algorithm>
#include <bit>

#include "protocol/merge_rule.hpp"
#include "protocol/resend_store.hpp"

namespace cotillion {
namespace {

std::size_t packets_in(Bytes resend, const JobSpec& job) {
  return std::max<std::size_t>(
      1, std::size_t(resend.count) / ResendStore::bytes(1, payload_bytes(job)));
}

Duration round_trip(const PlanFile& plan, const RoleSettings& settings, IslandId island) {
  const Duration way = plan.ingress[island].latency;
  return way + way + settings.round_trip_margin;
}

}  // namespace

const EdgeSpec& edge_of(const PlanFile& plan, IslandId island) {
  return plan.map.aggregators[plan.ingress[island].edge].spec;
}

SenderSettings sender_role(const JobAssignment& assignment) {
  SenderSettings sending;
  sending.exchange = assignment.settings().exchange;
  sending.framing = assignment.framing();
  return sending;
}

ReceiverSettings receiver_role(const PlanFile& plan, const JobAssignment& assignment,
                               const RoleSettings& settings, IslandId island) {
  ReceiverSettings receiving;
  receiving.live_rounds = assignment.live_rounds();
  receiving.exchange = assignment.settings().exchange;
  receiving.islands = plan.map.island_count();
  receiving.gaps.window = std::uint32_t(
      std::min<std::size_t>(packets_in(edge_of(plan, island).resend, assignment.job()), 1u << 20u));
  receiving.gaps.round_trip = round_trip(plan, settings, island);
  return receiving;
}

AggregationSpec edge_role(const PlanFile& plan, const JobAssignment& assignment,
                          const RoleSettings& settings, IslandId island) {
  AggregationSpec share;
  share.job = assignment.job();
  share.grid = Grid(settings.exponent);
  share.slots = assignment.slots(island);
  share.resend_packets = packets_in(edge_of(plan, island).resend, assignment.job());
  share.live_rounds = assignment.live_rounds();
  share.payloads = settings.payloads;
  share.framing = assignment.framing();
  for (const LaneId lane : plan.ingress[island].lanes)
    if (const BitsPerSecond rate = lane_rate(plan.map, lane);
        share.last_hop.value == 0 || rate < share.last_hop)
      share.last_hop = rate;
  share.insist = share.linger = round_trip(plan, settings, island);
  return share;
}

void add_mixing(std::vector<double>& row, const RoundAssignment& part, Missing missing,
                MixedChunk chunk) {
  const int present = std::popcount(chunk.mask);
  const double each =
      chunk.share /
      mean_coefficients(missing, 1 + present, part.spec.members - 1 - present).divisor;
  const auto island_at = [&](int bit) { return std::size_t(part.clique[std::size_t(bit)]); };
  row[island_at(part.spec.own)] += chunk.share - each * present;
  for (ContributorMask left = chunk.mask; left != 0; left &= left - 1)
    row[island_at(std::countr_zero(left))] += each;
}

}  // namespace cotillion
