// The other half of repair before aggregation: at the sender's own edge, the packets of its
// stream as they left, kept for one round so that a far edge asks here and not across the access
// link of the island. Off unless the site gives it the memory for a round.
#pragma once

#include <vector>

#include "protocol/aligned_bytes.hpp"
#include "protocol/job.hpp"
#include "protocol/outbox.hpp"
#include "protocol/request.hpp"
#include "protocol/seal.hpp"

namespace cotillion {

struct KeeperSeals {
  Seal own;
  Seal island;               // whose stream is kept
  std::vector<Seal> askers;  // the edges that may ask, as the host numbers them
};

struct KeeperCounters {
  std::uint64_t kept = 0, resent = 0, gone = 0, forged = 0, unexpected = 0;
};

class Keeper {
 public:
  Keeper(const JobSpec& job, KeeperSeals seals);

  // From now on packets of this round are kept, and older ones are gone.
  void open_round(RoundId round, int epoch, int clique, int bit);
  // What the island sends to its group.
  void on_stream(ByteView packet);
  // A request or a heartbeat from an edge; answers go to it: Towards::kSource with its number.
  void on_request(std::size_t from, ByteView packet, Outbox& out);

  [[nodiscard]] const KeeperCounters& counters() const { return counters_; }
  [[nodiscard]] static std::size_t bytes(const JobSpec& job);

 private:
  void on_heartbeat(std::size_t from, const Header& header, ByteView packet, Outbox& out);
  [[nodiscard]] bool of_round(const Header& header) const;

  JobSpec job_;
  KeeperSeals seals_;
  ChunkId chunks_;
  std::size_t stride_;
  bool open_ = false;
  RoundId round_ = 0;
  int epoch_ = 0;
  int clique_ = 0;
  ContributorMask mask_ = 0;
  std::uint32_t gone_sequence_ = 0, heartbeat_sequence_ = 0;
  std::vector<std::uint32_t> length_;  // by chunk; 0: not here
  AlignedBytes bytes_;
  RequestWriter gone_;
  KeeperCounters counters_;
};

}  // namespace cotillion
