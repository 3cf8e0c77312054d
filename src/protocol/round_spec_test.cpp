// What everyone must know of a round: members, weights, deadlines, and where a chunk has its slot.
#include "protocol/round_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include "base/random.hpp"

namespace cotillion {
namespace {

using ::testing::HasSubstr;

JobSpec job_of(ChunkId chunks, Operation operation = Operation::kSum) {
  return {.id = 1, .operation = operation, .elements = std::uint64_t(chunks) * 16, .beats = 1};
}

std::string refusal(const RoundSpec& round, Operation operation = Operation::kSum) {
  const auto sound = checked(round, job_of(4, operation));
  return sound ? "accepted" : sound.error().message;
}

TEST(RoundSpec, EqualIslandsExpectEveryoneButThemselves) {
  const RoundSpec round = equal_round(7, 5, 2);
  EXPECT_EQ(round.everyone(), 0b11111u);
  EXPECT_EQ(round.expected, 0b11011u);
  EXPECT_EQ(weight_of(round, round.expected), 4u);
  EXPECT_EQ(round.source[4], 4);
  EXPECT_EQ(refusal(round), "accepted");
  EXPECT_EQ(equal_round(7, 5, -1).expected, 0b11111u);  // inside a chain
}

TEST(RoundSpec, AMaskHasRoomForSixtyFour) {
  const RoundSpec round = equal_round(1, 64, 63);
  EXPECT_EQ(round.everyone(), ~ContributorMask(0));
  EXPECT_EQ(round.expected, ~ContributorMask(0) >> 1u);
  EXPECT_EQ(refusal(round), "accepted");
  EXPECT_EQ(equal_round(1, 1, 0).expected, 0u);  // sits out
}

TEST(RoundSpec, WeightsAreMultipliedByTheReceiversCoefficients) {
  RoundSpec round = equal_round(1, 4, 0);
  round.weight = {1, 2, 3, 4};
  round.coefficient = {1, 10, 1, 100};
  EXPECT_EQ(weight_of(round, 0b1110), 20u + 3 + 400);
  EXPECT_EQ(weight_of(round, 0b0100), 3u);
  EXPECT_EQ(weight_of(round, 0), 0u);
}

TEST(RoundSpec, DeadlinesAreExactAtBothEnds) {
  RoundSpec round = equal_round(1, 2, 0);
  round.first_deadline = {1'000'003};
  round.last_deadline = {9'000'000'000'000'011};
  for (const ChunkId chunks : {2u, 3u, 7u, 1u << 28u}) {
    const JobSpec job = job_of(chunks);
    EXPECT_EQ(chunk_deadline(round, job, 0), round.first_deadline);
    EXPECT_EQ(chunk_deadline(round, job, chunks - 1), round.last_deadline);
  }
}

TEST(RoundSpec, ASingleChunkIsDueAtTheEnd) {
  RoundSpec round = equal_round(1, 2, 0);
  round.first_deadline = {10};
  round.last_deadline = {20};
  EXPECT_EQ(chunk_deadline(round, job_of(1), 0), Instant{20});
}

RC_GTEST_PROP(RoundSpec, DeadlinesNeverGoBackAndStayInProportion, ()) {
  RoundSpec round = equal_round(1, 2, 0);
  round.first_deadline = {*rc::gen::inRange<std::int64_t>(-1'000'000, 1'000'000)};
  const auto span = *rc::gen::inRange<std::int64_t>(0, std::int64_t(1) << 50);
  round.last_deadline = round.first_deadline + Duration{span};
  const auto chunks = *rc::gen::inRange<ChunkId>(2, 200);
  const JobSpec job = job_of(chunks);
  for (ChunkId chunk = 1; chunk < chunks; ++chunk) {
    RC_ASSERT(chunk_deadline(round, job, chunk) >= chunk_deadline(round, job, chunk - 1));
    const auto exact = double(span) * double(chunk) / double(chunks - 1);
    const auto offset = double((chunk_deadline(round, job, chunk) - round.first_deadline).ps);
    RC_ASSERT(std::abs(offset - exact) <= 1 + exact * 1e-12);
  }
}

TEST(RoundSpec, KeysOrderTheChunksOfAllRounds) {
  const JobSpec job = job_of(100);
  EXPECT_EQ(key_of(job, 0, 0), 0u);
  EXPECT_LT(key_of(job, 7, 99), key_of(job, 8, 0));
  EXPECT_EQ(key_of(job, 8, 0) - key_of(job, 7, 99), 1u);
  EXPECT_EQ(key_of(job_of(kChunksMax), 0xffffffff, kChunksMax - 1),
            (ChunkKey(1) << 60u) - 1);  // the last of all
}

RC_GTEST_PROP(RoundSpec, TwoKeysMeetInASlotOnlyAWholeTableApart, ()) {
  const auto slots = *rc::gen::inRange<std::size_t>(1, 50);
  const auto key = *rc::gen::inRange<ChunkKey>(0, 1'000'000);
  for (ChunkKey later = key + 1; later <= key + 2 * slots; ++later)
    RC_ASSERT((slot_of(later, slots) == slot_of(key, slots)) == ((later - key) % slots == 0));
}

TEST(RoundSpec, ARefusalNamesTheRoundAndTheReason) {
  RoundSpec round = equal_round(7, 3, 0);
  round.clique = 5;
  const RoundSpec sound = round;
  round.members = 65;
  EXPECT_THAT(refusal(round), HasSubstr("round 7, clique 5: 65 members; a packet has bits for 64"));
  round.members = 0;
  EXPECT_THAT(refusal(round), HasSubstr("0 members"));

  round = sound;
  round.own = 3;
  EXPECT_THAT(refusal(round), HasSubstr("own bit is not among the members"));

  round = sound;
  round.expected = 0b1000;
  EXPECT_THAT(refusal(round), HasSubstr("no members"));
  round.expected = 0b001;
  EXPECT_THAT(refusal(round), HasSubstr("own contribution"));

  for (const int epoch : {-1, 16}) {
    round = sound;
    round.epoch = epoch;
    EXPECT_THAT(refusal(round), HasSubstr("counts modulo 16"));
  }
  for (const int clique : {-1, 4096}) {
    round = sound;
    round.clique = clique;
    EXPECT_THAT(refusal(round), HasSubstr("clique number beyond 4095"));
  }

  round = sound;
  round.first_deadline = {2};
  round.last_deadline = {1};
  EXPECT_THAT(refusal(round), HasSubstr("due before the first"));
}

TEST(RoundSpec, WeightsAreWholeNumbersFromOneWhoseSumFits31Bits) {
  constexpr auto kWeighted = Operation::kWeightedSum;
  const RoundSpec sound = equal_round(7, 3, 0);
  RoundSpec round = sound;
  round.weight[1] = 0;
  EXPECT_THAT(refusal(round, kWeighted), HasSubstr("member 1 has no weight"));
  round = sound;
  round.coefficient[2] = 0;
  EXPECT_THAT(refusal(round, kWeighted), HasSubstr("member 2 has no weight"));

  round = sound;
  round.weight[1] = 2;
  EXPECT_THAT(refusal(round), HasSubstr("member 1 weighs 2; a plain sum weighs everyone 1"));
  EXPECT_EQ(refusal(round, kWeighted), "accepted");

  round.weight[1] = INT32_MAX - 2;
  EXPECT_EQ(refusal(round, kWeighted), "accepted");
  round.weight[1] = INT32_MAX - 1;
  EXPECT_THAT(refusal(round, kWeighted), HasSubstr("sum to more than 31 bits"));
  round.weight[1] = round.coefficient[1] = 0xffffffff;  // their product has 64 bits
  EXPECT_THAT(refusal(round, kWeighted), HasSubstr("exceed 31 bits"));
}

TEST(SlotFinder, FindsWhatTheDivisionFinds) {
  Random random(1);
  for (int trial = 0; trial < 20'000; ++trial) {
    const auto chunks = ChunkId(random.between(1, kChunksMax));
    const auto round = RoundId(random.between(0, UINT32_MAX));
    const auto slots = std::size_t(random.between(1, std::int64_t(1) << random.between(0, 34)));
    const SlotFinder find(key_of(chunks, round, 0), slots);
    for (const ChunkId chunk : {ChunkId(0), chunks / 2, chunks - 1})
      ASSERT_EQ(find(chunk), slot_of(key_of(chunks, round, chunk), slots))
          << chunks << " chunks, round " << round << ", " << slots << " slots";
  }
}

}  // namespace
}  // namespace cotillion
