// Real kernels in network namespaces of their own, joined by veth pairs. Namespaces have no names:
// they live in file descriptors of a child process and end with it, however it ends.
#include "daemon/multicast_router.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <set>

#include "tests/support/plan/plans.hpp"

namespace cotillion {
namespace {

constexpr int kSkipped = 77;
constexpr int kQuietMs = 200;  // nothing came for so long: nothing comes any more
constexpr int kWaitMs = 5000;

// One interface of one namespace hearing one packet of a stream.
struct Heard {
  std::string place, interface;
  Ipv4Address source = 0, group = 0;
  friend auto operator<=>(const Heard&, const Heard&) = default;
};
using Hearings = std::multiset<Heard>;

std::ostream& operator<<(std::ostream& out, const Heard& heard) {
  return out << heard.place << ":" << heard.interface << " (" << to_text(heard.source) << ", "
             << to_text(heard.group) << ")";
}

void run_ip(const std::string& arguments) {
  EXPECT_EQ(std::system(("ip " + arguments).c_str()), 0) << "ip " << arguments;
}

void set_quietly(const std::string& setting, const char* value) {
  std::ofstream(setting) << value;
}

// A network namespace with a socket that captures what arrives on any of its interfaces.
class Space {
 public:
  explicit Space(std::string name) : name_(std::move(name)) {
    EXPECT_EQ(::unshare(CLONE_NEWNET), 0) << std::strerror(errno);
    fd_ = ::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    set_quietly("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
    set_quietly("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
    set_quietly("/proc/sys/net/ipv4/conf/all/rp_filter", "0");
    set_quietly("/proc/sys/net/ipv4/conf/default/rp_filter", "0");
    capture_ = ::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETH_P_IP));
    EXPECT_GE(capture_, 0);
  }
  Space(const Space&) = delete;
  ~Space() {
    ::close(capture_);
    ::close(fd_);
  }

  void enter() const { ASSERT_EQ(::setns(fd_, CLONE_NEWNET), 0) << std::strerror(errno); }
  [[nodiscard]] std::string path() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), fd_); }
  [[nodiscard]] int capture() const { return capture_; }

  void drain(Hearings& heard) const {
    enter();
    std::array<unsigned char, 2048> packet;
    sockaddr_ll from{};
    for (socklen_t size = sizeof from;; size = sizeof from) {
      const ssize_t got = ::recvfrom(capture_, packet.data(), packet.size(), 0,
                                     reinterpret_cast<sockaddr*>(&from), &size);
      if (got < 0) break;
      if (got < 20 || from.sll_pkttype == PACKET_OUTGOING || packet[9] != IPPROTO_UDP) continue;
      std::uint32_t source = 0, group = 0;
      std::memcpy(&source, &packet[12], 4);
      std::memcpy(&group, &packet[16], 4);
      std::array<char, IF_NAMESIZE> interface {};
      ::if_indextoname(unsigned(from.sll_ifindex), interface.data());
      heard.insert({name_, interface.data(), ntohl(source), ntohl(group)});
    }
  }

 private:
  std::string name_;
  int fd_ = -1, capture_ = -1;
};

// A router for every place of the map, and one namespace for all islands and edges: each has an
// in-line edge, so that the router sees one interface for both.
class Laboratory {
 public:
  explicit Laboratory(const Map& map) : map_(map), hosts_("hosts") {
    for (PlaceId place = 0; place < map.place_count(); ++place)
      routers_.push_back(std::make_unique<Space>(place_name(map, place)));
    for (const Link& link : map.links)
      join(*routers_[link.ends[0]], place_name(map, link.ends[1]), *routers_[link.ends[1]],
           place_name(map, link.ends[0]));
    for (IslandId island = 0; island < map.island_count(); ++island) {
      join(*routers_[island], "local", hosts_, map.islands[island].name);
      run_ip(fmt::format("address add {}/32 dev {}", to_text(island_address(island)),
                         map.islands[island].name));
      sources_.push_back(island_address(island));
    }
  }

  [[nodiscard]] const Space& router(PlaceId place) const { return *routers_[place]; }

  [[nodiscard]] Wiring wiring(PlaceId place) const {
    Wiring wiring;
    for (const Port& port : link_ports(map_, place))
      wiring.interfaces[port] = port_name(map_, place, port);
    wiring.interfaces[{Port::Kind::kIsland}] = "local";
    wiring.interfaces[{Port::Kind::kEdge}] = "local";
    wiring.sources = sources_;
    return wiring;
  }

  void send(IslandId sender, Ipv4Address group) const {
    hosts_.enter();
    const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ip_mreqn out{};
    out.imr_address.s_addr = htonl(sources_[sender]);
    out.imr_ifindex = int(::if_nametoindex(map_.islands[sender].name.c_str()));
    const int hops = 16;
    EXPECT_EQ(::setsockopt(socket, IPPROTO_IP, IP_MULTICAST_IF, &out, sizeof out), 0);
    EXPECT_EQ(::setsockopt(socket, IPPROTO_IP, IP_MULTICAST_TTL, &hops, sizeof hops), 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(29900);
    to.sin_addr.s_addr = htonl(group);
    EXPECT_EQ(::sendto(socket, "hello", 5, 0, reinterpret_cast<sockaddr*>(&to), sizeof to), 5)
        << std::strerror(errno);
    ::close(socket);
  }

  // All that arrives anywhere until it is quiet; waits longer while less than `least` has come.
  [[nodiscard]] Hearings hear(std::size_t least) const {
    Hearings heard;
    for (int waited = 0; waited < kWaitMs;) {
      std::vector<pollfd> captures{{hosts_.capture(), POLLIN, 0}};
      for (const auto& router : routers_) captures.push_back({router->capture(), POLLIN, 0});
      const int ready = ::poll(captures.data(), captures.size(), kQuietMs);
      hosts_.drain(heard);
      for (const auto& router : routers_) router->drain(heard);
      if (ready == 0 && heard.size() >= least) break;
      if (ready == 0) waited += kQuietMs;
    }
    return heard;
  }

  // Where one packet of a stream is heard when it crosses its tree: at the end of every lane.
  void expect_tree(const MulticastGroup& group, const IdVector<IslandId, Ingress>& ingress,
                   Hearings& heard) const {
    const Ipv4Address source = sources_[group.sender];
    for (const LaneId lane : group.tree)
      heard.insert({is_access(map_, lane) ? map_.islands[group.sender].name : lane_to(map_, lane),
                    is_access(map_, lane) ? "local" : lane_from(map_, lane), source,
                    group.address});
    std::set<PlaceId> ends;
    for (const IslandId receiver : group.receivers) ends.insert(ingress[receiver].from);
    for (const PlaceId end : ends)
      heard.insert({"hosts", place_name(map_, end), source, group.address});
  }

 private:
  static void join(const Space& one, const std::string& name, const Space& other,
                   const std::string& other_name) {
    one.enter();
    run_ip(fmt::format("link add name {} type veth peer name {} netns {}", name, other_name,
                       other.path()));
    run_ip(fmt::format("link set dev {} up", name));
    other.enter();
    run_ip(fmt::format("link set dev {} up", other_name));
  }

  const Map& map_;
  Space hosts_;
  std::vector<std::unique_ptr<Space>> routers_;
  std::vector<Ipv4Address> sources_;
};

// Without privileges a user namespace gives them, and as its root they survive an exec.
bool enter_namespaces() {
  const std::string user = fmt::format("0 {} 1", ::geteuid()),
                    group = fmt::format("0 {} 1", ::getegid());
  if (::geteuid() == 0) return ::unshare(CLONE_NEWNET) == 0;
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
  set_quietly("/proc/self/setgroups", "deny");
  set_quietly("/proc/self/uid_map", user.c_str());
  set_quietly("/proc/self/gid_map", group.c_str());
  return true;
}

// Runs a test in a child, whose namespaces are gone when it is.
void in_namespaces(const std::function<void()>& test) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (!enter_namespaces() || !MulticastRouter::open() ||
        std::system("ip link add name tried type veth >/dev/null 2>&1") != 0)
      ::_exit(kSkipped);
    test();
    std::fflush(nullptr);
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kSkipped)
    GTEST_SKIP() << "no network namespaces, veth pairs or multicast routing here: needs root or "
                    "unprivileged user namespaces, iproute2 and CONFIG_IP_MROUTE";
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the child says what failed";
}

// B is the middle of a star, C of a line: A–B, D–B, B–C, C–E.
PlanFile small_plan() {
  const auto fixture = testing::fixture_of(testing::map_of(R"(
name = "small"
payload = "1MB"
edge = { memory = "1GB" }
islands = [
  { name = "A", access = "1Gbps" }, { name = "B", access = "1Gbps" },
  { name = "C", access = "1Gbps" }, { name = "D", access = "1Gbps" },
  { name = "E", access = "1Gbps" } ]
links = [
  { ends = ["A", "B"], latency = "1ms", rate = "10Gbps" },
  { ends = ["D", "B"], latency = "2ms", rate = "10Gbps" },
  { ends = ["B", "C"], latency = "1ms", rate = "10Gbps" },
  { ends = ["C", "E"], latency = "1ms", rate = "10Gbps" } ]
)"));
  const Schedule schedule{
      "small",
      {completed({{{0, 1, 3}, {}}, {{2, 4}, {}}}, 5), completed({{{0, 4}, {}}, {{1, 2, 3}, {}}}, 5),
       completed({{{0, 1, 2, 3, 4}, {}}}, 5), completed({{{0, 1, 3}, {}}, {{2, 4}, {}}}, 5)}};
  return testing::plan_file(*fixture, schedule);
}

void expect_every_tree() {
  const PlanFile plan = small_plan();
  const MulticastGroups groups(plan.plan);
  const Laboratory laboratory(plan.map);
  std::vector<MulticastRouter> routers;
  std::vector<std::vector<KernelRoute>> tables;
  for (PlaceId place = 0; place < plan.map.place_count(); ++place) {
    const auto table =
        kernel_routes(plan.map, place, routes_at(plan, groups, place), laboratory.wiring(place));
    ASSERT_TRUE(table.has_value()) << table.error().message;
    laboratory.router(place).enter();
    auto router = MulticastRouter::open();
    ASSERT_TRUE(router.has_value()) << router.error().message;
    const auto set = router->set(*table);
    ASSERT_TRUE(set.has_value()) << set.error().message;
    EXPECT_EQ(*set, table->size());
    for (const std::string& obstacle : obstacles(*table)) ADD_FAILURE() << obstacle;
    routers.push_back(std::move(*router));
    tables.push_back(*table);
  }
  Hearings expected;
  for (const MulticastGroup& group : groups.all()) {
    laboratory.send(group.sender, group.address);
    laboratory.expect_tree(group, plan.ingress, expected);
  }
  EXPECT_EQ(laboratory.hear(expected.size()), expected);
  for (std::size_t place = 0; place < routers.size(); ++place)
    for (const KernelRoute& route : tables[place]) {
      const auto counts = routers[place].counts(route);
      ASSERT_TRUE(counts.has_value()) << counts.error().message;
      EXPECT_EQ(counts->packets, 1u);
      EXPECT_EQ(counts->wrong_interface, 0u);
    }

  // With the sockets the kernel's entries are gone: nothing passes the first router any more.
  routers.clear();
  expected.clear();
  for (const MulticastGroup& group : groups.all()) {
    laboratory.send(group.sender, group.address);
    expected.insert({plan.map.islands[group.sender].name, "local", island_address(group.sender),
                     group.address});
  }
  EXPECT_EQ(laboratory.hear(expected.size()), expected);
}

TEST(MulticastRouter, LetsEveryStreamOfAPlanCrossItsTreeAndNothingElse) {
  in_namespaces(expect_every_tree);
}

std::string cached_routes() {
  std::ifstream file("/proc/self/net/ip_mr_cache");
  std::string line, text;
  std::getline(file, line);  // titles
  while (std::getline(file, line)) text += line + "\n";
  return text;
}

TEST(MulticastRouter, ChangesOnlyWhatDiffersAndLeavesNothing) {
  in_namespaces([] {
    run_ip("link add name one type veth peer name two");
    {
      auto router = MulticastRouter::open();
      ASSERT_TRUE(router.has_value());
      const KernelRoute first{1, group_address(0, 0), "one", {"two"}};
      const KernelRoute second{1, group_address(0, 1), "one", {"two"}};
      const KernelRoute turned{1, group_address(0, 1), "two", {"one"}};
      EXPECT_EQ(*router->set({first, second}), 2u);
      EXPECT_EQ(*router->set({second, first}), 0u);
      EXPECT_EQ(*router->set({first, turned}), 1u);
      EXPECT_EQ(*router->set({turned}), 1u);
      EXPECT_FALSE(router->counts(first).has_value());
      EXPECT_TRUE(router->counts(turned).has_value());
      const std::string cached = cached_routes();
      EXPECT_EQ(std::count(cached.begin(), cached.end(), '\n'), 1) << cached;
    }
    EXPECT_EQ(cached_routes(), "");
  });
}

TEST(MulticastRouter, SaysWhatIsWrong) {
  in_namespaces([] {
    auto router = MulticastRouter::open();
    ASSERT_TRUE(router.has_value());
    const auto second = MulticastRouter::open();
    ASSERT_FALSE(second.has_value());
    EXPECT_NE(second.error().message.find("another program routes multicast"), std::string::npos)
        << second.error().message;
    const KernelRoute nowhere{1, group_address(0, 0), "eth77", {}};
    const auto set = router->set({nowhere});
    ASSERT_FALSE(set.has_value());
    EXPECT_EQ(set.error().message,
              "route (0.0.0.1, 239.0.0.0): there is no interface 'eth77' here");
    EXPECT_FALSE(router->set({nowhere, nowhere}).has_value());
  });
}

TEST(MulticastRouter, NoticesPacketsThatHaveNoEntry) {
  in_namespaces([] {
    const PlanFile plan = small_plan();
    const Laboratory laboratory(plan.map);
    laboratory.router(0).enter();
    auto router = MulticastRouter::open();
    ASSERT_TRUE(router.has_value());
    ASSERT_TRUE(router->set({{island_address(0), group_address(0, 0), "local", {"B"}}}));
    EXPECT_TRUE(router->strays().empty());
    laboratory.send(0, group_address(0, 9));
    laboratory.send(0, group_address(0, 9));
    EXPECT_EQ(laboratory.hear(2).size(), 2u);
    const std::vector<Stray> expected{{island_address(0), group_address(0, 9), "local"}};
    EXPECT_EQ(router->strays(), expected);
    EXPECT_TRUE(router->strays().empty());
  });
}

TEST(Wiring, NamesEveryNeighbourWithoutAnInterface) {
  const PlanFile plan = small_plan();
  const MulticastGroups groups(plan.plan);
  Wiring wiring;
  wiring.sources.assign(5, 1);
  wiring.interfaces[{Port::Kind::kEdge}] = "eth0";
  const auto routes = kernel_routes(plan.map, 1, routes_at(plan, groups, 1), wiring);
  ASSERT_FALSE(routes.has_value());
  EXPECT_EQ(routes.error().message, "no interface is given from B to A, C, D, its island");
}

}  // namespace
}  // namespace cotillion
