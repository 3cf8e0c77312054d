// Any bytes as a packet: what reads is written back as it was, and bitmaps and grid changes survive
// the way through their writers.
#include "protocol/packet.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "protocol/protocol_fuzz.hpp"
#include "protocol/request.hpp"

namespace {

using namespace cotillion;

void check_header(const Header& header, ByteView packet) {
  std::vector<std::byte> copy(packet.begin(), packet.end());
  std::memset(copy.data(), 0, kHeaderBytes);
  write_header(header, copy);
  COTILLION_CHECK(std::equal(copy.begin(), copy.end(), packet.begin()));
  Header again;
  again.set_type(header.type());
  again.set_content(header.element(), header.operation(), header.exponent());
  again.set_meeting(header.epoch(), header.clique());
  COTILLION_CHECK(again.version_type == header.version_type);
  COTILLION_CHECK(again.element_operation == header.element_operation);
  COTILLION_CHECK(again.exponent_byte == header.exponent_byte);
  COTILLION_CHECK(again.epoch_clique == header.epoch_clique);
  COTILLION_CHECK(packet_bytes(payload_of(packet).size()) == packet.size());
}

// As many packets as it takes, and the same numbers in the same order.
void check_bitmap(const Header& header, ByteView packet, int beats) {
  std::vector<std::uint32_t> asked, answered;
  for_each_requested(header, payload_of(packet), [&](std::uint32_t n) { asked.push_back(n); });
  RequestWriter writer(beats);
  const auto read = [&] {
    const ByteSpan written = writer.packet(header);
    COTILLION_CHECK(written.size() <= packet_bytes(std::size_t(beats) * kBeatBytes));
    const auto again = read_header(written);
    COTILLION_CHECK(again.has_value());
    for_each_requested(*again, payload_of(ByteView(written)),
                       [&](std::uint32_t n) { answered.push_back(n); });
    writer.clear();
  };
  for (const std::uint32_t number : asked) {
    if (writer.add(number)) continue;
    read();
    COTILLION_CHECK(writer.add(number));
  }
  if (!writer.empty()) read();
  COTILLION_CHECK(asked == answered);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const int beats = 1 + data[0] % 3;
  const ByteView packet = std::as_bytes(std::span(data + 1, size - 1));
  const auto header = read_header(packet);
  if (!header) return 0;
  check_header(*header, packet);
  check_bitmap(*header, packet, beats);
  (void)name_of(header->element());
  COTILLION_CHECK(std::strcmp(name_of(header->type()), "unknown") != 0);
  return 0;
}
