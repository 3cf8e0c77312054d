#include "topology/map.hpp"

#include "base/check.hpp"

namespace cotillion {
namespace {

// What stands for the network side of an access link in names.
const std::string kNetwork = "net";

IslandId island_of_access(const Map& map, LaneId lane) {
  return IslandId((lane - int(2 * map.links.size())) / 2);
}

bool is_odd(LaneId lane) {
  return lane % 2 == 1;
}

}  // namespace

const std::string& place_name(const Map& map, PlaceId place) {
  COTILLION_CHECK(place >= 0 && place < map.place_count());
  return place < map.island_count() ? map.islands[IslandId(int(place))].name
                                    : map.routers[place - map.island_count()].name;
}

std::optional<IslandId> find_island(const Map& map, const std::string& name) {
  for (IslandId i = 0; i < map.island_count(); ++i)
    if (map.islands[i].name == name) return i;
  return std::nullopt;
}

std::vector<std::string> island_names(const Map& map) {
  std::vector<std::string> names;
  for (const Island& island : map.islands) names.push_back(island.name);
  return names;
}

IdVector<IslandId, AggregatorId> aggregator_of_islands(const Map& map) {
  IdVector<IslandId, AggregatorId> found(map.islands.size(), kNoAggregator);
  for (const AggregatorId a : map.aggregators.ids())
    for (const IslandId island : map.aggregators[a].serves) found[island] = a;
  return found;
}

Bytes memory_per_island(const Aggregator& aggregator) {
  COTILLION_CHECK(!aggregator.serves.empty());
  return reorder_window(aggregator.spec) / std::int64_t(aggregator.serves.size());
}

std::string link_name(const Map& map, const Link& link) {
  return place_name(map, link.ends[0]) + "–" + place_name(map, link.ends[1]);
}

LaneId lane_up(const Map& map, IslandId island) {
  return LaneId(int(2 * map.links.size()) + 2 * island);
}

LaneId lane_down(const Map& map, IslandId island) {
  return LaneId(lane_up(map, island) + 1);
}

bool is_access(const Map& map, LaneId lane) {
  return lane >= int(2 * map.links.size());
}

bool enters_island(const Map& map, LaneId lane) {
  return is_access(map, lane) && is_odd(lane);
}

BitsPerSecond lane_rate(const Map& map, LaneId lane) {
  COTILLION_CHECK(lane >= 0 && lane < map.lane_count());
  if (!is_access(map, lane)) return map.links[lane / 2].rate[lane % 2];
  const Island& island = map.islands[island_of_access(map, lane)];
  return is_odd(lane) ? island.down : island.up;
}

Duration lane_latency(const Map& map, LaneId lane) {
  COTILLION_CHECK(lane >= 0 && lane < map.lane_count());
  return is_access(map, lane) ? Duration{} : map.links[lane / 2].latency[lane % 2];
}

std::string lane_from(const Map& map, LaneId lane) {
  if (!is_access(map, lane)) return place_name(map, map.links[lane / 2].ends[lane % 2]);
  return is_odd(lane) ? kNetwork : map.islands[island_of_access(map, lane)].name;
}

std::string lane_to(const Map& map, LaneId lane) {
  if (!is_access(map, lane)) return place_name(map, map.links[lane / 2].ends[1 - lane % 2]);
  return is_odd(lane) ? map.islands[island_of_access(map, lane)].name : kNetwork;
}

std::string lane_name(const Map& map, LaneId lane) {
  return lane_from(map, lane) + "→" + lane_to(map, lane);
}

}  // namespace cotillion
