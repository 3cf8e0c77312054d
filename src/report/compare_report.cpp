#include "report/compare_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/table.hpp"
#include "report/plan_report.hpp"

namespace cotillion {
namespace {

using Align = Table::Align;

std::string defined_ms(RealDuration time, bool defined) {
  if (!defined) return "–";
  return std::isinf(time.ps) ? "∞" : fmt::format("{:.1f}", time.ms());
}

std::string mbps_range(const std::vector<double>& rates) {
  if (rates.empty()) return "–";
  const double most = *std::max_element(rates.begin(), rates.end());
  return fmt::format("{:.0f}", most / 1e6);
}

const Policy* find_policy(const std::vector<Policy>& policies, const std::string& name) {
  for (const Policy& policy : policies)
    if (policy.name == name) return &policy;
  return nullptr;
}

Json by_island(const Map& map, const std::vector<double>& values) {
  Json object = Json::object();
  for (const IslandId i : all_ids<IslandId>(values.size())) object[map.islands[i].name] = values[i];
  return object;
}

Json policy_json(const Map& map, const Policy& policy, Objective objective) {
  const auto shown_ms = [&](RealDuration value) {
    return policy.feasible ? number_or_null(value.ms()) : Json(nullptr);
  };
  Json json{{"name", policy.name},
            {"kind", policy.kind == Policy::Kind::kSchedule ? "schedule" : "rival"},
            {"feasible", policy.feasible},
            {"runnable", policy.runnable},
            {"blocking", policy.blocking},
            {"round_ms", shown_ms(policy.exchange)},
            {"cycle_ms", shown_ms(policy.cycle)},
            {"area", policy.area ? number_or_null(*policy.area) : Json(nullptr)},
            {"staleness_ms", shown_ms(policy.objective(objective))}};
  Json& objectives = json["objectives"] = Json::object();
  for (const Objective which : kObjectives)
    objectives[std::string(to_name(which))] = shown_ms(policy.objective(which));
  json["utilisation"] = policy.feasible ? Json(policy.utilisation) : Json(nullptr);
  json["settles_after_rounds"] = policy.settles_after ? Json(*policy.settles_after) : Json(nullptr);
  json["egress_bytes_per_second"] = policy.feasible ? by_island(map, policy.egress) : Json(nullptr);
  json["ingress_bytes_per_second"] =
      policy.feasible ? by_island(map, policy.ingress) : Json(nullptr);
  json["binding"] = policy.binding;
  json["note"] = policy.note;
  return json;
}

}  // namespace

std::string compare_text(const NetworkModel& network, const CompareSettings& settings,
                         const std::vector<Policy>& policies) {
  Table table({{"policy"},
               {"kind"},
               {"T ms", Align::kRight},
               {"A", Align::kRight},
               {"staleness ms", Align::kRight},
               {"squared", Align::kRight},
               {"streamed", Align::kRight},
               {"GPU busy", Align::kRight},
               {"out MB/s", Align::kRight},
               {"limited by"}});
  for (const Policy& policy : policies) {
    const bool is_rival = policy.kind == Policy::Kind::kRival;
    const std::string area = !policy.area               ? "–"
                             : std::isinf(*policy.area) ? "∞"
                                                        : fmt::format("{:.3f}", *policy.area);
    table.add({policy.name + (policy.runnable ? "" : " *"), is_rival ? "rival" : "schedule",
               policy.feasible ? defined_ms(policy.exchange, true) : "infeasible", area,
               defined_ms(policy.objective(settings.plan.objective), policy.feasible),
               defined_ms(policy.objective(Objective::kSquared), policy.feasible),
               defined_ms(policy.objective(Objective::kPaperStreamed), policy.feasible),
               policy.feasible ? fmt::format("{:.0f} %", 100 * policy.utilisation) : "–",
               policy.feasible ? mbps_range(policy.egress) : "–", policy.binding});
  }
  std::string text =
      network_text(network) + fmt::format(", step {}\n\n", to_text(settings.plan.step_time));
  text += table.text();
  text += "\nBest first: policies that train while they exchange, by staleness (";
  text += to_name(settings.plan.objective);
  text += "); then those that block, by how busy GPUs are.\n";
  for (const Policy& policy : policies)
    if (!policy.note.empty() && !policy.blocking)
      text += fmt::format("{}: {}\n", policy.name, policy.note);
  if (std::any_of(policies.begin(), policies.end(), [](const Policy& p) { return !p.runnable; }))
    text += fmt::format("* priced, but cannot run: a clique has more than {} members\n",
                        kCliqueMembersMax);
  const std::string claim = idle_claim(settings, policies);
  return claim.empty() ? text : text + "\n" + wrapped(claim);
}

std::string idle_claim(const CompareSettings& settings, const std::vector<Policy>& policies) {
  const std::string prefix = "synchronous SGD, ";
  const Policy* best = nullptr;
  for (const Policy& policy : policies)
    if (policy.name.starts_with(prefix) && policy.feasible && policy.exchange.ps > 0 &&
        (best == nullptr || policy.utilisation > best->utilisation))
      best = &policy;
  if (best == nullptr) return "";
  return fmt::format(
      "GPUs under synchronous SGD idle {:.0f} % of the time even over the fastest exchange here, "
      "{}: "
      "{:.1f} ms after each step of {:.1f} ms. A policy that never blocks trains {:.1f} times as "
      "many "
      "steps in the same time. Both figures follow from the exchange and the step time. The paper "
      "states no step time; its 80 % and five times follow from about 169 ms on nine cities with "
      "32 GB. Neither figure says what a step on stale parameters is worth.",
      100 * (1 - best->utilisation), best->name.substr(prefix.size()), best->exchange.ms(),
      settings.plan.step_time.ms(), 1 / best->utilisation);
}

Json compare_json(const NetworkModel& network, const CompareSettings& settings,
                  const std::vector<Policy>& policies, const Provenance& made_by) {
  const Map& map = network.map();
  Json json = to_json(made_by);
  json["map"] = map.name;
  json["memory_bytes"] = map.edge.memory.count;
  json["payload_bytes"] = network.payload().count;
  json["technology"] = to_name(network.technology());
  json["objective"] = to_name(settings.plan.objective);
  json["step_ms"] = settings.plan.step_time.ms();
  json["fragments"] = settings.plan.fragments;
  Json& list = json["policies"] = Json::array();
  for (const Policy& policy : policies)
    list.push_back(policy_json(map, policy, settings.plan.objective));
  json["idle_claim"] = idle_claim(settings, policies);
  return json;
}

std::string knob_name(Knob knob) {
  switch (knob) {
    case Knob::kMemory:
      return "edge memory";
    case Knob::kAccess:
      return "access rate";
    case Knob::kRate:
      return "link rate";
    case Knob::kPayload:
      return "payload";
    case Knob::kStepTime:
      return "step time";
    case Knob::kTechnology:
      return "technology";
  }
  return "";
}

std::string knob_unit(Knob knob) {
  switch (knob) {
    case Knob::kMemory:
    case Knob::kPayload:
      return "bytes";
    case Knob::kAccess:
    case Knob::kRate:
      return "bits per second";
    case Knob::kStepTime:
      return "ms";
    case Knob::kTechnology:
      return "";
  }
  return "";
}

std::string sweep_text(const Sweep& sweep, Objective objective) {
  // Columns in the order of the first point; policies that block do not move with the objective.
  std::vector<std::string> names;
  const bool by_utilisation = sweep.knob == Knob::kStepTime;
  for (const Policy& policy : sweep.points.front().policies)
    if (policy.blocking == by_utilisation) names.push_back(policy.name);
  std::vector<Table::Column> columns{{knob_name(sweep.knob), Align::kRight}};
  for (const std::string& name : names) columns.push_back({name, Align::kRight});
  Table table(columns);
  for (const SweepPoint& point : sweep.points) {
    std::vector<std::string> cells{point.setting.text};
    for (const std::string& name : names) {
      const Policy* policy = find_policy(point.policies, name);
      if (policy == nullptr || !policy->feasible)
        cells.emplace_back("–");
      else if (by_utilisation)
        cells.push_back(fmt::format("{:.1f} %", 100 * policy->utilisation));
      else
        cells.push_back(defined_ms(policy->objective(objective), true));
    }
    table.add(std::move(cells));
  }
  std::string text = by_utilisation ? "GPU utilisation\n" : "staleness, ms\n";
  text += table.text() + "\n";
  if (by_utilisation)
    return text + "Staleness of policies that never block does not depend on it.\n";
  for (const WinnerChange& change : sweep.winners)
    text +=
        fmt::format("from {}: {} leads\n", sweep.points[change.point].setting.text, change.winner);
  return text;
}

Json sweep_json(const Map& map, const Sweep& sweep, Objective objective,
                const Provenance& made_by) {
  Json json = to_json(made_by);
  json["map"] = map.name;
  json["knob"] = knob_name(sweep.knob);
  json["unit"] = knob_unit(sweep.knob);
  json["objective"] = to_name(objective);
  Json& winners = json["winners"] = Json::array();
  for (const WinnerChange& change : sweep.winners)
    winners.push_back({{"from", sweep.points[change.point].setting.number},
                       {"from_text", sweep.points[change.point].setting.text},
                       {"policy", change.winner}});
  Json& points = json["points"] = Json::array();
  for (const SweepPoint& point : sweep.points) {
    Json policies = Json::array();
    for (const Policy& policy : point.policies)
      policies.push_back(policy_json(map, policy, objective));
    points.push_back(
        {{"value", point.setting.number}, {"text", point.setting.text}, {"policies", policies}});
  }
  return json;
}

}  // namespace cotillion
