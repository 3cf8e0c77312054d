// A capture is checked here byte by byte; that Wireshark agrees is for tests/dissector.
#include "protocol/capture.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace cotillion {
namespace {

constexpr std::size_t kFileHeader = 24;
constexpr std::size_t kRecordHeader = 16;

std::size_t little32(std::string_view text, std::size_t at) {
  std::size_t value = 0;
  for (std::size_t i = 4; i-- > 0;) value = value << 8 | std::uint8_t(text[at + i]);
  return value;
}

std::size_t big16(std::string_view text, std::size_t at) {
  return std::size_t(std::uint8_t(text[at])) << 8 | std::uint8_t(text[at + 1]);
}

// As a receiver checks it: all words, the sum itself included, add up to ones.
std::size_t sum_of_words(std::string text) {
  if (text.size() % 2 != 0) text += '\0';
  std::size_t sum = 0;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    sum += big16(text, i);
    sum = (sum & 0xffff) + (sum >> 16);
  }
  return sum;
}

std::string udp_with_pseudo_header(const std::string& datagram) {
  std::string text = datagram.substr(12, 8) + std::string("\0\x11", 2);
  const std::size_t length = datagram.size() - 20;
  text += {char(length >> 8), char(length & 0xff)};
  return text + datagram.substr(20);
}

std::string record_of(Instant when, const std::vector<std::byte>& packet) {
  std::string file;
  append_to_capture(file, when, island_address(3), group_address(3, 5), packet);
  return file;
}

TEST(Capture, BeginsWithTheMagicOfNanosecondsAndRawIp) {
  std::string file;
  begin_capture(file);
  ASSERT_EQ(file.size(), kFileHeader);
  EXPECT_EQ(little32(file, 0), 0xa1b23c4du);
  EXPECT_EQ(little32(file, 4), 0x00040002u);
  EXPECT_EQ(little32(file, 8), 0u);
  EXPECT_EQ(little32(file, 12), 0u);
  EXPECT_EQ(little32(file, 16), 65'535u);
  EXPECT_EQ(little32(file, 20), 101u);
}

TEST(Capture, TimesAreRoundedDownToNanoseconds) {
  const std::string record = record_of({3'000'000'000'999}, {});
  EXPECT_EQ(little32(record, 0), 3u);
  EXPECT_EQ(little32(record, 4), 0u);
  const std::string later = record_of({3'999'999'999'999}, {});
  EXPECT_EQ(little32(later, 0), 3u);
  EXPECT_EQ(little32(later, 4), 999'999'999u);
  EXPECT_EQ(little32(record_of(kNever, {}), 0), 9'223'372u);
}

TEST(Capture, ADatagramSaysWhoSentItToWhichGroup) {
  const std::string record = record_of({}, std::vector<std::byte>(packet_bytes(64)));
  const std::string datagram = record.substr(kRecordHeader);
  EXPECT_EQ(datagram.size(), 20u + 8 + 104);
  EXPECT_EQ(little32(record, 8), datagram.size());
  EXPECT_EQ(little32(record, 12), datagram.size());
  EXPECT_EQ(datagram[0], 0x45);
  EXPECT_EQ(big16(datagram, 2), datagram.size());
  EXPECT_EQ(datagram[9], 17);
  EXPECT_EQ(datagram.substr(12, 4), std::string({10, 0, 0, 3}));
  EXPECT_EQ(datagram.substr(16, 4), std::string({char(239), 0, 0x30, 5}));
  EXPECT_EQ(big16(datagram, 20), kUdpPort);
  EXPECT_EQ(big16(datagram, 22), kUdpPort);
  EXPECT_EQ(big16(datagram, 24), 8u + 104);
}

TEST(Capture, AnyPacketFollowsItsHeadersUnchanged) {
  std::vector<std::byte> packet(kPacketBytesMax);
  for (std::size_t i = 0; i < packet.size(); ++i) packet[i] = std::byte(i * 7);
  const std::string record = record_of({}, packet);
  ASSERT_EQ(record.size(), kRecordHeader + 28 + packet.size());
  EXPECT_EQ(record.substr(kRecordHeader + 28),
            std::string(reinterpret_cast<const char*>(packet.data()), packet.size()));
}

TEST(Capture, RecordsFollowOneAnother) {
  std::string file;
  begin_capture(file);
  const std::vector<std::byte> packet(packet_bytes(0));
  append_to_capture(file, {}, edge_address(258), island_address(258), packet);
  append_to_capture(file, {}, edge_address(258), island_address(258), packet);
  EXPECT_EQ(file.size(), kFileHeader + 2 * (kRecordHeader + 28 + packet.size()));
  EXPECT_EQ(file.substr(kFileHeader + kRecordHeader + 12, 8),
            std::string({10, 1, 1, 2, 10, 0, 1, 2}));
}

TEST(Capture, GroupsOfDifferentSendersAndCliquesDiffer) {
  EXPECT_EQ(group_address(0, 0), 0xef000000u);
  EXPECT_EQ(group_address(4095, 4095), 0xefffffffu);
  EXPECT_NE(group_address(1, 0), group_address(0, 1));
}

// A receiver would take a sum of 0 for "not computed"; that these bytes sum up to it is made sure
// by putting what is missing into the packet.
TEST(Capture, ACheckSumOfZeroIsWrittenAsOnes) {
  std::vector<std::byte> packet(2);
  const std::string plain = record_of({}, packet).substr(kRecordHeader);
  const std::size_t sum = big16(plain, 26);
  packet = {std::byte(sum >> 8), std::byte(sum & 0xff)};
  EXPECT_EQ(big16(record_of({}, packet).substr(kRecordHeader), 26), 0xffffu);
}

RC_GTEST_PROP(Capture, CheckSumsHold, (const std::vector<std::uint8_t>& bytes)) {
  std::vector<std::byte> packet;
  for (const std::uint8_t byte : bytes) packet.push_back(std::byte(byte));
  const std::string datagram = record_of({}, packet).substr(kRecordHeader);
  RC_ASSERT(sum_of_words(datagram.substr(0, 20)) == 0xffffu);
  RC_ASSERT(sum_of_words(udp_with_pseudo_header(datagram)) == 0xffffu);
}

TEST(CaptureDeathTest, MoreThanADatagramEndsTheProgram) {
  EXPECT_DEATH(record_of({}, std::vector<std::byte>(65'508)), "internal error");
}

TEST(CaptureDeathTest, ATimeBeforeTheClockStartsEndsTheProgram) {
  EXPECT_DEATH(record_of({-1}, {}), "internal error");
}

}  // namespace
}  // namespace cotillion
