// A block of bytes on a cache line, allocated once. Its pages are touched only when they are used
// first, so that a table of 32 GB costs what is in it.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

#include "protocol/packet.hpp"

namespace cotillion {

inline constexpr std::size_t kLineBytes = 64;

[[nodiscard]] constexpr std::size_t whole_lines(std::size_t bytes) {
  return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}

class AlignedBytes {
 public:
  explicit AlignedBytes(std::size_t size)
      : size_(size), data_(static_cast<std::byte*>(::operator new(size, kAlignment))) {}

  [[nodiscard]] std::byte* at(std::size_t offset) { return data_.get() + offset; }
  [[nodiscard]] const std::byte* at(std::size_t offset) const { return data_.get() + offset; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static constexpr std::align_val_t kAlignment{kLineBytes};
  struct Free {
    void operator()(std::byte* data) const { ::operator delete(data, kAlignment); }
  };
  std::size_t size_;
  std::unique_ptr<std::byte, Free> data_;
};

}  // namespace cotillion
