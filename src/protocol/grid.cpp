#include "protocol/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.hpp"

namespace cotillion {
namespace {

struct WireRange {
  Little32 first;
  std::uint8_t exponent = 0;
  std::array<std::uint8_t, 3> zero{};
};
static_assert(sizeof(WireRange) == 8);

bool in_order(const std::vector<GridRange>& ranges) {
  return !ranges.empty() && ranges.front().first == 0 &&
         std::adjacent_find(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) {
           return a.first >= b.first;
         }) == ranges.end();
}

int exponent_in(const std::vector<GridRange>& ranges, ChunkId chunk) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), chunk,
                                      [](ChunkId c, const GridRange& r) { return c < r.first; });
  return std::prev(after)->exponent;
}

}  // namespace

Grid::Grid(std::vector<GridRange> ranges) : now_(std::move(ranges)) {
  COTILLION_CHECK(in_order(now_));
}

int Grid::exponent(RoundId round, ChunkId chunk) const {
  return exponent_in(!next_.empty() && round >= from_ ? next_ : now_, chunk);
}

Result<void> Grid::announce(const GridChange& change, Live live, int period) {
  if (!in_order(change.ranges))
    return failure("grid: ranges must start at chunk 0 and follow each other");
  if (!next_.empty() && live.oldest < from_)
    return failure(
        fmt::format("grid: a change for round {} is still ahead of round {}", from_, live.oldest));
  if (std::uint64_t(change.from) < std::uint64_t(live.newest) + std::uint64_t(period))
    return failure(
        fmt::format("grid: a change for round {} in round {} leaves less than a period "
                    "of {}; packets of the old grid may be under way",
                    change.from, live.newest, period));
  if (!next_.empty()) now_ = next_;
  next_ = change.ranges;
  from_ = change.from;
  return {};
}

std::size_t control_payload_bytes(const GridChange& change) {
  const std::size_t bytes = change.ranges.size() * sizeof(WireRange);
  return (bytes + kBeatBytes - 1) / kBeatBytes * kBeatBytes;
}

void write_grid_change(const GridChange& change, Header& header, ByteSpan payload) {
  COTILLION_CHECK(payload.size() == control_payload_bytes(change));
  header.set_type(PacketType::kControl);
  header.round = change.from;
  header.chunk = ChunkId(change.ranges.size());
  std::fill(payload.begin(), payload.end(), std::byte(0));
  for (std::size_t i = 0; i < change.ranges.size(); ++i) {
    const WireRange range{change.ranges[i].first, std::uint8_t(change.ranges[i].exponent), {}};
    std::memcpy(payload.data() + i * sizeof range, &range, sizeof range);
  }
}

Result<GridChange> read_grid_change(const Header& header, ByteView payload) {
  const std::size_t count = header.chunk;
  if (header.type() != PacketType::kControl) return failure("grid: not a CONTROL packet");
  if (count == 0 || count > payload.size() / sizeof(WireRange))
    return failure(fmt::format("grid: {} ranges do not fit {} bytes", count, payload.size()));
  GridChange change{header.round, {}};
  for (std::size_t i = 0; i < count; ++i) {
    WireRange range;
    std::memcpy(&range, payload.data() + i * sizeof range, sizeof range);
    change.ranges.push_back({range.first, std::int8_t(range.exponent)});
  }
  if (!in_order(change.ranges)) return failure("grid: ranges out of order");
  return change;
}

}  // namespace cotillion
