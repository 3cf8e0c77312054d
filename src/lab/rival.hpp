// Programs of others that average the islands' states over the same links: all-reduce by TCP, from
// island to island along shortest paths. What such a program must do says tests/peers/rival.hpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "job/outcome.hpp"
#include "job/side_by_side.hpp"
#include "lab/world.hpp"
#include "plan/file/plan_file.hpp"

namespace cotillion {

struct RivalSettings {
  std::string folder;  // nobody else's
  int times = 6;       // the first one is not counted: connections warm up
  Duration timeout{120'000'000'000'000};
  std::function<bool()> asked_to_end = [] { return false; };
};

struct RivalOutcome {
  std::string name;
  std::vector<Duration> times;  // without the first
  std::string problem;          // empty: all went well
};

// Whether what these commands start is on this machine, before a lab is built for them. What only
// the shell can tell is left to it.
[[nodiscard]] Result<void> check_rivals(const std::vector<std::string>& commands);

// The command is the shell's, with a name and a colon before it if you like; it runs once, in the
// control, and its ranks go to the islands by themselves. Ranks are in the order of the cheapest
// ring. An Error: it could not be started.
[[nodiscard]] Result<RivalOutcome> run_rival(World& world, const std::string& command,
                                             const RivalSettings& settings);

// How long the plan takes until everyone has the average of all; nothing where it never is exact.
// Rounds before the last count with their slack.
struct Averaging {
  int rounds = 1;
  Duration time;
};
[[nodiscard]] std::optional<Averaging> averaging_of(const Plan& plan, const Outcome& outcome);

[[nodiscard]] std::string rivals_text(const PlanFile& plan, const std::optional<Averaging>& ours,
                                      const std::vector<RivalOutcome>& rivals);
[[nodiscard]] Json rivals_json(const std::optional<Averaging>& ours,
                               const std::vector<RivalOutcome>& rivals);

}  // namespace cotillion
