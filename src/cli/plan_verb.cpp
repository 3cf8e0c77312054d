#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/fingerprint.hpp"
#include "cli/search_run.hpp"
#include "cli/verbs.hpp"
#include "plan/every_round.hpp"
#include "plan/file/schedule_file.hpp"
#include "plan/named_schedule.hpp"
#include "plan/plan.hpp"
#include "plan/policies.hpp"
#include "report/plan_report.hpp"
#include "report/why_report.hpp"

namespace cotillion::cli {
namespace {

struct PlanOptions : Settings {
  std::string schedule;
  std::string output;
  bool full = false;
  bool why = false;
  SearchOptions search;
};

bool is_file_name(const std::string& schedule) {
  return schedule.find('/') != std::string::npos || schedule.ends_with(".toml");
}

// The schedule that was asked for, by name or from a file.
Schedule load_schedule(const PlanOptions& options, const Map& map, const Routes& routes,
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
  std::vector<Plan> plans;  // best first
  std::vector<std::string> left_out;
};

// The paper's way: every named schedule that is defined here and that users would have.
Candidates price_named(const NetworkModel& network, const SearchSettings& settings) {
  Candidates candidates;
  const Rules rules(network, settings.constraints);
  for (const ScheduleName& name : schedule_names()) {
    const auto schedule = named_schedule(name.name, network.map(), network.routes());
    if (!schedule)
      candidates.left_out.push_back(fmt::format("{}: {}", name.name, schedule.error().message));
    else if (!rules.allows(*schedule))
      candidates.left_out.push_back(
          fmt::format("{}: does not obey the constraints", schedule->name));
    else
      candidates.plans.push_back(make_plan(network, *schedule, settings.plan));
  }
  sort_best_first(candidates.plans);
  return candidates;
}

void add_json(Json& json, const Candidates& candidates) {
  Json& others = json["candidates"] = Json::array();
  for (const Plan& plan : candidates.plans)
    others.push_back({{"schedule", plan.schedule},
                      {"feasible", plan.feasible},
                      {"round_ms", plan.feasible ? Json(plan.round.ms()) : Json(nullptr)},
                      {"area", number_or_null(plan.mixing.area)},
                      {"staleness_ms", number_or_null(plan.staleness().ms())}});
  Json& left_out = json["left_out"] = Json::array();
  for (const std::string& reason : candidates.left_out) left_out.push_back(reason);
}

std::string text_of(const NetworkModel& network, const Candidates& candidates) {
  std::string text;
  if (!candidates.plans.empty()) text += candidates_text(network, candidates.plans);
  for (const std::string& reason : candidates.left_out) text += reason + "\n";
  return text;
}

int exit_code(const Plan& plan) {
  const bool settles = !plan.mixing.phases.empty();
  return plan.feasible && settles ? kDone : kAnswerIsNo;
}

// Writes and prints; `json` is the plan's, `text` what people read.
void hand_over(const PlanOptions& options, const NetworkModel& network, const Plan& plan,
               const Json& json, const Candidates& candidates, std::string text) {
  if (!options.output.empty()) {
    write_file(options.output, json.dump(1) + "\n");
    text += fmt::format("plan written to {}\n", options.output);
  }
  if (!options.json) return print(text);
  Json printed = json;
  if (!plan.settings.relax.any()) add_relaxed(printed, network, plan);
  add_json(printed, candidates);
  print_json(printed);
}

// The schedule that was asked for, priced.
int price(const PlanOptions& options, const NetworkModel& network, Provenance made_by) {
  const Schedule schedule = load_schedule(options, network.map(), network.routes(), made_by);
  const Plan plan = make_plan(network, schedule, plan_settings(options, network.map()));
  hand_over(options, network, plan, to_json(network, plan, made_by), {{plan}, {}},
            plan_text(network, plan, options.full));
  return exit_code(plan);
}

// What people use today, whether it is better or not.
std::optional<Policy> rival_of(const NetworkModel& network, const SearchSettings& settings) {
  CompareSettings compare;
  compare.plan = settings.plan;
  compare.seed = settings.seed;
  compare.progress = progress_line();
  std::optional<Policy> rival = best_rival(network, compare);
  end_progress();
  return rival;
}

// The best schedule, with the named ones beside it.
int search_and_write(const PlanOptions& options, const NetworkModel& network, Provenance made_by) {
  const SearchSettings settings =
      search_settings(options.search, plan_settings(options, network.map()), network, made_by);
  SearchRun run_plan(options.search);
  const SearchResult result = run_plan.search(network, settings);
  const SearchConduct conduct = run_plan.conduct(settings);
  Candidates candidates = price_named(network, settings);
  const std::optional<Policy> rival = rival_of(network, settings);
  if (!result.found) {
    Json json = to_json(made_by);
    json["search"] = search_json(result, conduct);
    json["best_rival"] = best_rival_json(rival, settings.plan.objective);
    add_json(json, candidates);
    if (options.json)
      print_json(json);
    else
      print(text_of(network, candidates));
    throw Stop{kAnswerIsNo, nothing_found_text(result, conduct)};
  }
  // On small maps everything is asked and planned again at once; on others when asked to.
  const bool small = network.map().island_count() <= kSmallIslandsMax;
  const Why reasons = run_plan.why(network, settings, result,
                                   options.why ? WhyCare::kProven
                                   : small     ? WhyCare::kEverything
                                               : WhyCare::kBinding);
  candidates.plans.insert(candidates.plans.begin(), result.plan);
  Json json = to_json(network, result.plan, made_by);
  json["search"] = search_json(result, conduct);
  json["why"] = why_json(reasons);
  json["best_rival"] = best_rival_json(rival, settings.plan.objective);
  hand_over(options, network, result.plan, json, candidates,
            text_of(network, candidates) + "\n" + plan_text(network, result.plan, options.full) +
                search_text(result, conduct) + why_text(result, reasons) +
                best_rival_text(result.plan, rival));
  return exit_code(result.plan);
}

void run_plan(const CLI::App& verb, const PlanOptions& options, Outcome& outcome) {
  const std::string unused = search_option_given(verb);
  if (!options.schedule.empty() && !unused.empty())
    throw Stop{kUsedWrongly, fmt::format("{}: with --schedule nothing is searched; leave out one "
                                         "of the two",
                                         unused)};
  expect_writable(options.output);
  const LoadedMap loaded = load_map(options);
  const Routes routes(loaded.map);
  const NetworkModel network(loaded.map, routes, network_settings(options));
  outcome.code = options.schedule.empty() ? search_and_write(options, network, made_from(loaded))
                                          : price(options, network, made_from(loaded));
}

std::string schedule_help() {
  std::string help = "A schedule file (.toml), or one of:\n";
  for (const ScheduleName& name : schedule_names())
    help += fmt::format("  {:<11} {}\n", name.name, name.help);
  return help + "Without it, the best schedule is found and shown beside these";
}

}  // namespace

void add_plan(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<PlanOptions>();
  CLI::App* plan =
      app.add_subcommand("plan",
                         "Find the best schedule for a map, or price a given one. Print its round "
                         "length, who sends when and how fast, and its staleness. Ctrl-C ends the "
                         "search with the best plan so far.");
  add_settings(*plan, *options);
  plan->add_option("-s,--schedule", options->schedule, schedule_help());
  plan->add_option("-o,--output", options->output, "Write the plan here (JSON)");
  plan->add_flag("--full", options->full, "Print every link and every edge");
  plan->add_flag(
      "--why", options->why,
      "Say what more of every edge, island and link would be worth, and plan again without each "
      "link. Up to nine islands this is done anyway, by annealing; with --why it is proven");
  add_egress_cap(*plan, *options);
  add_search_options(*plan, options->search);
  plan->callback([options, plan, &outcome] { run_plan(*plan, *options, outcome); });
}

}  // namespace cotillion::cli
