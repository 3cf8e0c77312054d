#include "train/stepwise_carrier.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <semaphore>
#include <stdexcept>
#include <thread>

#include "base/check.hpp"

namespace cotillion {
namespace {

// The simulator runs on a thread of its own and waits at the end of every step: one of the two
// moves at any time.
class Stepwise final : public Carrier {
 public:
  Stepwise(PlanFile plan, const Recipe& recipe, SimulationSettings settings)
      : plan_(std::move(plan)),
        recipe_(recipe),
        islands_(plan_.map.island_count()),
        settings_(std::move(settings)),
        dance_(make_dance(recipe)) {
    actors_.assign(std::size_t(islands_), nullptr);
    settings_.step = [this](Actor& actor, IslandId island, std::uint64_t) {
      arrived(actor, island);
    };
    settings_.before_merge = [this](Actor&, IslandId, RoundId, int) { merged_ = true; };
    settings_.progress = [this](Duration, Duration) { return over_.load(); };
    settings_.fill = [this](IslandId island, std::vector<float>& model) {
      COTILLION_CHECK(model.size() == before_[std::size_t(island)].size());
      model = before_[std::size_t(island)];
    };
  }
  ~Stepwise() override {
    if (!player_.joinable()) return;
    over_ = true;
    go_on_.release();
    player_.join();
  }
  Stepwise(const Stepwise&) = delete;
  Stepwise& operator=(const Stepwise&) = delete;

  [[nodiscard]] double time_after(std::int64_t steps) const override {
    return double(steps) * recipe_.step_time;
  }
  void on_gradients(Learner&, std::int64_t) override {}
  [[nodiscard]] AroundStep around(std::int64_t) const override { return {}; }

  // A step's gradient was taken on the parameters that were there when it began. Its update is
  // added when it ends, to what the network has made of them meanwhile.
  void between(Learner& learner, std::int64_t steps,
               const std::function<void()>& before_merge) override {
    if (steps == 0) {
      remember(learner);
      player_ = std::thread([this] { play(); });
      return;
    }
    if (steps > 1) go_on_.release();
    at_step_end_.acquire();
    if (!failure_.empty()) throw std::runtime_error(failure_);
    if (merged_) before_merge();
    merged_ = false;
    for (int i = 0; i < islands_; ++i) {
      const std::vector<float> after = learner.row(Buffer::kModel, i);
      std::vector<float>& model = actors_[std::size_t(i)]->model();
      const std::vector<float>& before = before_[std::size_t(i)];
      for (std::size_t e = 0; e < model.size(); ++e) model[e] += after[e] - before[e];
      learner.set_row(Buffer::kModel, i, model);
    }
    remember(learner);
  }
  [[nodiscard]] bool resumes() const override { return false; }
  [[nodiscard]] ClockSummary account() const override { return dance_->account(); }

 private:
  void remember(Learner& learner) {
    before_.clear();
    for (int i = 0; i < islands_; ++i) before_.push_back(learner.row(Buffer::kModel, i));
  }

  void play() {
    const auto outcome = simulate(plan_, settings_);
    if (over_) return;
    failure_ = outcome ? "the simulation ended before the training" : outcome.error().message;
    at_step_end_.release();
  }
  void arrived(Actor& actor, IslandId island) {
    if (over_) return;
    actors_[std::size_t(island)] = &actor;
    if (++arrived_ < islands_) return;
    arrived_ = 0;
    at_step_end_.release();
    go_on_.acquire();
  }

  const PlanFile plan_;
  const Recipe recipe_;
  const int islands_;
  SimulationSettings settings_;
  const std::unique_ptr<Dance> dance_;
  std::vector<std::vector<float>> before_;  // what the step being taken started from
  std::vector<Actor*> actors_;
  int arrived_ = 0;
  bool merged_ = false;
  std::string failure_;
  std::atomic<bool> over_ = false;
  std::binary_semaphore at_step_end_{0}, go_on_{0};
  std::thread player_;
};

}  // namespace

std::unique_ptr<Carrier> stepwise_carrier(const PlayedPlan& played, SimulationSettings settings) {
  const Recipe& recipe = played.recipe;
  settings.actors.step_time = {
      std::llround(recipe.step_time * played.pace * kPicosecondsPerSecond)};
  settings.actors.merge.own_weight = recipe.own_weight;
  settings.actors.merge.momentum = recipe.momentum;
  settings.actors.merge.momentum_only_with_everyone = true;
  if (recipe.momentum > 0)
    settings.actors.merge.momentum_at =
        recipe.momentum_at_sender ? MomentumAt::kSender : MomentumAt::kReceiver;
  return std::make_unique<Stepwise>(played.plan, recipe, std::move(settings));
}

}  // namespace cotillion
