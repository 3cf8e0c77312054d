#include "report/search_figures.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "report/svg_test.hpp"
#include "search/frontier.hpp"

namespace cotillion {
namespace {

using ::testing::AllOf;
using testing::expect_sound;
using ::testing::HasSubstr;
using ::testing::Not;

RealDuration figure_ms(double value) {
  return RealDuration::from_ps(value * kPicosecondsPerMillisecond);
}

// Rounds of 500 ms with A = 2, A₂ = 1.5 and d = 100 ms; shorter and longer ones beside it.
SearchResult found(Objective objective = Objective::kPaper) {
  SearchResult result;
  result.found = true;
  Plan& plan = result.plan;
  plan.schedule = "search";
  plan.settings.objective = objective;
  plan.mixing.area = 2;
  plan.mixing.area_squared = 1.5;
  for (const Objective each : kObjectives) {
    const bool squared = each == Objective::kSquared || each == Objective::kSquaredStreamed;
    plan.objectives.push_back(
        staleness_of_equal_rounds(each, figure_ms(500), squared ? 1.5 : 2, figure_ms(100)));
  }
  plan.rounds.resize(1);
  plan.rounds[0].length = plan.round = figure_ms(500);
  result.bound = figure_ms(1000);
  result.bound_reason = "Light is no faster.";
  result.period_max = 8;
  result.trace = {{0, figure_ms(std::numeric_limits<double>::infinity()), {}},
                  {40, figure_ms(1500), figure_ms(900)},
                  {9000, figure_ms(1250), figure_ms(1000)}};
  result.frontier = {{figure_ms(400), 3}, {figure_ms(500), 2}, {figure_ms(600), 1.8}};
  return result;
}

TEST(SearchFigure, ShowsIncumbentAndBoundAsSteps) {
  const Chart chart = search_figure(found());
  EXPECT_EQ(chart.kind, Chart::Kind::kStep);
  ASSERT_EQ(chart.series.size(), 2u);
  using Points = std::vector<std::pair<double, double>>;
  EXPECT_EQ(chart.series[0].points, (Points{{40, 1500}, {9000, 1250}}));
  EXPECT_EQ(chart.series[1].points, (Points{{40, 900}, {9000, 1000}}));
  EXPECT_THAT(chart.caption,
              AllOf(HasSubstr("'paper'"), HasSubstr("gap 25.0 %. Light is no faster."),
                    Not(HasSubstr("stopped"))));
  expect_sound(chart_svg(chart));
}

TEST(SearchFigure, LongSearchesAreLogarithmic) {
  SearchResult result = found();
  EXPECT_TRUE(search_figure(result).x_log);
  result.trace = {{100, figure_ms(1500), figure_ms(900)}, {9000, figure_ms(1250), figure_ms(1000)}};
  EXPECT_FALSE(search_figure(result).x_log);
}

TEST(SearchFigure, SaysWhetherItIsProvenAndWhetherItWasStopped) {
  SearchResult result = found(Objective::kSquared);
  result.certified = true;
  result.class_size = 3615;
  result.period_max = result.period_proven = 3;
  EXPECT_THAT(search_figure(result).caption,
              HasSubstr("Certified optimal (squared) given shortest trees, rounds of one length "
                        "and periods up to 3: all 3,615"));
  result.stopped = true;
  EXPECT_THAT(search_figure(result).caption, HasSubstr("stopped early"));
  const Chart nothing = search_figure({});
  EXPECT_TRUE(nothing.series.empty());
  expect_sound(chart_svg(nothing));
}

TEST(FamiliesTable, MeasuresAgainstTheAnswer) {
  SearchResult result = found();
  result.families = {{"grid", {}, figure_ms(1375)}};
  const auto table = families_table(result);
  ASSERT_EQ(table.size(), 2u);
  EXPECT_EQ(table[1], (std::vector<std::string>{"grid", "1375.0", "10.0 %"}));
}

TEST(Tradeoff, KeepsWhatIsBestAtItsLength) {
  const Tradeoff tradeoff(found(), {{"worse", figure_ms(550), 2.5},
                                    {"better", figure_ms(600), 1.7},
                                    {"same", figure_ms(400), 3},
                                    {"longest", figure_ms(900), 1}});
  std::vector<std::string> names;
  for (const MixingPoint& point : tradeoff.frontier) names.push_back(point.name);
  EXPECT_EQ(names, (std::vector<std::string>{"same", "search", "better", "longest"}));
}

TEST(Tradeoff, WantsTheElasticityAtWhichItsProductIsLeast) {
  for (const Objective objective : kObjectives) {
    const Tradeoff tradeoff(found(objective), {});
    const double area = tradeoff.chosen.area;
    const double wanted = tradeoff.elasticity_wanted(area);
    // Along A ∝ T^wanted the product is level at the chosen plan, and rises to both sides.
    const auto product = [&](double factor) {
      return tradeoff.product_ms({"", figure_ms(500 * factor), area * std::pow(factor, wanted)});
    };
    EXPECT_NEAR((product(1.0001) - product(0.9999)) / product(1), 0, 1e-8) << to_name(objective);
  }
  EXPECT_DOUBLE_EQ(Tradeoff(found(), {}).elasticity_wanted(2), -1.25);
  EXPECT_DOUBLE_EQ(Tradeoff(found(Objective::kPaperStreamed), {}).elasticity_wanted(2), -0.75);
  EXPECT_DOUBLE_EQ(Tradeoff(found(Objective::kSquared), {}).chosen.area, 1.5);
}

TEST(Tradeoff, MeasuresElasticityToBothSides) {
  SearchResult result = found();
  const Tradeoff tradeoff(result, {});
  EXPECT_NEAR(*tradeoff.elasticity_towards_shorter(), std::log(2.0 / 3) / std::log(1.25), 1e-12);
  EXPECT_NEAR(*tradeoff.elasticity_towards_longer(), std::log(0.9) / std::log(1.2), 1e-12);
  result.frontier.clear();
  EXPECT_FALSE(Tradeoff(result, {}).elasticity_towards_shorter());
  EXPECT_FALSE(Tradeoff(result, {}).elasticity_towards_longer());
}

TEST(FrontierFigure, TouchesTheLevelCurveAtTheChosenPlan) {
  const Tradeoff tradeoff(found(), {{"near", figure_ms(550), 2.2}, {"far", figure_ms(2000), 1}});
  const Chart chart = frontier_figure(tradeoff);
  ASSERT_EQ(chart.series.size(), 4u);
  EXPECT_EQ(chart.series[0].points[0], (std::pair<double, double>{400, 3}));
  for (const auto& [length, area] : chart.series[1].points)
    EXPECT_NEAR(length * (area + 0.5), 1250, 1e-9);
  EXPECT_EQ(chart.series[2].labels[0], "search: 500.0 ms, A = 2.000");
  EXPECT_TRUE(chart.series[2].emphasised);
  EXPECT_EQ(chart.series[3].labels, std::vector<std::string>{"near"});
  EXPECT_THAT(chart.caption,
              AllOf(HasSubstr("found by annealing, not proven"),
                    HasSubstr("−(1 + 1/(2A)), here −1.25."), HasSubstr("−1.82 towards shorter"),
                    HasSubstr("−0.58 towards longer"), HasSubstr("far (2000 ms, 1.00)")));
  expect_sound(chart_svg(chart));
}

TEST(FrontierFigure, NamesTheAreaAndTheConditionOfTheObjective) {
  const Chart streamed = frontier_figure(Tradeoff(found(Objective::kSquaredStreamed), {}));
  EXPECT_THAT(streamed.caption,
              AllOf(HasSubstr("T(A₂ − ½) + d"), HasSubstr("−(1 − 1/(2A₂)), here −0.67")));
  for (const auto& [length, area] : streamed.series[1].points)
    EXPECT_NEAR(length * (area - 0.5), 500, 1e-9);
  SearchResult alone = found();
  alone.frontier.clear();
  EXPECT_THAT(frontier_figure(Tradeoff(alone, {})).caption, HasSubstr("No shorter and no longer"));
}

TEST(FrontierTable, HasElasticityBesideTheCondition) {
  const auto table = frontier_table(Tradeoff(found(), {}));
  ASSERT_EQ(table.size(), 4u);
  EXPECT_EQ(table[0][5], "−(1 + 1/(2A))");
  EXPECT_EQ(table[1][0], "annealed");
  EXPECT_EQ(table[1][4], "–");
  EXPECT_EQ(table[2],
            (std::vector<std::string>{"search", "500.0", "2.000", "1250.0", "−1.26", "−1.25"}));
}

TEST(MixingPoint, NeedsAPlanThatCanBeDanced) {
  SearchResult result = found();
  EXPECT_TRUE(mixing_point(result.plan));
  result.plan.feasible = false;
  EXPECT_FALSE(mixing_point(result.plan));
}

}  // namespace
}  // namespace cotillion
