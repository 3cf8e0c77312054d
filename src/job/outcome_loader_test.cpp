#include "job/outcome_loader.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/random.hpp"
#include "tests/support/base/fuzz.hpp"
#include "tests/support/base/sanitized.hpp"
#include "tests/support/job/outcomes.hpp"
#include "tests/support/plan/json_pointers.hpp"

namespace cotillion {
namespace {

using testing::as_planned;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::lose_one;
using testing::made_from_plan;
using testing::small_plan;

Json outcome_of(int rounds = 2) {
  const PlanFile plan = small_plan();
  Outcome outcome = as_planned(plan, rounds);
  lose_one(outcome);
  outcome.exact =
      ExactOutcome{{RealDuration::from_ps(3e11), RealDuration::from_ps(2e11)},
                   ExactStaleness{RealDuration::from_ps(4e11), RealDuration::from_ps(3e11)},
                   5};
  return to_json(outcome_file(plan, std::move(outcome), made_from_plan()));
}

std::vector<std::string> refusals_of(const std::string& text) {
  const auto file = read_outcome(text, "o.json");
  std::vector<std::string> lines;
  if (file) return lines;
  testing::check_refusal(file.error());
  for (const Diagnostic& diagnostic : file.error()) lines.push_back(to_text(diagnostic));
  return lines;
}

// All that is said of the outcome when the value at this JSON pointer is another one.
std::string refusal_with(const char* pointer, const Json& value) {
  Json json = outcome_of();
  json[Json::json_pointer(pointer)] = value;
  return fmt::format("{}", fmt::join(refusals_of(json.dump()), "\n"));
}

void expect_round_trip(const Json& written) {
  const auto file = read_outcome(written.dump(1), "o.json");
  ASSERT_TRUE(file.has_value()) << to_text(file.error().front());
  EXPECT_EQ(to_json(*file).dump(1), written.dump(1));
}

TEST(OutcomeLoader, ReadsBackWhatWasWritten) {
  for (const int rounds : {0, 1, 2, 7}) {
    const PlanFile plan = small_plan();
    expect_round_trip(to_json(
        outcome_file(plan, as_planned(plan, rounds), made_from_plan(), OutcomeKind::kMeasured)));
  }
  expect_round_trip(outcome_of(5));
}

TEST(OutcomeLoader, KnowsWhatItRead) {
  const auto file = read_outcome(outcome_of().dump(), "o.json");
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->plan(), "sha256:0123456789abcdef");
  EXPECT_EQ(file->kind, OutcomeKind::kSimulated);
  EXPECT_EQ(file->period, 2u);
  ASSERT_EQ(file->islands.size(), 9u);
  ASSERT_EQ(file->outcome.rounds.size(), 2u);
  EXPECT_FALSE(file->outcome.rounds[0].cliques[0].complete);
  EXPECT_EQ(file->outcome.rounds[0].absences.size(), 2u);
  EXPECT_EQ(file->outcome.rounds[0].absences[0].chunks, 7u);
  EXPECT_EQ(file->outcome.edges[0].counters[EdgeCount::kTimeouts], 7u);
  EXPECT_EQ(file->outcome.senders[3].sent, 3000u);
  EXPECT_FALSE(holds(file->outcome));
}

// Times and counts of any size, absences and arrivals anywhere, rounds without Ŵ.
TEST(OutcomeLoader, AnyOutcomeComesBack) {
  const PlanFile plan = small_plan("pairs");
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    Outcome outcome = as_planned(plan, int(random.between(1, 12)));
    const auto any_time = [&] {
      return Duration{random.between(0, INT64_C(1) << random.between(0, 62))};
    };
    for (RoundOutcome& round : outcome.rounds) {
      round.measured = any_time();
      for (CliqueOutcome& clique : round.cliques) clique.measured = any_time();
      if (random.between(0, 4) == 0) round.mixing.clear();
      if (random.between(0, 2) == 0)
        round.absences.push_back(
            {{int(random.between(0, 8)), ChunkId(random.between(0, UINT32_MAX)),
              ChunkId(random.between(0, UINT32_MAX))},
             IslandId(random.between(0, 8))});
    }
    for (LaneOutcome& lane : outcome.lanes) {
      lane.bytes = {random.between(0, INT64_MAX)};
      lane.packets = std::uint64_t(random.between(0, INT64_MAX));
      lane.queue_longest = any_time();
    }
    if (random.between(0, 1) == 0) outcome.edges.resize(std::size_t(random.between(0, 9)));
    if (random.between(0, 1) == 0) {
      outcome.exact.emplace().planned = {
          RealDuration::from_ps(double(random.between(0, 1'000'000))), RealDuration::from_ps(12.5)};
      if (random.between(0, 1) == 0)
        outcome.exact->lived = {RealDuration::from_ps(3e11), RealDuration::from_ps(1e11 / 3)};
      outcome.exact->rounds_needed = std::size_t(random.between(1, 1'000'000));
    }
    outcome.senders[0].slipped_ps = std::uint64_t(any_time().ps);
    outcome.senders[1].late_ps = std::uint64_t(random.between(0, INT64_C(1) << 50));
    expect_round_trip(to_json(outcome_file(plan, std::move(outcome), made_from_plan())));
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

// What follows from other fields is not read; nor are names of inputs and settings.
bool is_unread(const std::string& pointer) {
  static const std::set<std::string> kUnread = {"/holds", "/loss/total", "/loss/disagreement",
                                                "/loss/drift"};
  return kUnread.contains(pointer) || pointer.starts_with("/inputs/") ||
         pointer.starts_with("/settings/");
}

TEST(OutcomeLoader, EveryFieldIsMissedAndNothingElseIsTakenForIt) {
  const Json sound = outcome_of();
  const std::vector<std::string> pointers = testing::pointers_of(sound, is_unread);
  ASSERT_GT(pointers.size(), 150u);
  int tried = 0;
  for (const std::string& text : pointers) {
    const Json::json_pointer pointer(text);
    Json json = sound;
    if (testing::kSanitized && tried++ % 6 != 0) continue;
    if (json[pointer.parent_pointer()].is_object()) {
      json[pointer.parent_pointer()].erase(pointer.back());
      EXPECT_THAT(refusals_of(json.dump()), Contains(HasSubstr(pointer.back()))) << text;
    }
    for (const Json& value : {Json(nullptr), Json(-1), Json(Json::array({5})), Json::object()}) {
      if (text == "/settings" && value.is_object()) continue;  // there need not be any
      if (text == "/exact" && value.is_null()) continue;       // nobody counted
      json = sound;
      json[pointer] = value;
      EXPECT_THAT(refusals_of(json.dump()), ::testing::Not(IsEmpty()))
          << text << " as " << value.dump();
    }
  }
}

TEST(OutcomeLoader, MistakesAreToldWithPathAndRemedy) {
  EXPECT_EQ(refusal_with("/kind", "measured"), "");
  EXPECT_THAT(refusal_with("/kind", "guessed"),
              HasSubstr("o.json: kind: unknown kind 'guessed'; use simulated or measured"));
  EXPECT_THAT(refusal_with("/rounds/1/cliques/0/islands/1", "TYP"),
              HasSubstr("rounds[1].cliques[0].islands[1]: unknown island 'TYP'; did you mean"));
  EXPECT_THAT(refusal_with("/rounds/0/absences/0/from", "the moon"),
              HasSubstr("rounds[0].absences[0].from: unknown island 'the moon'; name islands as"));
  EXPECT_THAT(refusal_with("/rounds/0/cliques/1/measured_ms", -0.5),
              HasSubstr("rounds[0].cliques[1].measured_ms: -0.5 is not between 0 and"));
  EXPECT_THAT(refusal_with("/rounds/0/cliques/1/measured_ms", 1e-10),
              HasSubstr("no whole number of picoseconds; give the file that cotillion simulate"));
  EXPECT_THAT(refusal_with("/rounds/0/cliques/0/islands", {"TYO", "TYO", "SIN"}),
              HasSubstr("TYO is twice in one round"));
  EXPECT_THAT(refusal_with("/rounds/0/cliques/0/islands", {"TYO"}),
              HasSubstr("is in no clique; an outcome places every island"));
  EXPECT_THAT(refusal_with("/rounds/1/round", 1), HasSubstr("rounds[1].round: 1 after 1"));
  EXPECT_THAT(refusal_with("/rounds/1/mixing/2/2", 0.9),
              HasSubstr("rounds[1].mixing[2]: the row adds up to"));
  EXPECT_THAT(refusal_with("/rounds/1/mixing", {{1}}),
              HasSubstr("rounds[1].mixing: 1 row; there must be 9, or none"));
  EXPECT_THAT(refusal_with("/islands/1/island", "TYO"), HasSubstr("duplicate name 'TYO'"));
  EXPECT_THAT(refusal_with("/edges/1/island", "TYO"), HasSubstr("edges[1].island: out of order"));
  EXPECT_THAT(refusal_with("/links/1/lane", 0), HasSubstr("links[1].lane: out of order"));
  EXPECT_THAT(refusal_with("/edges/0/counters/results", -3),
              HasSubstr("edges[0].counters.results: -3 is not between 0 and"));
  EXPECT_THAT(refusal_with("/inputs", {{"map", "sha256:1"}}),
              HasSubstr("inputs: no plan among them; an outcome says which plan was played"));
  EXPECT_THAT(refusal_with("/rounds", std::vector<int>(1'000'001, 5)),
              HasSubstr("1000001 rounds; an outcome has between 0 and 1000000"));
}

TEST(OutcomeLoader, WhatIsNoOutcomeIsToldSo) {
  const std::string text = outcome_of().dump();
  for (std::size_t size = 0; size < text.size() - 1; size += 97)
    EXPECT_THAT(refusals_of(text.substr(0, size)),
                ElementsAre(HasSubstr("not valid JSON: it ends too soon; give the file that "
                                      "cotillion simulate -o wrote")));
  EXPECT_THAT(refusals_of("[1]"), ElementsAre(HasSubstr("not an outcome: no JSON object")));
  EXPECT_THAT(refusals_of("{}"), ElementsAre(HasSubstr("kind: missing: not an outcome; give the")));
  EXPECT_THAT(refusals_of(R"({"network": {}, "rounds": []})"),
              ElementsAre(HasSubstr("a plan, not an outcome; play it first: cotillion simulate")));
  EXPECT_THAT(refusals_of(std::string(1'000'000, '[')), Contains(HasSubstr("nested more than")));
  Json json = outcome_of();
  for (int i = 0; i < 3000; ++i) json[fmt::format("unknown {}", i)] = i;
  EXPECT_THAT(refusals_of(json.dump()), IsEmpty());
}

TEST(OutcomeFile, LanesStandBesideWhatThePlanHasForThem) {
  const PlanFile plan = small_plan();
  Outcome outcome = as_planned(plan, 3);
  const LaneId silent = outcome.lanes.back().lane;
  outcome.lanes.pop_back();
  const OutcomeFile file =
      outcome_file(plan, complete_outcome(plan, std::move(outcome)), made_from_plan());
  ASSERT_EQ(file.lanes.size(), file.outcome.lanes.size());
  bool found = false;
  for (std::size_t i = 0; i < file.lanes.size(); ++i) {
    const LaneOutcome& lane = file.outcome.lanes[i];
    EXPECT_EQ(file.lanes[i].from, lane_from(plan.map, lane.lane));
    EXPECT_GT(lane.bytes_planned.count, 0);
    if (lane.lane == silent)
      found = true;
    else
      EXPECT_EQ(lane.bytes, lane.bytes_planned);
  }
  EXPECT_TRUE(found);
}

TEST(OutcomeFile, WithoutLossTheRealisedLossIsThePlans) {
  const PlanFile plan = small_plan("regional");
  OutcomeFile file = outcome_file(plan, as_planned(plan, 9), made_from_plan());
  EXPECT_NEAR(file.loss()->total, file.outcome.planned_loss, 1e-12);
  EXPECT_GT(file.outcome.planned_loss, 8);
  lose_one(file.outcome);
  EXPECT_GT(file.loss()->drift, 0);
  file.outcome.rounds[4].mixing.clear();
  EXPECT_FALSE(file.loss().has_value());
  EXPECT_TRUE(to_json(file)["loss"]["total"].is_null());
}

}  // namespace
}  // namespace cotillion
