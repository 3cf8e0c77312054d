// Options that several verbs share: which map, under which settings, judged by which objective.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/quantity.hpp"
#include "cli/world.hpp"
#include "plan/plan.hpp"

namespace cotillion::cli {

struct Settings {
  std::string map;
  std::vector<std::string> memory;
  std::string payload;
  std::string technology = "both";
  bool ship_state = false;
  std::string objective = "paper";
  int fragments = 8;
  std::string slack = "0ms";
  std::string step_time = "169ms";
  bool whole_steps = false;
  std::vector<std::string> egress_cap;
  std::string relax;
  std::string headroom = "0%";
  bool json = false;
};

// Adds MAP and the options above to a verb; or the options alone.
void add_settings(CLI::App& verb, Settings& settings);
void add_map_settings(CLI::App& verb, Settings& settings);

// --egress-cap, for verbs whose every answer obeys it.
void add_egress_cap(CLI::App& verb, Settings& settings);

// --seed, for verbs that draw at random: `what` is drawn.
CLI::Option* add_seed(CLI::App& verb, std::uint64_t& seed, const std::string& what);

// Reads the map and applies what the options override. All of these throw Stop.
[[nodiscard]] LoadedMap load_map(const Settings& settings);
[[nodiscard]] LoadedMap load_map(const Settings& settings, const std::string& text);
[[nodiscard]] NetworkModelSettings network_settings(const Settings& settings);
[[nodiscard]] PlanSettings plan_settings(const Settings& settings, const Map& map);
[[nodiscard]] Provenance made_from(const LoadedMap& map);

[[nodiscard]] IslandId island_named(const Map& map, const std::string& name, const char* option);

// Says on stderr what is being done, once work has lasted two seconds: a line that is rewritten
// in place on a terminal, a new one every two seconds elsewhere, and nothing if COTILLION_QUIET
// is set in the environment.
[[nodiscard]] std::function<void(const std::string&)> progress_line();
void end_progress();

// Unwraps a quantity from the command line, naming the option when it is wrong.
template <class T>
T option_value(const Quantity<T>& parsed, const char* option) {
  if (!parsed)
    throw Stop{kUsedWrongly,
               std::string(option) + ": " + parsed.error().message + "; " + parsed.error().remedy};
  return *parsed;
}

}  // namespace cotillion::cli
