#include "sim/simulation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "job/outcome_file.hpp"
#include "sim/tap.hpp"
#include "sim/trace.hpp"
#include "tests/support/job/as_planned.hpp"
#include "tests/support/plan/plans.hpp"

namespace cotillion {
namespace {

using testing::expect_as_planned;
using testing::nine_city_plan;

constexpr Bytes kPayload{20'000'000};  // 2,442 chunks of 8 KiB
constexpr Bytes kPlenty{32'000'000'000};

Outcome played(const PlanFile& plan, const SimulationSettings& settings = {}) {
  auto outcome = simulate(plan, settings);
  EXPECT_TRUE(outcome.has_value()) << outcome.error().message;
  return std::move(*outcome);
}

SimulationSettings with_faults(const PlanFile& plan, const std::string& toml) {
  auto faults = read_faults(toml, "faults.toml", plan);
  EXPECT_TRUE(faults.has_value()) << to_text(faults.error().front());
  SimulationSettings settings;
  settings.faults = std::move(*faults);
  return settings;
}

class NineCities : public ::testing::TestWithParam<std::tuple<std::string, Bytes>> {};

TEST_P(NineCities, ArePlayedAsPlanned) {
  const auto& [schedule, memory] = GetParam();
  const PlanFile plan = nine_city_plan(schedule, memory, kPayload);
  if (!plan.plan.feasible) {
    EXPECT_FALSE(simulate(plan, {}).has_value());
    return;
  }
  SimulationSettings settings;
  settings.rounds = 2 * int(plan.plan.rounds.size());
  expect_as_planned(plan, played(plan, settings));
}

INSTANTIATE_TEST_SUITE_P(Schedules, NineCities,
                         ::testing::Combine(::testing::Values("triangles", "pairs", "regional",
                                                              "all-to-all"),
                                            ::testing::Values(Bytes{0}, kPlenty)),
                         [](const auto& which) {
                           std::string name = std::get<0>(which.param);
                           std::erase(name, '-');
                           return name + (std::get<1>(which.param).count == 0 ? "_0" : "_32GB");
                         });

TEST(Simulation, StreamedRoundsArePlayedAsPlannedToo) {
  const PlanFile plan = nine_city_plan("triangles", {0}, kPayload);
  SimulationSettings settings;
  settings.rounds = 4;
  settings.islands.job_settings.exchange = Exchange::kStreamed;
  settings.islands.job_settings.fragments = 8;
  expect_as_planned(plan, played(plan, settings));
}

TEST(Simulation, FramingMovesPlanAndSimulationTogether) {
  Map map = testing::with_memory(testing::example_map("nine-cities"), {0});
  map.payload = kPayload;
  map.edge.framing = {78};
  for (Aggregator& aggregator : map.aggregators) aggregator.spec.framing = {78};
  const PlanFile plan = testing::plan_file(map, "triangles");
  SimulationSettings settings;
  settings.rounds = 2;
  expect_as_planned(plan, played(plan, settings));
}

TEST(Simulation, TheSameSeedGivesTheSameBytes) {
  const PlanFile plan = nine_city_plan("triangles", {0}, {2'000'000});
  SimulationSettings settings = with_faults(plan, "[[loss]]\non = \"everywhere\"\nrate = 0.01\n");
  settings.rounds = 3;
  const std::string once = to_json(outcome_file(plan, played(plan, settings), {})).dump();
  EXPECT_EQ(once, to_json(outcome_file(plan, played(plan, settings), {})).dump());
  settings.seed = 2;
  EXPECT_NE(once, to_json(outcome_file(plan, played(plan, settings), {})).dump());
}

TEST(Simulation, LossBeforeTheEdgeKeepsTheTimeAndIsNamed) {
  const PlanFile plan = nine_city_plan("triangles", {0}, kPayload);
  SimulationSettings settings = with_faults(plan, "[[loss]]\non = \"core\"\nrate = 0.01\n");
  settings.rounds = 2;
  const Outcome outcome = played(plan, settings);
  ChunkId missing = 0;
  for (const RoundOutcome& round : outcome.rounds) {
    EXPECT_LE(round.measured, round.planned + outcome.added_slack);
    for (const AbsenceOutcome& absence : round.absences) missing += absence.chunks;
  }
  EXPECT_GT(missing, 0u);
  std::uint64_t lost = 0;
  for (const LaneOutcome& lane : outcome.lanes) lost += lane.lost;
  EXPECT_GE(missing, lost);  // one lost near the root is missed by several
  EXPECT_FALSE(holds(outcome));
}

TEST(Simulation, LossAfterTheEdgeIsRepairedWithinTheTimeOfWhatIsSentAgainAndTwoRoundTrips) {
  for (const char* schedule : {"pairs", "triangles"}) {
    const PlanFile plan = nine_city_plan(schedule, {0}, kPayload);
    SimulationSettings settings = with_faults(plan, "[[loss]]\non = \"last-hops\"\nrate = 0.01\n");
    settings.rounds = 2;
    settings.islands.job_settings.grace = {5'000'000'000};
    const Outcome outcome = played(plan, settings);
    std::uint64_t resends = 0;  // at the edge that had most to send again, all of it in one round
    for (const EdgeOutcome& edge : outcome.edges) {
      EXPECT_GT(edge.counters[EdgeCount::kResends], 10u);
      resends = std::max(resends, edge.counters[EdgeCount::kResends]);
    }
    const RealDuration again = transfer_time(Bytes{std::int64_t(resends) * 8192},
                                             lane_rate(plan.map, lane_down(plan.map, 0)));
    const Duration round_trip = settings.islands.round_trip_margin;  // edges stand at their islands
    expect_as_planned(plan, outcome, Duration{std::llround(again.ps)} + round_trip + round_trip);
  }
}

TEST(Simulation, AnEdgeWithLessMemoryThanPlannedOverflowsAndTheOutcomeShowsIt) {
  const PlanFile plan = nine_city_plan("all-to-all", kPlenty, kPayload);
  SimulationSettings settings;
  EXPECT_TRUE(holds(played(plan, settings)));
  settings.islands.job_settings.memory = Bytes{0};
  const Outcome outcome = played(plan, settings);
  EXPECT_FALSE(holds(outcome));
  std::uint64_t conflicts = 0;
  for (const EdgeOutcome& edge : outcome.edges)
    conflicts += edge.counters[EdgeCount::kConflicts] + edge.counters[EdgeCount::kLate];
  EXPECT_GT(conflicts, 1000u);
}

TEST(Simulation, ADeadIslandThatComesBackTakesPartAgain) {
  const PlanFile plan = nine_city_plan("triangles", {0}, kPayload);
  SimulationSettings settings =
      with_faults(plan,
                  "[[dead]]\nisland = \"NYC\"\nfrom = \"1ms\"\nuntil = \"50ms\"\n"
                  "[[loss]]\non = \"last-hops\"\nrate = 0.001\n");
  settings.rounds = 4;
  settings.islands.job_settings.grace = {5'000'000'000};
  const Outcome outcome = played(plan, settings);
  EXPECT_FALSE(outcome.rounds[0].absences.empty());
  for (std::size_t k = 1; k < 4; ++k) EXPECT_TRUE(outcome.rounds[k].absences.empty());
}

TEST(Simulation, IslandsComputeMeanwhileAndSlowOnesLess) {
  const PlanFile plan = nine_city_plan("triangles", {0}, kPayload);
  SimulationSettings settings = with_faults(plan,
                                            "[[slow]]\nisland = \"NYC\"\nfactor = 2\n"
                                            "[[slow]]\nisland = \"SIN\"\nlate = \"300us\"\n");
  settings.islands.step_time = {5'000'000'000};
  struct StepCounter final : SimulationObserver {
    std::uint64_t steps = 0;
    void on_step(SimulatedIsland&, std::uint64_t) override { ++steps; }
  } counter;
  settings.observers = {&counter};
  const Outcome outcome = played(plan, settings);
  const auto whole = std::uint64_t(outcome.played.ps / settings.islands.step_time.ps);
  const IslandId slow = *find_island(plan.map, "NYC");
  for (const IslandId i : plan.map.islands.ids()) {
    EXPECT_NEAR(double(outcome.steps[i]), double(i == slow ? whole / 2 : whole), 1);
    counter.steps -= outcome.steps[i];
  }
  EXPECT_EQ(counter.steps, 0u);
  EXPECT_TRUE(outcome.rounds[0].absences.empty());  // within grace
  const CliqueOutcome& asia = outcome.rounds[0].cliques[0];
  EXPECT_NEAR((asia.measured - asia.planned).ms(), 0.300, 0.010);
}

TEST(Simulation, ArrivalsAreThoseOfThePlan) {
  const PlanFile plan = nine_city_plan("triangles", {0}, kPayload);
  const Outcome outcome = played(plan);
  int seen = 0;
  for (const CliqueOutcome& clique : outcome.rounds[0].cliques)
    for (const ArrivalOutcome& arrival : clique.arrivals) {
      ++seen;
      EXPECT_NEAR(arrival.measured.ms(), arrival.planned.ms(), 0.015);
    }
  EXPECT_EQ(seen, 9 * 2);
}

TEST(Trace, ShowsSendersLinksAndEdgesOfARound) {
  const PlanFile plan = nine_city_plan("triangles", {0}, {2'000'000});
  SimulationSettings settings = with_faults(plan, "[[loss]]\non = \"core\"\nrate = 0.02\n");
  Trace trace(plan, {0}, {200'000'000'000});
  settings.observers = {&trace};
  const Outcome watched = played(plan, settings);
  settings.observers = {};
  EXPECT_EQ(to_json(outcome_file(plan, watched, {})),
            to_json(outcome_file(plan, played(plan, settings), {})));

  const Json file = Json::parse(trace.json());
  std::map<std::string, int> seen;
  for (const Json& event : file["traceEvents"]) {
    ++seen[event["ph"].get<std::string>() + std::to_string(event["pid"].get<int>())];
    if (event["ph"] == "X") {
      EXPECT_GT(event["dur"].get<double>(), 0);
    }
  }
  EXPECT_GE(seen["X1"], 9);  // every sender
  EXPECT_GT(seen["X2"], 18);
  EXPECT_GT(seen["i2"], 0);  // losses
  EXPECT_GT(seen["C3"], 0);
}

TEST(Tap, HearsTheChosenLanesOnly) {
  const PlanFile plan = nine_city_plan("triangles", {0}, {2'000'000});
  const auto lanes = lanes_named(plan.map, "TYO>HKG");
  ASSERT_EQ(lanes.size(), 1u);
  Tap tap(plan, lanes, 1 << 30);
  Tap small(plan, lanes, 5000);
  SimulationSettings settings;
  settings.observers = {&tap, &small};
  const Outcome outcome = played(plan, settings);
  for (const LaneOutcome& lane : outcome.lanes)
    if (lane.lane == lanes[0]) {
      EXPECT_EQ(tap.packets(), lane.packets);
    }
  EXPECT_EQ(small.packets() + small.left_out(), tap.packets());
  EXPECT_LE(small.file().size(), 5000u + 64);
  EXPECT_TRUE(lanes_named(plan.map, "TYO-MOON").empty());
}

TEST(Simulation, ADeadIslandIsMissedByItsCliqueOnly) {
  const PlanFile plan = nine_city_plan("triangles", {0}, kPayload);
  SimulationSettings settings = with_faults(plan, "[[dead]]\nisland = \"NYC\"\nfrom = \"10ms\"\n");
  const Outcome outcome = played(plan, settings);
  const IslandId dead = *find_island(plan.map, "NYC");
  for (const AbsenceOutcome& absence : outcome.rounds[0].absences)
    EXPECT_EQ(absence.contributor, dead);
  EXPECT_EQ(outcome.rounds[0].absences.size(), 3u);  // with its own, who gave no account
  EXPECT_LE(outcome.rounds[0].measured, outcome.rounds[0].planned + outcome.added_slack);
}

TEST(Simulation, AnEdgeThatRestartsLosesOnlyWhatItHeld) {
  const PlanFile plan = nine_city_plan("triangles", {0}, kPayload);
  SimulationSettings settings =
      with_faults(plan, "[[restart]]\nisland = \"LON\"\nfrom = \"9ms\"\n");
  const Outcome outcome = played(plan, settings);
  const IslandId restarted = *find_island(plan.map, "LON");
  for (const AbsenceOutcome& absence : outcome.rounds[0].absences)
    EXPECT_EQ(absence.receiver, restarted);
  EXPECT_EQ(outcome.receivers[restarted][ReceiverCount::kRestarts], 1u);
  EXPECT_LE(outcome.rounds[0].measured, outcome.rounds[0].planned + outcome.added_slack);
}

// Islands have 81 times their number everywhere, and the element's own: averages are exact.
class ExactAverages final : public SimulationObserver {
 public:
  explicit ExactAverages(const PlannedRound& round) : round_(round) {}
  static void fill(IslandId island, std::vector<float>& model) {
    for (std::size_t e = 0; e < model.size(); ++e) model[e] = float(island * 81 + own(e));
  }
  [[nodiscard]] int checked() const { return checked_; }
  [[nodiscard]] int merged() const { return merged_; }

  void on_merge_due(SimulatedIsland& island, RoundId round, int) override {
    if (round != 1) return;
    ++checked_;
    const double mean = mean_for(island.id());
    std::vector<double> average(2048);
    island.receiver().average(1, 0, average);
    for (std::size_t e = 0; e < average.size(); ++e) ASSERT_EQ(average[e], mean + own(e));
  }
  // Nobody learns anything in flight, so the model is the average then.
  void on_merged(SimulatedIsland& island, RoundId round, int) override {
    if (round != 1) return;
    ++merged_;
    const double mean = mean_for(island.id());
    const std::vector<float>& model = island.model();
    for (std::size_t e = 0; e < model.size(); ++e) ASSERT_EQ(model[e], mean + own(e));
  }

 private:
  static int own(std::size_t element) { return int(element % 50) * 9; }
  [[nodiscard]] double mean_for(IslandId island) const {
    const auto& clique =
        *std::find_if(round_.cliques.begin(), round_.cliques.end(), [&](const PlannedClique& c) {
          return std::find(c.islands.begin(), c.islands.end(), island) != c.islands.end();
        });
    double mean = 0;
    for (const IslandId member : clique.islands) mean += member * 81 / 3.0;
    return mean;
  }

  const PlannedRound& round_;
  int checked_ = 0, merged_ = 0;
};

// Real payloads, each island with its own numbers; faults that lose nothing change no sum.
TEST(Simulation, DuplicatesReplaysAndReorderingChangeNoSum) {
  const PlanFile plan = nine_city_plan("triangles", {10'000'000}, {400'000});
  for (const Element element : {Element::kF32, Element::kI32}) {
    SimulationSettings settings =
        with_faults(plan,
                    "[[duplicate]]\non = \"core\"\nrate = 0.1\nby = \"2us\"\n"
                    "[[replay]]\non = \"core\"\nrate = 0.05\nby = \"170ms\"\n"
                    "[[reorder]]\non = \"core\"\nrate = 0.1\nby = \"20us\"\n"
                    "[[jitter]]\non = \"last-hops\"\nby = \"20us\"\n");
    settings.rounds = 3;
    settings.islands.payloads = Payloads::kReal;
    settings.islands.job_settings.element = element;
    settings.fill = ExactAverages::fill;
    ExactAverages averages(plan.plan.rounds[0]);
    settings.observers = {&averages};
    const Outcome outcome = played(plan, settings);
    EXPECT_EQ(averages.checked(), 9);
    EXPECT_EQ(averages.merged(), 9);
    for (const RoundOutcome& round : outcome.rounds) EXPECT_TRUE(round.absences.empty());
  }
}

TEST(Simulation, RealisedMixingIsTheSchedulesWhenNothingIsLost) {
  const PlanFile plan = nine_city_plan("triangles", {0}, {2'000'000});
  SimulationSettings settings;
  settings.rounds = 3;
  const Outcome outcome = played(plan, settings);
  for (const RoundOutcome& round : outcome.rounds) {
    const PlannedRound& planned = plan.plan.rounds[(round.round - 1) % 2];
    for (const PlannedClique& clique : planned.cliques)
      for (const IslandId i : clique.islands)
        for (IslandId j = 0; j < 9; ++j) {
          const bool together =
              std::find(clique.islands.begin(), clique.islands.end(), j) != clique.islands.end();
          EXPECT_NEAR(round.mixing[std::size_t(i * 9 + j)], together ? 1.0 / 3 : 0, 1e-12);
        }
  }
}

}  // namespace
}  // namespace cotillion
