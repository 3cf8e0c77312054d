#include "lab/play.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <thread>

#include "base/file.hpp"
#include "lab/lab_processes.hpp"
#include "lab/steady.hpp"

namespace cotillion {
namespace {

constexpr const char* kFolder = "/mnt";

Duration length_of(const Plan& plan, int rounds) {
  double all = 0;
  for (const PlannedRound& round : plan.rounds) all += round.length.ps;
  return {std::llround(all / double(plan.rounds.size()) * rounds)};
}

// Until the coordinator has ended; its code.
Result<int> watch(World& world, LabProcesses& processes, const PlaySettings& settings) {
  const Instant began = steady_now();
  Instant due = began + kLabPrepares, first_round = kNever;
  bool playing = false, asked = false;
  for (;;) {
    if (const auto code = processes.code()) return *code;
    if (!playing && processes.playing()) {
      playing = true;
      world.emulator().open_counters(kLabStartIn);
      first_round = steady_now() + kLabStartIn;
      due = first_round + length_of(world.plan().plan, 2 * settings.rounds) + kLabTakesLeave;
    }
    if (playing) processes.kill_the_doomed(first_round);
    if (!asked && settings.asked_to_end()) {
      asked = true;
      processes.ask_to_end();
      due = std::min(due, steady_now() + kLabTakesLeave);
    }
    if (steady_now() > due)
      return failure(fmt::format("the coordinator has not ended after {}; it last said: {}",
                                 wait_text(steady_now() - began), processes.last_words()));
    settings.progress(playing ? fmt::format("playing: {}", processes.last_words())
                              : std::string("waiting for everyone to be ready"));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

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
  if (const auto written = write_atomically(plan, plan_text); !written)
    return Unexpected<Error>{written.error()};
  LabProcesses processes(world, settings);
  if (const auto begun = processes.start_everyone(plan); !begun)
    return Unexpected<Error>{begun.error()};
  const auto code = watch(world, processes, settings);
  Played played;
  played.counters = world.emulator().counters();
  // Members end by themselves when the coordinator has told them to. Before everyone was ready some
  // may not have met it yet, and would seek it for long.
  if (code && processes.playing()) (void)world.children().wait(kLabTakesLeave);
  world.children().end(Duration{1'000'000'000'000});
  if (!code) return Unexpected<Error>{code.error()};
  played.code = *code;
  played.problems = processes.problems();
  played.outcome = read_if_there(settings.folder + "/outcome.json");
  for (const std::string& stray : world.strays()) played.problems.push_back(stray);
  return played;
}

}  // namespace cotillion
