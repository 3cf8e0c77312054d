// The copies in flight at one island: what it put on the wire of each live round, after rounding,
// flags beside it. The sender cuts packets from them, the receiver subtracts them from the average.
// They are stored here until a later round needs their place, or not at all where the source keeps
// what it was asked for: then they are rounded anew whenever they are read.
#pragma once

#include <span>
#include <vector>

#include "protocol/aligned_bytes.hpp"
#include "protocol/grid.hpp"
#include "protocol/job.hpp"

namespace cotillion {

// The model, as the sender sees it.
class FragmentSource {
 public:
  // Fills `values` with elements [first, first + size) of the model. Called for the chunks of one
  // fragment in a row, at the instant at which that fragment's copy is due; or, where the source
  // keeps it, whenever the copy of that round is needed.
  virtual void snapshot(RoundId round, std::uint64_t first, std::span<float> values) = 0;
  // At that instant: true where snapshot() goes on giving this fragment as it is now until
  // Snapshots::forget.
  virtual bool keep(RoundId round, int fragment);

 protected:
  ~FragmentSource() = default;
};

class Snapshots {
 public:
  // `keeper`: the source, where it keeps all that is copied. Then nothing is stored here.
  Snapshots(const JobSpec& job, Grid grid, int live_rounds, Payloads payloads = Payloads::kReal,
            FragmentSource* keeper = nullptr);

  // What `values` (the chunk's elements of the model) become on the wire, multiplied by `weight`;
  // i32 clamps to ±limit before that. Elements beyond the model are zero.
  struct Terms {
    std::uint32_t weight = 1;
    std::int32_t limit = INT32_MAX;
  };
  void take(RoundId round, ChunkId chunk, std::span<const float> values, const Terms& terms);
  // The keeper has them: chunks [from, to).
  void take_kept(RoundId round, ChunkId from, ChunkId to, const Terms& terms);
  // It keeps them no longer.
  void forget(RoundId round, ChunkId from, ChunkId to);

  // False when that chunk of that round was never taken, or its place is taken again.
  [[nodiscard]] bool taken(RoundId round, ChunkId chunk) const;
  // Requires that it was taken, and is real. Valid until the next call.
  [[nodiscard]] ByteView chunk(RoundId round, ChunkId chunk);
  // The same before it was rounded; empty where nobody keeps that.
  [[nodiscard]] std::span<const float> exact(RoundId round, ChunkId chunk);
  [[nodiscard]] std::uint8_t flags(RoundId round,
                                   ChunkId chunk);  // ZERO, CLAMPED; NAN_DROPPED: not to be sent

  [[nodiscard]] bool counted() const { return payloads_ == Payloads::kCounted; }
  [[nodiscard]] int live_rounds() const { return live_rounds_; }
  [[nodiscard]] const JobSpec& job() const { return job_; }
  [[nodiscard]] const Grid& grid() const { return grid_; }

 private:
  struct Record {
    RoundId round = 0;
    bool taken = false;
    std::uint8_t flags = 0;
    bool flags_known = true;
  };
  [[nodiscard]] std::size_t place(RoundId round, ChunkId chunk) const {
    return round % std::size_t(live_rounds_) * chunks_ + chunk;
  }
  [[nodiscard]] std::uint8_t to_wire(ChunkId chunk, std::span<const float> values,
                                     const Terms& terms, std::byte* wire);
  void read(RoundId round, ChunkId chunk);

  JobSpec job_;
  Grid grid_;
  int live_rounds_;
  Payloads payloads_;
  FragmentSource* keeper_;
  std::size_t chunks_;
  std::size_t stride_;
  std::vector<Record> records_;
  std::vector<Terms> terms_;  // by live round, of what is kept elsewhere
  AlignedBytes scaled_;       // one chunk, as floats
  AlignedBytes bytes_;        // all of them, or the one that was read last
  std::vector<float> values_;
  std::size_t read_ = SIZE_MAX;  // its place
};

}  // namespace cotillion
