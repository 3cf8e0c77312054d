#include "lab/play.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "base/text.hpp"
#include "lab/steady.hpp"

namespace cotillion {
namespace {

constexpr const char* kFolder = "/mnt";
constexpr Duration kStartIn{1'000'000'000'000};
constexpr Duration kPrepares{120'000'000'000'000};  // everyone joins and gets ready
constexpr Duration kTakesLeave{20'000'000'000'000};
constexpr const char* kReadyWords = "everyone is ready; round one begins in";

std::string read_whole(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

Duration length_of(const Plan& plan, int rounds) {
  double all = 0;
  for (const PlannedRound& round : plan.rounds) all += round.length.ps;
  return {std::llround(all / double(plan.rounds.size()) * rounds)};
}

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

// One program and what it says.
struct Part {
  std::string name, log;
  pid_t process = 0;
  bool killed = false;  // by us, because faults say so
};

class Troupe {
 public:
  Troupe(World& world, const PlaySettings& settings) : world_(world), settings_(settings) {}

  [[nodiscard]] Result<bool> start(const std::string& name, Stand stand,
                                   std::vector<std::string> words) {
    Part part{name, fmt::format("{}/{}.log", settings_.folder, parts.size())};
    words.insert(words.begin(), settings_.program);
    words.insert(words.end(), {"--log", "logfmt"});
    const auto started = world_.spawn(stand, {std::move(words), part.log, {"COTILLION_QUIET=1"}});
    if (!started) return Unexpected<Error>{started.error().within(name)};
    part.process = *started;
    parts.push_back(std::move(part));
    return true;
  }

  [[nodiscard]] Result<bool> start_everyone(const std::string& plan) {
    const Map& map = world_.plan().map;
    const std::string office = to_text(kOfficeAddress) + ":29800";
    std::vector<std::string> words{"coordinator", plan,
                                   "--listen",    office,
                                   "--rounds",    std::to_string(settings_.rounds),
                                   "--patience",  settings_.patience,
                                   "--exchange",  settings_.exchange,
                                   "--fragments", std::to_string(settings_.fragments),
                                   "--element",   settings_.element,
                                   "--start-in",  to_text(kStartIn),
                                   "-o",          settings_.folder + "/outcome.json"};
    if (auto begun = start("coordinator", {Stand::Kind::kOffice, 0}, words); !begun) return begun;
    for (IslandId island = 0; island < map.island_count(); ++island) {
      const std::string& name = map.islands[std::size_t(island)].name;
      auto begun = start("edge of " + name, listener_of(world_.plan(), island),
                         {"edge", "--island", name, "--coordinator", office, "--listen",
                          to_text(edge_address(island))});
      if (!begun) return begun;
      auto also = start("island " + name, {Stand::Kind::kIsland, island},
                        {"island", "--island", name, "--coordinator", office, "--listen",
                         to_text(island_address(island)), "--rehearse"});
      if (!also) return also;
      for (const Death& death : settings_.deaths)
        if (death.island == island) doomed_.push_back({parts.size() - 1, death.at});
    }
    return true;
  }

  // Until the coordinator has ended; its code.
  [[nodiscard]] Result<int> watch() {
    const Instant began = steady_now();
    Instant due = began + kPrepares, first_round = kNever;
    bool asked = false;
    for (;;) {
      if (const auto code = world_.children().code_of(parts.front().process)) return *code;
      if (!playing_ && read_whole(parts.front().log).find(kReadyWords) != std::string::npos) {
        playing_ = true;
        world_.emulator().open_books(kStartIn);
        first_round = steady_now() + kStartIn;
        due = first_round + length_of(world_.plan().plan, 2 * settings_.rounds) + kTakesLeave;
      }
      if (playing_) kill_the_doomed(first_round);
      if (!asked && settings_.asked_to_end()) {
        asked = true;
        world_.children().signal(parts.front().process, SIGTERM);
        due = std::min(due, steady_now() + kTakesLeave);
      }
      if (steady_now() > due)
        return failure(fmt::format("the coordinator has not ended after {}; it last said: {}",
                                   wait_text(steady_now() - began),
                                   reason_in(last_line(parts.front()))));
      settings_.progress(playing_ ? fmt::format("playing: {}", reason_in(last_line(parts.front())))
                                  : std::string("waiting for everyone to be ready"));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  // Whether everyone was ready once.
  [[nodiscard]] bool playing() const { return playing_; }

  // Members that end because the coordinator ends the job say so, too; once is enough.
  [[nodiscard]] std::vector<std::string> problems() {
    std::vector<std::string> list;
    std::set<std::string> reasons;
    for (const Part& part : parts) {
      const auto code = world_.children().code_of(part.process);
      if (part.killed) continue;
      if (!code)
        list.push_back(part.name + " did not end");
      else if (const std::string why = reason_in(last_line(part));
               *code != 0 && reasons.insert(why).second)
        list.push_back(fmt::format("{} ended with {}: {}", part.name, *code, why));
    }
    return list;
  }

  std::vector<Part> parts;  // the coordinator first

 private:
  struct Doomed {
    std::size_t part = 0;
    Duration at;
  };

  void kill_the_doomed(Instant first_round) {
    for (const Doomed& doomed : doomed_) {
      Part& part = parts[doomed.part];
      if (part.killed || steady_now() < first_round + doomed.at) continue;
      world_.children().signal(part.process, SIGKILL);
      part.killed = true;
    }
  }

  [[nodiscard]] static std::string last_line(const Part& part) {
    std::string text = read_whole(part.log);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return shown(text.substr(text.rfind('\n') + 1), 900);
  }

  World& world_;
  const PlaySettings& settings_;
  std::vector<Doomed> doomed_;
  bool playing_ = false;
};

}  // namespace

Result<std::string> private_folder() {
  const auto refused = [](const char* call) {
    return failure(fmt::format("{}: {}; the lab needs a mount namespace of its own for its files",
                               call, std::strerror(errno)));
  };
  if (::unshare(CLONE_NEWNS) != 0) return refused("unshare");
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return refused("mount /");
  if (::mount("lab", kFolder, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0700") != 0)
    return refused("mount a tmpfs on /mnt");
  return std::string(kFolder);
}

Result<Played> play(World& world, const std::string& plan_text, const PlaySettings& settings) {
  const std::string plan = settings.folder + "/plan.json";
  if (!(std::ofstream(plan) << plan_text))
    return failure(fmt::format("{}: {}", plan, std::strerror(errno)));
  Troupe troupe(world, settings);
  if (const auto begun = troupe.start_everyone(plan); !begun)
    return Unexpected<Error>{begun.error()};
  const auto code = troupe.watch();
  Played played;
  played.books = world.emulator().books();
  // Members end by themselves when the coordinator has told them to. Before everyone was ready some
  // may not have met it yet, and would seek it for long.
  if (code && troupe.playing()) (void)world.children().wait(kTakesLeave);
  world.children().end(Duration{1'000'000'000'000});
  if (!code) return Unexpected<Error>{code.error()};
  played.code = *code;
  played.problems = troupe.problems();
  played.outcome = read_whole(settings.folder + "/outcome.json");
  for (const std::string& stray : world.strays()) played.problems.push_back(stray);
  return played;
}

}  // namespace cotillion
