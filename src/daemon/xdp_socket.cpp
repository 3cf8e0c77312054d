#include "daemon/xdp_socket.hpp"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "daemon/xdp_program.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kFrameBytes = 4096;
constexpr int kTries = 100;
constexpr unsigned kMicrosecondsBetweenTries = 10'000;
constexpr std::size_t kEthernetBytes = 14, kIpBytes = 20, kUdpBytes = 8;

// An array between the kernel and us, with one index for each side to write.
struct Ring {
  void* memory = MAP_FAILED;
  std::size_t bytes = 0;
  std::atomic_ref<std::uint32_t> producer() const { return index(offsets.producer); }
  std::atomic_ref<std::uint32_t> consumer() const { return index(offsets.consumer); }
  template <class Entry>
  [[nodiscard]] Entry& at(std::uint32_t i) const {
    return reinterpret_cast<Entry*>(static_cast<std::byte*>(memory) +
                                    offsets.desc)[i & (entries - 1)];
  }
  [[nodiscard]] std::atomic_ref<std::uint32_t> index(std::uint64_t offset) const {
    return std::atomic_ref(
        *reinterpret_cast<std::uint32_t*>(static_cast<std::byte*>(memory) + offset));
  }
  xdp_ring_offset offsets{};
  std::uint32_t entries = 0;
};

int index_of(Ipv4Address address) {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return 0;
  int found = 0;
  for (const ifaddrs* one = all; one != nullptr && found == 0; one = one->ifa_next)
    if (one->ifa_addr != nullptr && one->ifa_addr->sa_family == AF_INET &&
        to_endpoint(*reinterpret_cast<const sockaddr_in*>(one->ifa_addr)).address == address)
      found = int(if_nametoindex(one->ifa_name));
  freeifaddrs(all);
  return found;
}

std::size_t big16(ByteView bytes, std::size_t at) {
  return std::size_t(bytes[at]) << 8u | std::size_t(bytes[at + 1]);
}
Ipv4Address big32(ByteView bytes, std::size_t at) {
  return Ipv4Address(big16(bytes, at) << 16u | big16(bytes, at + 2));
}

Unexpected<Error> xdp_refused(const char* what) {
  return failure(
      fmt::format("{}: {}; hear groups through UDP sockets instead", what, std::strerror(errno)));
}

}  // namespace

HeardPiece packet_in(ByteView frame) {
  constexpr std::size_t kHeaders = kEthernetBytes + kIpBytes + kUdpBytes;
  if (frame.size() < kHeaders) return {};
  const ByteView ip = frame.subspan(kEthernetBytes);
  const ByteView udp = ip.subspan(kIpBytes);
  if (big16(frame, 12) != 0x0800 || std::uint8_t(ip[0]) != 0x45 || std::uint8_t(ip[9]) != 17)
    return {};
  const std::size_t length = big16(udp, 4);
  if (length < kUdpBytes || length > udp.size() || kIpBytes + length > big16(ip, 2)) return {};
  HeardPiece arrival;
  arrival.from = {big32(ip, 12), std::uint16_t(big16(udp, 0))};
  arrival.to = big32(ip, 16);
  arrival.bytes = udp.subspan(kUdpBytes, length - kUdpBytes);
  arrival.segment = std::max<std::size_t>(1, arrival.bytes.size());
  return arrival;
}

struct XdpSocket::Rings {
  explicit Rings(std::size_t frame_count) : frames(frame_count * kFrameBytes) {}
  ~Rings() {
    close_all(program);
    for (const Ring* ring : {&fill, &received})
      if (ring->memory != MAP_FAILED) munmap(ring->memory, ring->bytes);
    if (fd >= 0) close(fd);
  }
  Rings(const Rings&) = delete;
  Rings& operator=(const Rings&) = delete;

  [[nodiscard]] bool map(Ring& ring, const xdp_ring_offset& offsets, std::uint32_t entries,
                         std::size_t entry, std::uint64_t page) const {
    ring.offsets = offsets;
    ring.entries = entries;
    ring.bytes = offsets.desc + entries * entry;
    ring.memory = mmap(nullptr, ring.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd,
                       off_t(page));
    return ring.memory != MAP_FAILED;
  }

  Pages frames;
  int fd = -1;
  Ring fill, received;
  XdpProgram program;
  std::vector<std::uint64_t> held;  // frames that are being read
};

XdpSocket::XdpSocket(const XdpSettings& settings)
    : rings_(std::make_unique<Rings>(settings.frames)), heard_pieces_(std::size_t(settings.batch)) {
  rings_->held.reserve(std::size_t(settings.batch));
}
XdpSocket::XdpSocket(XdpSocket&&) noexcept = default;
XdpSocket::~XdpSocket() = default;

int XdpSocket::fd() const {
  return rings_->fd;
}

Result<XdpSocket> XdpSocket::open(const XdpSettings& settings) {
  COTILLION_CHECK(settings.batch > 0 && std::has_single_bit(settings.frames));
  XdpSocket opened(settings);
  if (const auto done = opened.set_up(settings); !done)
    return Unexpected<Error>{done.error().within(to_text(settings.interface))};
  return opened;
}

Result<int> XdpSocket::set_up(const XdpSettings& settings) {
  Rings& rings = *rings_;
  const int index = index_of(settings.interface);
  if (index == 0) return failure("no interface of this machine has this address");
  rings.fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
  if (rings.fd < 0) return xdp_refused("AF_XDP socket");
  const auto set = [&](int option, const auto& value) {
    return setsockopt(rings.fd, SOL_XDP, option, &value, sizeof value) == 0;
  };
  xdp_umem_reg memory{};
  memory.addr = reinterpret_cast<std::uintptr_t>(rings.frames.at(0));
  memory.len = std::uint64_t(settings.frames) * kFrameBytes;
  memory.chunk_size = kFrameBytes;
  const std::uint32_t completions = 64;  // nothing is sent from here, and it must exist
  if (!set(XDP_UMEM_REG, memory) || !set(XDP_UMEM_FILL_RING, settings.frames) ||
      !set(XDP_UMEM_COMPLETION_RING, completions) || !set(XDP_RX_RING, settings.frames))
    return xdp_refused("AF_XDP rings");
  xdp_mmap_offsets offsets{};
  socklen_t length = sizeof offsets;
  if (getsockopt(rings.fd, SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &length) != 0 ||
      !rings.map(rings.fill, offsets.fr, settings.frames, sizeof(std::uint64_t),
                 XDP_UMEM_PGOFF_FILL_RING) ||
      !rings.map(rings.received, offsets.rx, settings.frames, sizeof(xdp_desc), XDP_PGOFF_RX_RING))
    return xdp_refused("AF_XDP rings");
  for (std::uint32_t i = 0; i < settings.frames; ++i)
    rings.fill.at<std::uint64_t>(i) = i * kFrameBytes;
  rings.fill.producer().store(settings.frames, std::memory_order_release);

  sockaddr_xdp place{};
  place.sxdp_family = AF_XDP;
  place.sxdp_ifindex = std::uint32_t(index);
  place.sxdp_queue_id = std::uint32_t(settings.queue);
  place.sxdp_flags = XDP_COPY;
  // The kernel lets go of a queue a moment after its last socket was closed.
  bool bound = false;
  for (int tries = 0; tries < kTries && !bound; ++tries) {
    bound = bind(rings.fd, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0;
    if (!bound && errno != EBUSY) break;
    if (!bound) usleep(kMicrosecondsBetweenTries);
  }
  if (!bound) return xdp_refused("AF_XDP bind");
  auto program = attach_xdp_program(index, settings.port);
  if (!program) return Unexpected<Error>{program.error()};
  rings.program = *program;
  if (!put_socket(rings.program, settings.queue, rings.fd)) return xdp_refused("AF_XDP map");
  return index;
}

int XdpSocket::receive() {
  Rings& rings = *rings_;
  if (!rings.held.empty()) {
    std::uint32_t free = rings.fill.producer().load(std::memory_order_relaxed);
    for (const std::uint64_t frame : rings.held) rings.fill.at<std::uint64_t>(free++) = frame;
    rings.fill.producer().store(free, std::memory_order_release);
    rings.held.clear();
  }
  std::uint32_t next = rings.received.consumer().load(std::memory_order_relaxed);
  const std::uint32_t end = rings.received.producer().load(std::memory_order_acquire);
  int came = 0;
  for (; next != end && came < capacity(); ++next) {
    const xdp_desc& frame = rings.received.at<xdp_desc>(next);
    rings.held.push_back(frame.addr / kFrameBytes * kFrameBytes);
    heard_pieces_[std::size_t(came)] = packet_in({rings.frames.at(frame.addr), frame.len});
    ++came;
  }
  rings.received.consumer().store(next, std::memory_order_release);
  return came;
}

}  // namespace cotillion
