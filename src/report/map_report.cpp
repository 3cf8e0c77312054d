#include "report/map_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/table.hpp"
#include "base/text.hpp"

namespace cotillion {
namespace {

using Align = Table::Align;
constexpr int kMatrixMax = 24;  // islands in a latency table that still fits a screen

std::string both(const std::string& there, const std::string& back) {
  return there == back ? there : there + " / " + back;
}

std::string latency_text(Duration latency) {
  return fmt::format("{:g}", latency.ms());
}

std::string edge_memory_text(const Aggregator& edge) {
  const std::string memory = to_text(edge.spec.memory);
  return edge.serves.size() == 1 ? memory : fmt::format("{} for {}", memory, edge.serves.size());
}

std::string islands_text(const Map& map) {
  const auto edges = aggregator_of_islands(map);
  Table table({{"island"},
               {""},
               {"region"},
               {"access up / down", Align::kRight},
               {"edge at"},
               {"memory", Align::kRight}});
  for (IslandId i = 0; i < map.island_count(); ++i) {
    const Island& island = map.islands[i];
    const bool has_edge = edges[i] != kNoAggregator;
    table.add({island.name, island.label, island.region,
               both(to_text(island.up), to_text(island.down)),
               has_edge ? place_name(map, map.aggregators[edges[i]].place) : "none",
               has_edge ? edge_memory_text(map.aggregators[edges[i]]) : "–"});
  }
  return table.text();
}

std::string links_text(const Map& map) {
  Table table({{"link"}, {"latency ms", Align::kRight}, {"rate", Align::kRight}});
  for (const Link& link : map.links)
    table.add({place_name(map, link.ends[0]) + "–" + place_name(map, link.ends[1]),
               both(latency_text(link.latency[0]), latency_text(link.latency[1])),
               both(to_text(link.rate[0]), to_text(link.rate[1]))});
  return table.text();
}

std::string latencies_text(const Map& map, const Routes& routes) {
  if (map.island_count() > kMatrixMax)
    return fmt::format("({} islands: the table of latencies is in --json)\n", map.island_count());
  std::vector<Table::Column> columns{{"to \\ from"}};
  for (const Island& island : map.islands) columns.push_back({island.name, Align::kRight});
  Table table(columns);
  for (IslandId to = 0; to < map.island_count(); ++to) {
    std::vector<std::string> cells{map.islands[to].name};
    for (IslandId from = 0; from < map.island_count(); ++from)
      cells.push_back(to == from ? "·" : latency_text(routes.latency(to, from)));
    table.add(std::move(cells));
  }
  return table.text();
}

// Children of each place in the tree, in order of name.
std::vector<std::vector<LaneId>> branches_of(const Map& map, const std::vector<LaneId>& tree) {
  std::vector<std::vector<LaneId>> branches(map.place_count());
  for (const LaneId lane : tree) branches[map.links[lane / 2].ends[lane % 2]].push_back(lane);
  for (auto& lanes : branches)
    std::sort(lanes.begin(), lanes.end(),
              [&](LaneId a, LaneId b) { return lane_to(map, a) < lane_to(map, b); });
  return branches;
}

void draw(const Map& map, const Routes& routes, const std::vector<std::vector<LaneId>>& branches,
          const std::set<PlaceId>& receivers, PlaceId root, PlaceId at, const std::string& indent,
          std::string& text) {
  for (std::size_t i = 0; i < branches[at].size(); ++i) {
    const LaneId lane = branches[at][i];
    const PlaceId next = map.links[lane / 2].ends[1 - lane % 2];
    const bool last = i + 1 == branches[at].size();
    text += fmt::format("{}{}{}{}  {} ms\n", indent, last ? "└─ " : "├─ ", place_name(map, next),
                        receivers.contains(next) ? "" : " (passes through)",
                        latency_text(routes.latency(next, root)));
    draw(map, routes, branches, receivers, root, next, indent + (last ? "   " : "│  "), text);
  }
}

std::vector<PlaceId> places_of(const std::vector<IslandId>& islands) {
  return {islands.begin(), islands.end()};
}

}  // namespace

std::string map_text(const Map& map, const Routes& routes) {
  std::string text = map.name.empty() ? "map" : map.name;
  if (!map.source.empty()) text += " (" + map.source + ")";
  text += fmt::format(": {}, {}, {}, payload {}\n\n", counted(map.islands.size(), "island"),
                      counted(map.routers.size(), "router"), counted(map.links.size(), "link"),
                      to_text(map.payload));
  return text + islands_text(map) + "\n" + links_text(map) + "\nShortest-path latencies, ms\n" +
         latencies_text(map, routes);
}

Json map_json(const Map& map, const Routes& routes) {
  const auto edges = aggregator_of_islands(map);
  Json json{{"map", map.name}, {"source", map.source}, {"payload_bytes", map.payload.count}};
  Json& islands = json["islands"] = Json::array();
  for (IslandId i = 0; i < map.island_count(); ++i) {
    const Island& island = map.islands[i];
    const bool has_edge = edges[i] != kNoAggregator;
    Json entry{{"name", island.name}, {"label", island.label}, {"region", island.region}};
    entry["coordinates"] = coordinates_json(island.coordinates);
    entry["up_gbps"] = island.up.gbps();
    entry["down_gbps"] = island.down.gbps();
    entry["edge_at"] =
        has_edge ? Json(place_name(map, map.aggregators[edges[i]].place)) : Json(nullptr);
    entry["memory_bytes"] =
        has_edge ? Json(map.aggregators[edges[i]].spec.memory.count) : Json(nullptr);
    islands.push_back(std::move(entry));
  }
  Json& routers = json["routers"] = Json::array();
  for (const Router& router : map.routers)
    routers.push_back(
        {{"name", router.name}, {"coordinates", coordinates_json(router.coordinates)}});
  Json& links = json["links"] = Json::array();
  for (const Link& link : map.links)
    links.push_back({{"ends", {place_name(map, link.ends[0]), place_name(map, link.ends[1])}},
                     {"latency_ms", {link.latency[0].ms(), link.latency[1].ms()}},
                     {"rate_gbps", {link.rate[0].gbps(), link.rate[1].gbps()}}});
  // latency_ms[to][from], in the order of `islands`.
  Json& latency = json["latency_ms"] = Json::array();
  for (IslandId to = 0; to < map.island_count(); ++to) {
    Json row = Json::array();
    for (IslandId from = 0; from < map.island_count(); ++from)
      row.push_back(routes.latency(to, from).ms());
    latency.push_back(std::move(row));
  }
  return json;
}

std::string tree_text(const Map& map, const Routes& routes, IslandId sender,
                      const std::vector<IslandId>& receivers) {
  const std::vector<LaneId> tree = routes.tree(sender, places_of(receivers));
  const std::set<PlaceId> wanted(receivers.begin(), receivers.end());
  std::string text = fmt::format("Multicast tree of {}: {} to {}\n{}\n", place_name(map, sender),
                                 counted(tree.size(), "lane"),
                                 counted(receivers.size(), "receiver"), place_name(map, sender));
  draw(map, routes, branches_of(map, tree), wanted, sender, sender, "", text);
  return text;
}

Json tree_json(const Map& map, const Routes& routes, IslandId sender,
               const std::vector<IslandId>& receivers) {
  Json lanes = Json::array();
  for (const LaneId lane : routes.tree(sender, places_of(receivers)))
    lanes.push_back({{"from", lane_from(map, lane)}, {"to", lane_to(map, lane)}});
  Json arrivals = Json::array();
  for (const IslandId receiver : receivers)
    arrivals.push_back({{"island", map.islands[receiver].name},
                        {"latency_ms", routes.latency(receiver, sender).ms()},
                        {"hops", routes.hops(receiver, sender)}});
  return {{"sender", map.islands[sender].name}, {"lanes", lanes}, {"receivers", arrivals}};
}

}  // namespace cotillion
