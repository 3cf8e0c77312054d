#include "train/stepwise_carrier.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "train/exchange_merge.hpp"
#include "train/simulator_carrier.hpp"

namespace cotillion {
namespace {

constexpr std::int64_t kEnded = std::numeric_limits<std::int64_t>::max();

// A round of one fragment, on its way from training to training.
struct FragmentRound {
  std::vector<float> offered;  // as it was to be copied
  bool ahead = false;          // the correction of its round before was not in it yet
  std::optional<std::vector<float>> correction;  // average − S
};

// What came after it had been given up, and after how many steps of the islands.
struct LateDifference {
  std::int64_t step = 0;
  std::vector<float> values;
};

struct RoundPlace {
  std::map<std::int64_t, FragmentRound> rounds;  // counted from 0
  std::vector<LateDifference> late;
};

// What an island's training has to do about a fragment after a step, in order: rounds as they come,
// and in each the copy before the merge.
struct DueExchanges {
  int island = 0, fragment = 0;
  std::vector<RotationClock::DueExchange> due;
  std::size_t next = 0;
  bool merges = false;

  [[nodiscard]] bool is_over() const { return next == due.size(); }
};

// At the end of a step training waits for everything that has come by then.
class Stepwise final : public SimulatorCarrier<RoundPlace> {
 public:
  Stepwise(const PacketisedPlan& played, SimulationSettings settings, const JobSpec& job)
      : SimulatorCarrier(played, std::move(settings), job), steps_(std::size_t(islands_), 0) {
    settings_.islands.merge.progress = 1;
    settings_.islands.step_time = {
        std::llround(recipe().step_time * played.pace * kPicosecondsPerSecond)};
    for (int i = 0; i < islands_; ++i) merges_.emplace_back(rotation(), job_);
  }
  ~Stepwise() override { end(); }

 private:
  // Training's side.
  void exchange(Learner& learner, std::int64_t steps) override {
    if (steps == 0) begin();
    std::vector<DueExchanges> all;
    std::vector<std::vector<float>> models;
    for (int i = 0; i < islands_; ++i) {
      models.push_back(learner.row(Buffer::kModel, i));
      add_due(all, i, steps);
    }
    run(all, models);
    for (int i = 0; i < islands_; ++i) {
      std::vector<float>& model = models[std::size_t(i)];
      const bool late = merge_late(steps, i, model);
      const bool merges = std::any_of(all.begin(), all.end(), [&](const DueExchanges& some) {
        return some.merges && some.island == i;
      });
      if (late || merges) learner.set_row(Buffer::kModel, i, model);
    }
  }
  void add_due(std::vector<DueExchanges>& all, int island, std::int64_t steps) const {
    for (const RotationClock::DueExchange& due : clock_.due_exchanges(island, steps)) {
      if (due.round >= rounds_) continue;
      if (all.empty() || all.back().island != island || all.back().fragment != due.fragment)
        all.push_back({island, due.fragment, {}, 0, false});
      all.back().merges = all.back().merges || due.merges;
      all.back().due.push_back(due);
    }
  }
  // Over there islands take their turns in an order of their own, each merging and copying again
  // before the next has merged: here, too, nobody waits for another.
  void run(std::vector<DueExchanges>& all, std::vector<std::vector<float>>& models) {
    std::unique_lock lock(lock_);
    const auto can_go_on = [&](const DueExchanges& some) {
      return !some.is_over() &&
             (!some.due[some.next].merges || has_come(some, some.due[some.next].round));
    };
    while (!std::all_of(all.begin(), all.end(),
                        [](const DueExchanges& some) { return some.is_over(); })) {
      wait_for_simulator(lock, [&] { return std::any_of(all.begin(), all.end(), can_go_on); });
      for (DueExchanges& some : all)
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
    const auto& rounds = places_.at(some.island, some.fragment).rounds;
    const auto round = rounds.find(k);
    return round != rounds.end() && round->second.correction.has_value();
  }
  void copy(std::int64_t k, int island, int f, std::span<const float> x) {
    FragmentRound round;
    round.offered.assign(x.begin(), x.end());
    round.ahead = clock_.copies_ahead(k, island, f);
    merges_[std::size_t(island)].to_laid(std::uint64_t(places_.span(f).first), round.offered,
                                         round.ahead);
    const bool first = places_.at(island, f).rounds.emplace(k, std::move(round)).second;
    COTILLION_CHECK(first);
  }
  void merge(std::int64_t k, int island, int f, std::span<float> x) {
    auto& rounds = places_.at(island, f).rounds;
    FragmentRound& round = rounds.at(k);
    COTILLION_CHECK(!round.offered.empty());
    merges_[std::size_t(island)].apply(
        std::uint64_t(places_.span(f).first), x, *round.correction,
        {.everyone = clock_.round(k).everyone,
         .waited = clock_.copies_ahead(clock_.next(k, island), island, f)});
    // The next copy may have left with it; the one after that knows it from the model.
    rounds.erase(rounds.begin(), rounds.lower_bound(k));
  }
  // What has come late by the end of this step; nobody knows how late without waiting for it.
  bool merge_late(std::int64_t steps, int island, std::vector<float>& model) {
    std::unique_lock lock(lock_);
    wait_for_simulator(lock, [&] { return steps_[std::size_t(island)] >= steps; });
    bool any = false;
    for (int f = 0; f < job_.fragments; ++f)
      std::erase_if(places_.at(island, f).late, [&](const LateDifference& late) {
        if (late.step >= steps) return false;
        merges_[std::size_t(island)].apply_late(std::uint64_t(places_.span(f).first),
                                                places_.part(model, f), late.values);
        return any = true;
      });
    return any;
  }

  // The simulator's side.
  void on_end() override { std::fill(steps_.begin(), steps_.end(), kEnded); }
  void on_step(SimulatedIsland& island, std::uint64_t step) override {
    const std::lock_guard lock(lock_);
    std::int64_t& taken = steps_[std::size_t(island.id())];
    COTILLION_CHECK(std::int64_t(step) > taken);
    taken = std::int64_t(step);
    changed_.notify_all();
  }
  void on_copy_due(SimulatedIsland& island, RoundId round, std::uint64_t first,
                   std::size_t count) override {
    const std::int64_t k = std::int64_t(round) - 1;
    const auto [fragment, skipped] = within(first);
    auto& rounds = places_.at(island.id(), fragment).rounds;
    std::unique_lock lock(lock_);
    if (!wait_for_training(lock,
                           [&] { return rounds.contains(k) && !rounds.at(k).offered.empty(); }))
      return;
    const FragmentRound& copied = rounds.at(k);
    const std::span<float> to = std::span(island.model()).subspan(first, count);
    std::copy_n(copied.offered.begin() + std::ptrdiff_t(skipped), count, to.begin());
    const std::int64_t before = clock_.before(k, island.id());
    if (!copied.ahead || !rounds.contains(before) || !rounds.at(before).correction) return;
    const std::vector<float>& correction = *rounds.at(before).correction;
    for (std::size_t e = 0; e < count; ++e) to[e] += correction[skipped + e];
  }
  void on_merged(SimulatedIsland& island, RoundId round, int fragment) override {
    std::vector<float> came = taken_from(island, fragment);
    const std::lock_guard lock(lock_);
    auto& correction = places_.at(island.id(), fragment).rounds[std::int64_t(round) - 1].correction;
    COTILLION_CHECK(!correction.has_value());  // a round of a fragment comes once
    correction = std::move(came);
    changed_.notify_all();
  }
  void on_late_merged(SimulatedIsland& island, RoundId, int fragment) override {
    std::vector<float> came = taken_from(island, fragment);
    const std::lock_guard lock(lock_);
    places_.at(island.id(), fragment)
        .late.push_back({steps_[std::size_t(island.id())], std::move(came)});
  }

  std::vector<ExchangeMerge> merges_;  // by island
  std::vector<std::int64_t> steps_;    // that islands have taken over there, under the lock
};

}  // namespace

std::unique_ptr<Carrier> stepwise_carrier(const PacketisedPlan& played,
                                          SimulationSettings settings) {
  const auto assignment = JobAssignment::make(played.plan, played.job_settings);
  COTILLION_CHECK(assignment.has_value());  // it was when the plan was to be played
  return std::make_unique<Stepwise>(played, std::move(settings), assignment->job());
}

}  // namespace cotillion
