// What an edge believes: whether a packet of a stream or of the island is the plan's, sealed by
// whom it should be, finite, and within the job's rate. It changes nothing but boot ids and the
// rate's tokens. Checks that need no key come first: a flood of foreign packets costs little.
#pragma once

#include <optional>
#include <vector>

#include "protocol/accumulator.hpp"
#include "protocol/aggregation_spec.hpp"
#include "protocol/counters.hpp"
#include "protocol/edge_rounds.hpp"

namespace cotillion {

// A token bucket.
class RateLimit {
 public:
  RateLimit(BitsPerSecond rate, Bytes burst)
      : rate_(rate), burst_(double(burst.count)), tokens_(burst_) {}

  [[nodiscard]] bool lets_pass(Instant now, std::size_t bytes);

 private:
  BitsPerSecond rate_;  // 0: no limit
  double burst_;
  double tokens_;
  Instant at_{0};
};

// A packet, and on which stream it came.
struct HeardPacket {
  SourceId source;
  const Header& header;
  ByteView packet;
};

class Admission {
 public:
  Admission(const AggregationSpec& spec, Seal island, IdVector<SourceId, Seal> sources);

  // The first contributor of the round that comes on a stream of which nothing is known; −1: all
  // are known.
  [[nodiscard]] int stranger_in(const RoundSpec& round) const;

  // What speaks against a contribution, or against the END of a stream; nothing: it counts.
  [[nodiscard]] std::optional<EdgeCount> refusal(Instant now, const AggregationSpec& spec,
                                                 const EdgeRound& round, const HeardPacket& heard);
  // Against a request or an acknowledgement of the island.
  [[nodiscard]] std::optional<EdgeCount> refusal_of_request(const HeardPacket& heard);
  // Against a heartbeat, which is believed otherwise.
  [[nodiscard]] std::optional<EdgeCount> hear_heartbeat(const HeardPacket& heard);

 private:
  [[nodiscard]] bool is_planned(const AggregationSpec& spec, const EdgeRound& round,
                                const HeardPacket& heard) const;
  [[nodiscard]] Seal* seal_of(SourceId source);

  const Accumulator& accumulator_;
  ChunkId chunks_;
  Seal island_;
  IdVector<SourceId, Seal> sources_;
  RateLimit rate_;
};

}  // namespace cotillion
