#include "train/stepwise_carrier.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

#include "base/check.hpp"
#include "policy/rotation_clock.hpp"
#include "train/exchange_merge.hpp"
#include "train/fragment_places.hpp"

namespace cotillion {
namespace {

constexpr auto kGrace = std::chrono::minutes(10);  // with a computation that never stands still
constexpr std::int64_t kEnded = std::numeric_limits<std::int64_t>::max();

// A round of one fragment, on its way from training to training.
struct Passage {
  std::vector<float> offered;  // as it was to be copied
  bool ahead = false;          // the correction of the round before was not in it yet
  std::optional<std::vector<float>> correction;  // average − S
};

// What came after it had been given up, and after how many steps of the islands.
struct Late {
  std::int64_t step = 0;
  std::vector<float> difference;
};

// What an island's agent and its training code have between them, of one fragment.
struct Place {
  std::map<std::int64_t, Passage> passages;  // by round, from 0
  std::vector<Late> late;
};

// What an island's training has to do about a fragment after a step, in order: rounds as they come,
// and in each the copy before the merge.
struct DueExchanges {
  int island = 0, fragment = 0;
  std::vector<RotationClock::DueExchange> due;
  std::size_t next = 0;
  bool merges = false;
};

// The simulator runs on a thread of its own. It waits before it copies what training has not
// reached yet, and training waits for what it merges next, and at the end of a step for everything
// that comes by then. In the simulated islands there is no model but what is being copied.
class Stepwise final : public Carrier, private SimulationObserver {
 public:
  Stepwise(const PacketisedPlan& played, SimulationSettings settings, const JobSpec& job)
      : plan_(played.plan),
        recipe_(played.recipe),
        clock_(recipe_),
        job_(job),
        islands_(island_count(recipe_)),
        settings_(std::move(settings)),
        schedule_(make_step_schedule(recipe_)),
        steps_(std::size_t(islands_), 0),
        places_(job, rotation_of(recipe_).grain, islands_) {
    settings_.actors.merge.progress = 1;
    for (int i = 0; i < islands_; ++i) merges_.emplace_back(rotation_of(recipe_), job_);
    settings_.actors.step_time = {
        std::llround(recipe_.step_time * played.pace * kPicosecondsPerSecond)};
    settings_.observers = {this};
    settings_.progress = [this](Duration, Duration) { return over_.load(); };
  }
  ~Stepwise() override {
    {
      const std::lock_guard lock(lock_);
      over_ = true;
      changed_.notify_all();
    }
    if (player_.joinable()) player_.join();
  }
  Stepwise(const Stepwise&) = delete;
  Stepwise& operator=(const Stepwise&) = delete;

  [[nodiscard]] double time_after(std::int64_t steps) const override {
    return clock_.time_after(steps);
  }
  void on_gradients(Learner&, std::int64_t) override {}
  [[nodiscard]] AroundStep around(std::int64_t) const override { return {}; }

  void between(Learner& learner, std::int64_t steps,
               const std::function<void()>& before_merge) override {
    if (steps == 0) player_ = std::thread([this] { play(); });
    std::vector<DueExchanges> due_exchanges;
    std::vector<std::vector<float>> models;
    for (int i = 0; i < islands_; ++i) {
      models.push_back(learner.row(Buffer::kModel, i));
      add_due(due_exchanges, i, steps);
    }
    const auto merges = [&](int island) {
      return std::any_of(due_exchanges.begin(), due_exchanges.end(), [&](const DueExchanges& some) {
        return some.merges && (island < 0 || some.island == island);
      });
    };
    if (merges(-1)) before_merge();
    run(due_exchanges, models);
    for (int i = 0; i < islands_; ++i) {
      std::vector<float>& model = models[std::size_t(i)];
      const bool late = merge_late(steps, i, model);
      if (late || merges(i)) learner.set_row(Buffer::kModel, i, model);
    }
  }
  [[nodiscard]] bool resumes() const override { return false; }
  [[nodiscard]] ClockSummary account() const override { return schedule_->account(); }

 private:
  // Of a fragment that these elements are in: its number, and where in it they begin.
  [[nodiscard]] std::pair<int, std::ptrdiff_t> within(std::uint64_t first) const {
    const int fragment = fragment_of(job_, ChunkId(first / elements_per_chunk(job_)));
    return {fragment, std::ptrdiff_t(first) - std::ptrdiff_t(places_.span(fragment).first)};
  }

  // Training's side.
  void add_due(std::vector<DueExchanges>& due_exchanges, int island, std::int64_t steps) const {
    for (const RotationClock::DueExchange& due : clock_.due_exchanges(island, steps)) {
      if (due.round >= settings_.rounds) continue;
      if (due_exchanges.empty() || due_exchanges.back().island != island ||
          due_exchanges.back().fragment != due.fragment)
        due_exchanges.push_back({island, due.fragment, {}, 0, false});
      due_exchanges.back().merges = due_exchanges.back().merges || due.merges;
      due_exchanges.back().due.push_back(due);
    }
  }
  // Over there islands take their turns in an order of their own, each merging and copying again
  // before the next has merged: here, too, nobody waits for another.
  void run(std::vector<DueExchanges>& due_exchanges, std::vector<std::vector<float>>& models) {
    std::unique_lock lock(lock_);
    const auto can_go_on = [&](const DueExchanges& some) {
      return some.next < some.due.size() &&
             (!some.due[some.next].merges || has_come(some, some.due[some.next].round));
    };
    const auto is_over = [](const DueExchanges& some) { return some.next == some.due.size(); };
    while (!std::all_of(due_exchanges.begin(), due_exchanges.end(), is_over)) {
      wait(lock,
           [&] { return std::any_of(due_exchanges.begin(), due_exchanges.end(), can_go_on); });
      for (DueExchanges& some : due_exchanges)
        for (; can_go_on(some); ++some.next) {
          const auto [fragment, round, merges] = some.due[some.next];
          const std::span<float> x = places_.part(models[std::size_t(some.island)], fragment);
          if (merges)
            merge(round, some.island, fragment, x);
          else
            copy(round, some.island, fragment, x);
        }
      changed_.notify_all();
    }
  }
  [[nodiscard]] bool has_come(const DueExchanges& some, std::int64_t k) {
    const auto& passages = places_.at(some.island, some.fragment).passages;
    const auto passage = passages.find(k);
    return passage != passages.end() && passage->second.correction.has_value();
  }
  void copy(std::int64_t k, int island, int f, std::span<const float> x) {
    Passage passage;
    passage.offered.assign(x.begin(), x.end());
    passage.ahead = clock_.leaves_ahead(k, island, f);
    merges_[std::size_t(island)].to_laid(std::uint64_t(places_.span(f).first), passage.offered,
                                         passage.ahead);
    places_.at(island, f).passages[k] = std::move(passage);
  }
  void merge(std::int64_t k, int island, int f, std::span<float> x) {
    auto& passages = places_.at(island, f).passages;
    merges_[std::size_t(island)].apply(
        std::uint64_t(places_.span(f).first), x, *passages.at(k).correction,
        {.everyone = clock_.round(k).everyone, .waited = clock_.leaves_ahead(k + 1, island, f)});
    // The next copy may have left with it; the one after that knows it from the model.
    passages.erase(passages.begin(), passages.lower_bound(k));
  }
  // What has come late by the end of this step; nobody knows how late without waiting for it.
  bool merge_late(std::int64_t steps, int island, std::vector<float>& model) {
    std::unique_lock lock(lock_);
    wait(lock, [&] { return steps_[std::size_t(island)] >= steps; });
    bool any = false;
    for (int f = 0; f < job_.fragments; ++f)
      std::erase_if(places_.at(island, f).late, [&](const Late& late) {
        if (late.step >= steps) return false;
        merges_[std::size_t(island)].apply_late(std::uint64_t(places_.span(f).first),
                                                places_.part(model, f), late.difference);
        return any = true;
      });
    return any;
  }
  template <class Condition>
  void wait(std::unique_lock<std::mutex>& lock, Condition condition) {
    if (!changed_.wait_for(lock, kGrace, [&] { return !failure_.empty() || condition(); }))
      throw std::runtime_error("the simulation stands still");
    if (!condition()) throw std::runtime_error(failure_);
  }

  // The simulator's side.
  void play() {
    const auto outcome = simulate(plan_, settings_);
    const std::lock_guard lock(lock_);
    failure_ = outcome ? "the simulation ended before the training" : outcome.error().message;
    if (outcome) std::fill(steps_.begin(), steps_.end(), kEnded);
    changed_.notify_all();
  }
  void on_step(SimulatedIsland& actor, std::uint64_t step) override {
    const std::lock_guard lock(lock_);
    steps_[std::size_t(actor.id())] = std::int64_t(step);
    changed_.notify_all();
  }
  void on_copied(SimulatedIsland& actor, RoundId, std::uint64_t first,
                 std::span<const float> values) override {
    std::fill_n(actor.model().begin() + std::ptrdiff_t(first), values.size(), 0.0F);
  }
  void on_merged(SimulatedIsland& actor, RoundId round, int fragment) override {
    std::vector<float> came = taken_from(actor, fragment);
    const std::lock_guard lock(lock_);
    places_.at(actor.id(), fragment).passages[std::int64_t(round) - 1].correction = std::move(came);
    changed_.notify_all();
  }
  void on_late_merged(SimulatedIsland& actor, RoundId, int fragment) override {
    std::vector<float> came = taken_from(actor, fragment);
    const std::lock_guard lock(lock_);
    places_.at(actor.id(), fragment)
        .late.push_back({steps_[std::size_t(actor.id())], std::move(came)});
  }
  void on_copy_due(SimulatedIsland& actor, RoundId round, std::uint64_t first,
                   std::size_t count) override {
    const std::int64_t k = std::int64_t(round) - 1;
    const auto [fragment, skipped] = within(first);
    auto& passages = places_.at(actor.id(), fragment).passages;
    std::unique_lock lock(lock_);
    changed_.wait(lock, [&] {
      return over_.load() || (passages.contains(k) && !passages.at(k).offered.empty());
    });
    if (over_) return;
    const Passage& passage = passages.at(k);
    const auto to = actor.model().begin() + std::ptrdiff_t(first);
    std::copy_n(passage.offered.begin() + skipped, count, to);
    if (!passage.ahead || !passages.contains(k - 1) || !passages.at(k - 1).correction) return;
    const std::vector<float>& correction = *passages.at(k - 1).correction;
    for (std::size_t e = 0; e < count; ++e)
      to[std::ptrdiff_t(e)] += correction[std::size_t(skipped) + e];
  }
  // What a merge has made of a model of zeros.
  [[nodiscard]] std::vector<float> taken_from(SimulatedIsland& actor, int fragment) const {
    const std::span<float> here = places_.part(actor.model(), fragment);
    std::vector<float> values(here.begin(), here.end());
    std::fill(here.begin(), here.end(), 0.0F);
    return values;
  }

  const PlanFile plan_;
  const Recipe recipe_;
  const RotationClock clock_;
  const JobSpec job_;
  const int islands_;
  SimulationSettings settings_;
  const std::unique_ptr<StepSchedule> schedule_;
  std::vector<ExchangeMerge> merges_;  // by island
  std::atomic<bool> over_ = false;
  std::mutex lock_;  // of what follows
  std::condition_variable changed_;
  std::vector<std::int64_t> steps_;  // that islands have taken over there
  FragmentPlaces<Place> places_;     // by island, then fragment
  std::string failure_;
  std::thread player_;
};

}  // namespace

std::unique_ptr<Carrier> stepwise_carrier(const PacketisedPlan& played,
                                          SimulationSettings settings) {
  const auto assignment = JobAssignment::make(played.plan, played.job_settings);
  COTILLION_CHECK(assignment.has_value());  // it was when the plan was to be played
  return std::make_unique<Stepwise>(played, std::move(settings), assignment->job());
}

}  // namespace cotillion
