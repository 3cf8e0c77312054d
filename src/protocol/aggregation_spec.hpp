// One job's share of an edge: slots, rate, members, and how long it keeps what it sent. The job
// table of an edge is a list of these; how much memory it takes follows exactly.
#pragma once

#include <vector>

#include "protocol/aligned_bytes.hpp"
#include "protocol/grid.hpp"
#include "protocol/job.hpp"
#include "protocol/outbox.hpp"
#include "protocol/seal.hpp"

namespace cotillion {

struct AggregationSpec {
  JobSpec job;
  Grid grid;                       // of i32 jobs
  std::size_t slots = 64;          // slot_count() in edge_spec.hpp gives what a plan needs
  std::size_t resend_packets = 1;  // kept for resending
  int live_rounds = 2;             // whose ledgers are kept
  int members_max = kCliqueMembersMax;
  BitsPerSecond rate_max{0};            // of contributions; 0: no limit
  Bytes burst{1 << 20};                 // that may come at once under the limit
  BitsPerSecond last_hop{0};            // towards the island; 0: not known
  Bytes framing{0};                     // of packets there
  Duration resend{200'000'000'000};     // t_resend: what was sent is kept for this long at least
  Duration linger{1'000'000'000};       // a request that comes again within this crossed its answer
  Duration heartbeat{100'000'000'000};  // between announcements to the island
  // From a round's END to the first of them, if the island has not acknowledged it: END may be lost
  // and with it the last sums. Then twice as long each time, up to `heartbeat`.
  Duration insist{1'000'000'000};
  Payloads payloads = Payloads::kReal;  // kCounted refuses contributions that are not zero
};

// Whose packets an edge believes, and in whose name it speaks.
struct AggregationSeals {
  Seal own;
  Seal island;
  IdVector<SourceId, Seal> sources;
};

inline constexpr std::size_t kSlotRecordBytes = 24;

// Of one slot, and of one packet that is kept.
[[nodiscard]] inline std::size_t stored_sum(const AggregationSpec& spec) {
  return spec.payloads == Payloads::kCounted ? 0 : whole_lines(slot_bytes(spec.job));
}
[[nodiscard]] inline std::size_t stored_payload(const AggregationSpec& spec) {
  return spec.payloads == Payloads::kCounted ? 0 : payload_bytes(spec.job);
}

// Bytes, each allocated once when the edge is built.
struct Footprint {
  std::size_t sums = 0;     // the accumulators: what M buys
  std::size_t records = 0;  // key, mask and weight of every slot
  std::size_t ledger = 0;   // eight bytes for every chunk of the live rounds
  std::size_t resend = 0;
  std::size_t other = 0;  // round table, one sum in passing, one request

  [[nodiscard]] std::size_t total() const { return sums + records + ledger + resend + other; }
};
[[nodiscard]] Footprint footprint(const AggregationSpec& spec);

// A share that makes sense, or the field that does not.
[[nodiscard]] Result<AggregationSpec> checked(const AggregationSpec& spec);

}  // namespace cotillion
