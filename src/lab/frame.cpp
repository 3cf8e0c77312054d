#include "lab/frame.hpp"

#include <cstring>

#include "base/check.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kIpBytes = 20;
constexpr std::size_t kUdpBytes = 8;
constexpr std::uint8_t kUdp = 17;
constexpr std::size_t kTotalLength = 2, kFragment = 6, kProtocol = 9, kIpChecksum = 10;
constexpr std::size_t kSource = 12, kDestination = 16;

std::uint32_t big16(ByteView bytes, std::size_t at) {
  return std::uint32_t(bytes[at]) << 8 | std::uint32_t(bytes[at + 1]);
}
std::uint32_t big32(ByteView bytes, std::size_t at) {
  return big16(bytes, at) << 16 | big16(bytes, at + 2);
}
void set_big16(ByteSpan bytes, std::size_t at, std::uint32_t value) {
  bytes[at] = std::byte(value >> 8 & 0xff);
  bytes[at + 1] = std::byte(value & 0xff);
}

std::size_t header_bytes(ByteView ip) {
  return std::size_t(ip[0] & std::byte{0xf}) * 4;
}

// A UDP checksum of zero is none.
void mend(ByteSpan ip) {
  const std::size_t header = header_bytes(ip);
  set_big16(ip, header + 6, 0);
  set_big16(ip, kIpChecksum, 0);
  std::uint32_t sum = 0;
  for (std::size_t at = 0; at < header; at += 2) sum += big16(ip, at);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  set_big16(ip, kIpChecksum, ~sum & 0xffff);
}

}  // namespace

std::optional<Frame> read_frame(ByteSpan ip) {
  if (ip.size() < kIpBytes || std::uint32_t(ip[0]) >> 4 != 4) return std::nullopt;
  const std::size_t header = header_bytes(ip);
  if (header < kIpBytes || big16(ip, kTotalLength) != ip.size() || header > ip.size())
    return std::nullopt;
  Frame frame{big32(ip, kSource), big32(ip, kDestination), {}};
  const bool whole = (big16(ip, kFragment) & 0x3fff) == 0;
  if (whole && std::uint8_t(ip[kProtocol]) == kUdp && ip.size() >= header + kUdpBytes)
    frame.udp = ip.subspan(header + kUdpBytes);
  return frame;
}

std::uint32_t wire_bytes(const Frame& frame, std::size_t ip_bytes, Bytes framing) {
  const auto header = read_header(frame.udp);
  if (!header) return std::uint32_t(ip_bytes);
  if (framing.count == 0 && !carries_sum(header->type())) return 0;
  return std::uint32_t(payload_of(ByteView(frame.udp)).size() + std::size_t(framing.count));
}

std::size_t corrupt(ByteSpan ip, Random& random) {
  const auto frame = read_frame(ip);
  if (!frame || frame->udp.empty()) return ip.size();
  const auto bit = std::size_t(random.between(0, std::int64_t(frame->udp.size() * 8 - 1)));
  frame->udp[bit / 8] ^= std::byte(1u << (bit % 8));
  mend(ip);
  return ip.size();
}

std::size_t truncate(ByteSpan ip, Random& random) {
  const auto frame = read_frame(ip);
  if (!frame || frame->udp.empty()) return ip.size();
  const auto left = std::size_t(random.between(0, std::int64_t(frame->udp.size() - 1)));
  const std::size_t bytes = ip.size() - frame->udp.size() + left;
  COTILLION_CHECK(bytes < ip.size());
  set_big16(ip, kTotalLength, std::uint32_t(bytes));
  set_big16(ip, header_bytes(ip) + 4, std::uint32_t(kUdpBytes + left));
  mend(ip.first(bytes));
  return bytes;
}

}  // namespace cotillion
