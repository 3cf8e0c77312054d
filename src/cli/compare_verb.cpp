#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/fingerprint.hpp"
#include "cli/settings.hpp"
#include "cli/verbs.hpp"
#include "plan/file/plan_reader.hpp"
#include "report/compare_report.hpp"

namespace cotillion::cli {
namespace {

struct CompareOptions : Settings {
  int local_steps = 8;
  int diloco_steps = 50;
  std::uint64_t seed = 1;
  std::vector<std::string> ring;
  std::vector<std::string> plans;
};

std::vector<IslandId> ring_order(const Map& map, const std::vector<std::string>& names) {
  std::vector<IslandId> order;
  for (const std::string& name : names) order.push_back(island_named(map, name, "--ring"));
  const std::set<IslandId> once(order.begin(), order.end());
  if (!order.empty() && (once.size() != order.size() || order.size() != map.islands.size()))
    throw Stop{kUsedWrongly,
               fmt::format("--ring: names {} different islands of {}; a ring visits each once",
                           once.size(), map.islands.size())};
  return order;
}

// A plan that was found before, priced here: its rounds count, not the network it was made for.
Plan planned(const std::string& path, const NetworkModel& network, const PlanSettings& settings,
             Provenance& made_by) {
  const std::string text = read_file(path);
  auto schedule = read_planned_schedule(text, path, network.map());
  if (!schedule) throw Stop{kUsedWrongly, to_text(schedule.error())};
  made_by.inputs.emplace_back("plan", fingerprint(text));
  schedule->name = std::filesystem::path(path).filename();
  return make_plan(network, *schedule, settings);
}

void run_compare(const CompareOptions& options) {
  const LoadedMap loaded = load_map(options);
  const Routes routes(loaded.map);
  const NetworkModel network(loaded.map, routes, network_settings(options));
  CompareSettings settings;
  settings.plan = plan_settings(options, loaded.map);
  settings.local_steps = options.local_steps;
  settings.diloco_steps = options.diloco_steps;
  settings.seed = options.seed;
  settings.ring_order = ring_order(loaded.map, options.ring);
  settings.progress = progress_line();
  MixingMemory memory;
  Provenance made_by = made_from(loaded);
  std::vector<Policy> policies = score_policies(network, settings, memory);
  for (const std::string& path : options.plans)
    policies.push_back(policy_of(network, planned(path, network, settings.plan, made_by)));
  sort_best_first(policies, settings.plan.objective);
  end_progress();
  made_by.seed = options.seed;
  if (options.json)
    print_json(compare_json(network, settings, policies, made_by));
  else
    print(compare_text(network, settings, policies));
}

}  // namespace

void add_compare(CLI::App& app, Outcome&) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* compare = app.add_subcommand(
      "compare", "Put every schedule beside what people use today, in one table, best first.");
  add_settings(*compare, *options);
  compare
      ->add_option("--local-steps", options->local_steps,
                   "Steps between exchanges of local SGD, H (default 8)")
      ->check(CLI::Range(1, 1'000'000));
  compare
      ->add_option("--diloco-steps", options->diloco_steps,
                   "Steps between exchanges of DiLoCo, H (default 50)")
      ->check(CLI::Range(1, 1'000'000));
  compare
      ->add_option("--plan", options->plans,
                   "Also score this plan, which `cotillion plan -o` wrote; may be repeated")
      ->allow_extra_args(false);
  add_seed(*compare, options->seed, "the random pairs");
  compare
      ->add_option("--ring", options->ring,
                   "Order of the ring, as LON,NYC,… (default: the best is found)")
      ->delimiter(',')
      ->allow_extra_args(false);
  compare->callback([options] { run_compare(*options); });
}

}  // namespace cotillion::cli
