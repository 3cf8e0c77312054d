#include "report/map_study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/maps.hpp"

namespace cotillion {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> names_of(const MapStudy& study) {
  std::vector<std::string> names;
  for (const NamedFigure& figure : study.figures) names.push_back(figure.name);
  return names;
}

CompareSettings settings() {
  CompareSettings compare;
  compare.plan.step_time = Duration{169'000'000'000};
  return compare;
}

TEST(MapStudy, NineCitiesHaveEveryFigureOfThePaperAndMore) {
  const MapStudy study = study_map(testing::example_map("nine-cities"), {}, settings(), "a test");
  const auto names = names_of(study);
  for (const char* name : {"map", "cliques-triangles", "survival-triangles", "survival-all",
                           "staleness-all", "utilisation-paper", "utilisation-all", "sweep-memory",
                           "technology-ladder", "timeline-triangles", "timeline-all-to-all"})
    EXPECT_THAT(names, Contains(name));
}

TEST(MapStudy, ThePageNeedsNothingFromOutside) {
  const MapStudy study = study_map(testing::example_map("nine-cities"), {}, settings(), "a test");
  const std::string html = page_html(study.page);
  for (const char* reference : {"<script", "src=", "href=\"http", "@import", "url(http"})
    EXPECT_THAT(html, Not(HasSubstr(reference)));
  EXPECT_THAT(html, HasSubstr("GPUs under synchronous SGD idle 80 %"));
}

TEST(MapStudy, SameInputSameBytes) {
  const auto html = [] {
    return page_html(study_map(testing::random_map(6, 4), {}, settings(), "a test").page);
  };
  EXPECT_EQ(html(), html());
}

TEST(MapStudy, SmallAndInfeasibleMapsAreStudiedToo) {
  for (const int islands : {1, 2, 3}) {
    Map map = testing::with_memory(testing::random_map(islands, 2), {0});
    EXPECT_FALSE(study_map(map, {}, settings(), "a test").figures.empty()) << islands;
  }
  EXPECT_FALSE(study_map(testing::with_memory(testing::random_map(5, 2), {0}),
                         {{false, false}, false}, settings(), "a test")
                   .figures.empty());
}

}  // namespace
}  // namespace cotillion
