#include <fmt/format.h>

#include <memory>

#include "base/fingerprint.hpp"
#include "cli/settings.hpp"
#include "cli/verbs.hpp"
#include "plan/named_schedule.hpp"
#include "plan/plan.hpp"
#include "plan/schedule_file.hpp"
#include "report/plan_report.hpp"

namespace cotillion::cli {
namespace {

struct Options : Settings {
  std::string schedule;
  std::string output;
  bool full = false;
};

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
  const LoadedMap loaded = load_map(options);
  Provenance made_by = made_from(loaded);
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
      Json& left_out = json["left_out"] = Json::array();
      for (const std::string& reason : candidates.left_out) left_out.push_back(reason);
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
  add_settings(*plan, *options);
  plan->add_option("-s,--schedule", options->schedule, schedule_help());
  plan->add_option("-o,--output", options->output, "Write the plan here (JSON)");
  plan->add_flag("--full", options->full, "Print every link and every edge");
  plan->callback([options, &outcome] { run(*options, outcome); });
}

}  // namespace cotillion::cli
