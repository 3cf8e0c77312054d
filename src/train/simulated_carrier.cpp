#include "train/simulated_carrier.hpp"

#include <map>

#include "exchange/correction.hpp"
#include "policy/merge_settings.hpp"
#include "train/simulator_carrier.hpp"
#include "train/stepwise_carrier.hpp"

namespace cotillion {
namespace {

// What an average does to the model, x ← scale · x + values.
struct LaidCorrection {
  RoundId round = 0;
  double scale = 1;
  std::vector<float> values;
  std::int64_t taken = -1;  // after which step training merged it into the model
};

// A fragment as training had it when it was to be copied.
struct OfferedFragment {
  std::int64_t step = 0;
  std::vector<float> values;
};

struct OfferPlace {
  std::map<RoundId, OfferedFragment> offers;
  std::map<RoundId, std::vector<float>> copied;  // where less than all progress is kept
  std::vector<LaidCorrection> laid;
  std::vector<float> late;  // came late, and goes along with what is laid next; the simulator's
};

// As with an agent: training offers copies and takes corrections whole, and never looks at what
// lies there.
class Simulated final : public SimulatorCarrier<OfferPlace> {
 public:
  Simulated(const PacketisedPlan& played, SimulationSettings settings, const JobSpec& job)
      : SimulatorCarrier(played, std::move(settings), job), rule_(merge_settings_of(rotation())) {}
  ~Simulated() override { end(); }

 private:
  // Training's side. Copies before merges: what is merged after the same step is applied to the
  // copy over there.
  void exchange(Learner& learner, std::int64_t steps) override {
    if (steps == 0) begin();
    for (IslandId island = 0; island < islands_; ++island)
      for (const auto& due : clock_.copies(island, steps))
        if (due.round < rounds_) offer(learner, steps, island, due);
    for (IslandId island = 0; island < islands_; ++island)
      for (const auto& due : clock_.merges(island, steps))
        if (due.round < rounds_) take(learner, steps, island, due);
  }
  void offer(Learner& learner, std::int64_t steps, IslandId island,
             const RotationClock::Appointment& due) {
    const Span here = places_.span(due.fragment);
    OfferedFragment offered{steps, std::vector<float>(std::size_t(here.count))};
    learner.read(island, here.first, offered.values);
    const std::lock_guard lock(lock_);
    const bool first = places_.at(island, due.fragment)
                           .offers.emplace(RoundId(due.round + 1), std::move(offered))
                           .second;
    COTILLION_CHECK(first);
    changed_.notify_all();
  }
  void take(Learner& learner, std::int64_t steps, IslandId island,
            const RotationClock::Appointment& due) {
    std::unique_lock lock(lock_);
    const auto find = [&]() -> LaidCorrection* {
      for (LaidCorrection& laid : places_.at(island, due.fragment).laid)
        if (laid.round == RoundId(due.round + 1)) return &laid;
      return nullptr;
    };
    wait_for_simulator(lock, [&] { return find() != nullptr; });
    LaidCorrection& found = *find();
    COTILLION_CHECK(found.taken < 0);  // every correction is merged once
    learner.merge(island, places_.span(due.fragment).first, found.scale, found.values);
    found.taken = steps;
  }

  // The simulator's side. As the region has it (exchange/exchange_region.hpp): what training
  // offered, and what it had not taken by then.
  void on_copy_due(SimulatedIsland& island, RoundId round, std::uint64_t first,
                   std::size_t count) override {
    const auto [fragment, skipped] = within(first);
    OfferPlace& here = places_.at(island.id(), fragment);
    std::unique_lock lock(lock_);
    if (!wait_for_training(lock, [&] { return here.offers.contains(round); })) return;
    const OfferedFragment& offered = here.offers.at(round);
    const std::span<float> to = std::span(island.model()).subspan(first, count);
    std::copy_n(offered.values.begin() + std::ptrdiff_t(skipped), count, to.begin());
    for (const LaidCorrection& laid : here.laid)
      if (laid.taken < 0 || laid.taken >= offered.step)
        correct(to, laid.scale, to, std::span(laid.values).subspan(skipped, count));
    if (merge_coefficients(rule_, {}).of_copy_beside_difference() == 0) return;
    std::vector<float>& copied = here.copied[round];
    copied.resize(offered.values.size());
    std::copy_n(to.begin(), count, copied.begin() + std::ptrdiff_t(skipped));
  }
  void on_copied(SimulatedIsland& island, RoundId round, std::uint64_t first,
                 std::span<const float> values) override {
    SimulatorCarrier::on_copied(island, round, first, values);
    const int fragment = within(first).first;
    const Span all = places_.span(fragment);
    if (first + values.size() < std::uint64_t(all.first + all.count)) return;
    // Copied to its end: what that copy held need not be kept.
    const std::lock_guard lock(lock_);
    OfferPlace& here = places_.at(island.id(), fragment);
    const auto offered = here.offers.find(round);
    if (offered == here.offers.end()) return;
    const std::int64_t step = offered->second.step;
    std::erase_if(here.laid,
                  [&](const LaidCorrection& laid) { return laid.taken >= 0 && laid.taken < step; });
    here.offers.erase(offered);
  }
  void on_merged(SimulatedIsland& island, RoundId round, int fragment) override {
    LaidCorrection laid{round, 1, taken_from(island, fragment), -1};
    OfferPlace& place = places_.at(island.id(), fragment);
    for (std::size_t e = 0; e < place.late.size(); ++e) laid.values[e] += place.late[e];
    place.late.clear();
    const std::lock_guard lock(lock_);
    // A − S has come, and c is to be laid; what the wire rounded away stays.
    const auto copied = place.copied.extract(round);
    const MergeCoefficients rule =
        merge_coefficients(rule_, {.alone = island.receiver().alone(round, fragment)});
    laid.scale = rule.model;
    if (!copied.empty() && !rule.rests)
      for (std::size_t e = 0; e < laid.values.size(); ++e)
        laid.values[e] += float(rule.of_copy_beside_difference() * copied.mapped()[e]);
    place.laid.push_back(std::move(laid));
    changed_.notify_all();
  }
  // As agents do (daemon/island_merges): it goes along with the fragment's next correction.
  void on_late_merged(SimulatedIsland& island, RoundId, int fragment) override {
    const std::vector<float> came = taken_from(island, fragment);
    std::vector<float>& late = places_.at(island.id(), fragment).late;
    late.resize(came.size());
    for (std::size_t e = 0; e < late.size(); ++e) late[e] += came[e];
  }

  const MergeSettings rule_;
};

}  // namespace

Result<std::unique_ptr<Carrier>> simulated_carrier(const PacketisedPlan& played,
                                                   const Faults& faults, std::int64_t steps) {
  const Recipe& recipe = played.recipe;
  const RotationRecipe& rotation = rotation_of(recipe);
  if (const std::string why = why_not_under(faults, recipe); !why.empty()) return failure(why);
  SimulationSettings settings;
  settings.faults = slowed(faults, played.pace);
  settings.seed = recipe.seed;
  settings.islands.payloads = Payloads::kReal;
  settings.islands.job_settings = played.job_settings;
  settings.islands.merge.missing = merge_settings_of(rotation).missing;
  settings.rounds = rounds_within(recipe, steps) + 1;
  settings.islands.exponent = kGridExponent;
  if (looks_at_the_model(rotation)) return stepwise_carrier(played, std::move(settings));
  const auto assignment = JobAssignment::make(played.plan, played.job_settings);
  if (!assignment) return Unexpected<Error>{assignment.error()};
  return std::unique_ptr<Carrier>(
      std::make_unique<Simulated>(played, std::move(settings), assignment->job()));
}

}  // namespace cotillion
