// What a plan tells an edge of its last hop.
#include "job/roles.hpp"

#include <gtest/gtest.h>

#include "tests/support/job/conversation.hpp"

namespace cotillion {
namespace {

TEST(Roles, AnEdgeKnowsTheSlowestLaneToItsIsland) {
  Map map = testing::example_map("isosceles");
  map.islands[1].down = {3e9};
  for (Aggregator& aggregator : map.aggregators) aggregator.spec.framing = {66};
  const auto plan = testing::written_plan(std::move(map), "all-to-all");
  const auto assignment = JobAssignment::make(plan.plan, {});
  ASSERT_TRUE(assignment.has_value()) << assignment.error().message;
  EXPECT_EQ(edge_role(plan.plan, *assignment, {}, 1).last_hop, BitsPerSecond{3e9});
  EXPECT_EQ(edge_role(plan.plan, *assignment, {}, 1).framing, Bytes{66});
}

}  // namespace
}  // namespace cotillion
