#include "cli/settings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <memory>

#include "base/suggestion.hpp"
#include "base/text.hpp"
#include "cli/number_checks.hpp"
#include "topology/map_check.hpp"

namespace cotillion::cli {
namespace {

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
  const AggregatorId edge = aggregator_of_islands(map)[island_named(map, name, "--memory")];
  if (edge == kNoAggregator)
    throw Stop{kUsedWrongly, fmt::format("--memory: {} has no edge; remove edge = false from the "
                                         "map to give it one",
                                         name)};
  map.aggregators[edge].spec.memory = memory;
}

// "5TB" for every island, or "HKG=1TB" for one, in bytes an hour.
void cap_egress(const Map& map, const std::string& text, std::vector<double>& most) {
  constexpr double kSecondsPerHour = 3600;
  const std::size_t equals = text.find('=');
  const bool everybody = equals == std::string::npos;
  const Bytes an_hour =
      option_value(parse_bytes(everybody ? text : text.substr(equals + 1)), "--egress-cap");
  if (an_hour.count == 0)
    throw Stop{kUsedWrongly,
               "--egress-cap: zero; whoever may send nothing cannot take part, remove it from the "
               "map"};
  const double a_second = double(an_hour.count) / kSecondsPerHour;
  if (everybody)
    most.assign(map.islands.size(), a_second);
  else
    most[island_named(map, text.substr(0, equals), "--egress-cap")] = a_second;
}

// What is said of all goes first, whatever the order of the arguments.
std::vector<std::string> all_before_one(std::vector<std::string> texts) {
  std::stable_partition(texts.begin(), texts.end(), [](const std::string& text) {
    return text.find('=') == std::string::npos;
  });
  return texts;
}

// "2%", below 100 %.
double share_of(const std::string& text) {
  const std::size_t percent = text.find('%');
  double value = -1;
  if (percent != std::string::npos && percent + 1 == text.size()) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + percent, value);
    if (error != std::errc() || end != text.data() + percent) value = -1;
  }
  if (value >= 0 && value < 100) return value / 100;
  throw Stop{kUsedWrongly, fmt::format("--headroom: '{}' is no share below 100 %; write for "
                                       "example \"2%\"",
                                       shown(text))};
}

bool progress_shown = false;

}  // namespace

void add_egress_cap(CLI::App& verb, Settings& settings) {
  verb.add_option(
          "--egress-cap", settings.egress_cap,
          "The most that every island may send in an hour (5TB), or one of them (HKG=1TB); may be "
          "repeated. Rounds start later rather than exceed it")
      ->delimiter(',')
      ->allow_extra_args(false);
}

CLI::Option* add_seed(CLI::App& verb, std::uint64_t& seed, const std::string& what) {
  return verb.add_option("--seed", seed, fmt::format("Seed of {} (default 1)", what))
      ->check(a_seed());
}

void add_settings(CLI::App& verb, Settings& settings) {
  verb.add_option("MAP", settings.map, "Map file (TOML; docs/reference/files.md)")->required();
  add_map_settings(verb, settings);
}

void add_map_settings(CLI::App& verb, Settings& settings) {
  verb.add_option("-m,--memory", settings.memory,
                  "Memory of every edge (32GB), or of one (HKG=8GB); may be repeated")
      ->delimiter(',')
      ->allow_extra_args(false);
  verb.add_option("--payload", settings.payload,
                  "Model state that each island sends in a round (1GB)");
  verb.add_option("--technology", settings.technology,
                  "both, multicast, aggregation or neither (default both)");
  verb.add_flag("--ship-state", settings.ship_state,
                "Send momentum with the weights, which doubles the payload");
  verb.add_option("--objective", settings.objective,
                  "paper, squared, paper-streamed or squared-streamed (default paper)");
  verb.add_option("--fragments", settings.fragments,
                  "Number of fragments in the streamed objectives (default 8)")
      ->check(CLI::Range(1, 1 << 20));
  verb.add_option("--slack", settings.slack, "Time added to every round (default 0ms)");
  verb.add_option("--step-time", settings.step_time,
                  "Time of one local training step (default 169ms)");
  verb.add_flag("--whole-steps", settings.whole_steps,
                "Make rounds last a whole number of local steps");
  verb.add_option("--relax", settings.relax,
                  "What plans may do that the paper's core model does not: lengths (each round as "
                  "long as it needs), overlap (the next round begins while this one flies), routes "
                  "(trees around full lanes), or all; several with commas");
  verb.add_option("--headroom", settings.headroom,
                  "Where rounds overlap, the share of every lane that is left to resends "
                  "(default 0%)");
  verb.add_flag("--json", settings.json, "Print one JSON object instead of text");
}

LoadedMap load_map(const Settings& settings) {
  return load_map(settings, read_file(settings.map));
}

LoadedMap load_map(const Settings& settings, const std::string& text) {
  LoadedMap loaded = map_of(text, settings.map);
  for (const std::string& memory : all_before_one(settings.memory))
    override_memory(loaded.map, memory);
  if (!settings.payload.empty()) {
    loaded.map.payload = option_value(parse_bytes(settings.payload), "--payload");
    if (loaded.map.payload.count == 0)
      throw Stop{kUsedWrongly, "--payload: zero payload; write for example \"1GB\""};
    if (!payload_fits(loaded.map))
      throw Stop{kUsedWrongly, "--payload: more than 100 TB on the wire; check the unit"};
  }
  return loaded;
}

NetworkModelSettings network_settings(const Settings& settings) {
  const auto technology = technology_named(settings.technology);
  if (!technology)
    throw Stop{kUsedWrongly, fmt::format("--technology: '{}' is not one of both, multicast, "
                                         "aggregation, neither",
                                         shown(settings.technology))};
  return {*technology, settings.ship_state};
}

PlanSettings plan_settings(const Settings& settings, const Map& map) {
  PlanSettings plan;
  plan.slack = option_value(parse_duration(settings.slack), "--slack");
  plan.step_time = option_value(parse_duration(settings.step_time), "--step-time");
  plan.whole_steps = settings.whole_steps;
  plan.fragments = settings.fragments;
  if (plan.step_time.ps == 0)
    throw Stop{kUsedWrongly, "--step-time: zero; give the time of one local step, as in 169ms"};
  const auto objective = objective_named(settings.objective);
  if (!objective)
    throw Stop{kUsedWrongly,
               fmt::format("--objective: '{}' is not one of paper, squared, paper-streamed, "
                           "squared-streamed",
                           shown(settings.objective))};
  plan.objective = *objective;
  const auto relaxed = relaxations_named(settings.relax);
  if (!relaxed) throw Stop{kUsedWrongly, "--relax: " + relaxed.error().message};
  plan.relax = *relaxed;
  plan.headroom = share_of(settings.headroom);
  if (plan.headroom > 0 && !plan.relax.overlap)
    throw Stop{kUsedWrongly,
               "--headroom: lanes are never full between rounds; it goes with "
               "--relax overlap"};
  if (plan.whole_steps && plan.relax.overlap)
    throw Stop{kUsedWrongly,
               "--whole-steps: rounds that overlap begin when bytes have passed, not "
               "when steps end; leave one of the two out"};
  if (!settings.egress_cap.empty())
    plan.egress_most.assign(map.islands.size(), std::numeric_limits<double>::infinity());
  for (const std::string& text : all_before_one(settings.egress_cap))
    cap_egress(map, text, plan.egress_most);
  return plan;
}

Provenance made_from(const LoadedMap& map) {
  Provenance made_by = provenance();
  made_by.inputs.emplace_back("map", map.fingerprint);
  return made_by;
}

IslandId island_named(const Map& map, const std::string& name, const char* option) {
  if (const auto island = find_island(map, name)) return *island;
  throw Stop{kUsedWrongly, fmt::format("{}: unknown island '{}'; {}", option, shown(name),
                                       did_you_mean(name, island_names(map),
                                                    "cotillion topology show lists them"))};
}

std::function<void(const std::string&)> progress_line() {
  using Steady = std::chrono::steady_clock;
  // For those who compare what is printed: whether two seconds pass depends on the machine.
  if (std::getenv("COTILLION_QUIET") != nullptr) return [](const std::string&) {};
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  auto last = std::make_shared<Steady::time_point>(Steady::now());
  return [terminal, last](const std::string& what) {
    const auto now = Steady::now();
    if (!progress_shown && now - *last < std::chrono::seconds(2)) return;
    // A terminal's line is rewritten at every step; a file gets one every two seconds.
    if (!terminal && progress_shown && now - *last < std::chrono::seconds(2)) return;
    if (terminal)
      fmt::print(stderr, "\r\x1b[K{}", what);
    else
      fmt::print(stderr, "{}\n", what);
    std::fflush(stderr);
    *last = now;
    progress_shown = true;
  };
}

void end_progress() {
  if (progress_shown && ::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\x1b[K");
  progress_shown = false;
}

}  // namespace cotillion::cli
