// The copies in flight at one island: what it put on the wire of each live round, after rounding,
// flags beside it. The sender cuts packets from them and can repeat any; the receiver subtracts
// them from the average. A round's copy is kept until a later round needs its place, so that a
// correction that comes late still finds its own S.
#pragma once

#include <vector>

#include "protocol/aligned_bytes.hpp"
#include "protocol/grid.hpp"
#include "protocol/job.hpp"

namespace cotillion {

class Snapshots {
 public:
  Snapshots(const JobSpec& job, Grid grid, int live_rounds, Payloads payloads = Payloads::kReal);

  // What `values` (the chunk's elements of the model) become on the wire, multiplied by `weight`;
  // i32 clamps to ±limit before that. Elements beyond the model are zero.
  struct Terms {
    std::uint32_t weight = 1;
    std::int32_t limit = INT32_MAX;
  };
  void take(RoundId round, ChunkId chunk, std::span<const float> values, const Terms& terms);

  // False when that chunk of that round was never taken, or its place is taken again.
  [[nodiscard]] bool taken(RoundId round, ChunkId chunk) const;
  // Requires that it was taken, and is real.
  [[nodiscard]] ByteView chunk(RoundId round, ChunkId chunk) const;
  [[nodiscard]] std::uint8_t flags(
      RoundId round, ChunkId chunk) const;  // ZERO, CLAMPED; NAN_DROPPED: not to be sent

  [[nodiscard]] bool counted() const { return payloads_ == Payloads::kCounted; }
  [[nodiscard]] int live_rounds() const { return live_rounds_; }
  [[nodiscard]] const JobSpec& job() const { return job_; }
  [[nodiscard]] const Grid& grid() const { return grid_; }
  [[nodiscard]] Grid& grid() { return grid_; }

 private:
  struct Record {
    RoundId round = 0;
    bool taken = false;
    std::uint8_t flags = 0;
  };
  [[nodiscard]] std::size_t place(RoundId round, ChunkId chunk) const {
    return round % std::size_t(live_rounds_) * chunks_ + chunk;
  }

  JobSpec job_;
  Grid grid_;
  int live_rounds_;
  Payloads payloads_;
  std::size_t chunks_;
  std::size_t stride_;
  std::vector<Record> records_;
  AlignedBytes scaled_;  // one chunk, as floats
  AlignedBytes bytes_;
};

}  // namespace cotillion
