#include "report/figures.hpp"

#include "base/infinity.hpp"
#include "plan/named_schedule.hpp"
#include "report/svg_test.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion {
namespace {

using testing::example_map;
using testing::expect_sound;
using testing::fixture_of;

Mixing mixing_of(const std::string& name) {
  const auto fixture = fixture_of(example_map("nine-cities"));
  return mix(*named_schedule(name, fixture->map, fixture->routes), 9);
}

Policy policy(Policy::Kind kind, const std::string& name, double round_ms, double staleness_ms) {
  Policy made;
  made.kind = kind;
  made.name = name;
  made.exchange = RealDuration::from_ps(round_ms * 1e9);
  made.objectives.assign(kObjectives.size(), RealDuration::from_ps(staleness_ms * 1e9));
  return made;
}

std::vector<Policy> some_policies() {
  std::vector<Policy> policies = {
      policy(Policy::Kind::kSchedule, "triangles", 565, 1271),
      policy(Policy::Kind::kSchedule, "all-to-all", 0, kInfinity),
      policy(Policy::Kind::kRival, "ring", 1580, 2370),
      policy(Policy::Kind::kRival, "blocking SGD, ring", 1580, 0),
  };
  policies[1].feasible = false;
  policies[3].blocking = true;
  policies[3].utilisation = 0.1;
  return policies;
}

TEST(SurvivalFigure, PhasesThatDecayAlikeShareACurve) {
  const Chart chart = survival_figure("triangles", mixing_of("triangles"));
  ASSERT_EQ(chart.series.size(), 1u);
  EXPECT_DOUBLE_EQ(chart.series[0].points[0].second, 1);
  EXPECT_NEAR(chart.series[0].points[1].second, 0.75, 1e-12);
  EXPECT_NEAR(chart.series[0].points[2].second, 0, 1e-12);
  EXPECT_NE(chart.caption.find("A = 1.750"), std::string::npos);
  expect_sound(chart_svg(chart));
}

TEST(SurvivalFigure, PhasesThatDifferStandBesideTheirMean) {
  const Chart chart = survival_figure("regional", mixing_of("regional"));
  ASSERT_EQ(chart.series.size(), 3u);
  EXPECT_TRUE(chart.series[0].emphasised);
  EXPECT_EQ(chart.series[1].name, "born in round 1");
  for (std::size_t h = 0; h < chart.series[0].points.size(); ++h)
    EXPECT_NEAR(chart.series[0].points[h].second,
                (chart.series[1].points[h].second + chart.series[2].points[h].second) / 2, 1e-12);
  expect_sound(chart_svg(chart));
}

TEST(SurvivalFigure, NeverConnectedIslandsAreSaidNotDrawn) {
  const Chart chart = survival_figure("none", {});
  EXPECT_TRUE(chart.series.empty());
  EXPECT_NE(chart.caption.find("never meet"), std::string::npos);
  expect_sound(chart_svg(chart));
}

TEST(SurvivalComparison, GoesToTwelveRoundsOrUntilAllHaveSettled) {
  const Chart quick = survival_comparison(
      {{"triangles", mixing_of("triangles")}, {"all-to-all", mixing_of("all-to-all")}});
  EXPECT_EQ(quick.series[0].points.back().first, 3);
  const Chart slow = survival_comparison(
      {{"triangles", mixing_of("triangles")}, {"pairs", mixing_of("pairs")}, {"never", {}}});
  EXPECT_EQ(slow.series.size(), 2u);
  EXPECT_EQ(slow.series[0].points.back().first, 12);
  EXPECT_NE(slow.caption.find("in never."), std::string::npos);
  expect_sound(chart_svg(slow));
  expect_sound(chart_svg(survival_comparison({})));
}

TEST(PolicyFigures, SchedulesAndRivalsAreApart) {
  const Chart chart = staleness_against_round_time(some_policies());
  ASSERT_EQ(chart.series.size(), 2u);
  EXPECT_EQ(chart.series[0].labels, std::vector<std::string>{"triangles"});
  EXPECT_EQ(chart.series[1].labels, std::vector<std::string>{"ring"});
  EXPECT_NE(chart.series[0].mark, chart.series[1].mark);
  EXPECT_NE(chart.caption.find("not drawn: all-to-all."), std::string::npos);
  EXPECT_NE(chart.caption.find("blocking SGD, ring"), std::string::npos);
  expect_sound(chart_svg(chart));
  expect_sound(chart_svg(staleness_against_round_time({})));
}

TEST(PolicyFigures, BlockingPoliciesHaveNoStaleness) {
  const Chart chart = utilisation_against_staleness(some_policies(), "title");
  ASSERT_EQ(chart.series.size(), 2u);
  EXPECT_EQ(chart.series[1].points[1], (std::pair<double, double>{0, 10}));
  EXPECT_EQ(chart.series[0].points[0].second, 100);
  expect_sound(chart_svg(chart));
}

TEST(SweepFigure, WhatIsFeasibleNowhereIsNamed) {
  const Chart chart = sweep_figure(
      "t", "memory  (GB)", {0, 1, 2}, "staleness  (ms)",
      {{"a", {1, 2, 3}}, {"b", {kInfinity, 2, 3}}, {"c", {kInfinity, kInfinity, kInfinity}}});
  EXPECT_EQ(chart.series.size(), 2u);
  EXPECT_EQ(chart.caption, "Feasible nowhere, and not drawn: c.");
  expect_sound(chart_svg(chart));
  expect_sound(chart_svg(sweep_figure("", "", {}, "", {})));
}

TEST(LadderFigure, IsInMilliseconds) {
  const BarChart chart =
      ladder_figure("t", {"neither", "both"},
                    {{"triangles", {RealDuration::from_ps(2e12), RealDuration()}},
                     {"all-to-all", {RealDuration::from_ps(kInfinity), RealDuration()}}});
  EXPECT_EQ(chart.groups[0].values[0], 2000);
  expect_sound(bars_svg(chart));
}

}  // namespace
}  // namespace cotillion
