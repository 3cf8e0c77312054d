// AF_XDP: what is read from frames that nobody has checked, and a round through it on the loopback
// interface of a network namespace of our own, where that is allowed.
#include "daemon/xdp_socket.hpp"

#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "protocol/capture.hpp"
#include "tests/support/daemon/loopback_rig.hpp"

namespace cotillion {
namespace {

using testing::kLoopback;
using testing::LoopbackRig;
using testing::RigSettings;

// Behind the record header of a capture file comes an IPv4 datagram.
std::vector<std::byte> frame_with(std::size_t payload) {
  std::vector<std::byte> packet(payload, std::byte(0x5a));
  std::string file;
  append_to_capture(file, {0}, 0x0a00'0001, group_address(3, 5), packet);
  std::vector<std::byte> frame(14);
  frame[12] = std::byte(0x08);
  for (std::size_t i = 16; i < file.size(); ++i) frame.push_back(std::byte(file[i]));
  return frame;
}

TEST(Xdp, ThePacketInAFrameIsFound) {
  const auto frame = frame_with(104);
  const HeardPiece arrival = packet_in(frame);
  EXPECT_EQ(arrival.bytes.size(), 104u);
  EXPECT_EQ(arrival.bytes[0], std::byte(0x5a));
  EXPECT_EQ(arrival.to, group_address(3, 5));
  EXPECT_EQ(arrival.from, (Endpoint{0x0a00'0001, kUdpPort}));
  auto padded = frame;  // short frames are filled up
  padded.resize(frame.size() + 10);
  EXPECT_EQ(packet_in(padded).bytes.size(), 104u);
}

TEST(Xdp, AFrameThatIsCutOrLiesAboutItsLengthHoldsNothing) {
  const auto frame = frame_with(104);
  for (std::size_t size = 0; size < frame.size(); ++size)
    EXPECT_TRUE(packet_in(ByteView(frame).first(size)).bytes.empty()) << size;
  for (const std::size_t at : {12u, 14u, 23u, 38u}) {  // kind, version, protocol, UDP length
    auto wrong = frame;
    wrong[at] ^= std::byte(0xff);
    EXPECT_TRUE(packet_in(wrong).bytes.empty()) << at;
  }
}

// Raises the loopback interface in a namespace that only this thread is in.
bool enter_namespace() {
  if (unshare(CLONE_NEWNET) != 0) return false;
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP;
  const bool up = ioctl(fd, SIOCSIFFLAGS, &request) == 0;
  close(fd);
  return up;
}

TEST(EdgeHost, SumsAreExactThroughAfXdpToo) {
  bool possible = true;
  std::thread([&] {
    XdpSettings probe;
    probe.interface = kLoopback;
    possible = enter_namespace() && XdpSocket::open(probe).has_value();
    if (!possible) return;
    RigSettings settings;
    settings.direct = true;
    LoopbackRig rig(settings);
    for (RoundId round = 1; round <= 2; ++round) {
      rig.open_round(round);
      ASSERT_TRUE(rig.pump_until_whole());
      rig.islands().expect_exact();
    }
    rig.host().stop();
    EXPECT_EQ(rig.host().reading()[EdgeCount::kResults], 2 * chunk_count(rig.islands().job()));
    EXPECT_GE(rig.host().reading()[HostCount::kDirect], 2 * 3 * chunk_count(rig.islands().job()));
  }).join();
  if (!possible) GTEST_SKIP() << "needs root and AF_XDP";
}

TEST(Xdp, AnInterfaceThatIsNotThereIsRefused) {
  XdpSettings settings;
  settings.interface = 0xc000'0201;
  const auto opened = XdpSocket::open(settings);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().message, "192.0.2.1: no interface of this machine has this address");
}

}  // namespace
}  // namespace cotillion
