#include "lab/blueprint.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "lab/frame.hpp"
#include "lab/scale.hpp"
#include "tests/support/plan/plans.hpp"
#include "topology/routes.hpp"

namespace cotillion {
namespace {

// A, B and C in a line with D at a router in the middle; C has no edge, and D's stands at B.
PlanFile odd_plan() {
  const auto fixture = testing::fixture_of(testing::map_of(R"(
name = "odd"
payload = "1MB"
edge = { memory = "1GB" }
islands = [
  { name = "A", access = "1Gbps" }, { name = "B", access = "1Gbps" },
  { name = "C", access = "1Gbps", edge = false }, { name = "D", access = "1Gbps" } ]
routers = [ { name = "hub" } ]
links = [
  { ends = ["A", "hub"], latency = "1ms", rate = "10Gbps" },
  { ends = ["hub", "B"], latency = "2ms", rate = "10Gbps" },
  { ends = ["hub", "C"], latency = "1ms", rate = "10Gbps" },
  { ends = ["B", "D"], latency = "1ms", rate = "10Gbps" } ]
aggregators = [ { at = "B", serves = ["B", "D"] } ]
)"));
  return testing::plan_file(*fixture, Schedule{"all", {completed({{{0, 1, 2, 3}, {}}}, 4)}});
}

// Where a packet goes when every kernel follows its entries: lanes and listeners, with how often.
struct Walked {
  std::map<LaneId, int> lanes;
  std::map<NamespaceRole, int> heard;
};

class Walker {
 public:
  Walker(const Blueprint& print, const MulticastGroup& group) : print_(print), group_(group) {}

  Walked from(IslandId sender) {
    leave(print_.space_of({NamespaceRole::Kind::kIsland, sender}), kNet);
    return crossings_;
  }

 private:
  void leave(int space, const std::string& interface) {
    for (const Wire& wire : print_.wires)
      for (std::size_t way = 0; way < 2; ++way) {
        const Wire::End& end = wire.ends[way];
        if (end.space != space || end.interface != interface) continue;
        if (wire.lanes) ++crossings_.lanes[(*wire.lanes)[way]];
        ASSERT_LT(++steps_, 1000);
        arrive(wire.ends[1 - way]);
      }
  }

  void arrive(const Wire::End& end) {
    const Space& space = print_.spaces[std::size_t(end.space)];
    // Hosts hear groups on the side of the network only.
    if (space.role.kind != NamespaceRole::Kind::kRouter && end.interface == kNet)
      ++crossings_.heard[space.role];
    for (const KernelRoute& route : space.routes) {
      if (route.group != group_.address || route.source != island_address(group_.sender)) continue;
      if (route.in != end.interface) continue;
      for (const std::string& out : route.out) leave(end.space, out);
    }
  }

  const Blueprint& print_;
  const MulticastGroup& group_;
  Walked crossings_;
  int steps_ = 0;
};

void expect_trees(const PlanFile& plan) {
  const MulticastGroups groups(plan.plan);
  const auto print = draw(plan, groups);
  ASSERT_TRUE(print.has_value()) << print.error().message;
  for (const MulticastGroup& group : groups.all()) {
    Walked expected;
    for (const LaneId lane : group.tree) ++expected.lanes[lane];
    for (const IslandId receiver : group.receivers) {
      const NamespaceRole listener = listener_of(plan, receiver);
      expected.heard[listener] = 1;
      if (listener.kind == NamespaceRole::Kind::kIsland)
        ++expected.lanes[lane_down(plan.map, receiver)];
    }
    const Walked seen = Walker(*print, group).from(group.sender);
    EXPECT_EQ(seen.lanes, expected.lanes);
    EXPECT_EQ(seen.heard, expected.heard);
  }
}

TEST(Blueprint, LetsEveryStreamCrossItsTreeOnce) {
  expect_trees(testing::nine_city_plan("triangles", {32'000'000'000}, {1'000'000'000}));
  expect_trees(testing::nine_city_plan("all-to-all", {32'000'000'000}, {1'000'000'000}));
  expect_trees(odd_plan());
}

TEST(Blueprint, HasARouterAnEdgeAndAnIslandForEveryCity) {
  const PlanFile plan = testing::nine_city_plan("triangles", {32'000'000'000}, {1'000'000'000});
  const MulticastGroups groups(plan.plan);
  const auto print = draw(plan, groups);
  ASSERT_TRUE(print.has_value());
  EXPECT_EQ(print->spaces.size(), 28u);  // 27, and the control namespace
  std::set<LaneId> lanes;
  for (const Wire& wire : print->wires)
    if (wire.lanes) lanes.insert(wire.lanes->begin(), wire.lanes->end());
  EXPECT_EQ(lanes.size(), 46u);
  std::set<Ipv4Address> addresses;
  for (const Space& space : print->spaces)
    for (const auto& owned : space.addresses) EXPECT_TRUE(addresses.insert(owned.address).second);
  for (const Wire& wire : print->wires)
    for (const Wire::End& end : wire.ends) EXPECT_LE(end.interface.size(), 15u);
}

// Follows single addresses from a space until somebody owns it.
std::vector<LaneId> unicast(const Blueprint& print, NamespaceRole from, Ipv4Address to) {
  std::vector<LaneId> lanes;
  int at = print.space_of(from);
  for (int hop = 0; hop < 20; ++hop) {
    const Space& space = print.spaces[std::size_t(at)];
    for (const auto& owned : space.addresses)
      if (owned.address == to) return lanes;
    std::string out = space.way_out;
    for (const auto& way : space.ways)
      if (way.to == to) out = way.interface;
    bool gone = false;
    for (const Wire& wire : print.wires)
      for (std::size_t way = 0; way < 2 && !gone; ++way)
        if (wire.ends[way].space == at && wire.ends[way].interface == out) {
          if (wire.lanes) lanes.push_back((*wire.lanes)[way]);
          at = wire.ends[1 - way].space;
          gone = true;
        }
    EXPECT_TRUE(gone) << space.name << " knows no way to " << to_text(to);
    if (!gone) break;
  }
  return {-1};
}

TEST(Blueprint, LetsIslandsAndTheirEdgesReachEachOtherAndTheOffice) {
  for (const PlanFile& plan :
       {odd_plan(), testing::nine_city_plan("pairs", {32'000'000'000}, {1'000'000'000})}) {
    const MulticastGroups groups(plan.plan);
    const auto print = draw(plan, groups);
    ASSERT_TRUE(print.has_value());
    for (IslandId island = 0; island < plan.map.island_count(); ++island) {
      const NamespaceRole own{NamespaceRole::Kind::kIsland, island},
          edge = listener_of(plan, island);
      EXPECT_EQ(unicast(*print, own, kControlAddress), std::vector<LaneId>{});
      if (edge.kind == NamespaceRole::Kind::kIsland) continue;
      EXPECT_EQ(unicast(*print, edge, kControlAddress), std::vector<LaneId>{});
      EXPECT_EQ(unicast(*print, edge, island_address(island)), plan.ingress[island].lanes);
      std::vector<LaneId> back = unicast(*print, own, edge_address(island));
      ASSERT_EQ(back.size(), plan.ingress[island].lanes.size());
      EXPECT_EQ(back.front(), lane_up(plan.map, island));
    }
  }
}

TEST(Blueprint, LetsIslandsReachEachOtherAlongShortestPaths) {
  for (const PlanFile& plan :
       {odd_plan(), testing::nine_city_plan("pairs", {32'000'000'000}, {1'000'000'000})}) {
    const MulticastGroups groups(plan.plan);
    const auto print = draw(plan, groups);
    ASSERT_TRUE(print.has_value());
    const Routes routes(plan.map);
    for (IslandId from = 0; from < plan.map.island_count(); ++from)
      for (IslandId to = 0; to < plan.map.island_count(); ++to) {
        if (from == to) continue;
        const auto lanes =
            unicast(*print, {NamespaceRole::Kind::kIsland, from}, island_address(to));
        ASSERT_GE(lanes.size(), 3u);
        EXPECT_EQ(lanes.front(), lane_up(plan.map, from));
        EXPECT_EQ(lanes.back(), lane_down(plan.map, to));
        Duration latency{0};
        for (const LaneId lane : lanes) latency = latency + lane_latency(plan.map, lane);
        EXPECT_EQ(latency.ps, routes.latency(to, from).ps);
      }
  }
}

TEST(Scale, DividesRatesAndSizesAndKeepsTimes) {
  const PlanFile plan = testing::nine_city_plan("triangles", {32'000'000'000}, {1'000'000'000});
  const auto small = scaled(plan, 1000);
  ASSERT_TRUE(small.has_value());
  EXPECT_EQ(small->map.payload.count, 1'000'000);
  EXPECT_EQ(small->map.links[0].rate[0].value, 1e8);
  EXPECT_EQ(small->map.islands[0].up.value, 2e7);
  EXPECT_EQ(small->map.aggregators[0].spec.memory.count, 32'000'000);
  EXPECT_EQ(small->plan.rounds[0].length.ps, plan.plan.rounds[0].length.ps);
  const Stream& before = plan.plan.rounds[0].cliques[0].streams[0];
  const Stream& after = small->plan.rounds[0].cliques[0].streams[0];
  EXPECT_NEAR(transfer_time(after.payload, after.rate).ms(),
              transfer_time(before.payload, before.rate).ms(), 0.03);
  EXPECT_FALSE(scaled(plan, 1'000'000'000).has_value());
}

TEST(Scale, WritesPlansThatCanBeReadBack) {
  for (const PlanFile& plan :
       {odd_plan(), testing::nine_city_plan("pairs", {32'000'000'000}, {1'000'000'000})}) {
    const auto small = scaled(plan, 1000);
    ASSERT_TRUE(small.has_value());
    const auto text = plan_text(*small);
    ASSERT_TRUE(text.has_value()) << text.error().message;
    const auto read = read_plan(*text, "small.json");
    ASSERT_TRUE(read.has_value()) << to_text(read.error().front());
    EXPECT_EQ(read->map.payload, small->map.payload);
    EXPECT_EQ(read->map.links[0].rate[1], small->map.links[0].rate[1]);
    const Stream& wrote = small->plan.rounds[0].cliques[0].streams[0];
    const Stream& found = read->plan.rounds[0].cliques[0].streams[0];
    EXPECT_EQ(found.rate, wrote.rate);
    EXPECT_EQ(found.offset.ps, wrote.offset.ps);
    EXPECT_EQ(found.payload, wrote.payload);
    EXPECT_EQ(found.tree, wrote.tree);
  }
}

// A DATA packet of 128 bytes of weights from 10.0.0.1 to 239.0.0.1.
std::vector<std::byte> data_packet() {
  std::vector<std::byte> ip(28 + packet_bytes(128));
  const unsigned char head[28] = {0x45, 0, 0,   196, 0, 0, 0x40, 0, 64,  17,  0, 0,   10, 0,
                                  0,    1, 239, 0,   0, 1, 0,    1, 116, 204, 0, 176, 1,  2};
  std::memcpy(ip.data(), head, sizeof head);
  Header header;
  header.set_type(PacketType::kData);
  write_header(header, ByteSpan(ip).subspan(28));
  return ip;
}

bool ip_checksum_holds(ByteView ip) {
  std::uint32_t sum = 0;
  for (std::size_t at = 0; at < 20; at += 2)
    sum += std::uint32_t(ip[at]) << 8 | std::uint32_t(ip[at + 1]);
  return (sum & 0xffff) + (sum >> 16) == 0xffff;
}

TEST(Frame, CountsBytesAsTheMapDoes) {
  auto ip = data_packet();
  const auto frame = read_frame(ip);
  ASSERT_TRUE(frame.has_value());
  EXPECT_EQ(to_text(frame->source), "10.0.0.1");
  EXPECT_EQ(to_text(frame->destination), "239.0.0.1");
  EXPECT_EQ(wire_bytes(*frame, ip.size(), {0}), 128u);
  EXPECT_EQ(wire_bytes(*frame, ip.size(), {76}), 204u);
  Header request;
  request.set_type(PacketType::kNak);
  write_header(request, frame->udp);
  EXPECT_EQ(wire_bytes(*frame, ip.size(), {0}), 0u);
  EXPECT_EQ(wire_bytes(*frame, ip.size(), {76}), 204u);
  frame->udp[0] = std::byte{0};  // somebody else's
  EXPECT_EQ(wire_bytes(*frame, ip.size(), {76}), ip.size());
}

TEST(Frame, RefusesWhatIsNoWholePacket) {
  auto ip = data_packet();
  EXPECT_FALSE(read_frame(ByteSpan(ip).first(19)).has_value());
  EXPECT_FALSE(read_frame(ByteSpan(ip).first(100)).has_value());
  ip[0] = std::byte{0x60};
  EXPECT_FALSE(read_frame(ip).has_value());
}

TEST(Frame, SpoilsTheContentAndNothingElse) {
  Random random(7);
  for (int i = 0; i < 50; ++i) {
    auto ip = data_packet();
    const auto before = ip;
    EXPECT_EQ(corrupt(ip, random), ip.size());
    EXPECT_TRUE(ip_checksum_holds(ip));
    int changed = 0;
    for (std::size_t at = 28; at < ip.size(); ++at) changed += ip[at] != before[at] ? 1 : 0;
    EXPECT_EQ(changed, 1);
    const std::size_t left = truncate(ip, random);
    ASSERT_LT(left, ip.size());
    ip.resize(left);
    EXPECT_TRUE(ip_checksum_holds(ip));
    const auto frame = read_frame(ip);
    ASSERT_TRUE(frame.has_value());
    EXPECT_EQ(frame->udp.size() + 28, left);
  }
}

}  // namespace
}  // namespace cotillion
