#include "report/row_chart.hpp"

#include "base/infinity.hpp"
#include "report/heat_map.hpp"
#include "report/svg_test.hpp"

namespace cotillion {
namespace {

using testing::expect_sound;
using testing::kHostileNames;

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST(RowChart, DrawsAMarkForEachValueThatIsThere) {
  RowChart chart{"title", "caption", {"one", "two"}, {"planned", "seen"}, {}};
  RowPanel panel{"ms", {{{1, 1, 1}, {2, 2, 2}}, {{1.5, 1, 2}, {}}}};
  chart.panels.push_back(panel);
  const std::string svg = row_chart_svg(chart);
  expect_sound(svg);
  // Two rings and a disc in the panel, and one of each in the legend.
  EXPECT_EQ(count_of(svg, "<circle"), 5u);
}

TEST(RowChart, GrowsWithItsRows) {
  RowChart chart{"title", "", {}, {"planned"}, {{"ms", {{}}}}};
  expect_sound(row_chart_svg(chart));
  for (int i = 0; i < 100; ++i) {
    chart.rows.push_back("row " + std::to_string(i));
    chart.panels[0].values[0].push_back({double(i), double(-i), double(2 * i)});
  }
  const std::string svg = row_chart_svg(chart);
  expect_sound(svg);
  EXPECT_NE(svg.find("height=\"2"), std::string::npos);
}

TEST(RowChart, HostileNamesAndNumbersStayInTheirPlace) {
  RowChart chart{kHostileNames[0], kHostileNames[1], kHostileNames, kHostileNames, {}};
  RowPanel panel{kHostileNames[2], {}};
  for (std::size_t s = 0; s < kHostileNames.size(); ++s)
    panel.values.push_back({{}, {kInfinity, 0, 1}, {1, -kInfinity, 1}, {1e200, 1, 1}, {0, 0, 0}});
  chart.panels = {panel, panel, panel};
  expect_sound(row_chart_svg(chart));
}

TEST(HeatMap, WritesValuesWhereThereIsRoom) {
  HeatMap map{"title", "caption", {"A", "B"}, {{"round 1", {0.75, 0.25, 0, 1}}}};
  const std::string svg = heat_map_svg(map);
  expect_sound(svg);
  EXPECT_NE(svg.find(">.750<"), std::string::npos);
  EXPECT_NE(svg.find(">1.000<"), std::string::npos);
  EXPECT_EQ(count_of(svg, ">.000<"), 0u);
}

TEST(HeatMap, LargeAndManyAndHostileOnesAreDrawnToo) {
  for (const std::size_t n : {1u, 9u, 10u, 16u, 17u, 60u, 200u}) {
    HeatMap map{"title", "", {}, {}};
    for (std::size_t i = 0; i < n; ++i) map.names.push_back("island " + std::to_string(i));
    for (std::size_t p = 0; p < 3; ++p)
      map.panels.push_back({"round", std::vector<double>(n * n, 1.0 / double(n))});
    expect_sound(heat_map_svg(map));
  }
  HeatMap map{kHostileNames[0], kHostileNames[1], kHostileNames, {}};
  for (int p = 0; p < 9; ++p)
    map.panels.push_back({kHostileNames[std::size_t(p)],
                          std::vector<double>(kHostileNames.size() * kHostileNames.size(), 0)});
  const std::string svg = heat_map_svg(map);
  expect_sound(svg);
  EXPECT_NE(svg.find("3 more panels not drawn."), std::string::npos);
}

}  // namespace
}  // namespace cotillion
