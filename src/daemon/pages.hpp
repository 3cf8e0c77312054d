// Memory by whole pages, allocated once; large blocks ask for huge pages, which save the processor
// most of its page walks. Where there are none, small ones do.
#pragma once

#include <cstddef>
#include <utility>

#include "protocol/packet.hpp"

namespace cotillion {

class Pages {
 public:
  explicit Pages(std::size_t bytes);
  Pages(Pages&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Pages& operator=(Pages&&) = delete;
  ~Pages();

  [[nodiscard]] std::byte* at(std::size_t offset) const { return data_ + offset; }

 private:
  std::byte* data_;
  std::size_t bytes_;
};

// Asks for huge pages under memory that somebody else allocated and has not touched yet.
void prefer_huge_pages(ByteSpan memory);
// Has the kernel find the pages now, so that no packet waits for one.
void populate(ByteSpan memory);

}  // namespace cotillion
