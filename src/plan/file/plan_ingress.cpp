#include "plan/file/plan_ingress.hpp"

#include <fmt/format.h>

#include <set>

#include "base/text.hpp"

namespace cotillion {
namespace {

bool check_place(const PlanField& field, const Ingress& ingress, const Map& map) {
  if (ingress.edge == kNoAggregator) return field.expect_null("where nothing sums streams");
  const auto name = field.text();
  const std::string& place = place_name(map, ingress.from);
  if (name && *name != place)
    field.problem(fmt::format("'{}' is not where its edge stands", shown(*name)),
                  fmt::format("network.aggregators has it at '{}'", place));
  return name == place;
}

bool read_lanes(const PlanField& list, IslandId id, const Map& map, Ingress& ingress) {
  const auto size = list.list("lane", 1, map.place_count());
  if (!size) return false;
  PlaceId at = ingress.from;
  std::set<PlaceId> passed{at};
  for (std::size_t k = 0; k < *size; ++k) {
    const auto given = list[k].integer(0, map.lane_count() - 1);
    if (!given) return false;
    const auto lane = LaneId(*given);
    const bool last = k + 1 == *size;
    const bool into_island = lane == lane_down(map, id) && at == id;
    const bool onwards = !is_access(map, lane) && lane_start(map, lane) == at &&
                         passed.emplace(lane_end(map, lane)).second;
    if (last ? !into_island : !onwards) {
      list[k].problem(fmt::format("lane {} does not go on from {}", lane, place_name(map, at)),
                      "list the lanes from the edge to the island in order, its down lane last");
      return false;
    }
    ingress.lanes.push_back(lane);
    if (last) break;
    at = lane_end(map, lane);
    ingress.latency = ingress.latency + lane_latency(map, lane);
  }
  return true;
}

}  // namespace

std::optional<Ingress> read_ingress(const PlanField& island, IslandId id, const Map& map,
                                    AggregatorId edge) {
  Ingress ingress;
  ingress.edge = edge;
  ingress.from = edge == kNoAggregator ? id : map.aggregators[edge].place;
  const bool placed = check_place(island.at("summed_at"), ingress, map);
  const PlanField latency = island.at("ingress_ms");
  const auto ms = latency.number(0, kLatencySumMax);
  if (!read_lanes(island.at("ingress"), id, map, ingress) || !ms || !placed) return std::nullopt;
  if (*ms == ingress.latency.ms()) return ingress;
  latency.problem(fmt::format("its lanes take {} ms", ingress.latency.ms()));
  return std::nullopt;
}

}  // namespace cotillion
