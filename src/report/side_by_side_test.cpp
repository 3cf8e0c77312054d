#include "job/side_by_side.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "job/complete_outcome.hpp"
#include "report/side_by_side_report.hpp"
#include "report/side_by_side_study.hpp"
#include "report/svg_test.hpp"
#include "tests/support/job/outcomes.hpp"

namespace cotillion {
namespace {

using testing::as_planned;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kFourMicroseconds;
using testing::lose_one;
using testing::made_from_plan;
using testing::small_plan;

NamedOutcome named(const std::string& name, OutcomeKind kind, Outcome outcome,
                   const std::vector<std::pair<std::string, std::string>>& with = {},
                   const PlanFile& plan = small_plan(), const std::string& hash = "sha256:a") {
  Provenance made_by = made_from_plan(hash);
  made_by.inputs.insert(made_by.inputs.end(), with.begin(), with.end());
  return {name, outcome_file(plan, std::move(outcome), made_by, kind)};
}

// Simulated without faults and with them, and measured.
std::vector<NamedOutcome> three() {
  const PlanFile plan = small_plan();
  Outcome rough = as_planned(plan, 2);
  lose_one(rough);
  return {named("measured.json", OutcomeKind::kMeasured, as_planned(plan, 6)),
          named("rough.json", OutcomeKind::kSimulated, rough, {{"faults", "sha256:f"}}),
          named("plain.json", OutcomeKind::kSimulated, as_planned(plan, 2))};
}

TEST(Spread, IsMedianAndEnds) {
  EXPECT_EQ(spread_of({}).count, 0u);
  EXPECT_EQ(spread_of({{5}}).median, Duration{5});
  const Spread four = spread_of({{9}, {1}, {4}, {2}});
  EXPECT_EQ(four.median, Duration{3});
  EXPECT_EQ(four.least, Duration{1});
  EXPECT_EQ(four.most, Duration{9});
}

TEST(SideBySide, SimulatedStandsBeforeMeasuredAndFaultsApart) {
  const auto outcomes = three();
  const auto plans = side_by_side(outcomes);
  ASSERT_TRUE(plans.has_value());
  ASSERT_EQ(plans->size(), 1u);
  const SideBySide& sides = plans->front();
  ASSERT_EQ(sides.columns.size(), 3u);
  EXPECT_EQ(sides.columns[0].title, "simulated");
  EXPECT_EQ(sides.columns[1].title, "simulated, faults");
  EXPECT_EQ(sides.columns[2].title, "measured");
  EXPECT_EQ(sides.columns[2].rounds, 6u);
  EXPECT_EQ(sides.cliques.size(), 6u);
  EXPECT_EQ(sides.edges.size(), 9u);
  EXPECT_EQ(sides.mixing.size(), 6u);
}

TEST(SideBySide, RoundsOfOnePhaseShareARow) {
  const auto outcomes = three();
  const auto plans = side_by_side(outcomes);
  for (const CliqueRow& clique : plans->front().cliques) {
    // Rounds 1, 3, 5 or 2, 4, 6; each later by four microseconds times its number.
    const Spread& times = clique.seen[2].time;
    EXPECT_EQ(times.count, 3u);
    const auto first = std::int64_t(clique.phase + 1);
    EXPECT_EQ(times.least - clique.planned, Duration{first * kFourMicroseconds.ps});
    EXPECT_EQ(times.median - clique.planned, Duration{(first + 2) * kFourMicroseconds.ps});
    EXPECT_EQ(times.most - clique.planned, Duration{(first + 4) * kFourMicroseconds.ps});
  }
}

TEST(SideBySide, SaysWhoIsMissing) {
  const auto outcomes = three();
  const auto plans = side_by_side(outcomes);
  const CliqueRow& clique = plans->front().cliques[0];
  EXPECT_EQ(clique.seen[0].incomplete, 0u);
  EXPECT_EQ(clique.seen[1].incomplete, 1u);
  ASSERT_EQ(clique.seen[1].missing.size(), 1u);
  EXPECT_EQ(clique.seen[1].missing[0].contributor, clique.islands[1]);
  EXPECT_EQ(clique.seen[1].missing[0].chunks, 14u);  // seven at each of two members
  EXPECT_THAT(side_by_side_text(plans->front(), true), HasSubstr("lacks HKG 14 chunks"));
}

TEST(SideBySide, SeedsShareAColumnAndSettingsDoNot) {
  const PlanFile plan = small_plan();
  auto one = named("1.json", OutcomeKind::kSimulated, as_planned(plan, 2));
  auto two = named("2.json", OutcomeKind::kSimulated, as_planned(plan, 4));
  auto patient = named("3.json", OutcomeKind::kSimulated, as_planned(plan, 2));
  two.file.made_by.seed = 77;
  patient.file.outcome.settings[1].second = "5ms";
  const std::vector<NamedOutcome> outcomes{one, two, patient};
  const auto plans = side_by_side(outcomes);
  const SideBySide& sides = plans->front();
  ASSERT_EQ(sides.columns.size(), 2u);
  EXPECT_EQ(sides.columns[0].rounds, 6u);
  EXPECT_EQ(sides.columns[1].title, "simulated 2");
  // Whatever the number of rounds, a link carries the same in each of them.
  for (const LaneRow& lane : sides.lanes)
    for (const LaneSeen& seen : lane.seen) {
      EXPECT_DOUBLE_EQ(seen.of_planned, 1);
      EXPECT_DOUBLE_EQ(seen.bytes, lane.planned);
    }
}

TEST(SideBySide, PlansAreToldApartByTheirHash) {
  const PlanFile pairs = small_plan("pairs");
  const std::vector<NamedOutcome> outcomes{
      named("1.json", OutcomeKind::kSimulated, as_planned(small_plan(), 2)),
      named("2.json", OutcomeKind::kSimulated, as_planned(pairs, 2), {}, pairs, "sha256:b")};
  const auto plans = side_by_side(outcomes);
  ASSERT_EQ(plans->size(), 2u);
  EXPECT_EQ((*plans)[1].schedule, "pairs");
  const IllustratedPage page = study_outcomes(*plans, "tests.");
  EXPECT_EQ(page.figures.front().name, "plan-1-cliques");
  EXPECT_THAT(page.page.sections.back().heading, HasSubstr("(plan 2: pairs)"));
}

TEST(SideBySide, OutcomesThatContradictEachOtherAreRefused) {
  const PlanFile pairs = small_plan("pairs");
  const std::vector<NamedOutcome> outcomes{
      named("1.json", OutcomeKind::kSimulated, as_planned(small_plan(), 2)),
      named("2.json", OutcomeKind::kSimulated, as_planned(pairs, 2), {}, pairs)};
  const auto plans = side_by_side(outcomes);
  ASSERT_FALSE(plans.has_value());
  EXPECT_EQ(to_text(plans.error().front()),
            "2.json: schedule: not as in 1.json, though both name the same plan; give outcomes as "
            "they were written");
}

TEST(SideBySideText, PutsPlannedSimulatedAndMeasuredInOneLine) {
  const auto outcomes = three();
  const auto plans = side_by_side(outcomes);
  const Rows rows = cliques_table(plans->front());
  EXPECT_THAT(rows[0], ElementsAre("round", "clique", "planned ms", "whole packets", "simulated ms",
                                   "later by", "", "simulated, faults ms", "later by", "",
                                   "measured ms", "from–to", "later by", ""));
  EXPECT_EQ(rows[1][3], "4.588 µs");  // 8 KiB on three links of 100 Gbps and the last of 20 Gbps
  EXPECT_EQ(rows[1][5], "4 µs");
  EXPECT_EQ(rows[1][6], "complete");
  EXPECT_EQ(rows[1][12], "12 µs");
  const std::string text = side_by_side_text(plans->front(), true);
  for (const char* words : {"plan sha256:a", "put out by deadline", "longest queue",
                            "measured: Ŵ is the plan's W", "in the averages of TYO HKG SIN"})
    EXPECT_THAT(text, HasSubstr(words));
}

TEST(SideBySideText, SaysHowLateAnEmulatorWas) {
  const PlanFile plan = small_plan();
  Outcome outcome = as_planned(plan, 2);
  for (LaneOutcome& lane : outcome.lanes) {
    lane.late_median = {20'000'000};
    lane.late_p99 = {300'000'000};
    lane.late_most = {1'000'000'000};
  }
  const std::vector<NamedOutcome> outcomes{
      named("s.json", OutcomeKind::kSimulated, as_planned(plan, 2)),
      named("m.json", OutcomeKind::kMeasured, complete_outcome(plan, std::move(outcome)))};
  const auto plans = side_by_side(outcomes);
  const SideBySide& sides = plans->front();
  const Rows cliques = cliques_table(sides);
  EXPECT_THAT(cliques[0],
              ElementsAre("round", "clique", "planned ms", "whole packets", "simulated ms",
                          "later by", "", "measured ms", "later by", "emulator", ""));
  EXPECT_EQ(cliques[1][9], "80 µs");  // on four links
  const Rows lanes = lanes_table(sides, busiest(sides, 1));
  EXPECT_THAT(lanes[0], ElementsAre("link", "a packet", "planned a round", "simulated",
                                    "longest queue", "lost", "measured", "longest queue", "lost",
                                    "emulator late p50", "p99", "most"));
  EXPECT_EQ(lanes[1][9], "20 µs");
  EXPECT_EQ(lanes[1][10], "300 µs");
  EXPECT_EQ(lanes[1][11], "1.0 ms");
  const RowChart figure = lanes_figure(sides);
  ASSERT_EQ(figure.panels.size(), 3u);
  testing::expect_sound(row_chart_svg(figure));
}

TEST(SideBySideText, WhatNeverCameIsADash) {
  const PlanFile plan = small_plan();
  Outcome outcome = as_planned(plan, 1);
  lose_one(outcome);
  outcome.rounds[0].cliques[0].measured = {0};
  const std::vector<NamedOutcome> outcomes{
      named("1.json", OutcomeKind::kMeasured, std::move(outcome))};
  const auto plans = side_by_side(outcomes);
  const Rows rows = cliques_table(plans->front());
  EXPECT_EQ(rows[1][4], "–");
  EXPECT_EQ(rows[1][5], "–");
  EXPECT_EQ(rows[1][6], "lacks HKG 14 chunks");
}

TEST(SideBySideJson, HasAColumnForEachAndAllOfIt) {
  const auto outcomes = three();
  const auto plans = side_by_side(outcomes);
  const Json json = to_json(plans->front());
  EXPECT_EQ(json["columns"][2]["kind"], "measured");
  EXPECT_EQ(json["cliques"].size(), 6u);
  EXPECT_EQ(json["cliques"][0]["seen"].size(), 3u);
  EXPECT_NEAR(double(json["cliques"][0]["seen"][2]["later_ms"]), 0.012, 1e-9);
  EXPECT_EQ(json["cliques"][0]["seen"][1]["missing"][0]["from"], "HKG");
  EXPECT_EQ(json["mixing"][0]["matrix"].size(), 9u);
  EXPECT_EQ(json["edges"][0]["seen"][1]["counters"]["timeouts"], 7);
}

TEST(SideBySideStudy, DrawsEverythingAndThePageHoldsIt) {
  const auto outcomes = three();
  const auto plans = side_by_side(outcomes);
  const IllustratedPage page = study_outcomes(*plans, "tests.");
  std::vector<std::string> names;
  for (const NamedFigure& figure : page.figures) {
    names.push_back(figure.name);
    testing::expect_sound(figure.svg);
  }
  EXPECT_THAT(names, ElementsAre("cliques", "rounds", "arrivals", "memory", "links", "mixing-1",
                                 "mixing-2", "mixing-3"));
  const std::string html = page_html(page.page);
  EXPECT_THAT(html, HasSubstr("<h2 id=\"s2\">Clique by clique</h2>"));
  EXPECT_THAT(html, HasSubstr("simulated, faults ms"));
}

TEST(SideBySideStudy, OfManyCliquesThoseFurthestOffAreDrawn) {
  const PlanFile plan = small_plan("pairs");
  Outcome outcome = as_planned(plan, int(plan.plan.rounds.size()));
  const std::vector<NamedOutcome> outcomes{
      named("1.json", OutcomeKind::kSimulated, std::move(outcome), {}, plan)};
  const auto plans = side_by_side(outcomes);
  const SideBySide& sides = plans->front();
  const RowChart chart = arrivals_figure(sides);
  EXPECT_EQ(chart.rows.size(), std::min<std::size_t>(40, sides.arrivals.size()));
  EXPECT_EQ(chart.panels.size(), 2u);
  testing::expect_sound(row_chart_svg(cliques_figure(sides)));
}

}  // namespace
}  // namespace cotillion
