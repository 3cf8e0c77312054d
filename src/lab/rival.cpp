#include "lab/rival.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "base/file.hpp"
#include "base/table.hpp"
#include "base/text.hpp"
#include "lab/network_setting.hpp"
#include "lab/steady.hpp"
#include "plan/ring.hpp"

namespace cotillion {
namespace {

// "Gloo, ring: gloo_rival ring" has a name.
std::string name_of(const std::string& command) {
  return command.substr(0, command.find(": "));
}
std::string words_of(const std::string& command) {
  const auto colon = command.find(": ");
  return colon == std::string::npos ? command : command.substr(colon + 2);
}

// What the shell would start; empty where only the shell can tell, because it would change the
// word.
std::string program_in(const std::string& command) {
  const std::string words = words_of(command);
  const std::size_t from = words.find_first_not_of(" \t\n");
  if (from == std::string::npos || words[from] == '-') return "";
  const std::string word = words.substr(from, words.find_first_of(" \t\n", from) - from);
  return word.find_first_of("'\"\\`$~*?[]{}()<>|&;#!=") == std::string::npos ? word : "";
}

bool can_be_started(const std::string& path) {
  std::error_code ignored;
  return !std::filesystem::is_directory(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

// As the shell looks for it: there are words of its own, too. Nothing in it is to be quoted.
bool is_found(const std::string& program) {
  if (program.find('/') != std::string::npos) return can_be_started(program);
  const std::string question = "command -v -- " + program + " >/dev/null 2>&1";
  return std::system(question.c_str()) == 0;  // NOLINT(cert-env33-c,concurrency-mt-unsafe)
}

std::vector<IslandId> ranks_of(const Map& map) {
  const Routes routes(map);
  return best_ring(NetworkModel(map, routes, {.technology = {false, false}})).order;
}

// A window that was open stays open between two times, as on any network made for long distances.
Result<void> prepare(const World& world, NamespaceRole role) {
  const auto visit = world.visit(role);
  if (!visit) return Unexpected<Error>{visit.error()};
  (void)set_network_setting("ipv4/tcp_slow_start_after_idle", "0");
  return {};
}

struct Said {
  std::vector<Duration> times;
  std::string last;  // line of another kind
};
Said read_log(const std::string& path) {
  Said said;
  std::istringstream log(read_if_there(path));
  for (std::string line; std::getline(log, line);) {
    double ms = 0;
    std::istringstream words(line);
    std::string first;
    if (words >> first >> ms && first == "ms")
      said.times.push_back({std::llround(ms * 1e9)});
    else if (!line.empty())
      said.last = shown(line, 200);
  }
  return said;
}

}  // namespace

Result<void> check_rivals(const std::vector<std::string>& commands) {
  for (const std::string& command : commands)
    if (const std::string program = program_in(command); !program.empty() && !is_found(program))
      return failure(
          fmt::format("{}: {}", shown(program),
                      ::access(program.c_str(), F_OK) == 0 && program.find('/') != std::string::npos
                          ? "cannot be started; give a program that can be executed"
                          : "not found; install it, or give its path"));
  return {};
}

Result<RivalOutcome> run_rival(World& world, const std::string& command,
                               const RivalSettings& settings) {
  const Map& map = world.plan().map;
  std::string addresses, spaces;
  for (const IslandId island : ranks_of(map)) {
    const NamespaceRole role{NamespaceRole::Kind::kIsland, island};
    const std::string path = fmt::format("{}/space{}", settings.folder, island);
    if (const auto shown = world.show(role, path); !shown) return Unexpected<Error>{shown.error()};
    if (const auto ready = prepare(world, role); !ready) return Unexpected<Error>{ready.error()};
    addresses += (addresses.empty() ? "" : ",") + to_text(island_address(island));
    spaces += (spaces.empty() ? "" : ",") + path;
  }
  const std::string log = settings.folder + "/rival.log";
  if (const auto begun = write_atomically(log, ""); !begun) return Unexpected<Error>{begun.error()};
  const auto child = world.spawn(
      {NamespaceRole::Kind::kControl, 0},
      {{"/bin/sh", "-c", "exec " + words_of(command)},
       log,
       {"COTILLION_ADDRESSES=" + addresses, "COTILLION_SPACES=" + spaces,
        "COTILLION_FOLDER=" + settings.folder, fmt::format("COTILLION_BYTES={}", map.payload.count),
        fmt::format("COTILLION_TIMES={}", settings.times), "TMPDIR=" + settings.folder}});
  if (!child) return Unexpected<Error>{child.error()};
  RivalOutcome outcome{name_of(command), {}, ""};
  const Instant due = steady_now() + settings.timeout;
  std::optional<int> code;
  while (!(code = world.children().code_of(*child))) {
    if (settings.asked_to_end()) outcome.problem = "was interrupted";
    if (steady_now() > due) outcome.problem = "did not end in time";
    if (!outcome.problem.empty()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  world.children().end(Duration{2'000'000'000'000});
  Said said = read_log(log);
  if (code && *code != 0)
    outcome.problem = fmt::format("ended with {}", *code);
  else if (code && int(said.times.size()) != settings.times)
    outcome.problem = "did not average as often as it should";
  if (!outcome.problem.empty() && !said.last.empty()) outcome.problem += ": " + said.last;
  if (!said.times.empty()) outcome.times.assign(said.times.begin() + 1, said.times.end());
  return outcome;
}

std::optional<Averaging> averaging_of(const Plan& plan, const Outcome& outcome) {
  if (!plan.mixing.settles_after || outcome.rounds.empty()) return std::nullopt;
  std::vector<Duration> rounds;
  for (const RoundOutcome& round : outcome.rounds) rounds.push_back(round.measured);
  const int count = *plan.mixing.settles_after;
  const Duration before{outcome.played.ps / std::int64_t(outcome.rounds.size()) * (count - 1)};
  return Averaging{count, before + spread_of(rounds).median};
}

std::string rivals_text(const PlanFile& plan, const std::optional<Averaging>& ours,
                        const std::vector<RivalOutcome>& rivals) {
  Rows rows{{"until all have the average", "times", "median ms", "from–to", "of ours"}};
  rows.push_back(
      {ours ? fmt::format("this plan, {} round{}", ours->rounds, ours->rounds == 1 ? "" : "s")
            : "this plan: never exactly",
       "–", ours ? fmt::format("{:.1f}", ours->time.ms()) : "–", "", "1.00"});
  std::string failed;
  for (const RivalOutcome& rival : rivals) {
    const Spread spread = spread_of(rival.times);
    if (spread.count > 0)
      rows.push_back({rival.name, std::to_string(spread.count),
                      fmt::format("{:.1f}", spread.median.ms()),
                      fmt::format("{:.1f}–{:.1f}", spread.least.ms(), spread.most.ms()),
                      ours ? fmt::format("{:.2f}", spread.median.ms() / ours->time.ms()) : "–"});
    if (!rival.problem.empty()) failed += fmt::format("! {} {}\n", rival.name, rival.problem);
  }
  return fmt::format("{} over the same links, by TCP along shortest paths:\n",
                     to_text(plan.map.payload)) +
         table_of(rows).text() + failed;
}

Json rivals_json(const std::optional<Averaging>& ours, const std::vector<RivalOutcome>& rivals) {
  Json json;
  json["ours_rounds"] = ours ? Json(ours->rounds) : Json();
  json["ours_ms"] = ours ? Json(ours->time.ms()) : Json();
  json["others"] = Json::array();
  for (const RivalOutcome& rival : rivals) {
    Json entry{{"name", rival.name}, {"times_ms", Json::array()}};
    for (const Duration time : rival.times) entry["times_ms"].push_back(time.ms());
    const Spread spread = spread_of(rival.times);
    entry["median_ms"] = spread.count > 0 ? Json(spread.median.ms()) : Json();
    entry["of_ours"] =
        ours && spread.count > 0 ? Json(spread.median.ms() / ours->time.ms()) : Json();
    entry["problem"] = rival.problem;
    json["others"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace cotillion
