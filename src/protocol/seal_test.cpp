// The seal against references of its own: a CRC computed bit by bit, and GMAC through another
// door of OpenSSL with the nonce and the key written down as docs/understand/protocol.md has them.
//
// Why no nonce is ever used twice with different bytes: the reference shows that the nonce is
// (type, chunk, round, sequence) and nothing else, side by side, so packets of one key share a
// nonce only if they agree in all four. Sums of one source then differ in round (never reused
// within a job) or in sequence (counted by hop within it); other packets differ in sequence, which
// counts those of their type from boot on and does not start again with an epoch. Whatever counts
// for itself (an island's sender, its receiver, an edge towards one island) is a source of its own.
// Another boot has another key, and a resend repeats its bytes.
#include "protocol/seal.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "protocol/golden_packets.hpp"

namespace cotillion {
namespace {

using Octets = std::vector<std::byte>;
constexpr BootId kBoot = 0x1122'3344'5566'7788;
constexpr Key kSecret = {7, 7, 7};

Octets bytes_of(std::string_view text) {
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

std::string hex_of(ByteView bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", int(byte));
  return text;
}

Octets packet_of(PacketType type = PacketType::kData, std::size_t beats = 1, int epoch = 2) {
  Header header;
  header.set_type(type);
  header.job = 1;
  header.round = 7;
  header.chunk = 42;
  header.sequence = 9;
  header.set_meeting(epoch, 5);
  Octets bytes(packet_bytes(beats * kBeatBytes));
  write_header(header, bytes);
  for (std::size_t i = 0; i < beats * kBeatBytes; ++i) bytes[kHeaderBytes + i] = std::byte(i);
  return bytes;
}

Seal plain(BootId boot = kBoot) {
  Seal seal;
  seal.set_boot(boot);
  return seal;
}

Seal tagging(BootId boot = kBoot, const Key& secret = kSecret, JobId job = 1,
             SourceName source = 3) {
  Seal seal(secret, job, source);
  seal.set_boot(boot);
  return seal;
}

Octets closed(Octets packet, Seal seal) {
  seal.close(packet);
  return packet;
}

// References ----------------------------------------------------------------------------

std::uint32_t crc32c_bit_by_bit(ByteView bytes) {
  std::uint32_t state = ~0u;
  for (const std::byte byte : bytes) {
    state ^= std::uint32_t(byte);
    for (int bit = 0; bit < 8; ++bit) state = state >> 1 ^ (state & 1 ? 0x82f63b78u : 0);
  }
  return ~state;
}

Octets without_resent(ByteView packet) {
  Octets bytes(packet.begin(), packet.end());
  bytes[1] &= std::byte(0xfe);
  return bytes;
}

Octets expected_check_sum(ByteView packet, BootId boot) {
  Octets covered = without_resent(packet.first(packet.size() - kTrailerBytes));
  Octets nonce;
  for (int i = 0; i < 4; ++i) nonce.push_back(std::byte(boot >> (8 * i)));
  for (const std::byte byte : nonce) covered.push_back(byte);
  const std::uint32_t sum = crc32c_bit_by_bit(covered);
  Octets trailer;
  for (int i = 0; i < 4; ++i) trailer.push_back(std::byte(sum >> (8 * i)));
  for (const std::byte byte : nonce) trailer.push_back(byte);
  return trailer;
}

Octets mac(const char* algorithm, const char* kind, std::string choice, Octets key, Octets nonce,
           ByteView message) {
  EVP_MAC* method = EVP_MAC_fetch(nullptr, algorithm, nullptr);
  EVP_MAC_CTX* context = EVP_MAC_CTX_new(method);
  std::vector<OSSL_PARAM> settings{OSSL_PARAM_construct_utf8_string(kind, choice.data(), 0)};
  if (!nonce.empty())
    settings.push_back(
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_IV, nonce.data(), nonce.size()));
  settings.push_back(OSSL_PARAM_construct_end());
  const auto* data = reinterpret_cast<const unsigned char*>(message.data());
  Octets result(EVP_MAX_MD_SIZE);
  std::size_t length = 0;
  EXPECT_EQ(EVP_MAC_init(context, reinterpret_cast<const unsigned char*>(key.data()), key.size(),
                         settings.data()),
            1);
  EXPECT_EQ(EVP_MAC_update(context, data, message.size()), 1);
  EXPECT_EQ(EVP_MAC_final(context, reinterpret_cast<unsigned char*>(result.data()), &length,
                          result.size()),
            1);
  EVP_MAC_CTX_free(context);
  EVP_MAC_free(method);
  result.resize(length);
  return result;
}

Octets little(std::uint64_t value, int bytes) {
  Octets result;
  for (int i = 0; i < bytes; ++i) result.push_back(std::byte(value >> (8 * i)));
  return result;
}

Octets joined(std::initializer_list<Octets> parts) {
  Octets all;
  for (const Octets& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Octets key_reference(const Key& secret, JobId job, int epoch, SourceName source, BootId boot) {
  const auto* data = reinterpret_cast<const std::byte*>(secret.data());
  const Octets label =
      joined({bytes_of({"cotillion-seal\0\0", 16}), little(job, 2), little(std::uint64_t(epoch), 1),
              little(source, 4), little(boot, 8)});
  Octets key =
      mac("HMAC", OSSL_MAC_PARAM_DIGEST, "SHA256", {data, data + secret.size()}, {}, label);
  key.resize(16);
  return key;
}

Octets expected_tag(ByteView packet, BootId boot) {
  const Header header = *read_header(packet);
  const std::uint64_t type_chunk = std::uint64_t(header.type()) << 28 | (header.chunk & 0xfffffff);
  const Octets nonce =
      joined({little(type_chunk, 4), little(header.round, 4), little(header.sequence, 4)});
  const Octets key = key_reference(kSecret, 1, header.epoch(), 3, boot);
  const Octets covered = without_resent(packet.first(packet.size() - kTrailerBytes));
  Octets tag = mac("GMAC", OSSL_MAC_PARAM_CIPHER, "AES-128-GCM", key, nonce, covered);
  tag.resize(kTrailerBytes);
  return tag;
}

Octets any_packet() {
  Header header;
  header.set_type(PacketType(*rc::gen::inRange(1, 11)));
  header.flags = *rc::gen::arbitrary<std::uint8_t>();
  header.job = 1;
  header.round = *rc::gen::arbitrary<std::uint32_t>();
  header.chunk = *rc::gen::arbitrary<std::uint32_t>();
  header.sequence = *rc::gen::arbitrary<std::uint32_t>();
  header.set_meeting(*rc::gen::inRange(0, kEpochs), 5);
  const auto beats = *rc::gen::inRange<std::size_t>(0, 4);
  const auto seed = *rc::gen::arbitrary<std::uint8_t>();
  Octets bytes(packet_bytes(beats * kBeatBytes));
  write_header(header, bytes);
  for (std::size_t i = 0; i < beats * kBeatBytes; ++i)
    bytes[kHeaderBytes + i] = std::byte(seed + 31 * i);
  return bytes;
}

// Check sums ----------------------------------------------------------------------------

TEST(Seal, TheReferenceKnowsTheAnswerThatCrc32cIsKnownBy) {
  EXPECT_EQ(crc32c_bit_by_bit(bytes_of("123456789")), 0xe3069283u);
}

RC_GTEST_PROP(Seal, WithoutASecretTheTrailerIsCrc32cAndTheLowHalfOfTheBootId, ()) {
  const BootId boot = *rc::gen::arbitrary<BootId>();
  const Octets packet = closed(any_packet(), plain(boot));
  RC_ASSERT(hex_of(ByteView(packet).last(kTrailerBytes)) ==
            hex_of(expected_check_sum(packet, boot)));
  RC_ASSERT(plain(boot).holds(packet));
}

TEST(Seal, ACheckSumOfAnotherBootDoesNotHold) {
  const Octets packet = closed(packet_of(), plain());
  EXPECT_TRUE(plain().holds(packet));
  EXPECT_FALSE(plain(kBoot + 1).holds(packet));
}

// The nonce of a check sum has 32 bits, and a boot id 64: the documents say who is kept out.
TEST(Seal, ACheckSumSeesOnlyTheLowHalfOfTheBootId) {
  EXPECT_TRUE(plain(kBoot + (BootId(1) << 32)).holds(closed(packet_of(), plain())));
}

// Tags ----------------------------------------------------------------------------------

TEST(Seal, TheKeyIsTheFirstHalfOfAnHmacOverALabel) {
  const Key key = derive_key(kGoldenSecret, 1, 2, kGoldenSource, kGoldenBoot);
  const Octets expected = key_reference(kGoldenSecret, 1, 2, kGoldenSource, kGoldenBoot);
  EXPECT_EQ(hex_of(std::as_bytes(std::span(key))), hex_of(expected));
  EXPECT_EQ(hex_of(expected), "811305a73d2f2f1a88a2585328e44a7b");  // as `openssl mac` has it
}

RC_GTEST_PROP(Seal, WithASecretTheTrailerIsGmacUnderTypeChunkRoundAndSequence, ()) {
  const BootId boot = *rc::gen::arbitrary<BootId>();
  const Octets packet = closed(any_packet(), tagging(boot));
  RC_ASSERT(hex_of(ByteView(packet).last(kTrailerBytes)) == hex_of(expected_tag(packet, boot)));
  RC_ASSERT(tagging(boot).holds(packet));
}

TEST(Seal, ATagOfAnotherSourceJobSecretOrBootDoesNotHold) {
  const Octets packet = closed(packet_of(), tagging());
  EXPECT_TRUE(tagging().holds(packet));
  EXPECT_FALSE(tagging(kBoot, kSecret, 1, 4).holds(packet));
  EXPECT_FALSE(tagging(kBoot, kSecret, 2, 3).holds(packet));
  EXPECT_FALSE(tagging(kBoot, {7, 7, 8}).holds(packet));
  EXPECT_FALSE(tagging(kBoot + 1).holds(packet));
  EXPECT_FALSE(tagging(kBoot + (BootId(1) << 32)).holds(packet));
}

TEST(Seal, APacketMovedIntoAnotherEpochDoesNotHold) {
  const Octets packet = closed(packet_of(), tagging());
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    Octets moved = packet;
    Header header = *read_header(moved);
    header.set_meeting(epoch, header.clique());
    write_header(header, moved);
    EXPECT_EQ(tagging().holds(moved), epoch == 2) << epoch;
  }
}

TEST(Seal, TwoEpochsAreAliveAtOnceAndOlderOnesComeBack) {
  Seal seal = tagging();
  std::vector<Octets> packets;
  for (int epoch = 0; epoch < kEpochs; ++epoch)
    packets.push_back(closed(packet_of(PacketType::kData, 1, epoch), tagging()));
  for (int epoch = 0; epoch < 2 * kEpochs; ++epoch) {
    EXPECT_TRUE(seal.holds(packets[std::size_t(epoch) % kEpochs]));
    EXPECT_TRUE(seal.holds(packets[std::size_t(epoch + 1) % kEpochs]));
  }
}

TEST(Seal, ATagDoesNotPassForACheckSumNorTheOtherWayRound) {
  EXPECT_FALSE(plain().holds(closed(packet_of(), tagging())));
  EXPECT_FALSE(tagging().holds(closed(packet_of(), plain())));
}

// Nor when it is made to fit the flag that lies.
TEST(Seal, TheFlagDecidesWhichOfTheTwoATrailerMustBe) {
  const auto with_trailer = [](Octets packet, const Octets& trailer) {
    std::copy(trailer.begin(), trailer.end(), packet.end() - kTrailerBytes);
    return packet;
  };
  Octets flagged = packet_of();
  flagged[1] |= std::byte(flag::kMac);
  EXPECT_FALSE(plain().holds(with_trailer(flagged, expected_check_sum(flagged, kBoot))));
  EXPECT_TRUE(tagging().holds(with_trailer(flagged, expected_tag(flagged, kBoot))));
  const Octets bare = packet_of();
  EXPECT_FALSE(tagging().holds(with_trailer(bare, expected_tag(bare, kBoot))));
  EXPECT_TRUE(plain().holds(with_trailer(bare, expected_check_sum(bare, kBoot))));
}

TEST(Seal, ClosingSetsAndClearsTheFlagOfATag) {
  Octets packet = closed(packet_of(), tagging());
  EXPECT_TRUE(read_header(packet)->has(flag::kMac));
  packet = closed(packet, plain());
  EXPECT_FALSE(read_header(packet)->has(flag::kMac));
  EXPECT_TRUE(plain().holds(packet));
}

// Any bit -------------------------------------------------------------------------------

void expect_only_resent_may_change(Octets packet, Seal seal) {
  seal.close(packet);
  for (std::size_t bit = 0; bit < 8 * packet.size(); ++bit) {
    Octets flipped = packet;
    flipped[bit / 8] ^= std::byte(1u << (bit % 8));
    EXPECT_EQ(seal.holds(flipped), bit == 8) << "bit " << bit % 8 << " of byte " << bit / 8;
  }
}

TEST(Seal, EverySingleBitButResentBreaksACheckSum) {
  expect_only_resent_may_change(packet_of(), plain());
  expect_only_resent_may_change(packet_of(PacketType::kEnd, 0), plain());
}

TEST(Seal, EverySingleBitButResentBreaksATag) {
  expect_only_resent_may_change(packet_of(), tagging());
  expect_only_resent_may_change(packet_of(PacketType::kEnd, 0), tagging());
}

TEST(Seal, AResendHoldsWhicheverOfTheTwoWasSealed) {
  for (const bool with_secret : {false, true}) {
    Octets packet = packet_of();
    packet[1] |= std::byte(flag::kResent);
    Seal seal = with_secret ? tagging() : plain();
    seal.close(packet);
    packet[1] ^= std::byte(flag::kResent);
    EXPECT_TRUE(seal.holds(packet));
  }
}

// Boots ---------------------------------------------------------------------------------

TEST(Seal, ANewerBootIsAdoptedFromAHeartbeatSealedUnderIt) {
  for (const bool with_secret : {false, true}) {
    Seal seal = with_secret ? tagging() : plain();
    const Octets before = closed(packet_of(), with_secret ? tagging() : plain());
    const Octets heartbeat = closed(packet_of(PacketType::kHeartbeat),
                                    with_secret ? tagging(kBoot + 9) : plain(kBoot + 9));
    EXPECT_FALSE(seal.holds(heartbeat));
    EXPECT_TRUE(seal.adopt(heartbeat, kBoot + 9));
    EXPECT_EQ(seal.boot(), kBoot + 9);
    EXPECT_TRUE(seal.holds(heartbeat));
    EXPECT_FALSE(seal.holds(before)) << "a packet of the boot before";
  }
}

TEST(Seal, TheFirstBootIsNewerThanNone) {
  Seal seal = tagging(0);
  EXPECT_TRUE(seal.adopt(closed(packet_of(PacketType::kHeartbeat), tagging(1)), 1));
}

TEST(Seal, AnEqualOrOlderBootIsNotAdopted) {
  for (const BootId boot : {kBoot, kBoot - 1}) {
    Seal seal = tagging();
    EXPECT_FALSE(seal.adopt(closed(packet_of(PacketType::kHeartbeat), tagging(boot)), boot));
    EXPECT_EQ(seal.boot(), kBoot);
  }
}

TEST(Seal, ABootThatTheHeartbeatIsNotSealedUnderChangesNothing) {
  Seal seal = tagging();
  const Octets packet = closed(packet_of(), tagging());
  const Octets forged = closed(packet_of(PacketType::kHeartbeat), tagging(kBoot + 9, {1, 2, 3}));
  EXPECT_FALSE(seal.adopt(forged, kBoot + 9));
  const Octets mistaken = closed(packet_of(PacketType::kHeartbeat), tagging(kBoot + 9));
  EXPECT_FALSE(seal.adopt(mistaken, kBoot + 10));
  EXPECT_EQ(seal.boot(), kBoot);
  EXPECT_TRUE(seal.holds(packet));
}

TEST(Seal, MovesWithItsKeys) {
  Seal first = tagging();
  Seal second = std::move(first);
  EXPECT_TRUE(second.authenticated());
  EXPECT_TRUE(second.holds(closed(packet_of(), tagging())));
}

}  // namespace
}  // namespace cotillion
