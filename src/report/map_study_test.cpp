#include "report/map_study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/named_schedule.hpp"
#include "tests/support/plan/maps.hpp"

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

// As if a search had found the grid on nine cities.
SearchStory story() {
  const auto fixture = testing::fixture_of(testing::example_map("nine-cities"));
  SearchStory made;
  SearchResult& result = made.result;
  result.found = true;
  result.schedule = *named_schedule("grid", fixture->map, fixture->routes);
  result.schedule.name = kBestFound;
  result.plan = make_plan(fixture->network, result.schedule, settings().plan);
  result.bound = result.plan.staleness() * 0.5;
  result.bound_reason = "Light is no faster.";
  result.families = {{"grid", result.schedule, result.plan.staleness()}};
  result.trace = {{10, result.plan.staleness() * 2, result.bound},
                  {5000, result.plan.staleness(), result.bound}};
  result.frontier = {{result.plan.round * 0.9, 2.5}, {result.plan.round, 1.75}};
  return made;
}

TEST(MapStudy, WhatASearchFoundIsShownBesideTheNamedSchedules) {
  const SearchStory made = story();
  const MapStudy study =
      study_map(testing::example_map("nine-cities"), {}, settings(), "a test", &made);
  const auto names = names_of(study);
  for (const char* name : {"search", "frontier", "cliques-best-found", "survival-best-found",
                           "survival-triangles", "timeline-triangles"})
    EXPECT_THAT(names, Contains(name));
  const std::string html = page_html(study.page);
  for (const char* text : {"How the search went", "100.0 % above what nothing can pass",
                           "<td>best found</td><td>schedule</td>", "What longer rounds buy"})
    EXPECT_THAT(html, HasSubstr(text));
  EXPECT_THAT(html, Not(HasSubstr("stopped early")));
}

TEST(MapStudy, ASearchThatWasStoppedOrFoundNothingSaysSo) {
  const Map map = testing::example_map("nine-cities");
  SearchStory made = story();
  made.conduct.interrupted = made.result.stopped = true;
  made.result.frontier.clear();
  const MapStudy stopped = study_map(map, {}, settings(), "a test", &made);
  EXPECT_THAT(page_html(stopped.page), HasSubstr("stopped early"));
  EXPECT_THAT(names_of(stopped), Not(Contains("frontier")));
  made = {};
  const MapStudy nothing = study_map(map, {}, settings(), "a test", &made);
  EXPECT_THAT(page_html(nothing.page), HasSubstr("drop a constraint"));
  EXPECT_THAT(names_of(nothing), Not(Contains("search")));
  EXPECT_THAT(names_of(nothing), Contains("cliques-triangles"));
}

TEST(MapStudy, NamedSchedulesThatConstraintsForbidAreNotOnTheFrontier) {
  SearchStory made = story();
  made.constraints.clique_max = 3;
  const MapStudy study =
      study_map(testing::example_map("nine-cities"), {}, settings(), "a test", &made);
  EXPECT_THAT(page_html(study.page), HasSubstr("Not allowed here, and left out: all-to-all"));
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
