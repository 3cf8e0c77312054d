// Wireshark shows what packet.hpp says: every field of the golden packets, as tshark prints it,
// against the header that read_header finds in the same bytes; and packets that read_header
// refuses are refused there too, without an error in the script.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "base/random.hpp"
#include "protocol/capture.hpp"
#include "protocol/golden_packets.hpp"
#include "tests/dissector/tshark.hpp"

namespace cotillion {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Row;
using testing::tshark;
using testing::tshark_fields;
using Packet = std::vector<std::byte>;
using Packets = std::vector<Packet>;

class Dissector : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::tshark_is_installed()) GTEST_SKIP() << "tshark is not installed";
  }
};

std::string capture_of(const Packets& packets) {
  std::string file;
  begin_capture(file);
  for (std::size_t i = 0; i < packets.size(); ++i)
    append_to_capture(file, {std::int64_t(i) * 1'000'000'123'456}, island_address(3),
                      group_address(3, 5), packets[i]);
  return file;
}

Packets golden() {
  Packets packets;
  for (GoldenPacket& packet : golden_packets()) packets.push_back(std::move(packet.bytes));
  return packets;
}

std::string hex_of(ByteView bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", int(byte));
  return text;
}

// What is expected, computed without help of the script. ---------------------------------

const std::vector<std::pair<std::string, std::uint8_t>> kFlags = {
    {"resent", flag::kResent},       {"zero", flag::kZero},
    {"clamped", flag::kClamped},     {"nan_dropped", flag::kNanDropped},
    {"congested", flag::kCongested}, {"late", flag::kLate},
    {"grid", flag::kGrid},           {"mac", flag::kMac},
};

// Numbers of the bits that are set, from `first` on.
std::string bits_of(ByteView bytes, std::uint32_t first) {
  std::string text;
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit)
    if ((bytes[bit / 8] >> (bit % 8) & std::byte(1)) != std::byte(0))
      text += fmt::format("{}{}", text.empty() ? "" : ",", first + std::uint32_t(bit));
  return text;
}

std::uint64_t little(ByteView bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | std::uint64_t(bytes[i]);
  return value;
}

void expect_payload(Row& row, const Header& header, ByteView payload) {
  if (payload.empty()) return;
  row["cotillion.payload"] = hex_of(payload);
  const PacketType type = header.type();
  if (carries_sum(type))
    row["cotillion.elements"] =
        std::to_string(payload.size() / (header.element() == Element::kBf16 ? 2 : 4));
  if (type == PacketType::kRepair || type == PacketType::kNak || type == PacketType::kGone)
    row["cotillion.requested"] = bits_of(payload, header.chunk);
  if (type == PacketType::kHeartbeat)
    row["cotillion.boot"] = fmt::format("{:#018x}", little(payload.first(8)));
  if (type == PacketType::kControl) {
    row["cotillion.grid.chunk"] = "0,1024";
    row["cotillion.grid.exponent"] = "-20,-18";
  }
}

Row expected_row(const Packet& packet) {
  const Header header = *read_header(packet);
  Row row;
  row["cotillion.version"] = std::to_string(header.version());
  row["cotillion.type"] = std::to_string(int(header.type()));
  row["cotillion.flags"] = fmt::format("{:#04x}", header.flags);
  for (const auto& [name, bit] : kFlags)
    row["cotillion.flags." + name] = header.has(bit) ? "1" : "0";
  row["cotillion.job"] = std::to_string(header.job);
  row["cotillion.round"] = std::to_string(header.round);
  row["cotillion.chunk"] = std::to_string(header.chunk);
  row["cotillion.sequence"] = std::to_string(header.sequence);
  row["cotillion.mask"] = fmt::format("{:#018x}", std::uint64_t(header.mask));
  row["cotillion.contributor"] = bits_of(ByteView(packet).subspan(16, 8), 0);
  row["cotillion.weight"] = std::to_string(header.weight);
  row["cotillion.element"] = std::to_string(int(header.element()));
  row["cotillion.operation"] = std::to_string(int(header.operation()));
  row["cotillion.exponent"] = std::to_string(header.exponent());
  row["cotillion.epoch"] = std::to_string(header.epoch());
  row["cotillion.clique"] = std::to_string(header.clique());
  expect_payload(row, header, payload_of(ByteView(packet)));
  const ByteView trailer = ByteView(packet).last(kTrailerBytes);
  if (header.has(flag::kMac)) {
    row["cotillion.tag"] = hex_of(trailer);
  } else {
    row["cotillion.crc"] = fmt::format("{:#010x}", little(trailer.first(4)));
    row["cotillion.crc.good"] = "1";
    row["cotillion.nonce"] = fmt::format("{:#010x}", little(trailer.last(4)));
  }
  return row;
}

const std::string kMessage = "_ws.expert.message";

// Packets as they come ---------------------------------------------------------------------

TEST_F(Dissector, EveryFieldOfEveryGoldenPacketIsShown) {
  // The script's own list, so that a field that nothing here expects is a failure.
  std::vector<std::string> fields = testing::tshark_field_names();
  ASSERT_FALSE(fields.empty()) << "does this tshark run Lua, for this user too?";
  fields.push_back(kMessage);
  const std::vector<GoldenPacket> packets = golden_packets();
  const std::vector<Row> rows = tshark_fields(capture_of(golden()), fields);
  ASSERT_EQ(rows.size(), packets.size());
  std::set<std::string> shown;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Row expected = expected_row(packets[i].bytes);
    for (const auto& entry : expected) shown.insert(entry.first);
    for (const std::string& field : fields) expected.try_emplace(field);
    EXPECT_EQ(rows[i], expected) << packets[i].name;
  }
  shown.insert(kMessage);
  EXPECT_EQ(shown, std::set<std::string>(fields.begin(), fields.end()));
}

TEST_F(Dissector, OneLineSaysWhatAPacketIs) {
  std::istringstream stream(
      tshark(capture_of(golden()), "-o 'gui.column.format:\"Protocol\",\"%p\",\"Info\",\"%i\"'"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  EXPECT_THAT(
      lines, ElementsAre("Cotillion DATA job 1 round 7 chunk 42 seq 1042 from {3}",
                         "Cotillion DATA job 1 round 7 chunk 43 seq 1043 from {3} [ZERO]",
                         "Cotillion DATA job 2 round 7 chunk 42 seq 1042 from {3}",
                         "Cotillion DATA job 3 round 7 chunk 42 seq 1042 from {3} [CLAMPED GRID]",
                         "Cotillion PARTIAL job 1 round 7 chunk 42 seq 500 from {0, 3, 63} "
                         "[NAN_DROPPED CONGESTED]",
                         "Cotillion PARTIAL job 1 round 7 chunk 42 seq 501 from {4} [LATE]",
                         "Cotillion RESULT job 1 round 7 chunk 44 seq 502 from {0-2, 4-7}",
                         "Cotillion REPAIR job 1 round 7 of {3} chunks {42-43, 47, 342}",
                         "Cotillion NAK job 1 round 7 seqs {500, 507-508, 1011}",
                         "Cotillion END job 1 round 7 up to seq 1096",
                         "Cotillion HEARTBEAT job 1 round 7 up to seq 1044 boot 0x0000018f5e2a1b07",
                         "Cotillion ACK job 1 round 7 up to seq 596",
                         "Cotillion GONE job 1 round 7 {507-508}",
                         "Cotillion CONTROL job 3 round 12 grid 2^-20 from chunk 0 on, "
                         "2^-18 from chunk 1024 on",
                         "Cotillion DATA job 1 round 7 chunk 42 seq 1042 from {3} [MAC]",
                         "Cotillion DATA job 1 round 7 chunk 42 seq 1042 from {3} [RESENT MAC]"));
}

TEST_F(Dissector, TheLayersBelowAreSound) {
  const std::vector<Row> rows =
      tshark_fields(capture_of(golden()),
                    {"frame.protocols", "ip.src", "ip.dst", "udp.srcport", "udp.dstport",
                     "frame.time_epoch", "ip.checksum.status", "udp.checksum.status"},
                    "-o ip.check_checksum:TRUE -o udp.check_checksum:TRUE");
  ASSERT_EQ(rows.size(), golden().size());
  for (const Row& row : rows) {
    EXPECT_EQ(row.at("frame.protocols"), "raw:ip:udp:cotillion");
    EXPECT_EQ(row.at("ip.src"), "10.0.0.3");
    EXPECT_EQ(row.at("ip.dst"), "239.0.48.5");
    EXPECT_EQ(row.at("udp.srcport"), std::to_string(kUdpPort));
    EXPECT_EQ(row.at("udp.dstport"), std::to_string(kUdpPort));
    EXPECT_EQ(row.at("ip.checksum.status"), "1");
    EXPECT_EQ(row.at("udp.checksum.status"), "1");
  }
  EXPECT_EQ(rows[1].at("frame.time_epoch"), "1.000000123");
}

TEST_F(Dissector, TheTreeNamesFlagsAndOperands) {
  const std::string text = tshark(capture_of(golden()), "-O cotillion");
  EXPECT_THAT(text, HasSubstr("Flags: 0x18 (NAN_DROPPED CONGESTED)"));
  EXPECT_THAT(text, HasSubstr("Chunk: 500 (first sequence asked for)"));
  EXPECT_THAT(text, HasSubstr("Weight: 1000 (sequence of the round's first packet)"));
  EXPECT_THAT(text, HasSubstr("Element: bf16 (2)"));
  EXPECT_THAT(text, HasSubstr("Operation: weighted sum (2)"));
  EXPECT_THAT(text, HasSubstr("Grid: 2^-18 from chunk 1024 on"));
  EXPECT_THAT(text, Not(HasSubstr("Lua Error")));
}

TEST_F(Dissector, PacketsAreFoundByContributorAndByNumber) {
  const std::string capture = capture_of(golden());
  EXPECT_EQ(tshark(capture, "-Y 'cotillion.contributor == 63' -T fields -e frame.number"), "5\n");
  EXPECT_EQ(tshark(capture, "-Y 'cotillion.requested == 508' -T fields -e frame.number"),
            "9\n13\n");
}

// Check sums -------------------------------------------------------------------------------

TEST_F(Dissector, AFlippedBitIsSeenByTheCheckSumUnlessItIsResent) {
  Packets packets(3, golden_packet("data-f32").bytes);
  packets[0][1] ^= std::byte(flag::kResent);
  packets[1][40] ^= std::byte(1);
  packets[2].back() ^= std::byte(1);
  const std::vector<Row> rows =
      tshark_fields(capture_of(packets), {"cotillion.crc.good", kMessage});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].at("cotillion.crc.good"), "1");
  for (const std::size_t i : {1u, 2u}) {
    EXPECT_EQ(rows[i].at("cotillion.crc.good"), "0");
    EXPECT_THAT(rows[i].at(kMessage), HasSubstr("CRC32C should be 0x"));
  }
}

TEST_F(Dissector, CheckSumsCanBeLeftAlone) {
  const std::vector<Row> rows =
      tshark_fields(capture_of({golden_packet("data-f32").bytes}),
                    {"cotillion.crc", "cotillion.crc.good"}, "-o cotillion.check_crc:FALSE");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_NE(rows[0].at("cotillion.crc"), "");
  EXPECT_EQ(rows[0].at("cotillion.crc.good"), "");
}

// Packets as they should not come ------------------------------------------------------------

// Marked where read_header refuses, and nowhere else; and the script never stumbles.
void expect_refused_alike(const Packets& packets) {
  const std::vector<Row> rows =
      tshark_fields(capture_of(packets), {"frame.protocols", "cotillion.malformed", kMessage});
  ASSERT_EQ(rows.size(), packets.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string hex =
        hex_of(ByteView(packets[i]).first(std::min<std::size_t>(32, packets[i].size())));
    EXPECT_EQ(rows[i].at("frame.protocols"), "raw:ip:udp:cotillion") << i << " " << hex;
    EXPECT_EQ(rows[i].at("cotillion.malformed").empty(), read_header(packets[i]).has_value())
        << i << " " << hex << " of " << packets[i].size();
    EXPECT_THAT(rows[i].at(kMessage), Not(HasSubstr("Lua"))) << i << " " << hex;
    EXPECT_THAT(rows[i].at(kMessage), Not(HasSubstr("Malformed Packet"))) << i << " " << hex;
  }
}

TEST_F(Dissector, PacketsOfEveryLengthAreRefusedAsTheReaderRefusesThem) {
  Packets packets;
  for (const Packet& packet : golden())
    for (std::size_t length = 1; length <= packet.size(); length += length < 110 ? 1 : 7)
      packets.emplace_back(packet.begin(), packet.begin() + std::ptrdiff_t(length));
  packets.emplace_back(packet_bytes(kBeatsMax * kBeatBytes), std::byte(0x15));
  packets.emplace_back(packet_bytes(kBeatsMax * kBeatBytes), std::byte(0xff));
  packets.back()[0] = std::byte(0x15);  // a NAK for half a million packets
  expect_refused_alike(packets);
}

TEST_F(Dissector, EveryVersionAndTypeIsRefusedAsTheReaderRefusesIt) {
  Packets packets;
  for (int first = 0; first < 256; ++first) {
    packets.push_back(golden_packet("heartbeat").bytes);
    packets.back()[0] = std::byte(first);
  }
  expect_refused_alike(packets);
}

TEST_F(Dissector, NoiseIsRefusedAsTheReaderRefusesIt) {
  Random random(7);
  const auto below = [&](std::int64_t end) { return std::size_t(random.between(0, end - 1)); };
  Packets packets;
  for (int i = 0; i < 2000; ++i) {
    const bool shaped = i % 2 == 0;  // every second one at least looks like a packet
    Packet packet(shaped ? packet_bytes(below(4) * kBeatBytes) : 1 + below(200));
    for (std::byte& byte : packet) byte = std::byte(below(256));
    if (shaped) packet[0] = std::byte(0x10 + 1 + below(10));
    packets.push_back(std::move(packet));
  }
  expect_refused_alike(packets);
}

TEST_F(Dissector, WhatATypeDoesNotAllowIsRemarkedOn) {
  const auto changed = [](const char* name, std::size_t at, int value) {
    Packet packet = golden_packet(name).bytes;
    packet[at] = std::byte(value);
    return packet;
  };
  Packet empty = golden_packet("end").bytes;
  const auto of_type = [&](int type) {
    Packet packet = empty;
    packet[0] = std::byte(0x10 + type);
    return packet;
  };
  const std::vector<std::pair<Packet, std::string>> cases = {
      {changed("data-f32", 2, 0), "Job 0 is reserved"},
      {changed("data-f32", 28, 0xf1), "Unknown element"},
      {changed("data-f32", 16, 0), "A sum of nobody's contributions"},
      {changed("data-f32", 1, flag::kZero), "ZERO with a payload"},
      {changed("data-zero", 1, 0), "A sum without payload"},
      {of_type(5), "A bitmap is missing"},
      {changed("gone", kHeaderBytes, 0), "A bitmap without a bit"},
      {of_type(7), "A heartbeat without boot id"},
      {changed("control", 8, 0), "A change without entries"},
      {changed("control", 8, 9), "More entries than the payload holds"},
      {changed("heartbeat", 0, 0x16), "A payload where none belongs"},
  };
  Packets packets;
  for (const auto& entry : cases) packets.push_back(entry.first);
  const std::vector<Row> rows = tshark_fields(capture_of(packets), {"cotillion.odd", kMessage});
  ASSERT_EQ(rows.size(), cases.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_THAT(rows[i].at(kMessage), HasSubstr(cases[i].second));
    EXPECT_NE(rows[i].at("cotillion.odd"), "") << cases[i].second;
  }
}

// A capture may keep only the first bytes of each packet: what is there is shown. -------------

TEST_F(Dissector, WhatTheCaptureCutOffIsNotCalledMalformed) {
  std::string file;
  begin_capture(file);
  std::vector<std::size_t> kept;
  for (const char* name : {"data-f32", "nak", "heartbeat", "control"})
    for (std::size_t length = 1; length < packet_bytes(kBeatBytes); ++length) {
      std::string record;
      append_to_capture(record, {}, island_address(3), edge_address(3), golden_packet(name).bytes);
      const std::size_t captured = 28 + length;
      record[8] = char(captured);  // the record's length as captured; a byte is enough here
      file += record.substr(0, 16 + captured);
      kept.push_back(length);
    }
  const std::vector<Row> rows =
      tshark_fields(file, {"cotillion.cut", "cotillion.malformed", "cotillion.clique",
                           "cotillion.crc", "cotillion.payload", kMessage});
  ASSERT_EQ(rows.size(), kept.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_NE(rows[i].at("cotillion.cut"), "") << kept[i];
    EXPECT_EQ(rows[i].at("cotillion.malformed"), "") << kept[i];
    EXPECT_EQ(rows[i].at("cotillion.crc"), "");
    EXPECT_EQ(rows[i].at("cotillion.clique"), kept[i] < kHeaderBytes ? "" : "5");
    const std::size_t payload = std::clamp<std::size_t>(kept[i], 32, 96) - 32;
    EXPECT_EQ(rows[i].at("cotillion.payload").size(), 2 * payload);
    EXPECT_THAT(rows[i].at(kMessage), Not(HasSubstr("Lua"))) << kept[i];
  }
}

}  // namespace
}  // namespace cotillion
