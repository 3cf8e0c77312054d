#include "protocol/aggregation_spec.hpp"

#include <fmt/format.h>

#include "protocol/edge_rounds.hpp"
#include "protocol/resend_store.hpp"

namespace cotillion {

Footprint footprint(const AggregationSpec& spec) {
  const std::size_t payload = payload_bytes(spec.job);
  Footprint bytes;
  bytes.sums = spec.slots * stored_sum(spec);
  bytes.records = spec.slots * kSlotRecordBytes;
  bytes.ledger = std::size_t(spec.live_rounds) * chunk_count(spec.job) * sizeof(ContributorMask);
  bytes.resend = ResendStore::bytes(spec.resend_packets, stored_payload(spec));
  bytes.other =
      std::size_t(spec.live_rounds) * sizeof(EdgeRound) + stored_sum(spec) + packet_bytes(payload);
  return bytes;
}

Result<AggregationSpec> checked(const AggregationSpec& spec) {
  const auto job = checked(spec.job);
  if (!job) return Unexpected<Error>{job.error()};
  const auto wrong = [&](const std::string& what) {
    return failure(fmt::format("job {}: {}", spec.job.id, what));
  };
  if (spec.slots == 0) return wrong("no slots; give it at least two for each stream");
  if (spec.resend_packets == 0) return wrong("an empty resend store; give it a packet at least");
  if (spec.resend_packets > (std::size_t(1) << 30u))
    return wrong("a resend store beyond 2^30 packets");
  if (spec.live_rounds < 1) return wrong("no live rounds; at least one");
  if (spec.members_max < 1 || spec.members_max > kCliqueMembersMax)
    return wrong(fmt::format("{} members; between 1 and {}", spec.members_max, kCliqueMembersMax));
  if (spec.rate_max.value < 0 || spec.burst.count < 0) return wrong("a negative rate limit");
  if (spec.rate_max.value > 0 &&
      spec.burst.count < std::int64_t(packet_bytes(payload_bytes(spec.job))))
    return wrong("a burst that is smaller than one packet lets nothing pass");
  if (spec.last_hop.value < 0 || spec.framing.count < 0)
    return wrong("a last hop with a negative rate or framing");
  if (spec.insist.ps <= 0) return wrong("insisting on END without time between");
  if (spec.heartbeat.ps <= 0) return wrong("heartbeats without time between them");
  return spec;
}

}  // namespace cotillion
