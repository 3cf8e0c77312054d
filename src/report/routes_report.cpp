#include "report/routes_report.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/table.hpp"
#include "base/text.hpp"
#include "protocol/packet.hpp"
#include "topology/routes.hpp"

namespace cotillion {
namespace {

std::string names(const Map& map, const std::vector<IslandId>& islands) {
  std::vector<std::string> names;
  for (const IslandId island : islands) names.push_back(map.islands[island].name);
  return fmt::format("{}", fmt::join(names, " "));
}

std::string title_of(const RoutesStudy& study) {
  const std::string& name = study.plan.map.name;
  return fmt::format("{}: {}", name.empty() ? "map" : name, study.plan.plan.schedule);
}

// People count rounds from 1.
std::vector<int> rounds_of(const MulticastGroup& group) {
  std::vector<int> rounds;
  for (const int phase : group.phases) rounds.push_back(phase + 1);
  return rounds;
}

std::string group_rounds_text(const MulticastGroup& group) {
  constexpr std::size_t kMost = 6;
  std::vector<int> rounds = rounds_of(group);
  const std::size_t more = rounds.size() > kMost ? rounds.size() - kMost : 0;
  rounds.resize(rounds.size() - more);
  return fmt::format("{}{}", fmt::join(rounds, " "), more > 0 ? fmt::format(" … +{}", more) : "");
}

// Where the streams of a group are listened to: at edges, or at islands without one.
std::vector<PlaceId> ends_of(const PlanFile& plan, const MulticastGroup& group) {
  std::set<PlaceId> ends;
  for (const IslandId receiver : group.receivers) ends.insert(plan.ingress[receiver].from);
  return {ends.begin(), ends.end()};
}

Json port_json(const Map& map, PlaceId place, const Port& port) {
  if (port.kind == Port::Kind::kIsland) return {{"kind", "island"}};
  if (port.kind == Port::Kind::kEdge) return {{"kind", "edge"}};
  return {{"kind", "link"}, {"neighbour", port_name(map, place, port)}};
}

std::string interface_name(const Map& map, PlaceId place, const Port& port) {
  if (port.kind == Port::Kind::kIsland) return "to-island";
  if (port.kind == Port::Kind::kEdge) return "to-edge";
  return "to-" + port_name(map, place, port);
}

Json entries_json(const RoutesStudy& study, PlaceId place) {
  const Map& map = study.plan.map;
  Json entries = Json::array();
  for (const MulticastRoute& route : routes_at(study.plan, study.groups, place)) {
    Json out = Json::array();
    for (const Port& port : route.out) out.push_back(port_json(map, place, port));
    entries.push_back({{"source", map.islands[route.group->sender].name},
                       {"source_address", to_text(study.sources[route.group->sender])},
                       {"group", to_text(route.group->address)},
                       {"rounds", rounds_of(*route.group)},
                       {"in", port_json(map, place, route.in)},
                       {"out", out}});
  }
  return entries;
}

Json head_json(const RoutesStudy& study) {
  return {{"map", study.plan.map.name},
          {"schedule", study.plan.plan.schedule},
          {"period", study.plan.plan.rounds.size()},
          {"port", kUdpPort}};
}

std::string frr_head(const RoutesStudy& study, const char* what) {
  return fmt::format(
      "! {}, {}.\n"
      "! Interfaces are called to-NEIGHBOUR, to-island and to-edge: put yours in their place.\n",
      title_of(study), what);
}

}  // namespace

std::string routes_text(const RoutesStudy& study, PlaceId place) {
  const Map& map = study.plan.map;
  const auto routes = routes_at(study.plan, study.groups, place);
  std::string text =
      fmt::format("{}; {} of {} pass {}\n", title_of(study), routes.size(),
                  counted(study.groups.all().size(), "group"), place_name(map, place));
  if (routes.empty()) return text;
  Table table({{"sender"}, {"source"}, {"group"}, {"from"}, {"to"}, {"rounds"}});
  for (const MulticastRoute& route : routes) {
    std::vector<std::string> out;
    for (const Port& port : route.out) out.push_back(port_name(map, place, port));
    table.add({map.islands[route.group->sender].name, to_text(study.sources[route.group->sender]),
               to_text(route.group->address), port_name(map, place, route.in),
               fmt::format("{}", fmt::join(out, ", ")), group_rounds_text(*route.group)});
  }
  return text + table.text();
}

Json routes_json(const RoutesStudy& study, PlaceId place) {
  Json json = head_json(study);
  json["at"] = place_name(study.plan.map, place);
  json["routes"] = entries_json(study, place);
  return json;
}

std::string groups_text(const RoutesStudy& study) {
  const Map& map = study.plan.map;
  Table table({{"group"}, {"source"}, {"sender"}, {"receivers"}, {"heard at"}, {"rounds"}});
  for (const MulticastGroup& group : study.groups.all()) {
    std::vector<std::string> ends;
    for (const PlaceId end : ends_of(study.plan, group)) ends.push_back(place_name(map, end));
    table.add({to_text(group.address), to_text(study.sources[group.sender]),
               map.islands[group.sender].name, names(map, group.receivers),
               fmt::format("{}", fmt::join(ends, " ")), group_rounds_text(group)});
  }
  std::string text =
      fmt::format("{}; {}, one source each, UDP port {}\n{}", title_of(study),
                  counted(study.groups.all().size(), "group"), kUdpPort, table.text());
  const auto twice = two_ways_to_a_source(study);
  for (const std::string& conflict : twice) text += fmt::format("not for PIM: {}\n", conflict);
  for (const OtherWay& way : other_ways(study))
    text +=
        fmt::format("not the shortest way: {}: streams of {} from {}\n", place_name(map, way.at),
                    map.islands[way.sender].name, port_name(map, way.at, way.in));
  return text;
}

Json groups_json(const RoutesStudy& study) {
  const Map& map = study.plan.map;
  Json json = head_json(study);
  json["groups"] = Json::array();
  for (const MulticastGroup& group : study.groups.all()) {
    Json receivers = Json::array();
    for (const IslandId receiver : group.receivers) {
      const Ingress& ingress = study.plan.ingress[receiver];
      receivers.push_back({{"island", map.islands[receiver].name},
                           {"at", place_name(map, ingress.from)},
                           {"summed", ingress.edge != kNoAggregator}});
    }
    Json tree = Json::array();
    for (const LaneId lane : group.tree) tree.push_back(lane_name(map, lane));
    json["groups"].push_back({{"group", to_text(group.address)},
                              {"source", map.islands[group.sender].name},
                              {"source_address", to_text(study.sources[group.sender])},
                              {"rounds", rounds_of(group)},
                              {"receivers", receivers},
                              {"tree", tree}});
  }
  json["routers"] = Json::array();
  for (PlaceId place = 0; place < map.place_count(); ++place)
    json["routers"].push_back(
        {{"at", place_name(map, place)}, {"routes", entries_json(study, place)}});
  json["two_ways_to_a_source"] = two_ways_to_a_source(study);
  json["other_than_shortest"] = Json::array();
  for (const OtherWay& way : other_ways(study))
    json["other_than_shortest"].push_back({{"at", place_name(map, way.at)},
                                           {"source", map.islands[way.sender].name},
                                           {"in", port_json(map, way.at, way.in)}});
  return json;
}

std::string frr_memberships(const RoutesStudy& study) {
  const Map& map = study.plan.map;
  std::string text = frr_head(study, "memberships for PIM source-specific multicast");
  for (const std::string& conflict : two_ways_to_a_source(study))
    text += fmt::format("! NOT FOR PIM: {}\n", conflict);
  text +=
      "! On every router, with PIM on every link:\n"
      "ip prefix-list cotillion seq 5 permit 239.0.0.0/8 le 32\n"
      "ip pim ssm prefix-list cotillion\n"
      "! Where FRR does not know static-group, join-group does the same at some cost.\n";
  const std::vector<OtherWay> others = other_ways(study);
  if (!others.empty()) text += "! Reverse paths that unicast routes would not take:\n";
  for (const OtherWay& way : others)
    text += fmt::format("! router at {}\nip mroute {}/32 {}\n", place_name(map, way.at),
                        to_text(study.sources[way.sender]), interface_name(map, way.at, way.in));
  for (PlaceId place = 0; place < map.place_count(); ++place) {
    std::map<Port, std::vector<const MulticastGroup*>> joined;
    for (const MulticastRoute& route : routes_at(study.plan, study.groups, place))
      for (const Port& port : route.out)
        if (port.kind != Port::Kind::kLink) joined[port].push_back(route.group);
    if (joined.empty()) continue;
    text += fmt::format("!\n! router at {}\n", place_name(map, place));
    for (const auto& [port, groups] : joined) {
      text += fmt::format("interface {}\n ip igmp\n", interface_name(map, place, port));
      for (const MulticastGroup* group : groups)
        text += fmt::format(" ip igmp static-group {} {}\n", to_text(group->address),
                            to_text(study.sources[group->sender]));
      text += "exit\n";
    }
  }
  return text;
}

std::string frr_static_routes(const RoutesStudy& study) {
  const Map& map = study.plan.map;
  std::string text = frr_head(study, "static multicast routes along the plan's own trees");
  for (PlaceId place = 0; place < map.place_count(); ++place) {
    std::map<Port, std::vector<MulticastRoute>> by_port;
    for (MulticastRoute& route : routes_at(study.plan, study.groups, place))
      by_port[route.in].push_back(std::move(route));
    if (by_port.empty()) continue;
    text += fmt::format("!\n! router at {}\n", place_name(map, place));
    for (const auto& [in, routes] : by_port) {
      text += fmt::format("interface {}\n", interface_name(map, place, in));
      for (const MulticastRoute& route : routes)
        for (const Port& out : route.out)
          text += fmt::format(" ip mroute {} {} {}\n", interface_name(map, place, out),
                              to_text(route.group->address),
                              to_text(study.sources[route.group->sender]));
      text += "exit\n";
    }
  }
  return text;
}

std::vector<std::string> two_ways_to_a_source(const RoutesStudy& study) {
  const Map& map = study.plan.map;
  std::vector<std::string> found;
  for (PlaceId place = 0; place < map.place_count(); ++place) {
    std::map<IslandId, std::set<Port>> ways;
    for (const MulticastRoute& route : routes_at(study.plan, study.groups, place))
      ways[route.group->sender].insert(route.in);
    for (const auto& [sender, ports] : ways) {
      if (ports.size() < 2) continue;
      std::vector<std::string> from;
      for (const Port& port : ports) from.push_back(port_name(map, place, port));
      found.push_back(fmt::format("{}: streams of {} from {}", place_name(map, place),
                                  map.islands[sender].name, fmt::join(from, " and ")));
    }
  }
  return found;
}

std::vector<OtherWay> other_ways(const RoutesStudy& study) {
  const Map& map = study.plan.map;
  const Routes shortest(map);
  std::vector<OtherWay> found;
  for (PlaceId place{0}; place < map.place_count(); ++place) {
    std::map<IslandId, std::set<Port>> ways;
    for (const MulticastRoute& route : routes_at(study.plan, study.groups, place))
      if (route.in.kind == Port::Kind::kLink) ways[route.group->sender].insert(route.in);
    for (const auto& [sender, ports] : ways) {
      int link = -1;  // by which the shortest way comes
      shortest.walk_back(place, sender, [&](LaneId lane) {
        link = int(lane) / 2;
        return false;
      });
      for (const Port& port : ports)
        if (port.link != link) found.push_back({place, sender, port});
    }
  }
  return found;
}

}  // namespace cotillion
