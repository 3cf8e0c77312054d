#include "lab/lab_processes.hpp"

#include <fmt/format.h>

#include <csignal>
#include <set>

#include "base/check.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "lab/priority.hpp"
#include "lab/steady.hpp"

namespace cotillion {
namespace {

constexpr const char* kReadyWords = "everyone is ready; round one begins in";

// Of a line of a log, the reason that it gives, or else what happened, or all of it.
std::string reason_in(const std::string& line) {
  for (const std::string key : {" reason=", " event="}) {
    const auto found = line.find(key);
    if (found == std::string::npos) continue;
    const std::string value = line.substr(found + key.size());
    if (!value.starts_with('"')) return value.substr(0, value.find(' '));
    return value.substr(1, value.find('"', 1) - 1);
  }
  return line;
}

}  // namespace

std::string exchange_socket(const std::string& folder, IslandId island) {
  return fmt::format("{}/{}.sock", folder, island);
}

Result<pid_t> LabProcesses::start(const std::string& name, NamespaceRole role,
                                  std::vector<std::string> words) {
  LabProcess part{name, fmt::format("{}/{}.log", settings_.folder, parts_.size()), 0};
  words.insert(words.begin(), settings_.program);
  auto started =
      world_.spawn(role, {std::move(words), part.log, {"COTILLION_QUIET=1"}, kDaemonPriority});
  if (!started) return Unexpected<Error>{started.error().within(name)};
  part.process = *started;
  parts_.push_back(std::move(part));
  return started;
}

Result<void> LabProcesses::start_everyone(const std::string& plan) {
  COTILLION_CHECK(parts_.empty() && settings_.rounds >= 1);
  const Map& map = world_.plan().map;
  const std::string control = to_text(kControlAddress) + ":29800";
  const auto begun = [&](const std::string& name, NamespaceRole role,
                         std::vector<std::string> words) -> Result<void> {
    words.insert(words.end(), {"--log", "logfmt"});
    const auto started = start(name, role, std::move(words));
    if (!started) return Unexpected<Error>{started.error()};
    return {};
  };
  auto coordinator = begun("coordinator", {NamespaceRole::Kind::kControl, 0},
                           {"coordinator", plan,
                            "--listen",    control,
                            "--rounds",    std::to_string(settings_.rounds),
                            "--grace",     settings_.grace,
                            "--exchange",  settings_.exchange,
                            "--fragments", std::to_string(settings_.fragments),
                            "--element",   settings_.element,
                            "--exponent",  std::to_string(settings_.exponent),
                            "--progress",  fmt::format("{}", settings_.progress_kept),
                            "--missing",   settings_.missing,
                            "--start-in",  to_text(kLabStartIn),
                            "-o",          settings_.folder + "/outcome.json"});
  if (!coordinator) return coordinator;
  for (IslandId island = 0; island < map.island_count(); ++island) {
    const std::string& name = map.islands[island].name;
    auto edge = begun("edge of " + name, listener_of(world_.plan(), island),
                      {"edge", "--island", name, "--coordinator", control, "--listen",
                       to_text(edge_address(island))});
    if (!edge) return edge;
    std::vector<std::string> words{"island",
                                   "--island",
                                   name,
                                   "--coordinator",
                                   control,
                                   "--listen",
                                   to_text(island_address(island))};
    if (settings_.rehearse)
      words.emplace_back("--rehearse");
    else
      words.insert(words.end(), {"--socket", exchange_socket(settings_.folder, island)});
    auto agent = begun("island " + name, {NamespaceRole::Kind::kIsland, island}, std::move(words));
    if (!agent) return agent;
    for (const Death& death : settings_.deaths)
      if (death.island == island) doomed_.push_back({parts_.size() - 1, death.at});
  }
  return {};
}

bool LabProcesses::playing() const {
  return read_if_there(parts_.front().log).find(kReadyWords) != std::string::npos;
}

std::optional<int> LabProcesses::code() const {
  return world_.children().code_of(parts_.front().process);
}

void LabProcesses::ask_to_end() const {
  world_.children().signal(parts_.front().process, SIGTERM);
}

std::vector<pid_t> LabProcesses::agents() const {
  std::vector<pid_t> agents;
  for (const LabProcess& part : parts_)
    if (part.name.starts_with("island ")) agents.push_back(part.process);
  return agents;
}

void LabProcesses::kill_the_doomed(Instant first_round) {
  for (const Doomed& doomed : doomed_) {
    LabProcess& part = parts_[doomed.part];
    if (part.killed || steady_now() < first_round + doomed.at) continue;
    world_.children().signal(part.process, SIGKILL);
    part.killed = true;
  }
}

// Members that end because the coordinator ends the job say so, too; once is enough.
std::vector<std::string> LabProcesses::failures() const {
  std::vector<std::string> list;
  std::set<std::string> reasons;
  for (const LabProcess& part : parts_) {
    const auto code = world_.children().code_of(part.process);
    if (part.killed || !code || *code == 0) continue;
    const std::string why = reason_in(last_line(part));
    if (reasons.insert(why).second)
      list.push_back(fmt::format("{} ended with {}: {}", part.name, *code, why));
  }
  return list;
}

std::vector<std::string> LabProcesses::problems() const {
  std::vector<std::string> list = failures();
  for (const LabProcess& part : parts_)
    if (!part.killed && !world_.children().code_of(part.process))
      list.push_back(part.name + " did not end");
  return list;
}

std::string LabProcesses::last_words() const {
  return reason_in(last_line(parts_.front()));
}

std::string LabProcesses::last_line(const LabProcess& part) {
  std::string text = read_if_there(part.log);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return shown(text.substr(text.rfind('\n') + 1), 900);
}

}  // namespace cotillion
