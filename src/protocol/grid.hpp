// The grid of i32 jobs: a value is an integer times 2^exponent, with one exponent for each run of
// chunks (a tensor, usually). Everyone must use the same one, or sums mean nothing; so a change is
// announced for a round that nobody has begun, and packets on another grid are dropped.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "protocol/job.hpp"

namespace cotillion {

struct GridRange {
  ChunkId first = 0;  // from this chunk up to the next range
  int exponent = 0;   // −128 … 127

  friend bool operator==(const GridRange&, const GridRange&) = default;
};

struct GridChange {
  RoundId from = 0;
  std::vector<GridRange> ranges;
};

class Grid {
 public:
  explicit Grid(int exponent = 0) : Grid(std::vector<GridRange>{{0, exponent}}) {}
  // Requires ranges in order, the first at chunk 0.
  explicit Grid(std::vector<GridRange> ranges);

  [[nodiscard]] int exponent(RoundId round, ChunkId chunk) const;

  // The rounds whose packets may still be under way.
  struct Live {
    RoundId oldest = 0;
    RoundId newest = 0;
  };
  // Takes effect at change.from, at least a period after the newest live round. The next change
  // waits until no live round is on the grid before this one. May allocate: it is no packet's
  // business.
  Result<void> announce(const GridChange& change, Live live, int period);

 private:
  std::vector<GridRange> now_;
  std::vector<GridRange> next_;  // empty: no change ahead
  RoundId from_ = 0;
};

// As CONTROL carries it: `round` is when, `chunk` how many ranges, eight bytes for each.
[[nodiscard]] std::size_t control_payload_bytes(const GridChange& change);
void write_grid_change(const GridChange& change, Header& header, ByteSpan payload);
[[nodiscard]] Result<GridChange> read_grid_change(const Header& header, ByteView payload);

// The largest magnitude that a sender may put on the grid, so that no sum leaves 32 bits.
[[nodiscard]] constexpr std::int32_t grid_limit(std::uint32_t weight_sum) {
  return weight_sum == 0 ? INT32_MAX : std::int32_t(INT32_MAX / weight_sum);
}

}  // namespace cotillion
