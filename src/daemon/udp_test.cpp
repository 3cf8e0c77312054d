// Batches over loopback, the clock and the injector.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "daemon/injector.hpp"
#include "exchange/clock.hpp"
#include "tests/support/daemon/loopback_rig.hpp"

namespace cotillion {
namespace {

using ::testing::HasSubstr;
using testing::kLoopback;

std::vector<std::byte> bytes_of(std::size_t size, int seed) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = std::byte(i * 7 + std::size_t(seed));
  return bytes;
}

// All packets that come, until nothing has come for a while.
std::vector<std::vector<std::byte>> packets_at(const UdpSocket& socket, std::size_t count,
                                               std::size_t* pieces = nullptr) {
  std::vector<std::vector<std::byte>> packets;
  ReceiveBatch batch(4);
  pollfd watched{socket.fd(), POLLIN, 0};
  while (packets.size() < count && poll(&watched, 1, 30'000) > 0) {
    const int came = batch.receive(socket);
    if (pieces != nullptr) *pieces += std::size_t(came);
    for (int i = 0; i < came; ++i)
      for_each_packet(batch[i], {}, [&](ByteView packet, ByteView) {
        packets.emplace_back(packet.begin(), packet.end());
      });
  }
  return packets;
}

TEST(Udp, RunsOfEqualPacketsTravelWholeAndComeApartInOrder) {
  const UdpSocket to = testing::loopback_socket(), from = testing::loopback_socket();
  SendBatch out(from);
  std::vector<std::vector<std::byte>> packets;
  for (int i = 0; i < 100; ++i) packets.push_back(bytes_of(1448, i));
  packets.push_back(bytes_of(40, 1));   // the end of a run may be shorter
  packets.push_back(bytes_of(200, 2));  // longer: a run of its own
  packets.push_back(bytes_of(200, 3));
  packets.push_back(bytes_of(9000, 4));
  for (const auto& packet : packets) out.add(to.local(), packet);
  EXPECT_EQ(out.waiting(), packets.size());
  out.flush();
  EXPECT_EQ(out.waiting(), 0u);
  EXPECT_EQ(out.counts().packets, packets.size());
  EXPECT_EQ(out.counts().dropped, 0u);
  std::size_t pieces = 0;
  EXPECT_EQ(packets_at(to, packets.size(), &pieces), packets);
  EXPECT_LT(pieces, packets.size() / 4);
}

TEST(Udp, MorePacketsThanABatchHoldsAreSentOnTheWay) {
  const UdpSocket to = testing::loopback_socket(), from = testing::loopback_socket();
  SendBatch out(from, 4);
  std::vector<std::vector<std::byte>> packets;
  for (int i = 0; i < 50; ++i) packets.push_back(bytes_of(std::size_t(100 + i % 3), i));
  for (const auto& packet : packets) out.add_copy(to.local(), packet);
  out.flush();
  EXPECT_EQ(packets_at(to, packets.size()), packets);
}

TEST(Udp, PacketsForSeveralPlacesFindTheirWay) {
  const UdpSocket a = testing::loopback_socket(), b = testing::loopback_socket();
  const UdpSocket from = testing::loopback_socket();
  SendBatch out(from);
  for (int i = 0; i < 10; ++i) out.add_copy((i % 2 == 0 ? a : b).local(), bytes_of(64, i));
  out.flush();
  EXPECT_EQ(packets_at(a, 5)[2], bytes_of(64, 4));
  EXPECT_EQ(packets_at(b, 5)[2], bytes_of(64, 5));
}

TEST(Udp, AnEmptyDatagramIsNoPacket) {
  const UdpSocket to = testing::loopback_socket(), from = testing::loopback_socket();
  SendBatch out(from);
  out.add_copy(to.local(), {});
  out.add_copy(to.local(), bytes_of(64, 1));
  out.flush();
  EXPECT_EQ(packets_at(to, 1)[0], bytes_of(64, 1));
}

TEST(Udp, AGroupIsHeardOnlyByThoseWhoJoinedItAndSaysWhichItWas) {
  UdpSettings settings;
  settings.interface = kLoopback;
  settings.shared = true;
  settings.bind.port = testing::free_ports(1);
  const auto one = UdpSocket::open(settings), other = UdpSocket::open(settings);
  ASSERT_TRUE(one && other);
  ASSERT_TRUE(one->join(group_address(1, 2)).has_value());
  ASSERT_TRUE(other->join(group_address(3, 2)).has_value());
  const UdpSocket from = testing::loopback_socket();
  SendBatch out(from);
  out.add_copy({group_address(3, 2), settings.bind.port}, bytes_of(64, 3));
  out.add_copy({group_address(1, 2), settings.bind.port}, bytes_of(64, 1));
  out.flush();
  pollfd watched{one->fd(), POLLIN, 0};
  ASSERT_EQ(poll(&watched, 1, 30'000), 1);
  ReceiveBatch batch(4);
  ASSERT_EQ(batch.receive(*one), 1);
  EXPECT_EQ(batch[0].to, group_address(1, 2));
  EXPECT_EQ(batch[0].from, from.local());
}

TEST(Udp, RefusalsNameThePlaceAndARemedy) {
  UdpSettings settings;
  settings.bind = {kLoopback, 0};
  const auto first = UdpSocket::open(settings);
  ASSERT_TRUE(first.has_value());
  settings.bind = first->local();
  const auto second = UdpSocket::open(settings);
  ASSERT_FALSE(second.has_value());
  EXPECT_THAT(second.error().message, HasSubstr(to_text(first->local())));
  EXPECT_THAT(second.error().message, HasSubstr("choose another port"));
}

TEST(Udp, MoreGroupsThanASocketMayJoinAreRefusedWithTheSettingToRaise) {
  UdpSettings settings;
  settings.interface = kLoopback;
  const auto socket = UdpSocket::open(settings);
  ASSERT_TRUE(socket.has_value());
  for (int i = 0; i < 2000; ++i)
    if (const auto joined = socket->join(group_address(i, 1)); !joined) {
      EXPECT_THAT(joined.error().message, HasSubstr("net.ipv4.igmp_max_memberships"));
      return;
    }
}

TEST(Udp, PacketsThatFindNoRoomAreCounted) {
  UdpSettings small;
  small.bind = {kLoopback, 0};
  small.receive_buffer = {4096};
  const auto to = UdpSocket::open(small);
  ASSERT_TRUE(to.has_value());
  EXPECT_EQ(to->overflows(), 0u);
  const UdpSocket from = testing::loopback_socket();
  SendBatch out(from);
  for (int i = 0; i < 200; ++i) {
    out.add_copy(to->local(), bytes_of(1000, i));
    out.flush();
  }
  EXPECT_GT(to->overflows(), 0u);
}

TEST(Udp, AddressesAreReadAndWritten) {
  EXPECT_EQ(*read_address("10.1.2.3"), 0x0a01'0203u);
  EXPECT_EQ(to_text(Ipv4Address(0x0a01'0203)), "10.1.2.3");
  EXPECT_EQ(to_text(Endpoint{kLoopback, 5}), "127.0.0.1:5");
  EXPECT_THAT(read_address("10.1.2").error().message, HasSubstr("no IPv4 address"));
}

TEST(RunClock, WaitsAreNeverTooShort) {
  const RunClock clock = RunClock::starting_now();
  for (const Duration spin : {Duration{0}, Duration{1'000'000'000}}) {
    const Instant when = clock.now() + Duration{3'000'000'000};
    clock.wait_until(when, spin);
    EXPECT_GE(clock.now(), when);
    clock.wait_until(when, spin);  // past already
  }
}

TEST(RunClock, ClocksOfOneOriginAgree) {
  const RunClock early = RunClock::starting_now();
  const RunClock late(early.origin_ns() + 5'000'000'000);
  const Instant seen = late.now();
  EXPECT_LE(seen + Duration{5'000'000'000'000}, early.now());
  EXPECT_EQ(timespec_of({1}).tv_nsec, 1);
  EXPECT_EQ(timespec_of({1'000'000'000'001}).tv_sec, 1);
  EXPECT_EQ(timespec_of({-5}).tv_nsec, 0);
}

std::vector<std::uint64_t> passed(const InjectorSettings& settings, int packets) {
  Injector injector(settings);
  std::vector<std::uint64_t> places;
  const std::vector<std::byte> packet = bytes_of(100, 1);
  for (int i = 0; i < packets; ++i) {
    const auto note = [&](std::uint64_t place, ByteView) { places.push_back(place); };
    injector.pass({i}, std::uint64_t(i), packet, note);
    injector.due({i}, note);
  }
  injector.due(kNever, [&](std::uint64_t place, ByteView) { places.push_back(place); });
  return places;
}

TEST(Injector, IsOffByDefaultAndPassesEverything) {
  EXPECT_FALSE(Injector({}).on());
  EXPECT_EQ(passed({}, 100).size(), 100u);
}

TEST(Injector, TheSameSeedRollsTheSameDice) {
  InjectorSettings settings;
  settings.loss = settings.duplication = settings.delay = 0.2;
  settings.delay_max = {50};
  const auto once = passed(settings, 2000);
  EXPECT_EQ(once, passed(settings, 2000));
  settings.seed = 2;
  EXPECT_NE(once, passed(settings, 2000));
  EXPECT_FALSE(std::is_sorted(once.begin(), once.end()));
  EXPECT_GT(once.size(), 1700u);
  EXPECT_LT(once.size(), 2200u);
}

TEST(Injector, DamageIsOneBitAndNeverInTheCallersBytes) {
  InjectorSettings settings;
  settings.corruption = 1;
  Injector injector(settings);
  const std::vector<std::byte> packet = bytes_of(100, 1);
  for (int i = 0; i < 50; ++i)
    injector.pass({0}, 0, packet, [&](std::uint64_t, ByteView damaged) {
      int bits = 0;
      for (std::size_t b = 0; b < packet.size(); ++b)
        bits += std::popcount(std::uint8_t(packet[b] ^ damaged[b]));
      EXPECT_EQ(bits, 1);
    });
  EXPECT_EQ(packet, bytes_of(100, 1));
}

TEST(Shards, DivideTheModelWithoutGapOrOverlap) {
  const JobSpec whole{.id = 5, .element = Element::kF32, .elements = 100'003, .beats = 22};
  for (const int shards : {1, 2, 3, 7}) {
    std::uint64_t next = 0;
    for (int s = 0; s < shards; ++s) {
      const ShardJob part = shard_job(whole, s, shards);
      EXPECT_EQ(part.first_element, next);
      EXPECT_EQ(part.job.id, 5 + s);
      next += part.job.elements;
    }
    EXPECT_EQ(next, whole.elements);
  }
}

TEST(EdgeReading, EveryCountHasAName) {
  for (std::size_t i = 0; i < kHostCounts; ++i) EXPECT_STRNE(name_of(HostCount(i)), "");
  EXPECT_STREQ(name_of(HostCount::kResendOverruns), "resend_overruns");
}

}  // namespace
}  // namespace cotillion
