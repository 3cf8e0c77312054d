#include "plan/network_model.hpp"

#include "plan/clique_price.hpp"

namespace cotillion {
namespace {

struct Named {
  std::string_view name;
  Technology technology;
};
constexpr Named kTechnologies[] = {
    {"both", {true, true}},
    {"multicast", {true, false}},
    {"aggregation", {false, true}},
    {"neither", {false, false}},
};

}  // namespace

std::string_view to_name(Technology technology) {
  for (const Named& named : kTechnologies)
    if (named.technology == technology) return named.name;
  return "";
}

std::optional<Technology> technology_named(std::string_view name) {
  for (const Named& named : kTechnologies)
    if (named.name == name) return named.technology;
  return std::nullopt;
}

NetworkModel::NetworkModel(const Map& map, const Routes& routes, NetworkModelSettings settings)
    : map_(map), routes_(routes), settings_(settings), payload_(map.payload) {
  const int n = map.island_count();
  if (settings.ships_state) payload_ = 2 * payload_;
  wire_factor_ = double(wire_bytes(map.edge, payload_).count) / double(payload_.count);

  edge_ = settings.technology.aggregation ? aggregator_of_islands(map)
                                          : IdVector<IslandId, AggregatorId>(n, kNoAggregator);
  for (IslandId i = 0; i < n; ++i) {
    const bool summed = edge_[i] != kNoAggregator;
    meeting_place_.push_back(summed ? map.aggregators[edge_[i]].place : PlaceId(i));
    memory_.push_back(summed ? double(memory_per_island(map.aggregators[edge_[i]]).count)
                             : kUnlimited);
  }
  latency_.resize(std::size_t(n) * n);
  for (IslandId to = 0; to < n; ++to) {
    const PlaceId via = meeting_place_[to];
    const Duration last = via == to ? Duration{} : routes.latency(to, via);
    for (IslandId from = 0; from < n; ++from)
      latency_[std::size_t(to) * n + from] =
          from == to ? Duration{} : routes.latency(via, from) + last;
  }
}

void NetworkModel::latencies(const Clique& clique, CliqueLatencies& into) const {
  into.resize(clique.size());
  for (int i = 0; i < clique.size(); ++i)
    for (int j = 0; j < clique.size(); ++j)
      into.at(i, j) = double(latency(clique.islands[i], clique.islands[j]).ps);
}

}  // namespace cotillion
