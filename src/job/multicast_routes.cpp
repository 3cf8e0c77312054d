#include "job/multicast_routes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/check.hpp"
#include "topology/lane_walk.hpp"

namespace cotillion {
namespace {

int links_of(const Map& map) {
  return int(map.links.size());
}

Port port_of(const Map& map, LaneId lane) {
  return is_access(map, lane) ? Port{Port::Kind::kIsland} : Port{Port::Kind::kLink, lane / 2};
}

}  // namespace

MulticastGroups::MulticastGroups(const Plan& plan) {
  // The way of a stream, whatever its rate and offset: lanes in any order make the same tree.
  using Way = std::pair<std::vector<LaneId>, std::vector<IslandId>>;
  std::map<IslandId, std::vector<MulticastGroup>> of_sender;
  std::map<IslandId, std::map<Way, int>> known;
  std::map<std::pair<int, IslandId>, int> numbers;  // by phase and sender
  for (std::size_t phase = 0; phase < plan.rounds.size(); ++phase)
    for (const PlannedClique& clique : plan.rounds[phase].cliques)
      for (const Stream& stream : clique.streams) {
        Way way{stream.tree, {}};
        std::sort(way.first.begin(), way.first.end());
        for (const Arrival& arrival : stream.receivers) way.second.push_back(arrival.receiver);
        std::sort(way.second.begin(), way.second.end());
        auto& groups = of_sender[stream.sender];
        const auto [found, fresh] = known[stream.sender].emplace(way, int(groups.size()));
        if (fresh)
          groups.push_back({.sender = stream.sender,
                            .number = found->second,
                            .address = group_address(stream.sender, found->second),
                            .tree = stream.tree,
                            .receivers = way.second,
                            .phases = {}});
        groups[std::size_t(found->second)].phases.push_back(int(phase));
        numbers[{int(phase), stream.sender}] = found->second;
      }
  std::map<IslandId, int> first;
  for (auto& [sender, groups] : of_sender) {
    first[sender] = int(groups_.size());
    std::move(groups.begin(), groups.end(), std::back_inserter(groups_));
  }
  const int senders = of_sender.empty() ? 0 : of_sender.rbegin()->first + 1;
  by_phase_.assign(plan.rounds.size(), IdVector<IslandId, int>(senders, -1));
  for (const auto& [at, number] : numbers)
    by_phase_[std::size_t(at.first)][at.second] = first[at.second] + number;
}

const MulticastGroup* MulticastGroups::of(std::size_t phase, IslandId sender) const {
  COTILLION_CHECK(phase < by_phase_.size() && sender >= 0);
  const auto& groups = by_phase_[phase];
  if (!groups.has(sender) || groups[sender] < 0) return nullptr;
  return &groups_[std::size_t(groups[sender])];
}

std::vector<Port> link_ports(const Map& map, PlaceId place) {
  std::vector<Port> ports;
  for (int link = 0; link < links_of(map); ++link) {
    const auto& ends = map.links[std::size_t(link)].ends;
    if (ends[0] == place || ends[1] == place) ports.push_back({Port::Kind::kLink, link});
  }
  return ports;
}

std::string port_name(const Map& map, PlaceId place, const Port& port) {
  if (port.kind == Port::Kind::kIsland) return "its island";
  if (port.kind == Port::Kind::kEdge) return "its edge";
  const auto& ends = map.links[std::size_t(port.link)].ends;
  return place_name(map, ends[0] == place ? ends[1] : ends[0]);
}

std::optional<PlaceId> find_place(const Map& map, const std::string& name) {
  for (PlaceId place = 0; place < map.place_count(); ++place)
    if (place_name(map, place) == name) return place;
  return std::nullopt;
}

Result<MulticastGroups> groups_of(const Plan& plan) {
  if (!plan.network.technology.multicast)
    return failure(
        "the plan does without multicast: senders emit a copy for each receiver, and routers need "
        "no routes for them");
  if (!plan.feasible)
    return failure("the plan is infeasible: nobody can play it, so nothing is routed for it");
  MulticastGroups groups(plan);
  if (groups.all().empty()) return failure("nobody sends anything in this plan");
  return groups;
}

std::vector<MulticastRoute> routes_at(const PlanFile& plan, const MulticastGroups& groups,
                                      PlaceId place) {
  const Map& map = plan.map;
  std::vector<MulticastRoute> routes;
  for (const MulticastGroup& group : groups.all()) {
    // In a tree every place is entered once.
    const auto entering = std::find_if(group.tree.begin(), group.tree.end(),
                                       [&](LaneId lane) { return lane_ends(map, lane) == place; });
    if (entering == group.tree.end()) continue;
    MulticastRoute route{&group, port_of(map, *entering), {}};
    for (const LaneId lane : group.tree)
      if (!is_access(map, lane) && lane_begins(map, lane) == place)
        route.out.push_back(port_of(map, lane));
    for (const IslandId receiver : group.receivers) {
      const Ingress& ingress = plan.ingress[receiver];
      if (ingress.from != place) continue;
      route.out.push_back(
          {ingress.edge == kNoAggregator ? Port::Kind::kIsland : Port::Kind::kEdge});
    }
    std::sort(route.out.begin(), route.out.end());
    route.out.erase(std::unique(route.out.begin(), route.out.end()), route.out.end());
    COTILLION_CHECK(!route.out.empty());
    routes.push_back(std::move(route));
  }
  return routes;
}

}  // namespace cotillion
