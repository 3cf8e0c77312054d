// A case as files: what people read of a failure, and what is played.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "plan/file/plan_file.hpp"
#include "plan/file/schedule_file.hpp"
#include "tests/swarm/swarm_case.hpp"
#include "topology/map_file.hpp"
#include "topology/map_writer.hpp"

namespace cotillion::testing {
namespace {

constexpr const char* kNames[] = {"loss",   "duplicate", "reorder", "jitter", "corrupt", "truncate",
                                  "replay", "down",      "dead",    "slow",   "restart", "clock"};

bool has_rate(FaultKind kind) {
  return kind <= FaultKind::kReplay && kind != FaultKind::kJitter;
}

bool has_delay(FaultKind kind) {
  return kind == FaultKind::kDuplicate || kind == FaultKind::kReplay ||
         kind == FaultKind::kReorder || kind == FaultKind::kJitter;
}

std::string fault_text(const SwarmFault& fault) {
  std::string text = fmt::format("[[{}]]\n{} = \"{}\"\n", kNames[std::size_t(fault.kind)],
                                 fault.of_an_island() ? "island" : "on", fault.on);
  if (has_rate(fault.kind)) text += fmt::format("rate = {:.4f}\n", fault.rate);
  if (fault.burst > 1) text += fmt::format("burst = {:.0f}\n", fault.burst);
  if (has_delay(fault.kind)) text += fmt::format("by = \"{}\"\n", exact_text(fault.by));
  if (fault.kind == FaultKind::kClock) {
    if (fault.by < Duration{0})
      text += fmt::format("behind = \"{}\"\n", exact_text(Duration{0} - fault.by));
    else
      text += fmt::format("ahead = \"{}\"\n", exact_text(fault.by));
    if (fault.drift_ppm != 0) text += fmt::format("drift_ppm = {}\n", fault.drift_ppm);
  }
  if (fault.kind == FaultKind::kSlow)
    text += fmt::format("late = \"{}\"\nfactor = {}\n", exact_text(fault.by), fault.factor);
  if (fault.from.ps != 0 || fault.kind == FaultKind::kRestart)
    text += fmt::format("from = \"{}\"\n", exact_text(fault.from));
  if (fault.until) text += fmt::format("until = \"{}\"\n", exact_text(*fault.until));
  return text;
}

template <class T>
Unexpected<Error> refused(const Expected<T, Diagnostics>& result) {
  return failure(to_text(result.error().front()));
}

}  // namespace

std::string schedule_toml(const SwarmCase& swarm) {
  std::string text = fmt::format("name = \"{}\"\n", swarm.schedule.name);
  for (const Round& round : swarm.schedule.rounds) {
    std::string cliques;
    for (const Clique& clique : round.cliques) {
      if (clique.size() < 2) continue;
      std::string names;
      for (const IslandId island : clique.islands)
        names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", swarm.map.islands[island].name);
      cliques += fmt::format("{}[{}]", cliques.empty() ? "" : ", ", names);
    }
    text += fmt::format("[[rounds]]\ncliques = [{}]\n", cliques);
  }
  return text;
}

std::string faults_toml(const SwarmCase& swarm) {
  std::string text;
  for (const SwarmFault& fault : swarm.faults) text += fault_text(fault);
  return text;
}

// What is said of a plan beyond its slack.
std::string relaxations_text(const SwarmCase& swarm) {
  std::string text;
  for (const std::string_view name : to_names(swarm.relax))
    text += fmt::format("{}{}", text.empty() ? " --relax " : ",", name);
  if (swarm.headroom > 0) text += fmt::format(" --headroom {}%", swarm.headroom);
  if (swarm.objective != Objective::kPaper)
    text += fmt::format(" --objective {}", to_name(swarm.objective));
  if (swarm.relax.any() || swarm.objective != Objective::kPaper)
    text += fmt::format(" --fragments {}", swarm.fragments);
  return text;
}

std::string to_text(const SwarmCase& swarm) {
  const bool streamed = swarm.exchange == Exchange::kStreamed;
  std::string text = fmt::format("==> map.toml\n{}\n==> schedule.toml\n{}\n", write_map(swarm.map),
                                 schedule_toml(swarm));
  if (!swarm.faults.empty()) text += fmt::format("==> faults.toml\n{}\n", faults_toml(swarm));
  text += fmt::format(
      "cotillion plan map.toml -s schedule.toml --slack {}{}{} -o plan.json\n"
      "cotillion simulate plan.json{} --rounds {} --seed {} --grace {}{}{}\n",
      exact_text(swarm.slack), swarm.ships_state ? " --ship-state" : "", relaxations_text(swarm),
      swarm.faults.empty() ? "" : " --faults faults.toml", swarm.rounds, swarm.seed,
      exact_text(swarm.grace),
      streamed ? fmt::format(" --exchange streamed --fragments {}", swarm.fragments) : "",
      swarm.memory ? " --memory " + exact_text(*swarm.memory) : "");
  text += fmt::format(
      "beyond these commands: values of {}{}, drawn from the seed; missing contributions {}; a "
      "step "
      "takes {}\n",
      name_of(swarm.element),
      swarm.element == Element::kI32 ? fmt::format(" in units of 2^{}", swarm.exponent) : "",
      swarm.missing == Missing::kMeanOfPresent ? "are left out" : "are one's own",
      to_text(swarm.step_time));
  return text;
}

Result<Modelled> modelled(const SwarmCase& swarm) {
  const auto map = read_map(write_map(swarm.map), "map.toml");
  if (!map) return refused(map);
  const auto schedule = read_schedule(schedule_toml(swarm), "schedule.toml", *map);
  if (!schedule) return refused(schedule);
  const Routes routes(*map);
  const NetworkModel network(*map, routes, {.technology = {}, .ships_state = swarm.ships_state});
  PlanSettings pricing;
  pricing.slack = swarm.slack;
  pricing.relax = swarm.relax;
  pricing.headroom = swarm.headroom / 100.0;
  pricing.objective = swarm.objective;
  pricing.fragments = swarm.fragments;
  const Plan plan = make_plan(network, *schedule, pricing);
  auto file = read_plan(to_json(network, plan, {}).dump(), "plan.json");
  if (!file) return refused(file);
  auto faults = read_faults(faults_toml(swarm), "faults.toml", *file);
  if (!faults) return refused(faults);

  Modelled result;
  result.plan = std::move(*file);
  SimulationSettings& settings = result.settings;
  settings.rounds = swarm.rounds;
  settings.seed = swarm.seed;
  settings.faults = std::move(*faults);
  settings.islands.payloads = Payloads::kReal;
  settings.islands.exponent = swarm.exponent;
  settings.islands.step_time = swarm.step_time;
  settings.islands.merge.missing = swarm.missing;
  settings.islands.job_settings.element = swarm.element;
  settings.islands.job_settings.exchange = swarm.exchange;
  settings.islands.job_settings.fragments = swarm.fragments;
  settings.islands.job_settings.grace = swarm.grace;
  settings.islands.job_settings.memory = swarm.memory;
  const auto assignment = JobAssignment::make(result.plan, settings.islands.job_settings);
  if (!assignment) return Unexpected<Error>{assignment.error()};
  return result;
}

JobAssignment job_assignment_of(const Modelled& network) {
  return *JobAssignment::make(network.plan, network.settings.islands.job_settings);
}

}  // namespace cotillion::testing
