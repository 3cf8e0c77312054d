#include "report/search_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "tests/support/plan/maps.hpp"

namespace cotillion {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

RealDuration report_ms(double value) {
  return RealDuration::from_ps(value * kPicosecondsPerMillisecond);
}

// A result as the search would give it for a schedule of three islands.
struct Found {
  std::unique_ptr<testing::MapFixture> fixture = testing::fixture_of(testing::random_map(3, 1));
  SearchResult result;

  Found() {
    result.found = true;
    result.schedule = {"search", {completed({{{0, 1, 2}, {}}}, 3)}};
    result.plan = make_plan(fixture->network, result.schedule);
    result.bound = result.plan.staleness() * 0.8;
    result.bound_reason = "Light is no faster.";
    result.period_max = 8;
    result.families = {{"grid", result.schedule, result.plan.staleness() / 0.9}};
    result.trace = {{10, RealDuration::from_ps(std::numeric_limits<double>::infinity()), {}},
                    {500, result.plan.staleness(), result.bound}};
  }
};

TEST(SearchReport, ProgressNamesIncumbentBoundGapAndPace) {
  EXPECT_EQ(
      progress_text({"annealing, lap 3 of 12", 9, report_ms(1231.2), report_ms(988)}, 512'000),
      "annealing, lap 3 of 12: 1231.2 ms, at least 988.0 ms (gap 24.6 %), 512,000 moves/s");
}

TEST(SearchReport, ProgressLeavesOutWhatIsNotKnownYet) {
  const RealDuration never = RealDuration::from_ps(std::numeric_limits<double>::infinity());
  EXPECT_EQ(progress_text({"seeds", 0, never, {}}, 0), "seeds");
  EXPECT_EQ(progress_text({"seeds", 0, report_ms(20), {}}, 999.4), "seeds: 20.0 ms, 999 moves/s");
  EXPECT_EQ(progress_text({"seeds", 0, never, report_ms(7)}, 1'234'567),
            "seeds, 1,234,567 moves/s");
}

TEST(SearchReport, ACertifiedAnswerNamesObjectivePeriodsAndClass) {
  Found found;
  EXPECT_TRUE(search_json(found.result, {})["class"].is_null());
  found.result.certified = true;
  found.result.period_max = found.result.period_proven = 3;
  found.result.proven = found.result.plan.staleness();
  found.result.class_size = 9.4567e12;
  EXPECT_THAT(search_text(found.result, {}),
              HasSubstr("certified optimal (paper) given shortest trees, rounds of one length and "
                        "periods up to 3: all\n9.46e12 schedules ruled out or priced\n"));
  EXPECT_THAT(search_json(found.result, {})["class"].get<std::string>(),
              AllOf(HasSubstr("Given shortest trees, rounds of one length and periods up to 3, no "
                              "allowed schedule is better than"),
                    HasSubstr("ms (paper).")));
  found.result.class_size = 3615;
  EXPECT_THAT(search_text(found.result, {}), HasSubstr("all\n3,615 schedules"));
}

TEST(SearchReport, SaysWhetherLongerPeriodsThanAreProvenAreBetter) {
  Found found;
  found.result.period_max = found.result.period_proven = 3;
  found.result.period_annealed = 8;
  found.result.proven = found.result.plan.staleness() * 1.25;
  found.result.class_size = 3615;
  EXPECT_THAT(verdict_text(found.result),
              AllOf(HasSubstr("The best of periods up to 3 is proven ("),
                    HasSubstr("), given shortest trees and rounds of one length; a longer one was "
                              "found ("),
                    HasSubstr("lower bound"), Not(HasSubstr("certified"))));
  const Json json = search_json(found.result, {});
  EXPECT_EQ(json["period_annealed"], 8);
  EXPECT_EQ(json["proven_ms"], found.result.proven->ms());
  EXPECT_EQ(json["class_size"], 3615);

  found.result.certified = true;
  EXPECT_THAT(verdict_text(found.result),
              HasSubstr("priced; annealing found nothing better in periods up to 8"));

  found.result.certified = false;
  found.result.period_proven = 2;
  EXPECT_THAT(verdict_text(found.result),
              HasSubstr("Nothing is better given shortest trees, rounds of one length and periods "
                        "up to 2: that is proven; for 3 too much is left to rule out. lower"));
  EXPECT_TRUE(search_json(found.result, {})["class_size"].is_null());
}

TEST(SearchReport, WithoutProofThereIsABoundWithItsGapAndReason) {
  const Found found;
  EXPECT_THAT(search_text(found.result, {}),
              AllOf(HasSubstr("gap 25.0 %. Light is no faster.\n"), Not(HasSubstr("certified"))));
}

TEST(SearchReport, WhatAnnealingGainedIsMeasuredFromTheBestSeedThatIsNotResumed) {
  Found found;
  EXPECT_THAT(search_text(found.result, {}), HasSubstr("10.0 % better than the best seed (grid)"));
  found.result.families.insert(found.result.families.begin(),
                               {"resumed", found.result.schedule, found.result.plan.staleness()});
  EXPECT_THAT(search_text(found.result, {}), HasSubstr("10.0 % better than the best seed (grid)"));
  found.result.families = {{"grid", found.result.schedule, found.result.plan.staleness()}};
  EXPECT_THAT(search_text(found.result, {}), HasSubstr("no better than the best seed (grid)"));
}

TEST(SearchReport, WhatDependsOnTheClockSaysSo) {
  const Found found;
  SearchConduct conduct;
  EXPECT_TRUE(search_json(found.result, conduct)["reproducible"]);
  conduct.budget = "60s";
  EXPECT_THAT(search_text(found.result, conduct), HasSubstr("not reproducible"));
  EXPECT_FALSE(search_json(found.result, conduct)["reproducible"]);
  conduct = {1, 0, "", true};
  EXPECT_THAT(search_text(found.result, conduct), HasSubstr("stopped early: best so far\n"));
  EXPECT_FALSE(search_json(found.result, conduct)["reproducible"]);
  EXPECT_TRUE(search_json(found.result, conduct)["stopped"]);
}

TEST(SearchReport, JsonHoldsNullForWhatIsInfiniteOrUnknown) {
  const Found found;
  const Json json = search_json(found.result, {});
  EXPECT_TRUE(json["class_size"].is_null());
  EXPECT_EQ(json["steps"], 0);
  EXPECT_TRUE(json["trace"][0]["incumbent_ms"].is_null());
  EXPECT_NEAR(json["gap"].get<double>(), 0.25, 1e-9);
  EXPECT_EQ(json["families"][0]["family"], "grid");
  const Json nothing = search_json({}, {});
  EXPECT_FALSE(nothing["found"]);
  EXPECT_TRUE(nothing["gap"].is_null());
}

TEST(SearchReport, ABetterRivalIsNamedInOneLineAndAWorseOneOnlyInJson) {
  const Found found;
  const Objective objective = found.result.plan.settings.objective;
  Policy rival;
  rival.name = "ring all-reduce";
  rival.objectives.assign(kObjectives.size(), found.result.plan.staleness() * 0.75);
  EXPECT_THAT(best_rival_text(found.result.plan, rival),
              AllOf(StartsWith("\nBetter here: ring all-reduce, "),
                    HasSubstr("(paper), 25.0 % less; see cotillion compare\n")));
  EXPECT_EQ(best_rival_json(rival, objective)["name"], "ring all-reduce");
  rival.objectives.assign(kObjectives.size(), found.result.plan.staleness());
  EXPECT_EQ(best_rival_text(found.result.plan, rival), "");
  EXPECT_NEAR(best_rival_json(rival, objective)["staleness_ms"].get<double>(),
              found.result.plan.staleness().ms(), 1e-9);
  EXPECT_EQ(best_rival_text(found.result.plan, std::nullopt), "");
  EXPECT_TRUE(best_rival_json(std::nullopt, objective).is_null());
}

TEST(SearchReport, WhenNothingWasFoundTheReasonIsNamed) {
  SearchResult result;
  EXPECT_THAT(nothing_found_text(result, {}), HasSubstr("drop a constraint"));
  result.stopped = true;
  EXPECT_THAT(nothing_found_text(result, {1, 0, "2ms", false}), HasSubstr("in 2ms"));
  EXPECT_THAT(nothing_found_text(result, {1, 0, "", true}), HasSubstr("stopped before"));
}

TEST(SearchReport, WhatIfShowsThreePlansWithTheirDifferences) {
  Found found;
  WhatIf what{{"rate A-B=1Gbps"}, found.result, found.result.plan, found.result, {}};
  const NetworkModel& network = found.fixture->network;
  EXPECT_THAT(whatif_text(network, network, what),
              AllOf(HasSubstr("change  rate A-B=1Gbps\n"), HasSubstr("+0.0 ms (+0.0 %)"),
                    HasSubstr("before: 10.0 % better"), HasSubstr("after:  10.0 % better")));
  const Json json = whatif_json(network, network, what);
  EXPECT_EQ(json["before"]["rounds"][0][0].size(), 3u);
  EXPECT_EQ(json["kept"], json["after"]);

  what.before = what.after = {};
  what.kept.reset();
  EXPECT_THAT(whatif_text(network, network, what), HasSubstr("no plan was found"));
  EXPECT_TRUE(whatif_json(network, network, what)["kept"].is_null());
}

}  // namespace
}  // namespace cotillion
