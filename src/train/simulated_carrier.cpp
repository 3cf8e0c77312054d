#include "train/simulated_carrier.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <semaphore>
#include <stdexcept>
#include <thread>

#include "base/check.hpp"
#include "protocol/grid.hpp"

namespace cotillion {
namespace {

constexpr std::int64_t kChunksLeast = 512;  // a packet should pass in a small part of a round

// The simulator runs on a thread of its own and waits at the end of every step: one of the two
// moves at any time.
class Simulated final : public Carrier {
 public:
  Simulated(PlanFile plan, const Recipe& recipe, SimulationSettings settings)
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
  ~Simulated() override {
    if (!player_.joinable()) return;
    over_ = true;
    go_on_.release();
    player_.join();
  }
  Simulated(const Simulated&) = delete;
  Simulated& operator=(const Simulated&) = delete;

  [[nodiscard]] double time_after(std::int64_t steps) const override {
    return double(steps) * recipe_.step_time;
  }
  void on_gradients(Learner&, std::int64_t) override {}

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

PlanFile scaled_to(const PlanFile& given, std::int64_t elements) {
  PlanFile plan = given;
  Bytes payload = plan.map.payload;
  for (const PlannedRound& round : plan.plan.rounds)
    for (const PlannedClique& clique : round.cliques)
      for (const Stream& stream : clique.streams) payload = stream.payload;
  const Bytes wanted{4 * elements};
  const double scale = double(wanted.count) / double(payload.count);
  const auto scaled = [&](Bytes bytes) {
    return Bytes{std::int64_t(std::ceil(double(bytes.count) * scale))};
  };
  // Whole beats, few enough to be quick, small enough to be fluid.
  const std::int64_t beats =
      std::max<std::int64_t>(1, wanted.count / kChunksLeast / std::int64_t(kBeatBytes));
  const auto fit = [&](EdgeSpec& spec) {
    spec.memory = scaled(spec.memory);
    spec.chunk = Bytes{std::min(spec.chunk.count, beats * std::int64_t(kBeatBytes))};
    spec.slot = spec.chunk;
    spec.framing = Bytes{0};
  };
  plan.map.payload = wanted;
  fit(plan.map.edge);
  for (Aggregator& aggregator : plan.map.aggregators) fit(aggregator.spec);
  for (Island& island : plan.map.islands) {
    island.up = island.up * scale;
    island.down = island.down * scale;
  }
  for (Link& link : plan.map.links)
    for (BitsPerSecond& rate : link.rate) rate = rate * scale;
  for (PlannedRound& round : plan.plan.rounds) {
    for (LaneUse& use : round.lanes) {
      use.rate = use.rate * scale;
      use.bytes = scaled(use.bytes);
    }
    for (EdgeUse& use : round.edges) use.memory_peak = scaled(use.memory_peak);
    for (PlannedClique& clique : round.cliques) {
      clique.rate = clique.rate * scale;
      clique.binding.bound = clique.binding.bound * scale;
      for (Stream& stream : clique.streams) {
        stream.rate = stream.rate * scale;
        stream.payload = wanted;
      }
    }
  }
  return plan;
}

Result<std::unique_ptr<Carrier>> simulated_carrier(const PlanFile& plan, const Recipe& recipe,
                                                   const Faults& faults, std::int64_t elements,
                                                   std::int64_t steps) {
  if (recipe.kind != Recipe::Kind::kRotation || !recipe.policy.starts_with("plan"))
    return failure("only the plan's own policy is played packet by packet, not " + recipe.policy);
  if (!faults.islands.empty())
    return failure(
        "faults of islands and clocks are simulated, not trained under: all islands step "
        "together");
  for (const double share : recipe.shares)
    if (std::abs(share - recipe.shares[0]) > 1e-12)
      return failure("islands of unequal weight are trained ideally, not packet by packet");
  if (recipe.lost > 0) return failure("--lose is for ideal exchanges; here --faults loses packets");
  SimulationSettings settings;
  settings.faults = faults;
  settings.seed = recipe.seed;
  settings.actors.payloads = Payloads::kReal;
  settings.actors.step_time = {std::llround(recipe.step_time * kPicosecondsPerSecond)};
  const bool streamed = recipe.rounds[0].arrives.front() < recipe.rounds[0].length;
  settings.actors.casting.exchange =
      streamed || recipe.fragments > 1 ? Exchange::kStreamed : Exchange::kWhole;
  settings.actors.casting.fragments = recipe.fragments;
  settings.actors.merge.own_weight = recipe.own_weight;
  settings.actors.merge.momentum = recipe.momentum;
  settings.actors.merge.momentum_only_with_everyone = true;
  if (recipe.momentum > 0)
    settings.actors.merge.momentum_at =
        recipe.momentum_at_sender ? MomentumAt::kSender : MomentumAt::kReceiver;
  if (recipe.own_for_missing) settings.actors.merge.missing = Missing::kOwnForMissing;
  PlanFile scaled = scaled_to(plan, elements);
  const auto casting = Casting::make(scaled, settings.actors.casting);
  if (!casting) return Unexpected<Error>{casting.error()};
  const double shortest = std::min_element(recipe.rounds.begin(), recipe.rounds.end(),
                                           [](const RecipeRound& a, const RecipeRound& b) {
                                             return a.length < b.length;
                                           })
                              ->length;
  settings.rounds = int(double(steps) * recipe.step_time / shortest) + 3;
  return std::unique_ptr<Carrier>(
      std::make_unique<Simulated>(std::move(scaled), recipe, std::move(settings)));
}

}  // namespace cotillion
