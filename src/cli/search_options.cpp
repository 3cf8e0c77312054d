#include "cli/search_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/fingerprint.hpp"
#include "base/text.hpp"
#include "plan/file/plan_reader.hpp"
#include "plan/file/schedule_file.hpp"

namespace cotillion::cli {
namespace {

constexpr const char* kSearchGroup = "Search";
constexpr const char* kConstraintsGroup = "What the search must obey";
constexpr std::int64_t kStepsMax = 1'000'000'000'000'000;

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

// "200000", "200k", "2M"; nothing else has a meaning.
std::int64_t parse_steps(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, std::size_t(text.data() + text.size() - end));
  const std::int64_t factor = unit.empty()  ? 1
                              : unit == "k" ? 1'000
                              : unit == "M" ? 1'000'000
                              : unit == "G" ? 1'000'000'000
                                            : 0;
  if (error != std::errc() || factor == 0 || number < 1 || number > kStepsMax / factor)
    throw Stop{kUsedWrongly,
               fmt::format("--steps: '{}' is not a number of steps; write for example 200000, 200k "
                           "or 2M",
                           shown(text))};
  return number * factor;
}

std::vector<IslandId> islands_named(const Map& map, const std::string& text, const char* option) {
  std::vector<IslandId> islands;
  for (const std::string& name : split(text)) {
    const IslandId island = island_named(map, name, option);
    if (std::find(islands.begin(), islands.end(), island) != islands.end())
      throw Stop{kUsedWrongly, fmt::format("{}: {} is named twice; once is enough", option, name)};
    islands.push_back(island);
  }
  return islands;
}

std::vector<std::vector<IslandId>> lists_of(const Map& map, const std::vector<std::string>& texts,
                                            const char* option) {
  std::vector<std::vector<IslandId>> lists;
  for (const std::string& text : texts) {
    lists.push_back(islands_named(map, text, option));
    if (lists.back().size() < 2)
      throw Stop{kUsedWrongly,
                 fmt::format("{}: '{}' is one island; name two or more, as in LON,NYC", option,
                             shown(text))};
  }
  return lists;
}

std::string input(const std::string& path, const char* what, Provenance& made_by) {
  std::string text = read_file(path);
  made_by.inputs.emplace_back(what, fingerprint(text));
  return text;
}

void refuse_weights(const std::vector<Round>& rounds, const char* option, const std::string& path) {
  for (const Round& round : rounds)
    for (const Clique& clique : round.cliques)
      if (!clique.weights.empty())
        throw Stop{kUsedWrongly,
                   fmt::format("{}: {} gives weights, but the search averages alike within "
                               "cliques; remove them, or price the schedule with --schedule",
                               option, path)};
}

std::vector<Round> pinned_rounds(const std::string& path, const Map& map, Provenance& made_by) {
  auto schedule = read_schedule(input(path, "pin", made_by), path, map);
  if (!schedule) throw Stop{kUsedWrongly, to_text(schedule.error())};
  refuse_weights(schedule->rounds, "--pin", path);
  return std::move(schedule->rounds);
}

Constraints constraints_of(const SearchOptions& options, const Map& map, Provenance& made_by) {
  Constraints constraints;
  constraints.together = lists_of(map, options.together, "--together");
  constraints.apart = lists_of(map, options.apart, "--apart");
  constraints.clique_max = options.clique_max;
  constraints.period_max = options.period_max;
  if (options.rest == "none")
    constraints.may_rest.emplace();
  else if (!options.rest.empty() && options.rest != "all")
    constraints.may_rest = islands_named(map, options.rest, "--rest");
  if (!options.pin.empty()) constraints.pinned = pinned_rounds(options.pin, map, made_by);
  return constraints;
}

CLI::Validator at_least(int least, const std::string& remedy) {
  const auto check = [=](std::string& text) -> std::string {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    if (whole && value >= least) return "";
    return fmt::format("'{}' is not a whole number of {} or more; {}", shown(text), least, remedy);
  };
  return CLI::Validator(check, "");
}

}  // namespace

void add_search_options(CLI::App& verb, SearchOptions& options) {
  const auto search = [](CLI::Option* option) { option->group(kSearchGroup); };
  search(add_seed(verb, options.seed, "the annealing"));
  search(verb.add_option("--steps", options.steps,
                         "Total steps of annealing: 200000, 200k, 2M (default: by the size of the "
                         "map). A streamed objective takes as many again"));
  search(verb.add_option("--budget", options.budget,
                         "Search for this long instead (60s). The answer then depends on the "
                         "machine and cannot be reproduced"));
  search(verb.add_option("--threads", options.threads,
                         "Number of threads (default: as many as the machine has). The answer is "
                         "the same with any number")
             ->check(at_least(1, "leave it out to use the whole machine")));
  search(verb.add_flag("!--no-exact", options.exact,
                       "Anneal small maps too, without proof that nothing is better"));
  search(verb.add_option("--frontier", options.frontier,
                         "Also find the least area at this many round lengths (--json)")
             ->check(at_least(1, "a dozen draws a curve")));
  search(verb.add_option("--resume", options.resume, "Also start from this plan (PLAN.json)"));

  const auto constraint = [](CLI::Option* option) { option->group(kConstraintsGroup); };
  constraint(verb.add_option("--together", options.together,
                             "Islands that share a clique in every round, as LON,AMS; may be "
                             "repeated")
                 ->allow_extra_args(false));
  constraint(verb.add_option("--apart", options.apart,
                             "Islands of which no two ever share a clique; may be repeated")
                 ->allow_extra_args(false));
  constraint(
      verb.add_option("--clique-max", options.clique_max, "Largest number of members in a clique")
          ->check(at_least(2, "a clique of one meets nobody")));
  constraint(
      verb.add_option("--period-max", options.period_max, "Largest number of rounds in a period")
          ->check(at_least(1, "a schedule has at least one round")));
  constraint(verb.add_option("--rest", options.rest,
                             "Islands that may sit a round out, as LON,AMS; none, or all "
                             "(default all)"));
  constraint(verb.add_option("--pin", options.pin,
                             "A schedule file, each round of which must be a round of the answer"));
}

std::string search_option_given(const CLI::App& verb) {
  for (const CLI::Option* option : verb.get_options())
    if (option->count() > 0 &&
        (option->get_group() == kSearchGroup || option->get_group() == kConstraintsGroup))
      return option->get_name();
  return "";
}

SearchSettings search_settings(const SearchOptions& options, const PlanSettings& plan,
                               const NetworkModel& network, Provenance& made_by) {
  SearchSettings settings;
  settings.plan = plan;
  settings.seed = options.seed;
  settings.exact = options.exact;
  settings.frontier_points = options.frontier;
  if (!options.steps.empty() && !options.budget.empty())
    throw Stop{kUsedWrongly,
               "--budget: goes on until the time is up, --steps until they are done; give one"};
  if (!options.steps.empty()) settings.steps = parse_steps(options.steps);
  settings.until_stopped = !options.budget.empty();
  settings.constraints = constraints_of(options, network.map(), made_by);
  if (const auto reason = Rules(network, settings.constraints).contradiction())
    throw Stop{
        kUsedWrongly,
        fmt::format("no schedule can obey all constraints: {}; leave out one of them", *reason)};
  if (!options.resume.empty()) {
    auto start = read_planned_schedule(input(options.resume, "resume", made_by), options.resume,
                                       network.map());
    if (!start) throw Stop{kUsedWrongly, to_text(start.error())};
    refuse_weights(start->rounds, "--resume", options.resume);
    if (!Rules(network, settings.constraints).allows(*start))
      throw Stop{kUsedWrongly, fmt::format("--resume: {} does not obey the constraints; leave out "
                                           "one of the two",
                                           options.resume)};
    settings.starts.push_back(std::move(*start));
  }
  made_by.seed = options.seed;
  return settings;
}

}  // namespace cotillion::cli
