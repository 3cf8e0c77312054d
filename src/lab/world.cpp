#include "lab/world.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "base/check.hpp"
#include "exchange/clock.hpp"
#include "lab/netlink.hpp"
#include "lab/network_setting.hpp"
#include "lab/priority.hpp"
#include "lab/steady.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kIpAndUdp = 28;
constexpr std::size_t kMtuLeast = 1500;
constexpr Duration kWiresGrace{10'000'000'000'000};
constexpr Duration kWorldLook{1'000'000'000};
constexpr int kTunQueue = 20'000;
constexpr std::size_t kPacketsSpare = 256;  // of each lane, for those that are shorter than a chunk

// In a new namespace, before there is any interface.
Result<void> set_rules(bool forwards) {
  // A kernel without IPv6 has nothing to switch off.
  (void)set_network_setting("ipv6/conf/all/disable_ipv6", "1");
  (void)set_network_setting("ipv6/conf/default/disable_ipv6", "1");
  bool done = true;
  for (const char* rule : {"ipv4/conf/all/rp_filter", "ipv4/conf/default/rp_filter",
                           "ipv4/conf/all/send_redirects", "ipv4/conf/default/send_redirects"})
    done = set_network_setting(rule, "0") && done;
  // A socket may join 20 groups otherwise.
  done = set_network_setting("ipv4/igmp_max_memberships", "16384") && done;
  if (forwards) done = set_network_setting("ipv4/ip_forward", "1") && done;
  if (!done)
    return failure(
        "/proc/sys/net cannot be written: in a container, start it with --privileged or mount "
        "/proc/sys for writing");
  return {};
}

// Every lane and namespace takes a few.
void raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

double memory_to_spare() {
  return double(::sysconf(_SC_PHYS_PAGES)) * double(::sysconf(_SC_PAGESIZE)) / 2;
}

// Packets that may be under way at once.
double held_by(const std::vector<EmulatedLink>& links) {
  double packets = 0;
  for (const EmulatedLink& link : links)
    for (const WanLinkSettings& way : link.ways) packets += double(way.packets);
  return packets;
}

}  // namespace

World::World(const PlanFile& plan, MulticastGroups groups, Blueprint print)
    : plan_(plan), groups_(std::move(groups)), print_(std::move(print)) {
  const EdgeSpec& spec =
      plan.map.aggregators.empty() ? plan.map.edge : plan.map.aggregators.front().spec;
  COTILLION_CHECK(spec.chunk.count > 0);
  mtu_ = std::max(kMtuLeast, kIpAndUdp + packet_bytes(std::size_t(spec.chunk.count)));
}

World::~World() {
  children_.end(Duration{0});
}

Result<std::unique_ptr<World>> World::make(const PlanFile& plan, const WorldSettings& settings) {
  auto groups = groups_of(plan.plan);
  if (!groups) return Unexpected<Error>{groups.error()};
  auto print = draw(plan, *groups);
  if (!print) return Unexpected<Error>{print.error()};
  std::unique_ptr<World> world(new World(plan, std::move(*groups), std::move(*print)));
  if (world->mtu_ > 65'535) return failure("chunks are larger than an IP packet can be");
  if (const auto built = world->build(settings); !built) return Unexpected<Error>{built.error()};
  return world;
}

Result<Descriptor> World::tun(const Wire::End& end) {
  const auto visit = Visit::to(spaces_[std::size_t(end.space)]);
  if (!visit) return Unexpected<Error>{visit.error()};
  Descriptor descriptor(::open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!descriptor.is_open())
    return failure(
        fmt::format("/dev/net/tun: {}; `modprobe tun`, and in a container --device "
                    "/dev/net/tun",
                    std::strerror(errno)));
  COTILLION_CHECK(end.interface.size() < IFNAMSIZ);
  ifreq request{};
  end.interface.copy(request.ifr_name, IFNAMSIZ - 1);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (::ioctl(descriptor.get(), TUNSETIFF, &request) != 0)
    return failure(fmt::format("TUN interface '{}': {}", end.interface, std::strerror(errno)));
  return descriptor;
}

WanLinkSettings World::way_of(LaneId lane, const WorldSettings& settings) const {
  WanLinkSettings way{.lane = lane,
                      .rate = lane_rate(plan_.map, lane),
                      .latency = lane_latency(plan_.map, lane),
                      .queue = settings.queue};
  Duration held = way.latency + way.queue;
  for (const LaneFault& fault : settings.faults.lanes)
    if (std::find(fault.lanes.begin(), fault.lanes.end(), lane) != fault.lanes.end())
      held = held + fault.by;
  const double bytes = bytes_per_second(way.rate) * double(held.ps) / kPicosecondsPerSecond;
  way.packets = kPacketsSpare + std::size_t(std::ceil(bytes / double(mtu_ - kIpAndUdp)));
  return way;
}

Result<void> World::build(const WorldSettings& settings) {
  COTILLION_CHECK(spaces_.empty() && emulator_ == nullptr);  // once
  raise_file_limit();
  awake_ = keep_awake();
  queue_ = settings.queue;
  const auto within = [](const Error& error, const std::string& what) {
    return Unexpected<Error>{error.within(what)};
  };
  for (const Space& space : print_.spaces) {
    auto made = NetworkSpace::make();
    if (!made) return within(made.error(), space.name);
    spaces_.push_back(std::move(*made));
    const auto visit = Visit::to(spaces_.back());
    if (!visit) return within(visit.error(), space.name);
    if (const auto ruled = set_rules(space.forwards); !ruled)
      return within(ruled.error(), space.name);
  }
  COTILLION_CHECK(spaces_.size() == print_.spaces.size());
  auto wires = Netlink::open();
  if (!wires) return Unexpected<Error>{wires.error()};
  std::vector<EmulatedLink> links;
  for (const Wire& wire : print_.wires) {
    const auto end = [&](std::size_t which) -> Netlink::End {
      return {spaces_[std::size_t(wire.ends[which].space)].fd(), wire.ends[which].interface};
    };
    if (!wire.lanes) {
      if (const auto added = wires->add_wire(end(0), end(1), int(mtu_)); !added)
        return Unexpected<Error>{added.error()};
      continue;
    }
    EmulatedLink link;
    for (std::size_t way = 0; way < 2; ++way) {
      auto opened = tun(wire.ends[way]);
      if (!opened) return Unexpected<Error>{opened.error()};
      link.ends[way] = opened->get();
      tuns_.push_back(std::move(*opened));
      link.ways[way] = way_of((*wire.lanes)[way], settings);
    }
    links.push_back(link);
  }
  COTILLION_CHECK(2 * links.size() == std::size_t(plan_.map.lane_count()));
  COTILLION_CHECK(tuns_.size() == 2 * links.size());
  for (int space = 0; space < int(print_.spaces.size()); ++space)
    if (const auto configured = configure(space); !configured)
      return within(configured.error(), print_.spaces[std::size_t(space)].name);
  if (auto connected = wait_for_wires(); !connected) return connected;
  if (const double held = held_by(links) * double(mtu_); held > memory_to_spare())
    return failure(
        fmt::format("packets under way on these links may take {}; more than half of "
                    "this machine's memory: take a larger scale or a shorter queue",
                    to_text(Bytes{std::int64_t(held)})));
  WanEmulatorSettings emulation;
  emulation.framing = plan_.map.aggregators.empty() ? plan_.map.edge.framing
                                                    : plan_.map.aggregators.front().spec.framing;
  emulation.mtu = mtu_;
  emulation.faults = settings.faults;
  emulation.seed = settings.seed;
  emulation.lanes = plan_.map.lane_count();
  for (const MulticastGroup& group : groups_.all()) emulation.groups.push_back(group.address);
  emulator_ = std::make_unique<WanEmulator>(emulation, links);
  return {};
}

Result<void> World::configure(int number) {
  const Space& space = print_.spaces[std::size_t(number)];
  const auto visit = Visit::to(spaces_[std::size_t(number)]);
  if (!visit) return Unexpected<Error>{visit.error()};
  auto netlink = Netlink::open();
  if (!netlink) return Unexpected<Error>{netlink.error()};
  if (auto up = netlink->set_up("lo", 0, 0); !up) return up;
  for (const Wire& wire : print_.wires)
    for (const Wire::End& end : wire.ends)
      if (end.space == number)
        if (auto up = netlink->set_up(end.interface, int(mtu_), wire.lanes ? kTunQueue : 0); !up)
          return up;
  for (const Space::Owned& owned : space.addresses)
    if (auto added = netlink->add_address(owned.interface, owned.address); !added) return added;
  for (const Space::Way& way : space.ways)
    if (auto added = netlink->add_way(way.to, way.interface); !added) return added;
  if (!space.way_out.empty())
    if (auto added = netlink->add_way_out(space.way_out); !added) return added;
  if (space.routes.empty()) return {};
  auto router = MulticastRouter::open();
  if (!router) return Unexpected<Error>{router.error()};
  if (const auto set = router->set(space.routes); !set) return Unexpected<Error>{set.error()};
  routers_.emplace(std::size_t(number), std::move(*router));
  return {};
}

Result<void> World::wait_for_wires() const {
  const Instant deadline = steady_now() + kWiresGrace;
  for (const Wire& wire : print_.wires)
    for (const Wire::End& end : wire.ends) {
      if (wire.lanes) continue;
      const auto visit = Visit::to(spaces_[std::size_t(end.space)]);
      if (!visit) return Unexpected<Error>{visit.error()};
      auto netlink = Netlink::open();
      if (!netlink) return Unexpected<Error>{netlink.error()};
      for (;;) {
        auto carries = netlink->carries(end.interface);
        if (!carries) return Unexpected<Error>{carries.error()};
        if (*carries) break;
        if (steady_now() > deadline)
          return failure(fmt::format("{}: '{}' carries nothing yet",
                                     print_.spaces[std::size_t(end.space)].name, end.interface));
        const timespec look = timespec_of(kWorldLook);
        (void)::nanosleep(&look, nullptr);
      }
    }
  return {};
}

std::vector<std::string> World::strays() {
  std::vector<std::string> said;
  for (auto& [space, router] : routers_)
    for (const Stray& stray : router.strays())
      said.push_back(fmt::format("{}: no route for what {} sends to {}, seen on {}",
                                 print_.spaces[space].name, to_text(stray.source),
                                 to_text(stray.group), stray.interface));
  return said;
}

}  // namespace cotillion
