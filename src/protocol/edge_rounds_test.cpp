// The deadline pointer, and the rounds that take one another's places.
#include "protocol/edge_rounds.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace cotillion {
namespace {

TEST(EdgeRounds, TheDeadlinePointerStepsFromDeadlineToDeadlineWithoutDividing) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    JobSpec job;
    job.beats = 1;
    job.elements = std::uint64_t(random.between(1, 5000));
    RoundSpec round = equal_round(1, 4, 0);
    round.first_deadline = {random.between(0, 1'000'000'000)};
    round.last_deadline = round.first_deadline + Duration{random.between(0, 1'000'000)};
    DeadlinePointer due(round, job, chunk_deadline(round, job, 0));
    for (ChunkId chunk = 0; chunk < chunk_count(job); ++chunk, due.step()) {
      ASSERT_FALSE(due.is_done());
      ASSERT_EQ(due.chunk(), chunk);
      ASSERT_EQ(due.at(), chunk_deadline(round, job, chunk)) << "seed " << seed;
      ASSERT_FALSE(due.has_passed(chunk));
      ASSERT_TRUE(chunk == 0 || due.has_passed(chunk - 1));
    }
    EXPECT_TRUE(due.is_done());
  }
}

TEST(EdgeRounds, AHurriedPointerHasAllThatIsLeftDueAtOnce) {
  JobSpec job;
  job.beats = 1;
  job.elements = 160;
  RoundSpec round = equal_round(1, 4, 0);
  round.last_deadline = {1'000'003};
  DeadlinePointer due(round, job, chunk_deadline(round, job, 0));
  due.step();
  due.hurry({7});
  for (; !due.is_done(); due.step()) EXPECT_EQ(due.at(), Instant{7});
}

TEST(EdgeRounds, ARoundIsFoundUntilItsPlaceIsTaken) {
  JobSpec job;
  job.elements = 100;
  EdgeRounds rounds(job, 2);
  EXPECT_EQ(rounds.find(7), nullptr);
  EXPECT_EQ(rounds.next_deadline(), kNever);
  for (const RoundId number : {7u, 8u}) {
    EXPECT_TRUE(rounds.may_follow(number));
    RoundSpec round = equal_round(number, 4, 0);
    round.epoch = int(number);
    round.first_deadline = round.last_deadline = {std::int64_t(number)};
    const EdgeRound& opened = rounds.open(round, 10, 0);
    EXPECT_EQ(rounds.find(number), &opened);
  }
  EXPECT_FALSE(rounds.may_follow(8));
  EXPECT_EQ(rounds.next_deadline(), Instant{7});
  EXPECT_TRUE(rounds.epoch_is_live(7));
  EXPECT_FALSE(rounds.all_acknowledged());
  RoundSpec alone = equal_round(9, 4, 0);
  alone.expected = 0;
  const EdgeRound& sits_out = rounds.open(alone, 10, 0);
  EXPECT_TRUE(sits_out.ended && sits_out.acknowledged && sits_out.due.is_done());
  EXPECT_EQ(rounds.find(7), nullptr);
  EXPECT_FALSE(rounds.epoch_is_live(7));
  EXPECT_EQ(rounds.next_deadline(), Instant{8});
}

}  // namespace
}  // namespace cotillion
