#include "protocol/request.hpp"

#include <algorithm>

namespace cotillion {

RequestWriter::RequestWriter(int beats)
    : bytes_(packet_bytes(std::size_t(beats) * kBeatBytes)),
      capacity_(std::uint32_t(beats) * kBeatBytes * 8) {}

bool RequestWriter::add(std::uint32_t number) {
  if (bits_ == 0) first_ = number;
  const std::uint32_t bit = number - first_;
  if (bit >= capacity_) return false;
  bytes_[kHeaderBytes + bit / 8] |= std::byte(1u << (bit % 8));
  bits_ = std::max(bits_, bit + 1);
  return true;
}

ByteSpan RequestWriter::packet(Header header) {
  header.chunk = first_;
  write_header(header, bytes_);
  const std::size_t beats = (bits_ + 8 * kBeatBytes - 1) / (8 * kBeatBytes);
  return ByteSpan(bytes_).first(packet_bytes(beats * kBeatBytes));
}

void RequestWriter::clear() {
  std::fill(bytes_.begin(), bytes_.end(), std::byte(0));
  bits_ = 0;
}

}  // namespace cotillion
