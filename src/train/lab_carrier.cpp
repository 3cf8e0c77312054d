#include "train/lab_carrier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <thread>

#include "base/file.hpp"
#include "lab/lab_processes.hpp"
#include "lab/memory_in_use.hpp"
#include "lab/scale.hpp"
#include "lab/steady.hpp"
#include "policy/merge_settings.hpp"
#include "train/lab_island.hpp"
#include "train/packet_carrier.hpp"

namespace cotillion {
namespace {

constexpr Duration kComes{60'000'000'000'000};   // a process, from its start to the socket
constexpr Duration kSetUp{180'000'000'000'000};  // its learner is made and it has joined
// Longer than any deadline of its own for corrections.
constexpr Duration kExchanges{300'000'000'000'000};
constexpr Duration kEnds{1'000'000'000'000};

class Lab final : public PacketCarrier {
 public:
  Lab(const PacketisedPlan& played, std::int64_t steps, const LabTrainingSettings& settings,
      RemoteLearner& learner, std::function<void(const LabTrainingAccount&)> told)
      : PacketCarrier(played, rounds_within(played.recipe, steps) + 1),
        settings_(settings),
        learner_(learner),
        told_(std::move(told)) {
    play_.program = settings.program;
    play_.folder = settings.folder;
    play_.rounds = rounds_;
    play_.grace = to_text(played_.job_settings.grace);
    play_.exchange = played_.job_settings.exchange == Exchange::kWhole ? "whole" : "streamed";
    play_.fragments = rotation().fragments;
    // Where training code does the merging, agents bring average − S.
    play_.progress_kept = looks_at_the_model(rotation()) ? 1 : rotation().progress;
    play_.missing = rotation().own_for_missing ? "own" : "mean";
    play_.element = name_of(played_.job_settings.element);
    play_.exponent = kGridExponent;
    play_.rehearse = false;
  }
  ~Lab() override { shut_down(); }

  [[nodiscard]] Result<void> build() {
    auto text = plan_text(played_.plan);
    if (!text) return Unexpected<Error>{text.error()};
    const std::string file = settings_.folder + "/plan.json";
    if (auto written = write_atomically(file, *text); !written)
      return Unexpected<Error>{written.error()};
    WorldSettings world;
    world.queue.ps *= played_.pace;
    world.faults = slowed(settings_.faults, played_.pace);
    world.seed = settings_.seed;
    auto built = World::make(played_.plan, world);
    if (!built)
      return failure(built.error().message +
                     "; `cotillion lab doctor` says what this machine lacks");
    world_ = std::move(*built);
    processes_.emplace(*world_, play_);
    if (auto begun = processes_->start_everyone(file); !begun) return begun;
    return start_islands(file);
  }

 private:
  void exchange(Learner&, std::int64_t steps) override {
    try {
      (void)learner_.ask_all(Ask::kBetween, bytes_of_value(steps), kExchanges);
    } catch (const std::exception& problem) {
      failed_ = true;
      std::string text = problem.what();
      for (const std::string& failure : processes_->failures()) text += "; " + failure;
      throw std::runtime_error(text);
    }
    if (steps == 0) await_round_one();
  }
  // Everybody has something to send now. The time of faults counts from the first round.
  void await_round_one() {
    const Instant until = steady_now() + kLabPrepares;
    while (!processes_->playing() && !processes_->code() && steady_now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    world_->emulator().open_counters(kLabStartIn);
  }
  // One after the other comes to the socket; which one it is follows from the order of starting.
  [[nodiscard]] Result<void> start_islands(const std::string& plan) {
    const std::string path = settings_.folder + "/training.sock";
    const auto listener = listen_at(path);
    if (!listener) return Unexpected<Error>{listener.error()};
    std::vector<IslandLink> links;
    for (IslandId i = 0; i < islands_; ++i) {
      const std::string& name = played_.plan.map.islands[i].name;
      const std::string who = "the training process of " + name;
      const auto started =
          processes_->start(who, {NamespaceRole::Kind::kIsland, i}, {"train", "--as-island", path});
      if (!started) return Unexpected<Error>{started.error()};
      auto link = accept_at(*listener, kComes);
      if (!link) return Unexpected<Error>{link.error().within(who)};
      LabIslandSetup setup;
      setup.learner = settings_.learner;
      setup.recipe = played_.recipe;
      setup.plan = plan;
      setup.streamed = played_.job_settings.exchange == Exchange::kStreamed;
      setup.grace = played_.job_settings.grace;
      setup.region = exchange_socket(settings_.folder, i);
      setup.island = i;
      setup.rounds = play_.rounds;
      if (auto asked = link->ask(Ask::kSetUp, cotillion::to_text(setup)); !asked)
        return Unexpected<Error>{asked.error().within(who)};
      links.push_back(std::move(*link));
    }
    for (std::size_t i = 0; i < links.size(); ++i)
      if (const auto ready = links[i].answered(kSetUp); !ready)
        return Unexpected<Error>{
            ready.error().within("the training process of " + played_.recipe.islands[i])};
    learner_.attach(std::move(links), played_.recipe.islands);
    agent_before_ = largest_agent();
    return {};
  }

  [[nodiscard]] std::uint64_t largest_agent() const {
    std::uint64_t most = 0;
    for (const pid_t agent : processes_->agents())
      most = std::max(most, memory_in_use(process_name(agent)));
    return most;
  }

  // Training code that leaves a job in play takes its island out of it: the job ends first.
  void shut_down() {
    if (!world_) return;
    LabTrainingAccount account;
    try {
      if (!failed_)
        for (const std::string& answer : learner_.ask_all(Ask::kAccount, "", kComes))
          account.islands.push_back(value_of<LabAccount>(answer));
    } catch (const std::exception& problem) {
      account.problems.emplace_back(problem.what());
    }
    if (processes_) {
      account.agent = largest_agent();
      account.agent_before = agent_before_;
      processes_->ask_to_end();
      const Instant until = steady_now() + kLabTakesLeave;
      while (!processes_->code() && steady_now() < until)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      for (const std::string& problem : processes_->failures()) account.problems.push_back(problem);
    }
    learner_.leave();
    (void)world_->children().wait(kEnds);
    world_->children().end(kEnds);
    for (const std::string& stray : world_->strays()) account.problems.push_back(stray);
    world_.reset();
    if (told_) told_(account);
  }

  const LabTrainingSettings settings_;
  RemoteLearner& learner_;
  const std::function<void(const LabTrainingAccount&)> told_;
  PlaySettings play_;
  std::unique_ptr<World> world_;
  std::optional<LabProcesses> processes_;
  std::uint64_t agent_before_ = 0;  // bytes
  bool failed_ = false;
};

}  // namespace

Result<std::unique_ptr<Carrier>> lab_carrier(const PacketisedPlan& played, std::int64_t steps,
                                             const LabTrainingSettings& settings,
                                             RemoteLearner& learner,
                                             std::function<void(const LabTrainingAccount&)> told) {
  if (const std::string why = why_not_under(settings.faults, played.recipe); !why.empty())
    return failure(why);
  auto lab = std::make_unique<Lab>(played, steps, settings, learner, std::move(told));
  if (const auto built = lab->build(); !built) return Unexpected<Error>{built.error()};
  return std::unique_ptr<Carrier>(std::move(lab));
}

}  // namespace cotillion
