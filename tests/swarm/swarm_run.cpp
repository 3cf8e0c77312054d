#include "tests/swarm/swarm_run.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "job/outcome_file.hpp"
#include "tests/swarm/minimiser.hpp"

namespace cotillion::testing {
namespace {

constexpr std::uint64_t kTwiceEvery = 16;
constexpr unsigned kChildSeconds = 60;

// Progress is told every few ten thousand events; no case has that many at one instant.
constexpr int kLooksAtOneInstant = 8;

std::string json_of(const SwarmCase& swarm, const Outcome& outcome) {
  const auto network = modelled(swarm);
  return to_json(outcome_file(network->plan, outcome, {})).dump();
}

// Nobody watches and lanes are sound, so that nobody sees in which order things happen.
std::string unwatched(const SwarmCase& swarm, bool together) {
  const auto network = modelled(swarm);
  SimulationSettings settings = network->settings;
  settings.faults.lanes.clear();
  settings.one_partition = together;
  return json_of(swarm, *simulate(network->plan, settings));
}

char abort_message[256];

extern "C" void say_and_abort(int) {
  [[maybe_unused]] const auto said =
      ::write(STDERR_FILENO, abort_message, std::strlen(abort_message));
  std::signal(SIGABRT, SIG_DFL);
  std::abort();
}

}  // namespace

Played played(const SwarmCase& swarm) {
  Played result;
  const auto network = modelled(swarm);
  if (!network) {
    result.verdict.playable = false;
    result.verdict.wrong.what = network.error().message;
    return result;
  }
  const JobAssignment assignment = job_assignment_of(*network);
  SwarmChecks checks(swarm, *network, assignment);
  SimulationSettings settings = network->settings;
  checks.watch(settings);
  Duration last{-1};
  int looks = 0;
  bool stuck = false;
  settings.progress = [&](Duration now, Duration) {
    looks = now == last ? looks + 1 : 0;
    last = now;
    stuck = looks >= kLooksAtOneInstant;
    return stuck;
  };
  auto outcome = simulate(network->plan, settings);
  COTILLION_CHECK(stuck || outcome.has_value());  // modelled() refuses what cannot be played
  if (!stuck && checks.wrong().invariant.empty()) checks.conclude(*outcome);
  result.verdict.wrong = checks.wrong();
  result.verdict.tally = checks.tally();
  if (stuck) result.verdict.wrong = {"time goes on", "it stands still at " + to_text(last)};
  for (RoundId round = 1; round <= RoundId(swarm.rounds); ++round)
    for (IslandId island = 0; island < swarm.map.island_count(); ++island)
      for (const auto& average : checks.record(round, island).average)
        result.averages.push_back(average);
  if (outcome) result.outcome = std::move(*outcome);
  return result;
}

Verdict examined(const SwarmCase& swarm) {
  return played(swarm).verdict;
}

Verdict examined_twice(const SwarmCase& swarm) {
  Played first = played(swarm);
  if (!first.verdict.holds() || !first.verdict.playable) return first.verdict;
  if (json_of(swarm, played(swarm).outcome) != json_of(swarm, first.outcome))
    first.verdict.wrong = {"the same seed gives the same bytes", ""};
  else if (unwatched(swarm, true) != unwatched(swarm, false))
    first.verdict.wrong = {"partitions play as all do together", ""};
  return first.verdict;
}

Verdict examined(std::uint64_t seed) {
  const SwarmCase swarm = swarm_case(seed);
  return seed % kTwiceEvery == 0 ? examined_twice(swarm) : examined(swarm);
}

Verdict in_a_child(const std::function<Verdict()>& examine) {
  int ends[2];
  std::fflush(nullptr);
  if (::pipe(ends) != 0) return {true, {"the machine has pipes", ""}, {}};
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    std::signal(SIGABRT, SIG_DFL);
    const rlimit seconds{kChildSeconds, kChildSeconds + 1};  // its own, however busy the machine is
    ::setrlimit(RLIMIT_CPU, &seconds);
    const Verdict verdict = examine();
    const std::string words = verdict.wrong.invariant + '\n' + verdict.wrong.what;
    std::string told(sizeof(Tally) + 1, verdict.playable ? 1 : 0);
    std::memcpy(told.data(), &verdict.tally, sizeof(Tally));
    told += words;
    [[maybe_unused]] const auto written = ::write(ends[1], told.data(), told.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string told;
  char some[1024];
  for (ssize_t count = 0; (count = ::read(ends[0], some, sizeof some)) > 0;)
    told.append(some, std::size_t(count));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  Verdict verdict;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
    verdict.wrong = {"plays end", fmt::format("not within {} s", kChildSeconds)};
  } else if (status != 0 || told.size() <= sizeof(Tally)) {
    verdict.wrong = {"plays do not end the program", "the reason is on stderr"};
  } else {
    std::memcpy(&verdict.tally, told.data(), sizeof(Tally));
    verdict.playable = told[sizeof(Tally)] != 0;
    const std::size_t line = told.find('\n', sizeof(Tally) + 1);
    verdict.wrong.invariant = told.substr(sizeof(Tally) + 1, line - sizeof(Tally) - 1);
    verdict.wrong.what = told.substr(line + 1);
  }
  return verdict;
}

std::string failure_text(std::uint64_t seed) {
  const Verdict verdict = in_a_child([&] { return examined(seed); });
  if (verdict.holds()) return {};
  std::string text =
      fmt::format("seed {}: does not hold: {}: {}\n  {}\n", seed, verdict.wrong.invariant,
                  verdict.wrong.what, replay_command_of(seed));
  return text + smallest_text(swarm_case(seed), seed % kTwiceEvery == 0);
}

std::string smallest_text(const SwarmCase& failing, bool twice) {
  const auto examine = [&](const SwarmCase& swarm) {
    return in_a_child([&] { return twice ? examined_twice(swarm) : examined(swarm); });
  };
  const Minimised least =
      minimised(failing, [&](const SwarmCase& swarm) { return examine(swarm).wrong.invariant; });
  return fmt::format("the smallest case that fails so ({} of {} steps taken): {}\n{}", least.kept,
                     least.tried, examine(least.smallest).wrong.what, to_text(least.smallest));
}

void announce_on_abort(const std::string& command) {
  std::snprintf(abort_message, sizeof abort_message, "%s\n", command.c_str());
  std::signal(SIGABRT, say_and_abort);
}

std::string replay_command_of(std::uint64_t seed) {
  return fmt::format("build/release/swarm {}", seed);
}

}  // namespace cotillion::testing
