// The grid of i32 jobs: a value is an integer times 2^exponent, with one exponent for each run of
// chunks (a tensor, usually). It belongs to the job: everyone must use the same one, or sums mean
// nothing, and packets on another grid are dropped.
#pragma once

#include <vector>

#include "protocol/job.hpp"

namespace cotillion {

struct GridRange {
  ChunkId first = 0;  // from this chunk up to the next range
  int exponent = 0;   // −128 … 127

  friend bool operator==(const GridRange&, const GridRange&) = default;
};

class Grid {
 public:
  explicit Grid(int exponent = 0) : Grid(std::vector<GridRange>{{0, exponent}}) {}
  // Requires ranges in order, the first at chunk 0.
  explicit Grid(std::vector<GridRange> ranges);

  [[nodiscard]] int exponent(ChunkId chunk) const;

 private:
  std::vector<GridRange> ranges_;
};

// The largest magnitude that a sender may put on the grid, so that no sum leaves 32 bits.
[[nodiscard]] constexpr std::int32_t grid_limit(std::uint32_t weight_sum) {
  return weight_sum == 0 ? INT32_MAX : std::int32_t(INT32_MAX / weight_sum);
}

}  // namespace cotillion
