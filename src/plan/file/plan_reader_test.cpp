#include "plan/file/plan_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "plan/file/plan_file.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::random_map;
using testing::random_schedule;

constexpr const char* kMap = R"(
name = "four"
payload = "1GB"
defaults = { access = "20Gbps", rate = "100Gbps" }
islands = [{ name = "LON" }, { name = "NYC" }, { name = "TYO" }, { name = "SIN" }]
links = [
  { ends = ["LON", "NYC"], latency = "32ms" },
  { ends = ["NYC", "TYO"], latency = "70ms" },
  { ends = ["TYO", "SIN"], latency = "30ms" },
]
)";

std::string reader_refusal(const std::string& json) {
  const auto schedule = read_planned_schedule(json, "p.json", testing::map_of(kMap));
  if (schedule) return "";
  std::string text;
  for (const Diagnostic& diagnostic : schedule.error()) text += to_text(diagnostic) + "\n";
  return text;
}

// A plan whose only round has these cliques.
std::string round_of(const std::string& cliques) {
  return R"({"map": "four", "rounds": [{"cliques": [)" + cliques + "]}]}";
}

std::string written(const NetworkModel& network, const Schedule& schedule) {
  return to_json(network, make_plan(network, schedule), {}).dump(1);
}

TEST(PlanReader, WhatThePlannerWritesReadsBackAsTheSameRounds) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const int islands = 2 + int(seed % 11);
    const auto fixture = testing::fixture_of(random_map(islands, seed));
    const Schedule schedule = random_schedule(islands, 1 + int(seed % 5), seed);
    const auto again =
        read_planned_schedule(written(fixture->network, schedule), "p", fixture->map);
    ASSERT_TRUE(again) << "seed " << seed;
    EXPECT_EQ(again->rounds, schedule.rounds) << "seed " << seed;
    EXPECT_EQ(again->name, "random");
  }
}

TEST(PlanReader, WeightsSurviveToTheLastBit) {
  const auto fixture = testing::fixture_of(testing::map_of(kMap));
  const double third = 1.0 / 3, rest = 1 - third;
  const Schedule schedule{"weighted",
                          {completed({{{0, 2}, {rest, third, third, rest}}, {{1, 3}, {}}}, 4)}};
  const auto again = read_planned_schedule(written(fixture->network, schedule), "p", fixture->map);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->rounds, schedule.rounds);
}

TEST(PlanReader, WeightsMoveWithIslandsInAnotherOrder) {
  const auto schedule = read_planned_schedule(round_of(R"({"islands": ["SIN", "LON", "TYO"],
                   "weights": [[1, 0, 0], [0, 0.25, 0.75], [0, 0.75, 0.25]]},
                  {"islands": ["NYC"]})"),
                                              "p.json", testing::map_of(kMap));
  ASSERT_TRUE(schedule);
  const Clique expected{{0, 2, 3}, {0.25, 0.75, 0, 0.75, 0.25, 0, 0, 0, 1}};
  EXPECT_EQ(schedule->rounds[0].cliques[0], expected);
}

TEST(PlanReader, AnUnfinishedFileSaysWhereItEnds) {
  const auto fixture = testing::fixture_of(testing::map_of(kMap));
  const std::string whole = written(fixture->network, random_schedule(4, 2, 1));
  for (std::size_t size = 0; size < whole.size() - 1; size += 37)
    EXPECT_THAT(reader_refusal(whole.substr(0, size)),
                AllOf(HasSubstr("not valid JSON"), HasSubstr("cotillion plan -o")));
  EXPECT_THAT(reader_refusal("{\"rounds\":\n [oops"), HasSubstr("p.json:2:3: not valid JSON here"));
}

TEST(PlanReader, WhatIsNoPlanIsRefused) {
  EXPECT_THAT(reader_refusal("[]"), HasSubstr("not a plan"));
  EXPECT_THAT(reader_refusal("3"), HasSubstr("not a plan"));
  EXPECT_THAT(reader_refusal("{}"), HasSubstr("rounds: missing"));
  EXPECT_THAT(reader_refusal(R"({"rounds": 3})"), HasSubstr("rounds: not a list"));
  EXPECT_THAT(reader_refusal(R"({"rounds": []})"), HasSubstr("rounds: 0 rounds"));
  EXPECT_THAT(reader_refusal(R"({"rounds": [7]})"), HasSubstr("rounds[0]: not an object"));
  EXPECT_THAT(reader_refusal(R"({"rounds": [{}]})"), HasSubstr("rounds[0].cliques: missing"));
  EXPECT_THAT(reader_refusal(R"({"rounds": 1e999})"), HasSubstr("a number too large"));
  EXPECT_THAT(reader_refusal("\"\xff\""), HasSubstr("not valid JSON"));
}

TEST(PlanReader, BracketsThousandsDeepAreRefusedBeforeTheyAreBuilt) {
  EXPECT_THAT(reader_refusal(std::string(1'000'000, '[')),
              HasSubstr("p.json:1:33: nested more than 32 deep"));
  EXPECT_THAT(reader_refusal(R"({"rounds": "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\" ["})"),
              HasSubstr("rounds: not a list"));
}

TEST(PlanReader, EveryMistakeHasItsPath) {
  EXPECT_THAT(
      reader_refusal(round_of(R"({"islands": ["LON", "NIC", "TYO"]}, {"islands": ["SIN"]})")),
      HasSubstr("rounds[0].cliques[0].islands[1]: unknown island 'NIC'; did you mean "
                "'NYC'?"));
  EXPECT_THAT(reader_refusal(
                  round_of(R"({"islands": ["LON", "NYC"]}, {"islands": ["SIN", "TYO", "LON"]})")),
              HasSubstr("rounds[0].cliques[1].islands[2]: LON is twice in one round"));
  EXPECT_THAT(reader_refusal(round_of(R"({"islands": ["LON", 3]}, 5, {"islands": []}, {})")),
              AllOf(HasSubstr("rounds[0].cliques[0].islands[1]: not an island's name"),
                    HasSubstr("rounds[0].cliques[1]: not an object"),
                    HasSubstr("rounds[0].cliques[2].islands: an empty clique"),
                    HasSubstr("rounds[0].cliques[3].islands: missing")));
}

TEST(PlanReader, APlanForAnotherMapSaysForWhich) {
  EXPECT_THAT(
      reader_refusal(R"({"map": "Nine", "rounds": [{"cliques": [{"islands": ["Berlin"]}]}]})"),
      HasSubstr("unknown island 'Berlin'; this plan was made for the map 'Nine'"));
  EXPECT_THAT(reader_refusal(round_of(R"({"islands": ["LON", "NYC", "TYO"]})")),
              HasSubstr("rounds[0].cliques: SIN is in no clique; a plan places every island"));
}

TEST(PlanReader, WeightsThatDoNotAddUpAreRefused) {
  const auto weighted = [](const std::string& weights) {
    return reader_refusal(round_of(R"({"islands": ["LON", "NYC"], "weights": )" + weights +
                                   R"(}, {"islands": ["TYO"]}, {"islands": ["SIN"]})"));
  };
  EXPECT_EQ(weighted("null"), "");
  EXPECT_EQ(weighted("[[0.5, 0.5], [0.5, 0.5]]"), "");
  EXPECT_THAT(weighted("7"), HasSubstr("weights: not 2 rows of 2 numbers"));
  EXPECT_THAT(weighted("[[1, 0], [0]]"), HasSubstr("weights[1]: not a row of 2 numbers"));
  EXPECT_THAT(weighted("[[1, 0], [0, \"1\"]]"), HasSubstr("weights[1][1]: not a weight"));
  EXPECT_THAT(weighted("[[2, -1], [-1, 2]]"), HasSubstr("weights[0][0]: not a weight"));
  EXPECT_THAT(weighted("[[0.5, 0.5], [0.4, 0.6]]"), HasSubstr("weights[1][0]: not symmetric"));
  EXPECT_THAT(weighted("[[0.5, 0.4], [0.4, 0.6]]"), HasSubstr("the row adds up to 0.9, not to 1"));
}

}  // namespace
}  // namespace cotillion
