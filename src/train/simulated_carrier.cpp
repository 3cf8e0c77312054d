#include "train/simulated_carrier.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>

#include "exchange/correction.hpp"
#include "policy/merge_settings.hpp"
#include "policy/rotation_clock.hpp"
#include "train/fragment_places.hpp"
#include "train/stepwise_carrier.hpp"

namespace cotillion {
namespace {

constexpr auto kGrace = std::chrono::minutes(10);  // with a computation that never stands still

// What an average does to the model, x ← scale · x + values.
struct Laid {
  RoundId round = 0;
  double scale = 1;
  std::vector<float> values;
  std::int64_t taken = -1;  // after which step training merged it into the model
};

// A fragment as training had it when it was to be copied.
struct Offer {
  std::int64_t step = 0;
  std::vector<float> values;
};

// What an island's agent and its training code have between them, of one fragment.
struct Place {
  std::map<RoundId, Offer> offers;
  std::map<RoundId, std::vector<float>> copied;  // where less than all progress is kept
  std::vector<Laid> laid;
  std::vector<float> late;  // came late, and goes along with what is laid next; the simulator's
};

// The simulator runs on a thread of its own. It waits before it copies what training has not
// reached yet, and training waits for what it merges next: both go by the recipe's steps, and one
// of them can always go on. In the simulated islands there is no model but what is being copied.
class Simulated final : public Carrier, private SimulationObserver {
 public:
  Simulated(const PacketisedPlan& played, SimulationSettings settings, const JobSpec& job)
      : plan_(played.plan),
        recipe_(played.recipe),
        clock_(recipe_),
        job_(job),
        islands_(island_count(recipe_)),
        rounds_(settings.rounds),
        rule_(merge_settings_of(rotation_of(recipe_))),
        settings_(std::move(settings)),
        schedule_(make_step_schedule(recipe_)),
        places_(job, rotation_of(recipe_).grain, islands_) {
    settings_.observers = {this};
    settings_.progress = [this](Duration, Duration) { return over_.load(); };
  }
  ~Simulated() override {
    {
      const std::lock_guard lock(lock_);
      over_ = true;
      changed_.notify_all();
    }
    if (player_.joinable()) player_.join();
  }
  Simulated(const Simulated&) = delete;
  Simulated& operator=(const Simulated&) = delete;

  [[nodiscard]] double time_after(std::int64_t steps) const override {
    return clock_.time_after(steps);
  }
  void on_gradients(Learner&, std::int64_t) override {}
  [[nodiscard]] AroundStep around(std::int64_t) const override { return {}; }

  // Copies before merges: what is merged after the same step is also applied to the copy there.
  void between(Learner& learner, std::int64_t steps,
               const std::function<void()>& before_merge) override {
    if (steps == 0) player_ = std::thread([this] { play(); });
    std::vector<std::vector<RotationClock::Appointment>> merges;
    bool any = false;
    for (int island = 0; island < islands_; ++island) {
      const auto copies = clock_.copies(island, steps);
      merges.push_back(clock_.merges(island, steps));
      any = any || !merges.back().empty();
      for (const auto& due : copies) offer(learner, steps, island, due);
    }
    if (any) before_merge();
    for (int island = 0; island < islands_; ++island)
      for (const auto& due : merges[std::size_t(island)]) take(learner, steps, island, due);
  }
  [[nodiscard]] bool resumes() const override { return false; }
  [[nodiscard]] ClockSummary account() const override { return schedule_->account(); }

 private:
  // Training's side.
  void offer(Learner& learner, std::int64_t steps, IslandId island,
             const RotationClock::Appointment& due) {
    if (due.round >= rounds_) return;
    const Span here = places_.span(due.fragment);
    Offer offered{steps, std::vector<float>(std::size_t(here.count))};
    learner.read(island, here.first, offered.values);
    const std::lock_guard lock(lock_);
    places_.at(island, due.fragment).offers[RoundId(due.round + 1)] = std::move(offered);
    changed_.notify_all();
  }
  void take(Learner& learner, std::int64_t steps, IslandId island,
            const RotationClock::Appointment& due) {
    if (due.round >= rounds_) return;
    std::unique_lock lock(lock_);
    const auto find = [&]() -> Laid* {
      for (Laid& laid : places_.at(island, due.fragment).laid)
        if (laid.round == RoundId(due.round + 1)) return &laid;
      return nullptr;
    };
    if (!changed_.wait_for(lock, kGrace, [&] { return !failure_.empty() || find() != nullptr; }))
      throw std::runtime_error("the simulation stands still");
    Laid* const found = find();
    if (found == nullptr) throw std::runtime_error(failure_);
    learner.merge(island, places_.span(due.fragment).first, found->scale, found->values);
    found->taken = steps;
  }

  // The simulator's side.
  void play() {
    const auto outcome = simulate(plan_, settings_);
    const std::lock_guard lock(lock_);
    failure_ = outcome ? "the simulation ended before the training" : outcome.error().message;
    changed_.notify_all();
  }
  // As the region has it (exchange/exchange_region.hpp): what training offered, and what it had not
  // taken by then.
  void on_copy_due(SimulatedIsland& actor, RoundId round, std::uint64_t first,
                   std::size_t count) override {
    const int fragment = fragment_of(job_, ChunkId(first / elements_per_chunk(job_)));
    const auto skipped = std::ptrdiff_t(first) - std::ptrdiff_t(places_.span(fragment).first);
    Place& here = places_.at(actor.id(), fragment);
    std::unique_lock lock(lock_);
    changed_.wait(lock, [&] { return over_.load() || here.offers.contains(round); });
    if (over_) return;
    const Offer& offered = here.offers.at(round);
    const std::span<float> elements = std::span(actor.model()).subspan(first, count);
    std::copy_n(offered.values.begin() + skipped, count, elements.begin());
    for (const Laid& laid : here.laid)
      if (laid.taken < 0 || laid.taken >= offered.step)
        correct(elements, laid.scale, elements,
                std::span(laid.values).subspan(std::size_t(skipped), count));
    if (merge_coefficients(rule_, {}).of_copy_beside_difference() == 0) return;
    std::vector<float>& copied = here.copied[round];
    copied.resize(offered.values.size());
    std::copy_n(elements.begin(), count, copied.begin() + skipped);
  }
  void on_copied(SimulatedIsland& actor, RoundId round, std::uint64_t first,
                 std::span<const float> values) override {
    std::fill_n(actor.model().begin() + std::ptrdiff_t(first), values.size(), 0.0F);
    const int fragment = fragment_of(job_, ChunkId(first / elements_per_chunk(job_)));
    const Span all = places_.span(fragment);
    if (first + values.size() < std::uint64_t(all.first + all.count)) return;
    // Copied to its end: what that copy held need not be kept.
    const std::lock_guard lock(lock_);
    Place& here = places_.at(actor.id(), fragment);
    const auto offered = here.offers.find(round);
    if (offered == here.offers.end()) return;
    const std::int64_t step = offered->second.step;
    std::erase_if(here.laid,
                  [&](const Laid& laid) { return laid.taken >= 0 && laid.taken < step; });
    here.offers.erase(offered);
  }
  void on_merged(SimulatedIsland& actor, RoundId round, int fragment) override {
    const std::span<float> here = places_.part(actor.model(), fragment);
    Place& place = places_.at(actor.id(), fragment);
    for (std::size_t e = 0; e < place.late.size(); ++e) here[e] += place.late[e];
    place.late.clear();
    Laid laid{round, 1, {here.begin(), here.end()}, -1};
    std::fill(here.begin(), here.end(), 0.0F);
    const std::lock_guard lock(lock_);
    // A − S has come, and c is to be laid; what the wire rounded away stays.
    const auto copied = place.copied.extract(round);
    const MergeCoefficients rule =
        merge_coefficients(rule_, {.alone = actor.receiver().alone(round, fragment)});
    laid.scale = rule.model;
    if (!copied.empty() && !rule.rests)
      for (std::size_t e = 0; e < laid.values.size(); ++e)
        laid.values[e] += float(rule.of_copy_beside_difference() * copied.mapped()[e]);
    place.laid.push_back(std::move(laid));
    changed_.notify_all();
  }
  // As agents do (daemon/island_merges): it goes along with the fragment's next correction.
  void on_late_merged(SimulatedIsland& actor, RoundId, int fragment) override {
    const std::span<float> here = places_.part(actor.model(), fragment);
    std::vector<float>& late = places_.at(actor.id(), fragment).late;
    late.resize(here.size());
    for (std::size_t e = 0; e < late.size(); ++e) late[e] += std::exchange(here[e], 0.0F);
  }

  const PlanFile plan_;
  const Recipe recipe_;
  const RotationClock clock_;
  const JobSpec job_;
  const int islands_;
  const int rounds_;
  const MergeSettings rule_;
  SimulationSettings settings_;
  const std::unique_ptr<StepSchedule> schedule_;
  std::atomic<bool> over_ = false;
  std::mutex lock_;  // of what follows
  std::condition_variable changed_;
  FragmentPlaces<Place> places_;  // by island, then fragment
  std::string failure_;
  std::thread player_;
};

}  // namespace

Result<std::unique_ptr<Carrier>> simulated_carrier(const PacketisedPlan& played,
                                                   const Faults& faults, std::int64_t steps) {
  const Recipe& recipe = played.recipe;
  const RotationRecipe& rotation = rotation_of(recipe);
  SimulationSettings settings;
  settings.faults = slowed(faults, played.pace);
  settings.seed = recipe.seed;
  settings.actors.payloads = Payloads::kReal;
  settings.actors.job_settings = played.job_settings;
  settings.actors.merge.missing = merge_settings_of(rotation).missing;
  settings.rounds = rounds_within(recipe, steps) + 1;
  settings.actors.exponent = kGridExponent;
  if (const std::string why = why_not_under(faults, recipe); !why.empty()) return failure(why);
  if (looks_at_the_model(rotation)) return stepwise_carrier(played, std::move(settings));
  const auto assignment = JobAssignment::make(played.plan, played.job_settings);
  if (!assignment) return Unexpected<Error>{assignment.error()};
  return std::unique_ptr<Carrier>(
      std::make_unique<Simulated>(played, std::move(settings), assignment->job()));
}

}  // namespace cotillion
