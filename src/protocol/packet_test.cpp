// The layout, and that docs/understand/protocol.md prints it: the document is read here, not
// repeated.
#include "protocol/packet.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "protocol/announcement.hpp"
#include "protocol/golden_packets.hpp"
#include "protocol/request.hpp"

namespace cotillion {
namespace {

using Octets = std::vector<std::byte>;

Octets packet_of(std::uint8_t version_type, std::size_t payload = 0) {
  Octets bytes(packet_bytes(payload));
  bytes[0] = std::byte(version_type);
  return bytes;
}

std::vector<int> first_bytes(const Header& header) {
  Octets bytes(kHeaderBytes);
  write_header(header, bytes);
  std::vector<int> numbers;
  for (const std::byte byte : bytes) numbers.push_back(int(byte));
  return numbers;
}

// Layout --------------------------------------------------------------------------------

TEST(Packet, EveryFieldLiesWhereTheDocumentSaysLowestByteFirst) {
  Header header;
  header.set_type(PacketType::kNak);
  header.flags = 0x81;
  header.job = 0x0302;
  header.round = 0x07060504;
  header.chunk = 0x0b0a0908;
  header.sequence = 0x0f0e0d0c;
  header.mask = 0x1716151413121110;
  header.weight = 0x1b1a1918;
  header.set_content(Element::kBf16, Operation::kWeightedSum, -2);
  header.set_meeting(0xd, 0xcba);
  EXPECT_THAT(
      first_bytes(header),
      ::testing::ElementsAre(0x15, 0x81, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b,
                             0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17,
                             0x18, 0x19, 0x1a, 0x1b, 0x22, 0xfe, 0xba, 0xdc));
}

TEST(Packet, TwentyTwoBeatsFillAnMtuOf1476AndAHundredThirtyEightFitOneOf9000) {
  constexpr std::size_t ip_and_udp = 28;
  EXPECT_EQ(packet_bytes(22 * kBeatBytes) + ip_and_udp, 1476u);
  EXPECT_LE(packet_bytes(138 * kBeatBytes) + ip_and_udp, 9000u);
}

TEST(Packet, TheHeaderIsCompleteInTheSecondBeatOfAnEthernetFrame) {
  constexpr std::size_t ethernet_ip_udp = 14 + 20 + 8;
  EXPECT_LE(ethernet_ip_udp + kHeaderBytes, 2 * kBeatBytes);
}

TEST(Packet, TheExponentIsSigned) {
  Header header;
  for (const int exponent : {-128, -20, 0, 127}) {
    header.set_content(Element::kI32, Operation::kSum, exponent);
    EXPECT_EQ(header.exponent(), exponent);
    EXPECT_EQ(header.element(), Element::kI32);
  }
}

TEST(Packet, EpochsCountModuloSixteen) {
  Header header;
  header.set_meeting(17, 4095);
  EXPECT_EQ(header.epoch(), 1);
  EXPECT_EQ(header.clique(), 4095);
}

TEST(Packet, OnlyThreeTypesCarrySums) {
  std::vector<std::string> names;
  for (int type = int(PacketType::kData); type <= int(PacketType::kControl); ++type)
    if (carries_sum(PacketType(type))) names.emplace_back(name_of(PacketType(type)));
  EXPECT_THAT(names, ::testing::ElementsAre("DATA", "PARTIAL", "RESULT"));
}

TEST(Packet, UnknownTypesAndElementsHaveAName) {
  EXPECT_STREQ(name_of(PacketType(0)), "unknown");
  EXPECT_STREQ(name_of(Element(9)), "unknown");
  EXPECT_STREQ(name_of(Element::kF32), "f32");
}

// What is read back ---------------------------------------------------------------------

RC_GTEST_PROP(Packet, WhatIsWrittenIsReadBack, ()) {
  Header header;
  header.set_type(PacketType(*rc::gen::inRange(1, 11)));
  header.flags = *rc::gen::arbitrary<std::uint8_t>();
  header.job = *rc::gen::arbitrary<std::uint16_t>();
  header.round = *rc::gen::arbitrary<std::uint32_t>();
  header.chunk = *rc::gen::arbitrary<std::uint32_t>();
  header.sequence = *rc::gen::arbitrary<std::uint32_t>();
  header.mask = *rc::gen::arbitrary<std::uint64_t>();
  header.weight = *rc::gen::arbitrary<std::uint32_t>();
  const int exponent = *rc::gen::inRange(-128, 128);
  const int epoch = *rc::gen::inRange(0, kEpochs), clique = *rc::gen::inRange(0, kCliquesMax);
  header.set_content(Element(*rc::gen::inRange(1, 4)), Operation(*rc::gen::inRange(1, 3)),
                     exponent);
  header.set_meeting(epoch, clique);
  Octets bytes(packet_bytes(*rc::gen::inRange<std::size_t>(0, 4) * kBeatBytes));
  write_header(header, bytes);
  const auto read = read_header(bytes);
  RC_ASSERT(read.has_value());
  RC_ASSERT(first_bytes(*read) == first_bytes(header));
  RC_ASSERT(read->version() == kProtocolVersion && read->type() == header.type());
  RC_ASSERT(read->exponent() == exponent && read->epoch() == epoch && read->clique() == clique);
}

TEST(Packet, APayloadLiesBetweenHeaderAndTrailer) {
  Octets bytes = packet_of(0x11, 2 * kBeatBytes);
  EXPECT_EQ(payload_of(ByteView(bytes)).data(), bytes.data() + 32);
  EXPECT_EQ(payload_of(ByteSpan(bytes)).size(), 128u);
  EXPECT_TRUE(payload_of(ByteView(bytes).first(packet_bytes(0))).empty());
}

// What is refused -----------------------------------------------------------------------

TEST(Packet, OnlyWholeBeatsBetweenHeaderAndTrailerAreRead) {
  const Octets bytes = packet_of(0x11, 3 * kBeatBytes);
  const std::set<std::size_t> whole = {40, 104, 168, 232};
  for (std::size_t size = 0; size <= bytes.size(); ++size)
    EXPECT_EQ(read_header(ByteView(bytes).first(size)).has_value(), whole.contains(size)) << size;
}

TEST(Packet, TheLargestIsReadAndNothingLarger) {
  EXPECT_TRUE(read_header(packet_of(0x11, kBeatsMax * kBeatBytes)).has_value());
  EXPECT_FALSE(read_header(packet_of(0x11, (kBeatsMax + 1) * kBeatBytes)).has_value());
}

TEST(Packet, OnlyVersionOneAndTenTypesAreRead) {
  for (int first = 0; first < 256; ++first) {
    const bool known = first / 16 == 1 && first % 16 >= 1 && first % 16 <= 10;
    EXPECT_EQ(read_header(packet_of(std::uint8_t(first))).has_value(), known) << first;
  }
}

TEST(PacketDeathTest, AHeaderNeedsRoom) {
  Octets bytes(kHeaderBytes - 1);
  EXPECT_DEATH(write_header(Header(), bytes), "internal error");
}

// Golden packets ------------------------------------------------------------------------

constexpr const char* kDocument = COTILLION_SOURCE_DIR "/docs/understand/protocol.md";
constexpr const char* kFence = "```golden";

std::string hex_of(ByteView bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", int(byte));
  return text;
}

// Bytes in groups, as many lines as `columns` of bytes ask for.
std::string hex_lines(ByteView bytes, std::vector<std::size_t> groups, std::size_t columns) {
  std::string text;
  std::size_t at = 0, group = 0, column = 0;
  while (at < bytes.size()) {
    const std::size_t size = groups[group++ % groups.size()];
    text += (column == 0 ? "  " : " ") + hex_of(bytes.subspan(at, size));
    at += size;
    column += size;
    if (column == columns || at == bytes.size()) text += '\n', column = 0;
  }
  return text;
}

// The header by its fields, the payload by fours, the trailer as a tag or as two words.
std::string printed(const Octets& bytes) {
  const ByteView view = bytes;
  const bool tagged = read_header(view)->has(flag::kMac);
  return hex_lines(view.first(kHeaderBytes), {1, 1, 2, 4, 4, 4, 8, 4, 1, 1, 2}, kHeaderBytes) +
         hex_lines(payload_of(view), {4}, 32) +
         hex_lines(view.last(kTrailerBytes), {tagged ? 8u : 4u}, kTrailerBytes);
}

std::string document() {
  std::ifstream file(kDocument, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Calls on_line(line, inside a golden block?) for every line.
template <class OnLine>
void read_lines(const std::string& text, OnLine on_line) {
  std::istringstream stream(text);
  bool inside = false;
  for (std::string line; std::getline(stream, line);) {
    if (inside && line.starts_with("```")) inside = false;
    on_line(line, inside);
    if (line == kFence) inside = true;
  }
}

std::string name_in(const std::string& line) {
  return line.substr(0, line.find(':'));
}

// Names with their bytes in hex, without spaces.
std::vector<std::pair<std::string, std::string>> packets_in(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> packets;
  read_lines(text, [&](const std::string& line, bool inside) {
    if (!inside || line.empty()) return;
    if (line[0] != ' ') {
      packets.emplace_back(name_in(line), "");
      return;
    }
    ASSERT_FALSE(packets.empty()) << "bytes before the first name: " << line;
    for (const char c : line)
      if (c != ' ') packets.back().second += c;
  });
  return packets;
}

// The document with the bytes behind every name as the encoder writes them.
std::string blessed(const std::string& text) {
  std::map<std::string, std::string, std::less<>> hex;
  for (const GoldenPacket& packet : golden_packets())
    hex.emplace(packet.name, printed(packet.bytes));
  std::string result;
  read_lines(text, [&](const std::string& line, bool inside) {
    if (inside && line.starts_with(' ')) return;
    result += line + '\n';
    if (inside) result += hex[name_in(line)];
  });
  return result;
}

TEST(GoldenPackets, TheDocumentPrintsEachOfThemByteForByte) {
  const std::string text = document();
  if (std::getenv("COTILLION_BLESS") != nullptr)
    std::ofstream(kDocument, std::ios::binary) << blessed(text);
  std::vector<std::pair<std::string, std::string>> expected;
  for (const GoldenPacket& packet : golden_packets())
    expected.emplace_back(packet.name, hex_of(packet.bytes));
  EXPECT_EQ(packets_in(document()), expected)
      << "COTILLION_BLESS=1 rewrites the bytes in docs/understand/protocol.md; "
         "names are added by hand";
}

TEST(GoldenPackets, EveryTypeFlagElementAndOperationIsAmongThem) {
  std::set<int> types, elements, operations;
  int flags = 0;
  for (const GoldenPacket& packet : golden_packets()) {
    const auto header = read_header(packet.bytes);
    ASSERT_TRUE(header.has_value()) << packet.name;
    types.insert(int(header->type()));
    elements.insert(int(header->element()));
    operations.insert(int(header->operation()));
    flags |= header->flags;
  }
  EXPECT_EQ(types.size(), 10u);
  EXPECT_EQ(elements, (std::set<int>{0, 1, 2, 3})) << "0: no sum";
  EXPECT_EQ(operations, (std::set<int>{0, 1, 2}));
  EXPECT_EQ(flags, 0xff);
}

TEST(GoldenPackets, EachIsSealedAsTheDocumentSays) {
  for (const GoldenPacket& packet : golden_packets()) {
    const bool tagged = read_header(packet.bytes)->has(flag::kMac);
    Seal seal = tagged ? Seal(kGoldenSecret, 1, kGoldenSource) : Seal();
    seal.set_boot(kGoldenBoot);
    EXPECT_TRUE(seal.holds(packet.bytes)) << packet.name;
  }
}

// What the rest of the room writes these with, from the fields of the packet alone.
TEST(GoldenPackets, RequestsAndAnnouncementsAreWrittenAsPrinted) {
  Seal seal;
  seal.set_boot(kGoldenBoot);
  for (const char* name : {"repair", "nak", "gone"}) {
    const GoldenPacket packet = golden_packet(name);
    RequestWriter writer(1);
    for_each_requested(*read_header(packet.bytes), payload_of(ByteView(packet.bytes)),
                       [&](std::uint32_t number) { EXPECT_TRUE(writer.add(number)); });
    const ByteSpan written = writer.packet(*read_header(packet.bytes));
    seal.close(written);
    EXPECT_EQ(hex_of(written), hex_of(packet.bytes)) << name;
  }
  for (const char* name : {"end", "heartbeat", "ack"}) {
    const GoldenPacket packet = golden_packet(name);
    Announcement room;
    EXPECT_EQ(hex_of(write_announcement(room, *read_header(packet.bytes), seal)),
              hex_of(packet.bytes));
  }
}

TEST(GoldenPackets, AResendRepeatsAllBytesButOneBit) {
  Octets resent = golden_packet("data-mac-resent").bytes;
  ASSERT_TRUE(read_header(resent)->has(flag::kResent));
  resent[1] ^= std::byte(flag::kResent);
  EXPECT_EQ(hex_of(resent), hex_of(golden_packet("data-mac").bytes));
}

TEST(GoldenPacketsDeathTest, ANameThatIsNotThereEndsTheProgram) {
  EXPECT_DEATH((void)golden_packet("data-f64"), "internal error");
}

}  // namespace
}  // namespace cotillion
