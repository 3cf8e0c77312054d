#include "report/chart.hpp"

#include <cmath>

#include "base/infinity.hpp"
#include "report/bars.hpp"
#include "report/chart_axis.hpp"
#include "report/svg_test.hpp"

namespace cotillion {
namespace {

using testing::expect_sound;
using testing::kHostileNames;

const double kNothing = std::nan("");

std::vector<std::string> labels_of(const std::vector<Tick>& ticks) {
  std::vector<std::string> labels;
  for (const Tick& tick : ticks) labels.push_back(tick.label);
  return labels;
}

TEST(Axis, TicksAreOneTwoOrFive) {
  EXPECT_DOUBLE_EQ(tick_step(10, 10), 1);
  EXPECT_DOUBLE_EQ(tick_step(10, 6), 2);
  EXPECT_DOUBLE_EQ(tick_step(10, 3), 5);
  EXPECT_DOUBLE_EQ(tick_step(0.7, 7), 0.1);
  EXPECT_EQ(labels_of(Axis({0, 1}, true, false).ticks(5)),
            (std::vector<std::string>{"0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(labels_of(Axis({0, 24000}, true, false).ticks(4)),
            (std::vector<std::string>{"0", "10\u202f000", "20\u202f000"}));
}

TEST(Axis, LogarithmicTicksAreDecadesWhenThereAreMany) {
  EXPECT_EQ(labels_of(Axis({1, 100}, false, true).ticks(7)),
            (std::vector<std::string>{"1", "2", "5", "10", "20", "50", "100"}));
  EXPECT_EQ(labels_of(Axis({0.1, 1e4}, false, true).ticks(7)),
            (std::vector<std::string>{"0.1", "1", "10", "100", "1000", "10\u202f000"}));
}

TEST(Axis, AnyRangeHasFewTicksInside) {
  for (const auto& [least, most] : std::vector<std::pair<double, double>>{
           {0, 0}, {5, 5}, {-3, -3}, {1e99, 1e99}, {-1e100, 1e100}, {1, 1 + 1e-15}, {0, 1e-90}})
    for (const bool from_zero : {true, false}) {
      const Axis axis({least, most}, from_zero, false);
      EXPECT_LT(axis.least(), axis.most());
      const std::vector<Tick> ticks = axis.ticks(6);
      EXPECT_LE(ticks.size(), 14u) << least << " " << most;
      for (const Tick& tick : ticks) EXPECT_LT(tick.label.size(), 16u) << tick.label;
    }
}

Chart with_points(std::vector<std::pair<double, double>> points) {
  Chart chart;
  chart.title = "t";
  chart.x_label = "x  (ms)";
  chart.y_label = "y  (%)";
  chart.series.push_back({"one", points, Mark::kAuto, false, {}, false});
  chart.series.push_back({"two", std::move(points), Mark::kAuto, true, {}, true});
  return chart;
}

TEST(Chart, NothingToDrawIsDrawnAsAnEmptyFrame) {
  expect_sound(chart_svg({}));
  expect_sound(chart_svg(with_points({})));
  for (const auto kind : {Chart::Kind::kLine, Chart::Kind::kScatter, Chart::Kind::kStep}) {
    Chart chart = with_points({{1, 2}});
    chart.kind = kind;
    expect_sound(chart_svg(chart));
  }
}

TEST(Chart, WhatCannotBeDrawnIsLeftOutAndConfessed) {
  Chart chart = with_points({{0, 1}, {1, kInfinity}, {2, kNothing}, {kNothing, 3}, {3, 1e200}});
  const std::string svg = chart_svg(chart);
  expect_sound(svg);
  EXPECT_NE(svg.find("8 infinite or undefined values are left out."), std::string::npos);
  EXPECT_EQ(chart_svg(with_points({{0, 1}})).find("left out"), std::string::npos);
  chart = with_points({{0, 1}, {1, 10}, {10, -1}});
  chart.x_log = chart.y_log = true;
  expect_sound(chart_svg(chart));
}

TEST(Chart, AMissingPointBreaksTheLine) {
  Chart chart = with_points({{0, 1}, {1, 1}, {2, kInfinity}, {3, 1}, {4, 1}});
  chart.series.pop_back();
  const std::string svg = chart_svg(chart);
  std::size_t lines = 0;
  for (std::size_t at = svg.find("<polyline"); at != std::string::npos;
       at = svg.find("<polyline", at + 1))
    ++lines;
  EXPECT_EQ(lines, 3u) << "the frame and two pieces";
}

TEST(Chart, HostileNamesStayNames) {
  Chart chart;
  chart.kind = Chart::Kind::kScatter;
  for (const std::string& name : kHostileNames) {
    chart.title = chart.caption = chart.x_label = chart.y_label = name;
    chart.series.push_back({name, {{1, 2}, {3, 4}}, Mark::kAuto, false, {name, name}, false});
  }
  expect_sound(chart_svg(chart));
}

TEST(Chart, TheSameChartIsTheSameBytes) {
  const Chart chart = with_points({{0, 1}, {1, 0.5}, {2, 1.0 / 3}});
  EXPECT_EQ(chart_svg(chart), chart_svg(chart));
}

Chart crowded() {
  Chart chart = with_points({});
  chart.series.clear();
  chart.kind = Chart::Kind::kScatter;
  for (const bool emphasised : {true, false}) {
    Series series{"s", {}, Mark::kAuto, emphasised, {}, false};
    for (int i = 0; i < 12; ++i) {
      series.points.emplace_back((emphasised ? 1000 : 1090) + (i * 211) % 1700,
                                 i % 4 == 0 ? 20 + i : 100);
      series.labels.push_back("policy number " + std::to_string(i));
    }
    chart.series.push_back(series);
  }
  return chart;
}

TEST(ChartLabels, NoTwoOverlapEvenInARow) {
  const std::vector<PlacedLabel> labels = chart_labels(crowded());
  EXPECT_GE(labels.size(), 20u);
  for (std::size_t i = 0; i < labels.size(); ++i)
    for (std::size_t j = i + 1; j < labels.size(); ++j)
      EXPECT_FALSE(overlap(labels[i].box, labels[j].box)) << i << " " << j;
  expect_sound(chart_svg(crowded()));
}

TEST(ChartLabels, ThoseWithoutRoomAreCounted) {
  Chart chart = crowded();
  chart.width = 330;
  chart.height = 200;
  const std::size_t missing = 24 - chart_labels(chart).size();
  ASSERT_GT(missing, 1u);
  EXPECT_NE(chart_svg(chart).find(std::to_string(missing) + " labels found no room."),
            std::string::npos);
}

TEST(Bars, ValuesAreWrittenAndMissingOnesNamed) {
  BarChart chart{"t", "c", "y  (ms)", {"a", "b"}, {{"g", {12, kInfinity}}, {"h", {0, -3}}}};
  const std::string svg = bars_svg(chart);
  expect_sound(svg);
  EXPECT_NE(svg.find(">12</text>"), std::string::npos);
  EXPECT_NE(svg.find(">infeasible</text>"), std::string::npos);
  EXPECT_EQ(svg, bars_svg(chart));
}

TEST(Bars, FewOrManyAreDrawn) {
  expect_sound(bars_svg({}));
  BarChart chart;
  for (int b = 0; b < 12; ++b) chart.bars.push_back(kHostileNames[b % kHostileNames.size()]);
  for (int g = 0; g < 20; ++g)
    chart.groups.push_back({kHostileNames[g % kHostileNames.size()],
                            std::vector<double>(12, g == 3 ? kNothing : 1e6 * g)});
  expect_sound(bars_svg(chart));
}

TEST(BarsDeathTest, AGroupWithAValueTooFewEndsTheProgram) {
  EXPECT_DEATH((void)bars_svg({"", "", "", {"a", "b"}, {{"g", {1}}}}), "internal error");
}

}  // namespace
}  // namespace cotillion
