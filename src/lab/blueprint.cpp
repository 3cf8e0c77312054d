#include "lab/blueprint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.hpp"
#include "topology/routes.hpp"

namespace cotillion {
namespace {

// Three namespaces for each place and a few descriptors for each link: a machine holds that many.
constexpr int kPlacesOfALab = 256;

const char* kind_word(NamespaceRole::Kind kind) {
  switch (kind) {
    case NamespaceRole::Kind::kRouter:
      return "router";
    case NamespaceRole::Kind::kEdge:
      return "edge";
    case NamespaceRole::Kind::kIsland:
      return "island";
    case NamespaceRole::Kind::kControl:
      return "control";
  }
  return "";
}

class BlueprintMaker {
 public:
  BlueprintMaker(const PlanFile& plan, const MulticastGroups& groups)
      : plan_(plan), map_(plan.map), groups_(groups) {}

  Result<Blueprint> draw() {
    if (map_.place_count() > kPlacesOfALab)
      return failure(
          fmt::format("a map of {} places; a lab holds {}", map_.place_count(), kPlacesOfALab));
    for (IslandId island = 0; island < map_.island_count(); ++island)
      if (const Ingress& ingress = ingress_of(island); ingress.edge != kNoAggregator)
        served_[ingress.from].push_back(island);
    add_spaces();
    join_links();
    join_islands();
    join_control();
    add_ways();
    add_ways_between_islands();
    for (PlaceId place = 0; place < map_.place_count(); ++place)
      if (const auto routed = route(place); !routed) return Unexpected<Error>{routed.error()};
    check_wires();
    check_addresses();
    return std::move(print_);
  }

 private:
  // Every wire joins two namespaces that are there, no interface has two wires, and every lane of
  // the map is one way of one wire.
  void check_wires() const {
    std::set<std::pair<int, std::string>> interfaces;
    std::set<LaneId> lanes;
    for (const Wire& wire : print_.wires) {
      COTILLION_CHECK(wire.ends[0].space != wire.ends[1].space);
      for (const Wire::End& end : wire.ends) {
        COTILLION_CHECK(end.space >= 0 && std::size_t(end.space) < print_.spaces.size());
        COTILLION_CHECK(interfaces.emplace(end.space, end.interface).second);
      }
      for (int way = 0; wire.lanes && way < 2; ++way)
        COTILLION_CHECK(lanes.insert((*wire.lanes)[std::size_t(way)]).second);
    }
    COTILLION_CHECK(lanes.size() == std::size_t(map_.lane_count()));
    for (int at = 0; at < int(print_.spaces.size()); ++at) {
      const Space& space = print_.spaces[std::size_t(at)];
      for (const Space::Way& way : space.ways)
        COTILLION_CHECK(interfaces.contains({at, way.interface}));
      COTILLION_CHECK(space.way_out.empty() || interfaces.contains({at, space.way_out}));
    }
  }
  // Every role has one namespace, and no address is anywhere twice.
  void check_addresses() const {
    std::set<NamespaceRole> roles;
    std::set<Ipv4Address> addresses;
    for (const Space& space : print_.spaces) {
      COTILLION_CHECK(roles.insert(space.role).second && !space.addresses.empty());
      for (const Space::Owned& owned : space.addresses)
        COTILLION_CHECK(addresses.insert(owned.address).second);
    }
  }

  [[nodiscard]] const Ingress& ingress_of(IslandId island) const { return plan_.ingress[island]; }
  [[nodiscard]] bool in_line(PlaceId place) const {
    if (place >= map_.island_count()) return false;
    const Ingress& ingress = ingress_of(IslandId(int(place)));
    return ingress.edge != kNoAggregator && ingress.from == place;
  }
  [[nodiscard]] Space& space(NamespaceRole role) {
    return print_.spaces[std::size_t(print_.space_of(role))];
  }
  [[nodiscard]] Space& router(PlaceId place) {
    return space({NamespaceRole::Kind::kRouter, place});
  }

  void add(NamespaceRole role, const std::string& of) {
    Space space;
    space.role = role;
    space.name = of.empty() ? kind_word(role.kind) : fmt::format("{} {}", kind_word(role.kind), of);
    print_.spaces.push_back(std::move(space));
  }

  void add_spaces() {
    for (PlaceId place = 0; place < map_.place_count(); ++place) {
      add({NamespaceRole::Kind::kRouter, place}, place_name(map_, place));
      print_.spaces.back().forwards = true;
      print_.spaces.back().addresses.push_back({"lo", router_address(place)});
      if (served_[place].empty()) continue;
      add({NamespaceRole::Kind::kEdge, place}, place_name(map_, place));
      Space& edge = print_.spaces.back();
      edge.forwards = in_line(place);
      edge.way_out = kNet;
      for (const IslandId island : served_[place])
        edge.addresses.push_back({kNet, edge_address(island)});
    }
    for (IslandId island = 0; island < map_.island_count(); ++island) {
      add({NamespaceRole::Kind::kIsland, island}, map_.islands[island].name);
      print_.spaces.back().addresses.push_back({kNet, island_address(island)});
      print_.spaces.back().way_out = kNet;
    }
    add({NamespaceRole::Kind::kControl, 0}, "");
    print_.spaces.back().addresses.push_back({"lo", kControlAddress});
  }

  void join(NamespaceRole one, const std::string& interface, NamespaceRole other,
            const std::string& its, std::optional<std::array<LaneId, 2>> lanes) {
    print_.wires.push_back(
        {{Wire::End{print_.space_of(one), interface}, Wire::End{print_.space_of(other), its}},
         lanes});
  }

  void join_links() {
    for (int link = 0; link < int(map_.links.size()); ++link) {
      const auto& ends = map_.links[std::size_t(link)].ends;
      join({NamespaceRole::Kind::kRouter, ends[0]}, link_interface(link),
           {NamespaceRole::Kind::kRouter, ends[1]}, link_interface(link),
           {{lane_of_link(link, 0), lane_of_link(link, 1)}});
    }
  }

  void join_islands() {
    for (PlaceId place = 0; place < map_.place_count(); ++place)
      if (!served_[place].empty())
        join({NamespaceRole::Kind::kRouter, place}, kEdgeSide, {NamespaceRole::Kind::kEdge, place},
             kNet, {});
    for (IslandId island = 0; island < map_.island_count(); ++island)
      join({NamespaceRole::Kind::kIsland, island}, kNet,
           {in_line(island) ? NamespaceRole::Kind::kEdge : NamespaceRole::Kind::kRouter, island},
           kIslandSide, {{lane_up(map_, island), lane_down(map_, island)}});
  }

  void join_control() {
    const NamespaceRole control{NamespaceRole::Kind::kControl, 0};
    const int spaces = int(print_.spaces.size());
    for (int at = 0; at < spaces; ++at) {
      Space& member = print_.spaces[std::size_t(at)];
      if (member.role.kind != NamespaceRole::Kind::kEdge &&
          member.role.kind != NamespaceRole::Kind::kIsland)
        continue;
      const std::string interface = fmt::format("control{}", at);
      member.addresses.push_back({kControlSide, control_address(at)});
      member.ways.push_back({kControlAddress, kControlSide});
      space(control).ways.push_back({control_address(at), interface});
      join(control, interface, member.role, kControlSide, {});
    }
  }

  // Between an island and its edge, along the lanes of the plan and back the same way.
  void add_ways() {
    for (IslandId island = 0; island < map_.island_count(); ++island) {
      const Ingress& ingress = ingress_of(island);
      const Ipv4Address own = island_address(island), edge = edge_address(island);
      const char* local = in_line(island) ? kEdgeSide : kIslandSide;
      if (in_line(island))
        space({NamespaceRole::Kind::kEdge, island}).ways.push_back({own, kIslandSide});
      router(island).ways.push_back({own, local});
      if (ingress.edge != kNoAggregator) router(ingress.from).ways.push_back({edge, kEdgeSide});
      for (const LaneId lane : ingress.lanes) {
        if (is_access(map_, lane)) continue;
        const Link& link = map_.links[std::size_t(lane / 2)];
        router(link.ends[lane % 2]).ways.push_back({own, link_interface(lane / 2)});
        router(link.ends[1 - lane % 2]).ways.push_back({edge, link_interface(lane / 2)});
      }
    }
  }

  // For programs that send from island to island: at every router the next step of a shortest path.
  // A step along any of them leaves less to go, so packets cannot go round in circles, whichever
  // path was there first.
  void add_ways_between_islands() {
    const Routes routes(map_);
    for (IslandId to = 0; to < map_.island_count(); ++to)
      for (IslandId from = 0; from < map_.island_count(); ++from)
        for (const LaneId lane : routes.path(to, from)) {
          const Link& link = map_.links[std::size_t(lane / 2)];
          std::vector<Space::Way>& ways = router(link.ends[lane % 2]).ways;
          const bool known = std::any_of(ways.begin(), ways.end(), [&](const Space::Way& way) {
            return way.to == island_address(to);
          });
          if (!known) ways.push_back({island_address(to), link_interface(lane / 2)});
        }
  }

  [[nodiscard]] Result<void> route(PlaceId place) {
    Wiring wiring;
    for (const Port& port : link_ports(map_, place))
      wiring.interfaces[port] = link_interface(port.link);
    wiring.interfaces[{Port::Kind::kEdge}] = kEdgeSide;
    wiring.interfaces[{Port::Kind::kIsland}] = in_line(place) ? kEdgeSide : kIslandSide;
    for (IslandId island = 0; island < map_.island_count(); ++island)
      wiring.sources.push_back(island_address(island));
    const auto entries = routes_at(plan_, groups_, place);
    auto routes = kernel_routes(map_, place, entries, wiring);
    if (!routes) return Unexpected<Error>{routes.error()};
    router(place).routes = std::move(*routes);
    if (!in_line(place)) return {};
    // An edge in line passes on what its own island sends, and keeps what it hears to itself:
    // without an entry the kernel would wait for one with every packet.
    std::vector<KernelRoute>& in_edge = space({NamespaceRole::Kind::kEdge, place}).routes;
    for (const MulticastRoute& entry : entries) {
      const Ipv4Address source = island_address(entry.group->sender);
      const bool heard =
          std::find(entry.out.begin(), entry.out.end(), Port{Port::Kind::kEdge}) != entry.out.end();
      if (entry.group->sender == place)
        in_edge.push_back({source, entry.group->address, kIslandSide, {kNet}});
      else if (heard)
        in_edge.push_back({source, entry.group->address, kNet, {}});
    }
    return {};
  }

  const PlanFile& plan_;
  const Map& map_;
  const MulticastGroups& groups_;
  IdVector<PlaceId, std::vector<IslandId>> served_ =
      IdVector<PlaceId, std::vector<IslandId>>(map_.place_count());
  Blueprint print_;
};

}  // namespace

int Blueprint::space_of(NamespaceRole role) const {
  const auto found = std::find_if(spaces.begin(), spaces.end(),
                                  [&](const Space& space) { return space.role == role; });
  COTILLION_CHECK(found != spaces.end());
  return int(found - spaces.begin());
}

bool Blueprint::has(NamespaceRole role) const {
  return std::any_of(spaces.begin(), spaces.end(),
                     [&](const Space& space) { return space.role == role; });
}

Ipv4Address Blueprint::control_address_of(NamespaceRole role) const {
  return control_address(space_of(role));
}

Blueprint::Passage Blueprint::passage(LaneId lane) const {
  for (const Wire& wire : wires)
    for (int way = 0; wire.lanes && way < 2; ++way)
      if ((*wire.lanes)[std::size_t(way)] == lane)
        return {wire.ends[std::size_t(way)], wire.ends[std::size_t(1 - way)]};
  COTILLION_CHECK(false);
}

Result<Blueprint> draw(const PlanFile& plan, const MulticastGroups& groups) {
  return BlueprintMaker(plan, groups).draw();
}

NamespaceRole listener_of(const PlanFile& plan, IslandId island) {
  const Ingress& ingress = plan.ingress[island];
  if (ingress.edge == kNoAggregator) return {NamespaceRole::Kind::kIsland, island};
  return {NamespaceRole::Kind::kEdge, ingress.from};
}

Ipv4Address router_address(PlaceId place) {
  return 0x0a02'0000u | std::uint32_t(place);
}

Ipv4Address control_address(int space) {
  return 0x0a03'0000u | std::uint32_t(space);
}

std::string link_interface(int link) {
  return fmt::format("link{}", link);
}

}  // namespace cotillion
