#include "plan/file/plan_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "plan/file/plan_ingress.hpp"
#include "plan/file/plan_numbers.hpp"
#include "topology/map_check.hpp"
#include "topology/toml_fields.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kNameMax = 40;
constexpr std::int64_t kPacketMax = 1 << 24;
constexpr std::int64_t kMemoryBytesMax = std::int64_t{1} << 53;
constexpr const char* kLaneOrder = "lanes go two for each link, then up and down for each island";

class NetworkReader {
 public:
  NetworkReader(const PlanField& plan, const NetworkModelSettings& settings)
      : plan_(plan), network_(plan.at("network")), settings_(settings) {
    map_.name = take(plan.at("map").text());
    if (is_object(network_)) read_places();
    if (!result_.sound) return;
    read_lanes();
    read_sizes();
    read_aggregators();
    if (result_.sound) check_whole();
    if (result_.sound) read_ways();
  }

  PlanNetwork take_network() { return std::move(result_); }

 private:
  template <class T>
  T take(const std::optional<T>& value) {
    result_.sound = result_.sound && value;
    return value.value_or(T{});
  }
  bool is_object(const PlanField& field) {
    const bool is = field.is_object();
    result_.sound = result_.sound && is;
    return is;
  }
  bool are_objects(const PlanField& a, const PlanField& b) {
    const bool first = is_object(a);
    return is_object(b) && first;
  }
  void wrong(const PlanField& field, std::string message, std::string remedy) {
    field.problem(std::move(message), std::move(remedy));
    result_.sound = false;
  }

  void read_places() {
    const PlanField islands = network_.at("islands"), routers = network_.at("routers");
    const std::size_t count = take(islands.list("island", 1, kPlacesMax));
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_object(islands[i])) continue;
      Island island;
      island.name = read_name(islands[i], PlaceId(i));
      island.label = take(islands[i].at("label").text());
      island.region = take(islands[i].at("region").text());
      island.coordinates = read_coordinates(islands[i].at("coordinates"));
      map_.islands.push_back(std::move(island));
    }
    if (!result_.sound) map_.islands.clear();
    const std::size_t more = take(routers.list("router", 0, kPlacesMax - count));
    for (std::size_t i = 0; i < more; ++i) {
      if (!is_object(routers[i])) continue;
      Router router;
      router.name = read_name(routers[i], PlaceId(count + i));
      router.coordinates = read_coordinates(routers[i].at("coordinates"));
      map_.routers.push_back(std::move(router));
    }
  }

  std::string read_name(const PlanField& place, PlaceId id) {
    const PlanField field = place.at("name");
    const auto name = field.text();
    if (!name)
      result_.sound = false;
    else if (name->empty() || name->size() > kNameMax || *name == "net")
      wrong(field, fmt::format("'{}' cannot be a name", shown(*name)),
            "use 1 to 40 bytes; 'net' is taken");
    else if (!places_.emplace(*name, id).second)
      wrong(field, fmt::format("duplicate name '{}'", *name),
            "give every island and router a name of its own");
    return name.value_or("");
  }

  std::optional<Coordinates> read_coordinates(const PlanField& field) {
    if (field.is_null()) return std::nullopt;
    if (!take(field.list("number", 2, 2))) return std::nullopt;
    return Coordinates{take(field[0].number(-90, 90)), take(field[1].number(-180, 180))};
  }

  void read_lanes() {
    const PlanField lanes = network_.at("lanes");
    const std::size_t access = 2 * map_.islands.size();
    const std::size_t count = take(lanes.list("lane", access, access + 2 * kLinksMax));
    if (count % 2 != 0) return wrong(lanes, counted(count, "lane"), kLaneOrder);
    if (!result_.sound) return;
    std::set<std::pair<PlaceId, PlaceId>> joined;
    for (std::size_t k = 0; k < (count - access) / 2 && !plan_.full(); ++k) {
      const PlanField there = lanes[2 * k], back = lanes[2 * k + 1];
      if (!are_objects(there, back)) continue;
      const auto from = read_place(there.at("from")), to = read_place(there.at("to"));
      if (!from || !to) continue;
      if (*from == *to || !joined.emplace(std::minmax(*from, *to)).second)
        wrong(there,
              *from == *to ? "a link from a place to itself" : "a second link between the two",
              "of parallel links the fastest is enough; leave the others out");
      const std::string &start = place_name(map_, *from), &end = place_name(map_, *to);
      map_.links.push_back({{*from, *to},
                            {read_lane(there, start, end, "link", kLatencyMax),
                             read_lane(back, end, start, "link", kLatencyMax)},
                            {read_rate(there), read_rate(back)}});
    }
    for (const IslandId i : map_.islands.ids()) {
      if (plan_.full()) break;
      const PlanField up = lanes[count - access + 2 * i], down = lanes[count - access + 2 * i + 1];
      if (!are_objects(up, down)) continue;
      Island& island = map_.islands[i];
      (void)read_lane(up, island.name, "net", "access", {});
      (void)read_lane(down, "net", island.name, "access", {});
      island.up = read_rate(up);
      island.down = read_rate(down);
    }
  }

  Duration read_lane(const PlanField& lane, const std::string& from, const std::string& to,
                     const char* kind, Duration latency_max) {
    expect(lane.at("from"), from);
    expect(lane.at("to"), to);
    expect(lane.at("kind"), kind);
    return take(read_latency(lane, "latency_ms", latency_max));
  }

  void expect(const PlanField& field, const std::string& text) {
    const auto given = field.text();
    if (!given)
      result_.sound = false;
    else if (*given != text)
      wrong(field, fmt::format("'{}' where '{}' belongs", shown(*given), text), kLaneOrder);
  }

  BitsPerSecond read_rate(const PlanField& lane) {
    return {take(read_positive_billionth(lane, "rate_gbps"))};
  }

  std::optional<PlaceId> read_place(const PlanField& field) {
    const auto name = field.text();
    const auto known = name ? places_.find(*name) : places_.end();
    if (known != places_.end()) return known->second;
    if (name)
      field.problem(fmt::format("unknown island or router '{}'", shown(*name)),
                    "name one of network.islands or network.routers");
    result_.sound = false;
    return std::nullopt;
  }

  void read_sizes() {
    const std::int64_t copies = settings_.ships_state ? 2 : 1;
    const PlanField payload = plan_.at("payload_bytes");
    const std::int64_t sent = take(payload.integer(1, kMemoryBytesMax));
    if (sent % copies != 0)
      wrong(payload, "an odd number of bytes",
            "weights and their state are as large as each other");
    map_.payload = {sent / copies};
    const PlanField edge = network_.at("edge");
    if (!is_object(edge)) return;
    map_.edge = read_packets(edge);
    map_.edge.memory = {take(plan_.at("memory_bytes").integer(0, kMemoryBytesMax))};
  }

  EdgeSpec read_packets(const PlanField& edge) {
    const auto bytes = [&](const char* key, std::int64_t least, std::int64_t most) {
      return Bytes{take(edge.at(key).integer(least, most))};
    };
    EdgeSpec spec;
    spec.chunk = bytes("chunk_bytes", 1, kPacketMax);
    spec.slot = bytes("slot_bytes", std::max<std::int64_t>(1, spec.chunk.count), kPacketMax);
    spec.framing = bytes("framing_bytes", 0, kPacketMax);
    spec.resend = bytes("resend_bytes", 0, kMemoryBytesMax);
    return spec;
  }

  void read_aggregators() {
    const PlanField list = network_.at("aggregators");
    const std::size_t count = take(list.list("aggregator", 0, map_.islands.size()));
    std::vector<bool> served(map_.islands.size(), false);
    for (std::size_t a = 0; a < count && !plan_.full(); ++a) {
      const PlanField field = list[a];
      if (!is_object(field)) continue;
      Aggregator aggregator;
      aggregator.place = read_place(field.at("at")).value_or(0);
      aggregator.spec = read_packets(field);
      aggregator.spec.memory = {take(field.at("memory_bytes").integer(0, kMemoryBytesMax))};
      const PlanField serves = field.at("serves");
      const std::size_t size = take(serves.list("island", 1, map_.islands.size()));
      for (std::size_t i = 0; i < size && !plan_.full(); ++i) {
        const auto island = read_place(serves[i]);
        if (!island) continue;
        const bool router = *island >= map_.island_count();
        if (router || served[*island])
          wrong(serves[i],
                fmt::format("{} {}", place_name(map_, *island),
                            router ? "is a router" : "has an edge already"),
                "an aggregator serves islands that no other serves");
        else
          served[*island] = true;
        aggregator.serves.push_back(IslandId(int(*island)));
      }
      map_.aggregators.push_back(std::move(aggregator));
    }
  }

  // What only the whole shows, by the same rules as a map file.
  void check_whole() {
    Problems problems("");
    std::vector<std::pair<PlaceId, PlaceId>> joints;
    for (const Link& link : map_.links) joints.emplace_back(link.ends[0], link.ends[1]);
    check_connected(map_, joints, std::vector<Position>(map_.place_count()), problems);
    if (problems.empty()) check_size(map_, problems);
    for (const Diagnostic& found : problems.take())
      wrong(found.field == "payload" ? plan_.at("payload_bytes") : network_.at("lanes"),
            found.message, found.remedy);
  }

  void read_ways() {
    const PlanField islands = network_.at("islands");
    const auto edges = aggregator_of_islands(map_);
    const bool sums = settings_.technology.aggregation;
    for (IslandId i = 0; i < map_.island_count() && !plan_.full(); ++i)
      result_.ingress.push_back(
          take(read_ingress(islands[i], i, map_, sums ? edges[i] : kNoAggregator)));
  }

  const PlanField& plan_;
  const PlanField network_;
  const NetworkModelSettings& settings_;
  PlanNetwork result_;
  Map& map_ = result_.map;
  std::map<std::string, PlaceId, std::less<>> places_;
};

}  // namespace

PlanNetwork read_network(const PlanField& plan, const NetworkModelSettings& settings) {
  return NetworkReader(plan, settings).take_network();
}

}  // namespace cotillion
