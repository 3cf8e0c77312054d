#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/fingerprint.hpp"
#include "base/quantity.hpp"
#include "cli/verbs.hpp"
#include "cli/world.hpp"
#include "plan/named_schedule.hpp"
#include "plan/plan.hpp"
#include "plan/schedule_file.hpp"
#include "report/plan_report.hpp"

namespace cotillion::cli {
namespace {

struct Options {
  std::string map;
  std::string schedule;
  std::vector<std::string> memory;
  std::string payload;
  std::string slack = "0ms";
  std::string step_time = "169ms";
  bool whole_steps = false;
  std::string technology = "both";
  bool ship_state = false;
  std::string objective = "paper";
  int fragments = 8;
  std::string output;
  bool json = false;
  bool full = false;
};

// Unwraps a quantity from the command line, naming the option when it is wrong.
template <class T>
T option_value(const Quantity<T>& parsed, const char* option) {
  if (!parsed)
    throw Stop{kUsedWrongly,
               fmt::format("{}: {}; {}", option, parsed.error().message, parsed.error().remedy)};
  return *parsed;
}

// "32GB" for every edge, or "HKG=8GB" for the edge that serves one island.
void override_memory(Map& map, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    map.edge.memory = option_value(parse_bytes(text), "--memory");
    for (Aggregator& aggregator : map.aggregators) aggregator.spec.memory = map.edge.memory;
    return;
  }
  const std::string name = text.substr(0, equals);
  const Bytes memory = option_value(parse_bytes(text.substr(equals + 1)), "--memory");
  const auto island = find_island(map, name);
  if (!island) {
    const std::string near = closest_name(name, island_names(map));
    throw Stop{kUsedWrongly,
               fmt::format("--memory: unknown island '{}'{}", name,
                           near.empty() ? "" : fmt::format("; did you mean '{}'?", near))};
  }
  const AggregatorId edge = aggregator_of_islands(map)[*island];
  if (edge == kNoAggregator)
    throw Stop{kUsedWrongly, fmt::format("--memory: {} has no edge; remove edge = false from the "
                                         "map to give it one",
                                         name)};
  map.aggregators[edge].spec.memory = memory;
}

void override_map(Map& map, const Options& options) {
  // A size for all edges goes first, whatever the order of the arguments.
  std::vector<std::string> memory = options.memory;
  std::stable_partition(memory.begin(), memory.end(), [](const std::string& text) {
    return text.find('=') == std::string::npos;
  });
  for (const std::string& text : memory) override_memory(map, text);
  if (!options.payload.empty()) {
    map.payload = option_value(parse_bytes(options.payload), "--payload");
    if (map.payload.count == 0)
      throw Stop{kUsedWrongly, "--payload: zero payload; write for example \"1GB\""};
  }
}

StageSettings stage_settings(const Options& options) {
  const auto technology = technology_named(options.technology);
  if (!technology)
    throw Stop{kUsedWrongly, fmt::format("--technology: '{}' is not one of both, multicast, "
                                         "aggregation, neither",
                                         options.technology)};
  return {*technology, options.ship_state};
}

PlanSettings plan_settings(const Options& options) {
  PlanSettings settings;
  settings.slack = option_value(parse_duration(options.slack), "--slack");
  settings.step_time = option_value(parse_duration(options.step_time), "--step-time");
  settings.whole_steps = options.whole_steps;
  settings.fragments = options.fragments;
  if (settings.step_time.ps == 0)
    throw Stop{kUsedWrongly, "--step-time: zero; give the time of one local step, as in 169ms"};
  const auto objective = objective_named(options.objective);
  if (!objective)
    throw Stop{kUsedWrongly, fmt::format("--objective: '{}' is not one of paper, squared, "
                                         "paper-streamed, squared-streamed",
                                         options.objective)};
  settings.objective = *objective;
  return settings;
}

bool is_file_name(const std::string& schedule) {
  return schedule.find('/') != std::string::npos || schedule.ends_with(".toml");
}

// The schedule that was asked for, by name or from a file.
Schedule load_schedule(const Options& options, const Map& map, const Routes& routes,
                       Provenance& made_by) {
  if (is_file_name(options.schedule)) {
    const std::string text = read_file(options.schedule);
    auto schedule = read_schedule(text, options.schedule, map);
    if (!schedule) throw Stop{kUsedWrongly, to_text(schedule.error())};
    made_by.inputs.emplace_back("schedule", fingerprint(text));
    return std::move(*schedule);
  }
  auto schedule = named_schedule(options.schedule, map, routes);
  if (!schedule) throw Stop{kUsedWrongly, "--schedule: " + schedule.error().message};
  return std::move(*schedule);
}

struct Candidates {
  std::vector<Plan> plans;  // best first; never empty
  std::vector<std::string> left_out;
};

// The paper's way: every named schedule that is defined here, best first.
Candidates price_named(const Stage& stage, const PlanSettings& settings) {
  Candidates candidates;
  for (const ScheduleName& name : schedule_names()) {
    const auto schedule = named_schedule(name.name, stage.map(), stage.routes());
    if (schedule)
      candidates.plans.push_back(make_plan(stage, *schedule, settings));
    else
      candidates.left_out.push_back(fmt::format("{}: {}", name.name, schedule.error().message));
  }
  sort_best_first(candidates.plans);
  return candidates;
}

void run(const Options& options, Outcome& outcome) {
  LoadedMap loaded = load_map(options.map);
  override_map(loaded.map, options);
  Provenance made_by = provenance();
  made_by.inputs.emplace_back("map", loaded.fingerprint);
  const Routes routes(loaded.map);
  const Stage stage(loaded.map, routes, stage_settings(options));
  const PlanSettings settings = plan_settings(options);

  Candidates candidates;
  const bool one = !options.schedule.empty();
  if (one)
    candidates.plans.push_back(
        make_plan(stage, load_schedule(options, loaded.map, routes, made_by), settings));
  else
    candidates = price_named(stage, settings);
  const Plan& best = candidates.plans.front();

  if (!options.output.empty() || options.json) {
    Json json = to_json(stage, best, made_by);
    if (!options.output.empty()) write_file(options.output, json.dump(1) + "\n");
    if (options.json) {
      Json& others = json["candidates"] = Json::array();
      for (const Plan& plan : candidates.plans)
        others.push_back({{"schedule", plan.schedule},
                          {"feasible", plan.feasible},
                          {"round_ms", plan.feasible ? Json(plan.round.ms()) : Json(nullptr)},
                          {"area", number_or_null(plan.mixing.area)},
                          {"staleness_ms", number_or_null(plan.staleness().ms())}});
      print_json(json);
    }
  }
  if (!options.json) {
    std::string text;
    if (!one) {
      text += candidates_text(stage, candidates.plans);
      for (const std::string& reason : candidates.left_out) text += reason + "\n";
      text += fmt::format("\nBest of these: {}\n\n", best.schedule);
    }
    text += plan_text(stage, best, options.full);
    if (!options.output.empty()) text += fmt::format("plan written to {}\n", options.output);
    print(text);
  }
  const bool settles = !best.mixing.phases.empty();
  outcome.code = best.feasible && settles ? kDone : kAnswerIsNo;
}

std::string schedule_help() {
  std::string help = "A schedule file (.toml), or one of:\n";
  for (const ScheduleName& name : schedule_names())
    help += fmt::format("  {:<11} {}\n", name.name, name.help);
  return help + "Without it, all of these are priced and the best is taken";
}

}  // namespace

void add_plan(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<Options>();
  CLI::App* plan = app.add_subcommand(
      "plan", "Price a schedule on a map: round length, who sends when and how fast, staleness");
  plan->add_option("MAP", options->map, "Map file (TOML; docs/files.md)")->required();
  plan->add_option("-s,--schedule", options->schedule, schedule_help());
  plan->add_option("-m,--memory", options->memory,
                   "Memory of every edge (32GB), or of one (HKG=8GB); may be repeated")
      ->delimiter(',')
      ->allow_extra_args(false);
  plan->add_option("--payload", options->payload, "Model state each island sends a round (1GB)");
  plan->add_option("--technology", options->technology,
                   "both, multicast, aggregation or neither (default both)");
  plan->add_flag("--ship-state", options->ship_state,
                 "Send momentum with the weights: twice the payload, half the memory");
  plan->add_option("--objective", options->objective,
                   "paper, squared, paper-streamed or squared-streamed (default paper)");
  plan->add_option("--fragments", options->fragments,
                   "Fragments of the streamed objectives (default 8)")
      ->check(CLI::Range(1, 1 << 20));
  plan->add_option("--slack", options->slack, "Time added to every round (default 0ms)");
  plan->add_option("--step-time", options->step_time,
                   "Time of one local step, for H (default 169ms)");
  plan->add_flag("--whole-steps", options->whole_steps,
                 "Round the length of rounds up to whole local steps");
  plan->add_option("-o,--output", options->output, "Write the plan here (JSON)");
  plan->add_flag("--json", options->json, "Print the plan as one JSON object instead of text");
  plan->add_flag("--full", options->full, "Print every link and every edge");
  plan->callback([options, &outcome] { run(*options, outcome); });
}

}  // namespace cotillion::cli
