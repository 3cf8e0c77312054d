#include "protocol/capture.hpp"

#include "base/check.hpp"

namespace cotillion {
namespace {

constexpr std::uint32_t kMagicOfNanoseconds = 0xa1b23c4d;
constexpr std::uint32_t kRawIp = 101;  // LINKTYPE_RAW: records begin with the IP header
constexpr std::uint32_t kRecordBytesMax = 65'535;
constexpr std::size_t kIpBytes = 20;
constexpr std::size_t kUdpBytes = 8;
constexpr std::uint8_t kUdpProtocol = 17;
constexpr std::int64_t kPicosecondsPerNanosecond = 1000;
constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;

// The file is little-endian, which its magic number tells; the network is big-endian.
struct FileHeader {
  Little32 magic = kMagicOfNanoseconds;
  Little16 major = 2, minor = 4;
  Little32 zone, accuracy;
  Little32 record_max = kRecordBytesMax;
  Little32 link_type = kRawIp;
};
static_assert(sizeof(FileHeader) == 24);

struct RecordHeader {
  Little32 seconds, nanoseconds;
  Little32 captured, original;
};
static_assert(sizeof(RecordHeader) == 16);

template <class Bytes>
void append(std::string& file, const Bytes& bytes) {
  file.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
}

void append_big16(std::string& text, std::size_t value) {
  text += char(value >> 8 & 0xff);
  text += char(value & 0xff);
}

void append_big32(std::string& text, std::uint32_t value) {
  append_big16(text, value >> 16);
  append_big16(text, value);
}

// The sum of 16-bit big-endian words, the last one filled up with a zero byte (RFC 1071). Only
// folded at the end: 64 bits do not overflow within a datagram.
std::uint64_t sum_of(std::string_view bytes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    sum += std::uint64_t(std::uint8_t(bytes[i])) << (i % 2 == 0 ? 8 : 0);
  return sum;
}

std::uint16_t check_sum(std::uint64_t sum) {
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return std::uint16_t(~sum);
}

std::string ip_header(Ipv4Address from, Ipv4Address to, std::size_t udp_bytes) {
  std::string front;
  front += char(0x45);  // version 4, five words
  front += char(0);
  append_big16(front, kIpBytes + udp_bytes);
  append_big16(front, 0);       // never fragmented, so it needs no identification
  append_big16(front, 0x4000);  // don't fragment
  front += char(64);            // hops
  front += char(kUdpProtocol);
  std::string back;
  append_big32(back, from);
  append_big32(back, to);
  const std::uint16_t sum = check_sum(sum_of(front) + sum_of(back));
  append_big16(front, sum);
  return front + back;
}

std::string udp_header(Ipv4Address from, Ipv4Address to, std::string_view packet) {
  const std::size_t length = kUdpBytes + packet.size();
  std::string pseudo;  // what the check sum sees of the layer below
  append_big32(pseudo, from);
  append_big32(pseudo, to);
  append_big16(pseudo, kUdpProtocol);
  append_big16(pseudo, length);
  std::string header;
  append_big16(header, kUdpPort);
  append_big16(header, kUdpPort);
  append_big16(header, length);
  const std::uint16_t sum = check_sum(sum_of(pseudo) + sum_of(header) + sum_of(packet));
  append_big16(header, sum == 0 ? 0xffff : sum);  // 0 would mean: not computed
  return header;
}

}  // namespace

void begin_capture(std::string& file) {
  append(file, FileHeader());
}

void append_to_capture(std::string& file, Instant when, Ipv4Address from, Ipv4Address to,
                       ByteView packet) {
  const std::string_view content(reinterpret_cast<const char*>(packet.data()), packet.size());
  const std::size_t length = kIpBytes + kUdpBytes + content.size();
  COTILLION_CHECK(when.ps >= 0 && length <= kRecordBytesMax);
  const std::int64_t nanoseconds = when.ps / kPicosecondsPerNanosecond;
  RecordHeader record;
  record.seconds = std::uint32_t(nanoseconds / kNanosecondsPerSecond);
  record.nanoseconds = std::uint32_t(nanoseconds % kNanosecondsPerSecond);
  record.captured = std::uint32_t(length);
  record.original = std::uint32_t(length);
  append(file, record);
  file += ip_header(from, to, kUdpBytes + content.size());
  file += udp_header(from, to, content);
  file += content;
}

}  // namespace cotillion
