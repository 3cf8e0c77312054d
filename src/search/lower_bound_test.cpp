#include "search/lower_bound.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/infinity.hpp"
#include "base/random.hpp"
#include "plan/every_round.hpp"
#include "search/area_meter.hpp"
#include "search/cut_bound.hpp"
#include "search/gathering.hpp"
#include "search/reach_bound.hpp"
#include "search/round_state.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion {
namespace {

using testing::example_map;
using testing::fixture_of;
using testing::map_of;
using testing::MapFixture;
using testing::nine_cities;
using testing::random_map;
using testing::random_schedule;
using testing::with_memory;

LowerBound bound_of(const NetworkModel& network, Objective objective,
                    const Constraints& constraints = {}) {
  PlanSettings settings;
  settings.objective = objective;
  const Score score(network, settings);
  const Rules rules(network, constraints);
  return lower_bound(network, score, rules);
}

// All rounds of a map that its rules allow, priced once.
struct Rounds {
  CliqueCache cache;
  std::vector<RoundState> states;

  Rounds(const MapFixture& fixture, const Rules& rules)
      : cache(fixture.network, PlanSettings{}.fragments) {
    for (const Round& round : every_round(fixture.map.island_count()))
      if (rules.allows(round)) states.push_back(state_of(round, cache));
  }

  // The best of all schedules of periods one and two.
  [[nodiscard]] double best(const Score& score, int islands) const {
    AreaMeter meter(islands, score.squared(), AreaMeter::Care::kProof);
    double best = kInfinity;
    for (std::size_t a = 0; a < states.size(); ++a)
      for (std::size_t b = a; b < states.size(); ++b) {
        const double price = std::max(states[a].price, states[b].price);
        if (std::isinf(price)) continue;
        const double length = score.length(price, {});
        const double delay = std::max(states[a].delay, states[b].delay);
        const double limit = score.area_at(best, length, delay);
        std::vector<const Grouping*> rounds{&states[a].groups};
        if (a != b) rounds.push_back(&states[b].groups);
        const double area = meter.start(std::move(rounds), limit);
        if (!std::isinf(area)) best = std::min(best, score.value(length, delay, area));
      }
    return best;
  }
};

// Thin links, lopsided latencies, edges shared and elsewhere, routers: whatever a bound
// could overlook.
Map odd_map(int islands, std::uint64_t seed) {
  Map map = random_map(islands, seed);
  Random random(seed ^ 0x6f6464);
  for (Link& link : map.links)
    for (int d = 0; d < 2; ++d) {
      if (random.between(0, 1) == 0) link.rate[d] = {1e9 * double(random.between(2, 60))};
      if (random.between(0, 2) == 0) link.latency[d].ps += random.between(0, 30'000) * 1'000'000;
    }
  for (Island& island : map.islands)
    if (random.between(0, 2) == 0) island.down = {1e9 * double(random.between(5, 80))};
  if (random.between(0, 3) == 0) {
    const PlaceId router(map.place_count());
    map.routers.push_back({"R", {}});
    for (int k = 0; k < 2; ++k) {
      const Duration there{random.between(1, 9'000) * 1'000'000};
      map.links.push_back(
          {{PlaceId(random.between(0, islands - 1)), router}, {there, there}, {{5e10}, {5e10}}});
      if (map.links.back().ends[0] == map.links[map.links.size() - 2].ends[0] && k == 1)
        map.links.pop_back();
    }
    if (random.between(0, 1) == 0) map.aggregators[0].place = router;
  }
  if (random.between(0, 3) == 0) map.aggregators[0].place = PlaceId(islands - 1);
  if (random.between(0, 3) == 0 && islands > 2) {
    map.aggregators.plain().pop_back();
    map.aggregators[0].serves.push_back(IslandId(islands - 1));
  }
  const Bytes memories[] = {{0}, {50'000'000}, {200'000'000}, {32'000'000'000}};
  return with_memory(map, memories[random.between(0, 3)]);
}

TEST(LowerBound, NoScheduleOfOneOrTwoRoundsIsBetter) {
  const Technology technologies[] = {{true, true}, {true, false}, {false, true}, {false, false}};
  double closest = kInfinity;
  for (std::uint64_t seed = 0; seed < 160; ++seed) {
    const int n = 2 + int(seed % 4);
    NetworkModelSettings settings{technologies[seed / 4 % 4], seed % 5 == 4};
    const auto fixture = fixture_of(odd_map(n, seed), settings);
    Constraints constraints;
    if (seed % 3 == 2) constraints.clique_max = 2 + int(seed % 2);
    const Rules rules(fixture->network, constraints);
    const Rounds rounds(*fixture, rules);
    for (const Objective objective : kObjectives) {
      PlanSettings plan;
      plan.objective = objective;
      if (seed % 7 == 3) plan.slack = RealDuration::from_ps(20e9);
      if (seed % 11 == 5) {
        plan.step_time = RealDuration::from_ps(110e9);
        plan.whole_steps = true;
      }
      const Score score(fixture->network, plan);
      const double best = rounds.best(score, n);
      const LowerBound bound = lower_bound(fixture->network, score, rules);
      ASSERT_GT(bound.value.ps, 0);
      ASSERT_LE(bound.value.ps, best * (1 + 1e-9)) << "seed " << seed << ", " << n << " islands, "
                                                   << to_name(objective) << ": " << bound.reason;
      closest = std::min(closest, best / bound.value.ps);
    }
  }
  EXPECT_LT(closest, 1.002);  // and somewhere the bound is reached
}

// Each bound by itself, round by round: what they say of a price holds for every schedule that
// costs no more.
TEST(LowerBound, NoScheduleMixesFasterThanAnyOfTheBoundsSays) {
  const Technology technologies[] = {{true, true}, {true, false}, {false, true}, {false, false}};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const int n = 4 + int(seed % 6);
    const auto fixture = fixture_of(odd_map(n, seed), {technologies[seed % 4], false});
    const Constraints constraints;
    const Rules rules(fixture->network, constraints);
    CliqueCache cache(fixture->network, PlanSettings{}.fragments);
    Gathering gathering(fixture->network, rules, PlanSettings{}.fragments);
    const Cuts cuts(fixture->network, rules);
    for (std::uint64_t draw = 0; draw < 30; ++draw) {
      const int period = 1 + int(draw % 4);
      const Schedule schedule = random_schedule(n, period, 1000 * seed + draw);
      double price = 0;
      for (const Round& round : schedule.rounds)
        price = std::max(price, state_of(round, cache).price);
      const Mixing mixing = mix(schedule, n);
      if (std::isinf(price) || mixing.phases.empty()) continue;
      const std::string which = fmt::format("seed {}, draw {}", seed, draw);
      for (const auto care : {Gathering::Care::kQuick, Gathering::Care::kThorough}) {
        gathering.limit(price, care);
        ASSERT_LE(gathering.connecting_price(), price) << which;
        for (const Round& round : schedule.rounds)
          for (const Clique& clique : round.cliques)
            for (const IslandId a : clique.islands) {
              ASSERT_LE(clique.size(), gathering.size_most(a)) << which;
              for (const IslandId b : clique.islands) {
                if (a == b) continue;
                ASSERT_TRUE(gathering.may_meet(a, b)) << which;
                ASSERT_LE(clique.size(), gathering.size_together(a, b)) << which;
              }
            }
      }
      for (const bool squared : {false, true}) {
        const std::vector<std::vector<double>> bounds = {
            reach_bound(gathering, n, squared).survival, cuts.bound(gathering, squared).survival};
        for (const PhaseCurves& phase : mixing.phases)
          for (const auto& bound : bounds)
            for (std::size_t h = 0; h < std::min<std::size_t>(bound.size(), 50); ++h)
              ASSERT_LE(
                  bound[h],
                  survival_at(squared ? phase.squared : phase.absolute, int(h) + 1, period) + 1e-9)
                  << which << ", after " << h + 1 << " rounds";
      }
    }
  }
}

TEST(LowerBound, SixIslandsHaveNoBetterScheduleOfTwoRounds) {
  for (std::uint64_t seed = 1000; seed < 1004; ++seed) {
    const auto fixture = fixture_of(odd_map(6, seed));
    const Constraints constraints;
    const Rules rules(fixture->network, constraints);
    const Rounds rounds(*fixture, rules);
    for (const Objective objective : kObjectives) {
      PlanSettings plan;
      plan.objective = objective;
      const Score score(fixture->network, plan);
      ASSERT_LE(lower_bound(fixture->network, score, rules).value.ps,
                rounds.best(score, 6) * (1 + 1e-9))
          << "seed " << seed << ", " << to_name(objective);
    }
  }
}

TEST(LowerBound, NineCitiesStayAboveIt) {
  const auto none = nine_cities({0});
  const auto full = fixture_of(example_map("nine-cities"));
  const double paper_none = bound_of(none->network, Objective::kPaper).value.ms();
  const double paper_full = bound_of(full->network, Objective::kPaper).value.ms();
  const double squared_full = bound_of(full->network, Objective::kSquared).value.ms();
  EXPECT_LE(paper_none, 1231.2);
  EXPECT_LE(paper_full, 967.6095);
  EXPECT_LE(squared_full, 803.6990);
  // And not far below.
  EXPECT_GE(paper_none, 1070);
  EXPECT_GE(paper_full, 885);
  EXPECT_GE(squared_full, 770);
}

// Islands around one router, with links so wide that only access matters.
Map star_map(int islands) {
  std::string toml =
      "name = \"star\"\npayload = \"1GB\"\n"
      "defaults = { access = \"20Gbps\", rate = \"100Tbps\" }\nedge = { memory = \"32GB\" }\n"
      "routers = [ { name = \"hub\" } ]\nislands = [\n";
  for (int i = 0; i < islands; ++i) toml += fmt::format("  {{ name = \"I{:02}\" }},\n", i);
  toml += "]\nlinks = [\n";
  for (int i = 0; i < islands; ++i)
    toml += fmt::format("  {{ ends = [\"I{:02}\", \"hub\"], latency = \"5ms\" }},\n", i);
  return map_of(toml + "]\n");
}

TEST(LowerBound, IsReachedWhereTheNumberOfIslandsIsAPowerOfTheLargestClique) {
  // Serialisation 400 ms, flight 10 ms; cliques of three settle 27 islands in three rounds.
  const auto fixture = fixture_of(star_map(27));
  Constraints threes;
  threes.clique_max = 3;
  const double area = (27.0 - 1) / 26 + (27.0 - 3) / 26 + (27.0 - 9) / 26;
  const LowerBound bound = bound_of(fixture->network, Objective::kPaper, threes);
  EXPECT_NEAR(bound.area, area, 1e-12);
  EXPECT_NEAR(bound.value.ms(), 410 * (area + 0.5), 1e-6);
  const double squared = 1 + (27.0 / 3 - 1) / 26 + (27.0 / 9 - 1) / 26;
  EXPECT_NEAR(bound_of(fixture->network, Objective::kSquared, threes).value.ms(),
              410 * (squared + 0.5), 1e-6);
}

TEST(LowerBound, SmallerCliquesRaiseIt) {
  const auto fixture = fixture_of(example_map("geant"));
  double last = kInfinity;
  for (const int most : {2, 3, 4, 6, 9, 64}) {
    Constraints constraints;
    constraints.clique_max = most;
    const double value = bound_of(fixture->network, Objective::kPaper, constraints).value.ps;
    EXPECT_LE(value, last * (1 + 1e-9));
    last = value;
  }
}

TEST(LowerBound, IsInfiniteWhereNobodyMayMeet) {
  const auto fixture = fixture_of(example_map("nine-cities"));
  Constraints alone;
  alone.clique_max = 1;
  EXPECT_TRUE(std::isinf(bound_of(fixture->network, Objective::kPaper, alone).value.ps));
}

TEST(LowerBound, WithoutMulticastOrEdgesItIsHigher) {
  const Map map = example_map("nine-cities");
  const auto bound = [&](Technology technology) {
    const auto fixture = fixture_of(map, {technology, false});
    return bound_of(fixture->network, Objective::kPaper).value.ps;
  };
  EXPECT_LT(bound({true, true}), bound({true, false}));
  EXPECT_LT(bound({true, true}), bound({false, true}));
  EXPECT_LE(bound({false, true}), bound({false, false}));
}

TEST(LowerBound, PinnedRoundsAreAsLongAsTheyAre) {
  const auto fixture = fixture_of(example_map("nine-cities"));
  Constraints constraints;
  constraints.clique_max = 4;
  constraints.pinned.push_back(completed({{{0, 1, 2, 3, 4, 5, 6, 7, 8}, {}}}, 9));
  // All-to-all is larger than cliques may be otherwise, and takes 676.2 ms.
  const LowerBound bound = bound_of(fixture->network, Objective::kPaper, constraints);
  EXPECT_GE(bound.value.ms(), 1014.2);
  EXPECT_LE(bound.value.ms(), 1014.3 + 1e-3);
}

// Two groups of wide links, with one thin link between them.
Map dumbbell(int side) {
  std::string toml =
      "name = \"dumbbell\"\npayload = \"1GB\"\n"
      "defaults = { access = \"20Gbps\", rate = \"10Tbps\" }\nedge = { memory = \"32GB\" }\n"
      "routers = [ { name = \"west\" }, { name = \"east\" } ]\nislands = [\n";
  for (int i = 0; i < 2 * side; ++i) toml += fmt::format("  {{ name = \"I{:02}\" }},\n", i);
  toml +=
      "]\nlinks = [\n  { ends = [\"west\", \"east\"], latency = \"5ms\", rate = \"21Gbps\" },\n";
  for (int i = 0; i < 2 * side; ++i)
    toml += fmt::format("  {{ ends = [\"I{:02}\", \"{}\"], latency = \"5ms\" }},\n", i,
                        i < side ? "west" : "east");
  return map_of(toml + "]\n");
}

TEST(LowerBound, ThinCutsHoldBackWhatCliquesWouldAllow) {
  // While one stream at a time crosses each way, half an island's mass moves in a round: sixteen
  // halves of a quarter of the islands. Cliques alone would settle in two rounds or three.
  const auto fixture = fixture_of(dumbbell(16));
  const LowerBound bound = bound_of(fixture->network, Objective::kPaper);
  EXPECT_GT(bound.area, 2.5);
  EXPECT_NE(bound.reason.find("exchange at most"), std::string::npos) << bound.reason;
}

}  // namespace
}  // namespace cotillion
