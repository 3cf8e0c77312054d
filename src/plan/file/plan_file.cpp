#include "plan/file/plan_file.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "plan/explain.hpp"
#include "plan/file/plan_numbers.hpp"
#include "plan/replay.hpp"

namespace cotillion {
namespace {

Json island_names(const Map& map, const std::vector<IslandId>& islands) {
  Json names = Json::array();
  for (const IslandId island : islands) names.push_back(map.islands[island].name);
  return names;
}

Json waits_json(const Map& map, const std::vector<Wait>& waits) {
  Json list = Json::array();
  for (const Wait& wait : waits)
    list.push_back({{"leader", map.islands[wait.leader].name},
                    {"waiter", map.islands[wait.waiter].name},
                    {"receiver", map.islands[wait.receiver].name}});
  return list;
}

Json matrix_of(const std::vector<double>& values, std::size_t n) {
  if (values.empty()) return nullptr;
  Json rows = Json::array();
  for (std::size_t i = 0; i < n; ++i)
    rows.push_back(std::vector<double>(values.begin() + std::ptrdiff_t(i * n),
                                       values.begin() + std::ptrdiff_t((i + 1) * n)));
  return rows;
}

Json island_json(const NetworkModel& network, IslandId island) {
  const Map& map = network.map();
  const Island& there = map.islands[island];
  const Ingress ingress = ingress_of(network, island);
  Json summed_at = nullptr;
  if (ingress.edge != kNoAggregator) summed_at = place_name(map, ingress.from);
  return {{"name", there.name},
          {"label", there.label},
          {"region", there.region},
          {"coordinates", coordinates_json(there.coordinates)},
          {"summed_at", summed_at},
          {"ingress", ingress.lanes},
          {"ingress_ms", ingress.latency.ms()}};
}

Json lane_json(const Map& map, LaneId lane) {
  Json json = {{"from", lane_from(map, lane)},
               {"to", lane_to(map, lane)},
               {"kind", is_access(map, lane) ? "access" : "link"},
               {"latency_ms", lane_latency(map, lane).ms()},
               {"rate_gbps", lane_rate(map, lane).gbps()}};
  note_exact(json, {{"rate_gbps", lane_rate(map, lane).value}});
  return json;
}

void add_packets(Json& json, const EdgeSpec& spec) {
  json["chunk_bytes"] = spec.chunk.count;
  json["slot_bytes"] = spec.slot.count;
  json["framing_bytes"] = spec.framing.count;
  json["resend_bytes"] = spec.resend.count;
}

Json network_json(const NetworkModel& network) {
  const Map& map = network.map();
  Json islands = Json::array();
  for (IslandId i = 0; i < map.island_count(); ++i) islands.push_back(island_json(network, i));
  Json routers = Json::array();
  for (const Router& router : map.routers)
    routers.push_back(
        {{"name", router.name}, {"coordinates", coordinates_json(router.coordinates)}});
  Json lanes = Json::array();
  for (LaneId lane = 0; lane < map.lane_count(); ++lane) lanes.push_back(lane_json(map, lane));
  Json edge = Json::object();
  add_packets(edge, map.edge);
  Json edges = Json::array();
  for (const Aggregator& aggregator : map.aggregators) {
    Json json = {{"at", place_name(map, aggregator.place)},
                 {"serves", island_names(map, aggregator.serves)},
                 {"memory_bytes", aggregator.spec.memory.count}};
    add_packets(json, aggregator.spec);
    edges.push_back(std::move(json));
  }
  return {{"islands", islands},
          {"routers", routers},
          {"lanes", lanes},
          {"edge", edge},
          {"aggregators", edges}};
}

Json stream_json(const Map& map, const Stream& stream) {
  Json receivers = Json::array();
  for (const Arrival& arrival : stream.receivers)
    receivers.push_back(
        {{"island", map.islands[arrival.receiver].name}, {"latency_ms", arrival.latency.ms()}});
  Json json = {{"sender", map.islands[stream.sender].name},
               {"offset_ms", stream.offset.ms()},
               {"rate_gbps", stream.rate.gbps()},
               {"payload_bytes", stream.payload.count},
               {"tree", stream.tree},
               {"copies", stream.copies},
               {"receivers", receivers}};
  note_exact(json, {{"offset_ms", stream.offset.ps}, {"rate_gbps", stream.rate.value}});
  return json;
}

Json limit_json(const Map& map, const Binding& binding) {
  if (binding.lane < 0) return nullptr;
  Json json = {{"lane", binding.lane},
               {"streams", binding.lane_streams},
               {"senders", island_names(map, binding.lane_senders)},
               {"rate_gbps", binding.bound.gbps()}};
  note_exact(json, {{"rate_gbps", binding.bound.value}});
  return json;
}

Json last_flight_json(const Map& map, const Binding& binding) {
  if (binding.last_sender < 0) return nullptr;
  return {{"sender", map.islands[binding.last_sender].name},
          {"receiver", map.islands[binding.last_receiver].name}};
}

Json clique_json(const NetworkModel& network, const PlannedClique& clique) {
  const Map& map = network.map();
  const Binding& binding = clique.binding;
  const bool sends = !clique.streams.empty();
  Json offsets = Json::array();
  for (const Stream& stream : clique.streams) offsets.push_back(stream.offset.ms());
  if (clique.islands.size() == 1) offsets.push_back(0.0);
  Json streams = Json::array();
  for (const Stream& stream : clique.streams) streams.push_back(stream_json(map, stream));
  Json json = {
      {"islands", island_names(map, clique.islands)},
      {"feasible", clique.feasible},
      {"runnable", clique.runnable},
      {"price_ms", clique.feasible ? Json(clique.price.ms()) : Json(nullptr)},
      {"rate_gbps", sends ? Json(clique.rate.gbps()) : Json(nullptr)},
      {"serialisation_ms", sends ? Json(clique.serialisation.ms()) : Json(nullptr)},
      {"offset_ms", offsets},
      {"binding", binding_phrase(network, clique)},
      {"explanation", explain_price(network, clique)},
      {"limit", limit_json(map, binding)},
      {"throttled", binding.kind == Binding::Kind::kMemory},
      {"chain", waits_json(map, binding.chain)},
      {"last_flight", last_flight_json(map, binding)},
      {"cycle", waits_json(map, binding.cycle)},
      {"cycle_excess_ms", clique.feasible ? Json(nullptr) : Json(binding.cycle_excess.ms())},
      {"weights", matrix_of(clique.weights, clique.islands.size())},
      {"streams", streams}};
  note_exact(json, {{"price_ms", clique.price.ps},
                    {"rate_gbps", clique.rate.value},
                    {"serialisation_ms", clique.serialisation.ps}});
  if (!clique.sums.empty()) {
    Json& sums = json["sums"] = Json::array();
    for (std::size_t i = 0; i < clique.sums.size(); ++i) {
      sums.push_back(
          {{"island", map.islands[clique.islands[i]].name}, {"sum_ms", clique.sums[i].ms()}});
      note_exact(sums.back(), {{"sum_ms", clique.sums[i].ps}});
    }
  }
  return json;
}

Json round_json(const NetworkModel& network, const Plan& plan, const PlannedRound& round) {
  const Map& map = network.map();
  Json cliques = Json::array();
  bool feasible = true;
  for (const PlannedClique& clique : round.cliques) {
    cliques.push_back(clique_json(network, clique));
    feasible = feasible && clique.feasible;
  }
  Json links = Json::array();
  for (const LaneUse& use : round.lanes) {
    Json json = {{"lane", use.lane},
                 {"from", lane_from(map, use.lane)},
                 {"to", lane_to(map, use.lane)},
                 {"streams", use.streams},
                 {"rate_gbps", use.rate.gbps()},
                 {"utilisation", use.rate.value / lane_rate(map, use.lane).value},
                 {"bytes", use.bytes.count}};
    note_exact(json, {{"rate_gbps", use.rate.value}});
    links.push_back(std::move(json));
  }
  Json edges = Json::array();
  for (const EdgeUse& use : round.edges)
    edges.push_back({{"at", place_name(map, map.aggregators[use.aggregator].place)},
                     {"serves", island_names(map, map.aggregators[use.aggregator].serves)},
                     {"memory_bytes", map.aggregators[use.aggregator].spec.memory.count},
                     {"memory_peak_bytes", use.memory_peak.count}});
  const auto when_feasible = [](bool holds, double value) {
    return holds ? Json(value) : Json(nullptr);
  };
  Json json = {{"start_ms", when_feasible(plan.feasible, round.start.ms())},
               {"length_ms", when_feasible(plan.feasible, round.length.ms())},
               {"planned_ms", when_feasible(feasible, round.planned.ms())},
               {"cliques", cliques},
               {"links", links},
               {"aggregators", edges}};
  if (plan.feasible)
    note_exact(json, {{"start_ms", round.start.ps}, {"length_ms", round.length.ps}});
  return json;
}

Json survival_json(const Mixing& mixing) {
  Json phases = Json::array();
  for (const PhaseCurves& phase : mixing.phases) {
    const auto head = [](const SurvivalCurve& curve) {
      return std::vector<double>(
          curve.values.begin(),
          curve.values.begin() + std::ptrdiff_t(std::min(kCurveValuesMax, curve.values.size())));
    };
    phases.push_back({{"absolute", head(phase.absolute)}, {"squared", head(phase.squared)}});
  }
  return phases;
}

}  // namespace

Ingress ingress_of(const NetworkModel& network, IslandId island) {
  Ingress ingress;
  ingress.edge = network.edge(island);
  ingress.from = network.meeting_place(island);
  if (ingress.from != island) {
    ingress.lanes = network.routes().path(island, ingress.from);
    ingress.latency = network.routes().latency(island, ingress.from);
  }
  ingress.lanes.push_back(lane_down(network.map(), island));
  return ingress;
}

Json coordinates_json(const std::optional<Coordinates>& at) {
  return at ? Json{at->latitude, at->longitude} : Json(nullptr);
}

Json number_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json to_json(const Provenance& provenance) {
  Json inputs = Json::object();
  for (const auto& [what, hash] : provenance.inputs) inputs[what] = hash;
  return {{"version", provenance.version},
          {"commit", provenance.commit},
          {"seed", provenance.seed},
          {"inputs", inputs}};
}

void add_relaxed(Json& json, const NetworkModel& network, const Plan& plan) {
  json["relax"] = to_names(plan.settings.relax);
  json["period_ms"] = plan.feasible ? Json(plan.mean_length().ms()) : Json(nullptr);
  // What the outermost object would have under "exact" stands under "unrounded".
  if (json.contains("exact")) json["unrounded"]["exact"] = std::move(json["exact"]);
  Json& exact = json["exact"] = Json::object();
  const std::vector<RealDuration> values = exact_staleness(network, plan);
  for (const Objective objective : kObjectives)
    exact[std::string(to_name(objective))] = number_or_null(values[std::size_t(objective)].ms());
}

Json to_json(const NetworkModel& network, const Plan& plan, const Provenance& provenance) {
  const Map& map = network.map();
  Json json = to_json(provenance);
  json["map"] = map.name;
  json["schedule"] = plan.schedule;
  json["payload_bytes"] = network.payload().count;
  json["memory_bytes"] = map.edge.memory.count;
  json["technology"] = {{"multicast", network.technology().multicast},
                        {"aggregation", network.technology().aggregation}};
  json["ships_state"] = plan.network.ships_state;
  json["feasible"] = plan.feasible;
  json["runnable"] = plan.runnable;
  json["round_ms"] = plan.feasible ? Json(plan.round.ms()) : Json(nullptr);
  json["slack_ms"] = plan.settings.slack.ms();
  json["area"] = number_or_null(plan.mixing.area);
  json["area_squared"] = number_or_null(plan.mixing.area_squared);
  json["area_approximate"] = plan.mixing.approximate;
  json["objective"] = to_name(plan.settings.objective);
  json["staleness_ms"] = number_or_null(plan.staleness().ms());
  Json& objectives = json["objectives"] = Json::object();
  for (const Objective objective : kObjectives)
    objectives[std::string(to_name(objective))] = number_or_null(plan.objective(objective).ms());
  json["fragments"] = plan.settings.fragments;
  json["streamed_delay_ms"] = plan.feasible ? Json(plan.streamed_delay.ms()) : Json(nullptr);
  json["settles_after_rounds"] =
      plan.mixing.settles_after ? Json(*plan.mixing.settles_after) : Json(nullptr);
  json["decay_per_round"] = plan.mixing.decay;
  json["step_ms"] = plan.settings.step_time.ms();
  json["steps_per_round"] = plan.feasible ? number_or_null(plan.steps_per_round()) : Json(nullptr);
  json["certificate"] = {{"constraints", plan.constraints_checked},
                         {"worst_relative_excess", plan.worst_excess}};
  note_exact(json, {{"slack_ms", plan.settings.slack.ps}, {"step_ms", plan.settings.step_time.ps}});
  if (plan.feasible) note_exact(json, {{"streamed_delay_ms", plan.streamed_delay.ps}});
  for (const Objective objective : kObjectives)
    note_exact(json, {{to_name(objective).data(), plan.objective(objective).ps}});
  if (plan.settings.relax.any()) {
    json["headroom"] = plan.settings.headroom;
    json["overlapped"] = plan.overlapped;
    add_relaxed(json, network, plan);
  }
  json["survival"] = survival_json(plan.mixing);
  Json& rounds = json["rounds"] = Json::array();
  for (const PlannedRound& round : plan.rounds) rounds.push_back(round_json(network, plan, round));
  json["network"] = network_json(network);
  return json;
}

}  // namespace cotillion
