#include "protocol/grid.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace cotillion {
namespace {

bool in_order(const std::vector<GridRange>& ranges) {
  return !ranges.empty() && ranges.front().first == 0 &&
         std::adjacent_find(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) {
           return a.first >= b.first;
         }) == ranges.end();
}

}  // namespace

Grid::Grid(std::vector<GridRange> ranges) : ranges_(std::move(ranges)) {
  COTILLION_CHECK(in_order(ranges_));
}

int Grid::exponent(ChunkId chunk) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), chunk,
                                      [](ChunkId c, const GridRange& r) { return c < r.first; });
  return std::prev(after)->exponent;
}

}  // namespace cotillion
