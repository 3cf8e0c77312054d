// Blocks of one size, lent and given back. The one that came back last goes out first, so that no
// more are ever touched than were out at once; what is not touched costs nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "protocol/aligned_bytes.hpp"

namespace cotillion {

class BlockPool {
 public:
  BlockPool(std::size_t blocks, std::size_t block_bytes)
      : block_bytes_(whole_lines(block_bytes)), bytes_(blocks * block_bytes_), free_(blocks) {
    for (std::size_t i = 0; i < blocks; ++i) free_[i] = std::uint32_t(blocks - 1 - i);
  }

  [[nodiscard]] std::uint32_t lend() {
    COTILLION_CHECK(!free_.empty());
    const std::uint32_t block = free_.back();
    free_.pop_back();
    most_ = std::max(most_, blocks_ - free_.size());
    return block;
  }
  void give_back(std::uint32_t block) { free_.push_back(block); }

  [[nodiscard]] std::byte* at(std::uint32_t block) { return bytes_.at(block * block_bytes_); }
  [[nodiscard]] const std::byte* at(std::uint32_t block) const {
    return bytes_.at(block * block_bytes_);
  }
  [[nodiscard]] std::size_t most_bytes() const { return most_ * block_bytes_; }  // out at once

 private:
  std::size_t block_bytes_;
  AlignedBytes bytes_;
  std::vector<std::uint32_t> free_;  // never grows beyond what it began with
  std::size_t blocks_ = free_.size();
  std::size_t most_ = 0;
};

inline constexpr std::uint32_t kNoBlock = UINT32_MAX;

}  // namespace cotillion
