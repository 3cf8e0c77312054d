// Plans that are not what a planner writes: each mistake is told with its path and a remedy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/base/sanitized.hpp"
#include "tests/support/plan/plan_refusals.hpp"

namespace cotillion {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::plan_of;
using testing::refusal_with;
using testing::refusals_of;

TEST(PlanRefusal, TheUntouchedPlanIsRead) {
  EXPECT_THAT(refusals_of(plan_of().dump()), IsEmpty());
  EXPECT_THAT(refusals_of(plan_of({{false, false}, true}).dump()), IsEmpty());
}

TEST(PlanRefusal, TreesThatAreNoneAreRefused) {
  // A's stream to B and C: up lane 10, then A→B (0) and B→C (2).
  const char* const tree = "/rounds/0/cliques/0/streams/0/tree";
  ASSERT_EQ(plan_of()[Json::json_pointer(tree)], (Json{10, 0, 2}));
  const std::string field = "rounds[0].cliques[0].streams[0].tree";
  EXPECT_EQ(refusal_with(tree, {10, 2, 0}), "");
  EXPECT_THAT(refusal_with(tree, {12, 0, 2}), HasSubstr(field + "[0]: lane 12 where 10 begins"));
  EXPECT_THAT(refusal_with(tree, {0, 2}), HasSubstr(field + "[0]: lane 0 where 10 begins"));
  EXPECT_THAT(refusal_with(tree, {10, 0, 2, 2}),
              HasSubstr(field + "[3]: lane 2 leads to C a second"));
  EXPECT_THAT(refusal_with(tree, {10, 0, 2, 10}), HasSubstr(field + "[3]: lane 10 is an access"));
  EXPECT_THAT(refusal_with(tree, {10, 0, 2, 1}), HasSubstr(field + "[3]: lane 1 leads to A a sec"));
  EXPECT_THAT(refusal_with(tree, {10, 0, 18}),
              HasSubstr(field + "[2]: 18 is not between 0 and 17"));
  EXPECT_THAT(refusal_with(tree, {10, 0, -1}),
              HasSubstr(field + "[2]: -1 is not between 0 and 17"));
  EXPECT_THAT(refusal_with(tree, {10, 0}),
              HasSubstr(field + ": does not lead to C, where streams for C meet; a tree is"));
  EXPECT_THAT(refusal_with(tree, {10, 2}), HasSubstr(field + ": does not lead to B"));
  // C→hub (4): a branch without a receiver. hub→C and C→hub alone: a circle that nobody enters.
  EXPECT_THAT(refusal_with(tree, {10, 0, 2, 4}),
              HasSubstr(field + "[3]: lane 4 leads to no receiver"));
  EXPECT_THAT(refusal_with(tree, {10, 0, 5, 4}), HasSubstr("does not lead to C"));
  EXPECT_THAT(refusal_with(tree, Json::array()), HasSubstr(field + ": 0 lanes"));
  EXPECT_THAT(refusal_with(tree, std::vector<int>(100'000, 2)),
              HasSubstr(field + ": 100000 lanes"));
}

TEST(PlanRefusal, CopiesAndLatenciesFollowFromTheTree) {
  EXPECT_THAT(
      refusal_with("/rounds/0/cliques/0/streams/0/copies/1", 2),
      HasSubstr("rounds[0].cliques[0].streams[0].copies[1]: 2 copies where 1 belong; with"));
  EXPECT_THAT(refusal_with("/rounds/0/cliques/0/streams/0/copies/1", 1, {{false, true}}),
              HasSubstr("streams[0].copies[1]: 1 copies where 2 belong; without multicast"));
  EXPECT_THAT(refusal_with("/rounds/0/cliques/0/streams/0/receivers/1/latency_ms", 29.5),
              HasSubstr("receivers[1].latency_ms: the lanes on its way take 29 ms"));
  // By way of the hub, where D's streams meet, and on to D from there.
  ASSERT_EQ(plan_of()["network"]["islands"][3]["ingress"], (Json{6, 17}));
  EXPECT_THAT(
      refusal_with("/network/islands/3/ingress", {17}),
      HasSubstr("network.islands[3].ingress[0]: lane 17 does not go on from hub; list the"));
  EXPECT_THAT(refusal_with("/network/islands/3/ingress", {6}),
              HasSubstr("ingress[0]: lane 6 does"));
  EXPECT_THAT(refusal_with("/network/islands/3/ingress", {5, 4, 6, 17}),
              HasSubstr("ingress[1]: lane"));
  EXPECT_THAT(refusal_with("/network/islands/3/ingress_ms", 4), HasSubstr("its lanes take 3 ms"));
  EXPECT_THAT(refusal_with("/network/islands/3/summed_at", "D"),
              HasSubstr("network.islands[3].summed_at: 'D' is not where its edge stands"));
  EXPECT_THAT(refusal_with("/network/lanes/2/latency_ms", 25), HasSubstr("take 30 ms"));
}

TEST(PlanRefusal, RoundsArePartitions) {
  EXPECT_THAT(refusal_with("/rounds/1/cliques/1/islands", {"B", "A"}),
              HasSubstr("rounds[1].cliques[1].islands[1]: A is twice in one round"));
  EXPECT_THAT(refusal_with("/rounds/1/cliques/1/islands", {"B"}),
              HasSubstr("rounds[1].cliques: C is in no clique"));
  EXPECT_THAT(refusal_with("/rounds/1/cliques/1/islands", {"C", "B"}),
              HasSubstr("rounds[1].cliques[1].islands: not in the order of network.islands"));
  EXPECT_THAT(refusal_with("/rounds/1/cliques/1/islands/0", "Berlin"),
              HasSubstr("unknown island 'Berlin'; name islands as network.islands does"));
  EXPECT_THAT(refusal_with("/rounds/1/cliques/0/streams/1/sender", "A"),
              HasSubstr("rounds[1].cliques[0].streams[1].sender: A where D belongs"));
  EXPECT_THAT(refusal_with("/rounds/1/cliques/0/streams/1/receivers/0/island", "C"),
              HasSubstr("streams[1].receivers[0].island: C where A belongs"));
  EXPECT_THAT(refusal_with("/rounds/0/cliques/0/weights", {{1, 0}, {0, 1}}),
              HasSubstr("rounds[0].cliques[0].weights: not 3 rows of 3 numbers"));
}

TEST(PlanRefusal, WhatIsSaidTwiceMustAgree) {
  EXPECT_THAT(refusal_with("/feasible", false), HasSubstr("null"));
  EXPECT_THAT(refusal_with("/runnable", false), HasSubstr("runnable: false, but cliques say"));
  EXPECT_THAT(refusal_with("/rounds/0/cliques/0/runnable", false), HasSubstr("not so: 3 members"));
  EXPECT_THAT(refusal_with("/round_ms", 1), HasSubstr("round_ms: 1 ms, not"));
  EXPECT_THAT(refusal_with("/rounds/0/planned_ms", 1),
              HasSubstr("rounds[0].planned_ms: 1 ms, not"));
  EXPECT_THAT(refusal_with("/rounds/1/start_ms", 1), HasSubstr("the round before ends at"));
  EXPECT_THAT(refusal_with("/rounds/1/length_ms", 1), HasSubstr("shorter than planned_ms"));
  EXPECT_THAT(refusal_with("/rounds/0/cliques/0/offset_ms/1", 1),
              HasSubstr("offset_ms[1]: 1 ms, not"));
  EXPECT_THAT(refusal_with("/payload_bytes", 7), HasSubstr("1000000000 bytes, not 7"));
  EXPECT_THAT(refusal_with("/network/lanes/1/from", "C"),
              HasSubstr("lanes[1].from: 'C' where 'B'"));
  EXPECT_THAT(refusal_with("/network/lanes/10/to", "hub"), HasSubstr("'hub' where 'net' belongs"));
  EXPECT_THAT(refusal_with("/network/lanes/2/kind", "access"), HasSubstr("'access' where 'link'"));
  EXPECT_THAT(refusal_with("/network/routers/0/name", "A"), HasSubstr("duplicate name 'A'"));
  EXPECT_THAT(refusal_with("/network/aggregators/1/serves/0", "D"),
              HasSubstr("D has an edge already"));
}

TEST(PlanRefusal, AMapThatFallsApartIsRefused) {
  Json json = plan_of();
  json["network"]["routers"].push_back({{"name", "lost"}, {"coordinates", nullptr}});
  EXPECT_THAT(refusals_of(json.dump()),
              ElementsAre(HasSubstr("network.lanes: disconnected map: no path from A to lost")));
  EXPECT_THAT(refusal_with("/network/lanes/0/latency_ms", 1000.5), HasSubstr("between 0 and 1000"));
  EXPECT_THAT(refusal_with("/network/lanes/0/rate_gbps", 0), HasSubstr("lanes[0].rate_gbps: zero"));
  EXPECT_THAT(refusal_with("/network/edge/slot_bytes", 8191),
              HasSubstr("between 8192 and 16777216"));
  EXPECT_THAT(refusal_with("/payload_bytes", 900'000'000'000'000), HasSubstr("more than 100 TB"));
  EXPECT_THAT(refusal_with("/payload_bytes", 7, {{}, true}), HasSubstr("an odd number of bytes"));
}

TEST(PlanRefusal, AllMistakesAreToldUpToAThousand) {
  Json json = plan_of();
  json["seed"] = -1;
  json["network"]["lanes"][0]["rate_gbps"] = -1;
  json["rounds"][0]["cliques"][0]["islands"][0] = "Z";
  json["certificate"]["constraints"] = "many";
  EXPECT_THAT(refusals_of(json.dump()),
              ElementsAre(HasSubstr("seed"), HasSubstr("network.lanes[0].rate_gbps"),
                          HasSubstr("cliques[0].islands[0]"), HasSubstr("certificate.")));
  json = plan_of();
  json["rounds"] = std::vector<int>(4096, 5);
  EXPECT_THAT(refusals_of(json.dump()), ::testing::SizeIs(1000));
}

TEST(PlanRefusal, LongListsAndDeepOnesCostLittle) {
  constexpr int kMany = testing::kSanitized ? 100'000 : 1'000'000;
  EXPECT_THAT(refusal_with("/rounds", std::vector<int>(3 * kMany, 5)),
              HasSubstr(fmt::format("{} rounds", 3 * kMany)));
  EXPECT_THAT(
      refusal_with("/network/islands", std::vector<int>(kMany, 5)),
      HasSubstr(fmt::format("network.islands: {} islands; a plan has between 1 and 4096", kMany)));
  EXPECT_THAT(refusal_with("/survival/0/absolute", std::vector<int>(65, 0)),
              HasSubstr("65 numbers"));
  EXPECT_THAT(refusals_of(std::string(1'000'000, '[')),
              Contains(HasSubstr("nested more than 32 deep")));
  EXPECT_THAT(refusals_of(std::string((64u << 20) + 1, ' ')),
              Contains(HasSubstr("larger than 64 MiB")));
  std::string inputs = R"({"inputs": {)";
  for (int i = 0; i < kMany / 3; ++i) inputs += fmt::format("\"{}\": \"\",", i);
  EXPECT_THAT(refusals_of(inputs + R"("": ""}})"), Contains(HasSubstr("more than 64 inputs")));
  Json json = plan_of();
  for (int i = 0; i < 3000; ++i) json[fmt::format("unknown {}", i)] = i;
  EXPECT_THAT(refusals_of(json.dump()), IsEmpty());
}

TEST(PlanRefusal, WhatIsNoNumberIsNoPlan) {
  std::string text = plan_of().dump();
  for (std::size_t size = 0; size < text.size() - 1; size += 101)
    EXPECT_THAT(refusals_of(text.substr(0, size)), Contains(HasSubstr("not valid JSON")));
  const std::size_t at = text.find("\"slack_ms\":") + 11;
  for (const char* number : {"NaN", "Infinity", "1e999", "-1e999", "0x10", "1.", "٣"})
    EXPECT_THAT(refusals_of(text.substr(0, at) + number + text.substr(text.find(',', at))),
                Contains(HasSubstr("not valid JSON")))
        << number;
  EXPECT_THAT(refusals_of("[1]"), Contains(HasSubstr("not a plan: no JSON object")));
}

}  // namespace
}  // namespace cotillion
