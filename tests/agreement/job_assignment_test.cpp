// The parts that members take from the coordinator's conversation are those that the simulator
// plays: same streams, same deadlines, same slots, counted from round one.
#include <gtest/gtest.h>

#include "tests/support/job/conversation.hpp"

namespace cotillion {
namespace {

using testing::milliseconds;

void expect_same(const RoundSpec& a, const RoundSpec& b) {
  EXPECT_EQ(a.round, b.round);
  EXPECT_EQ(a.epoch, b.epoch);
  EXPECT_EQ(a.clique, b.clique);
  EXPECT_EQ(a.members, b.members);
  EXPECT_EQ(a.own, b.own);
  EXPECT_EQ(a.expected, b.expected);
  EXPECT_EQ(a.weight, b.weight);
  EXPECT_EQ(a.coefficient, b.coefficient);
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.first_deadline, b.first_deadline);
  EXPECT_EQ(a.last_deadline, b.last_deadline);
}

void expect_same(const RoundAssignment& a, const RoundAssignment& b) {
  EXPECT_EQ(a.clique, b.clique);
  expect_same(a.spec, b.spec);
  expect_same(a.receiver.spec, b.receiver.spec);
  EXPECT_EQ(a.receiver.merge_at, b.receiver.merge_at);
  EXPECT_EQ(a.receiver.grace, b.receiver.grace);
  ASSERT_EQ(a.sends, b.sends);
  EXPECT_EQ(a.stream.bit, b.stream.bit);
  EXPECT_EQ(a.stream.weight_sum, b.stream.weight_sum);
  EXPECT_EQ(a.stream.start, b.stream.start);
  EXPECT_EQ(a.stream.offset, b.stream.offset);
  EXPECT_EQ(a.stream.rate, b.stream.rate);
}

TEST(JobAssignment, MembersAreGivenThePartsThatTheSimulatorPlays) {
  Map map = testing::with_memory(testing::example_map("nine-cities"), {0});
  map.payload = {20'000'000};
  const auto plan = testing::written_plan(std::move(map), "triangles");
  testing::ConversationSettings settings;
  settings.hurry();
  settings.coordinator.rounds = 2 * int(plan.plan.plan.rounds.size());
  testing::Conversation talk(plan, settings, 1);
  talk.run(Instant{0} + milliseconds(600'000));
  ASSERT_EQ(talk.coordinator().state(), CoordinatorState::kDone) << talk.coordinator().reason();
  EXPECT_TRUE(talk.coordinator().losses().empty());
  const auto played = JobAssignment::make(plan.plan, settings.coordinator.job_settings);
  ASSERT_TRUE(played.has_value());
  for (std::size_t i = 0; i < talk.players().size(); ++i) {
    const auto& player = *talk.players()[i];
    const auto island = IslandId(i / 2);
    ASSERT_EQ(player.parts.size(), std::size_t(settings.coordinator.rounds));
    EXPECT_EQ(player.member->job_assignment().slots(island), played->slots(island));
    EXPECT_EQ(player.member->job_assignment().job(), played->job());
    for (RoundId round = 1; round <= player.parts.size(); ++round)
      expect_same(player.parts[round - 1], played->part(round, island, player.member->origin()));
  }
}

}  // namespace
}  // namespace cotillion
