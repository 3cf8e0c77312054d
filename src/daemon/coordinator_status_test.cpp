#include "daemon/coordinator_status.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "plan/file/plan_file.hpp"
#include "tests/support/job/conversation.hpp"

namespace cotillion {
namespace {

using testing::Conversation;
using testing::ConversationSettings;
using testing::milliseconds;
using testing::Trouble;

class CoordinatorStatusTest : public ::testing::Test {
 protected:
  CoordinatorStatusTest() {
    Map map = testing::example_map("isosceles");
    map.payload = {2'000'000};
    plan_ = testing::written_plan(std::move(map), "pairs");
    settings_.hurry();
    settings_.coordinator.rounds = 100;
  }
  [[nodiscard]] CoordinatorStatus about() const {
    return {plan_.plan.map, "1.0", "abc", 100, {{0, 2'000'000}, "chrony", "stratum 3"}};
  }
  static double value(const Metrics& metrics, const std::string& name,
                      const MetricLabels& labels = {}) {
    for (const Metric& metric : metrics)
      if (metric.name == "cotillion_" + name && metric.labels == labels) return metric.value;
    ADD_FAILURE() << name;
    return -1;
  }
  testing::PlanAndText plan_;
  ConversationSettings settings_;
};

TEST_F(CoordinatorStatusTest, ShowsWhoIsThereAndWhoIsWaitedFor) {
  settings_.troubles = {Trouble::kNone, Trouble::kNeverJoins};
  Conversation conversation(plan_, settings_, 1);
  conversation.run(Instant{0} + milliseconds(3000));
  const Coordinator& coordinator = conversation.coordinator();
  const Json status = Json::parse(to_status(coordinator, about()));
  EXPECT_EQ(status["state"], "gathering");
  EXPECT_EQ(status["awaited"], Json({"edge of A"}));
  EXPECT_EQ(status["clock"]["error_ms"], 2.0);
  ASSERT_EQ(status["members"].size(), 6u);
  EXPECT_EQ(status["members"][0]["who"], "island A");
  EXPECT_EQ(status["members"][0]["address"], "host0:1");
  EXPECT_TRUE(status["members"][0]["clock_error_ms"].is_number());
  EXPECT_EQ(status["members"][1]["joined"], false);
  EXPECT_TRUE(status["members"][1]["clock_error_ms"].is_null());
  const Metrics metrics = to_metrics(coordinator, about());
  EXPECT_EQ(value(metrics, "coordinator_state", {{"state", "gathering"}}), 1);
  EXPECT_EQ(value(metrics, "coordinator_state", {{"state", "playing"}}), 0);
  EXPECT_EQ(value(metrics, "coordinator_members"), 6);
  EXPECT_EQ(value(metrics, "coordinator_members_joined"), 5);
  EXPECT_EQ(value(metrics, "coordinator_members_awaited"), 1);
  EXPECT_EQ(value(metrics, "clock_error_seconds"), 0.002);
  EXPECT_GT(value(metrics, "coordinator_member_clock_error_seconds",
                  {{"island", "A"}, {"role", "island"}}),
            0);
}

TEST_F(CoordinatorStatusTest, ShowsWhoIsLostAndWhy) {
  settings_.troubles = {Trouble::kNone, Trouble::kNone, Trouble::kDies};
  settings_.when = {Instant{0}, Instant{0}, Instant{0} + milliseconds(4500)};
  Conversation conversation(plan_, settings_, 1);
  conversation.run(Instant{0} + milliseconds(60'000));
  const Coordinator& coordinator = conversation.coordinator();
  ASSERT_EQ(coordinator.losses().size(), 1u);
  const Json status = Json::parse(to_status(coordinator, about()));
  EXPECT_EQ(status["losses"][0]["who"], "island B");
  EXPECT_NE(status["losses"][0]["reason"], "");
  EXPECT_EQ(status["members"][2]["lost"], true);
  const Metrics metrics = to_metrics(coordinator, about());
  EXPECT_EQ(value(metrics, "coordinator_members_lost_total"), 1);
  EXPECT_EQ(value(metrics, "coordinator_state", {{"state", status["state"]}}), 1);
}

}  // namespace
}  // namespace cotillion
