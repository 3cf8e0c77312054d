// Sums: the rows of "What the paper leaves open" (docs/understand/protocol.md) about what happens
// in a slot. Every scenario runs twice, under the paper's literal rule
// (tests/support/protocol/paper_edge.hpp) and under ours, and says what each makes of it: a row
// that the paper's rule survives has no business there. paper_rules_loss_test.cpp has the rows
// about lost packets, paper_rules_trust_test.cpp the last one.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

#include "base/random.hpp"
#include "tests/support/protocol/paper_edge.hpp"

namespace cotillion {
namespace {

using namespace testing;
using Verdict = Trial::Verdict;

// Of a sum on the wire, as an integer.
std::int32_t element_of(ByteView packet, std::size_t i) {
  Little32 word;
  std::memcpy(&word, payload_of(packet).data() + i * sizeof word, sizeof word);
  return std::int32_t(std::uint32_t(word));
}

// Eight contributors to every island, one packet in a thousand doubled on its way to an edge.
struct Spoiled {
  double share;          // of all averages of 20 rounds that are not the average of the clique
  double in_last_round;  // and of the twentieth
};

Spoiled spoiled_by_duplicates(Rule rule, Duration timeout) {
  constexpr int kIslands = 9, kRounds = 20;
  constexpr ChunkId kChunks = 150;
  NetSettings settings = small_net(kIslands, kChunks);
  Random random(1);
  settings.wire = [&random](Hop hop, int, int, const auto& packet) -> Copies {
    const bool data = hop == Hop::kToEdge && header_in(packet).type() == PacketType::kData;
    if (data && random.between(1, 1000) == 1) return {{0}, {0}};
    return kOnce;
  };
  Trial trial(rule, settings, {.timeout = timeout});
  for (int r = 1; r <= kRounds; ++r)
    trial.open_round(RoundId(r), {everyone(kIslands)}, ms(100 * r), ms(100 * r + 60));
  trial.net.run_until(ms(100 * (kRounds + 1)));
  std::size_t last = 0;
  for (int i = 0; i < kIslands; ++i)
    last += kChunks - trial.count(Verdict::kWhole, i, RoundId(kRounds));
  const double all = double(kIslands) * kRounds * kChunks;
  return {1 - double(trial.count(Verdict::kWhole)) / all,
          double(last) / (double(kIslands) * kChunks)};
}

TEST(PaperRules, ADuplicateCompletesNoSlotEarly) {
  const Spoiled ours = spoiled_by_duplicates(Rule::kOurs, {});
  EXPECT_EQ(ours.share, 0);

  // Modelled: the mean of 1 − 0.999^(8·round) over 20 rounds is 7.9 %.
  const Spoiled paper = spoiled_by_duplicates(Rule::kPaper, for_ms(1000));
  EXPECT_NEAR(paper.share, 0.079, 0.01);
  EXPECT_NEAR(paper.in_last_round, 1 - std::pow(0.999, 8 * 20), 0.02);
  // Timers that end every slot before the next round keep the damage to the round it was done in.
  const Spoiled timed = spoiled_by_duplicates(Rule::kPaper, for_ms(30));
  EXPECT_NEAR(timed.share, 0.008, 0.002);
  RecordProperty("paper_spoiled_percent", std::to_string(100 * paper.share));
  RecordProperty("paper_spoiled_percent_in_round_20", std::to_string(100 * paper.in_last_round));
  RecordProperty("paper_spoiled_percent_with_short_timers", std::to_string(100 * timed.share));
}

// Island 3's stream of round 1 reaches edge 0 in the middle of round 2, in which 2 runs 195 chunks
// behind 1, and the old stream 150 before: each old packet falls into the slot of a live chunk.
struct Live {
  std::size_t whole = 0;  // chunks of the live round that left edge 0 in one packet
  std::size_t right = 0;  // averages of the live round at island 0
};

Live live_round_beside_an_old_one(Rule rule, Duration slack, std::size_t slots) {
  constexpr ChunkId kChunks = 600;
  NetSettings settings = small_net(4, kChunks);
  settings.slots = slots;
  settings.slack = slack;
  settings.wire = [](Hop hop, int from, int to, const auto& packet) -> Copies {
    const bool old = hop == Hop::kToEdge && from == 3 && to == 0;
    if (old && header_in(packet).type() == PacketType::kData) return {for_ms(98 - 0.768)};
    return kOnce;
  };
  Trial trial(rule, settings, {.slots = slots, .timeout = for_ms(20)});
  trial.open_round(1, {{0, 1, 2, 3}}, ms(1), ms(95));
  trial.open_round(2, {{0, 1, 2}, {3}}, ms(101), ms(180));
  Live live;
  trial.net.on_output = [&](int island, ByteView packet) {
    if (island != 0 || trial.net.now() < ms(101)) return;
    const std::uint64_t first = std::uint64_t(read_header(packet)->chunk) * 16;
    bool whole = true;
    for (std::size_t i = 0; i < 16; ++i)
      whole &= float(element_of(packet, i)) ==
               trial.value(1, 2, first + i) + trial.value(2, 2, first + i);
    live.whole += whole ? 1 : 0;
  };
  trial.net.run_until(ms(300));
  live.right = trial.count(Verdict::kWhole, 0, 2);
  return live;
}

TEST(PaperRules, APacketOfAnOldRoundPutsOutNoLiveSlot) {
  // Whether the old round's deadlines have passed or not.
  for (const Duration slack : {for_ms(5), for_ms(200)}) {
    const Live ours = live_round_beside_an_old_one(Rule::kOurs, slack, 200);
    EXPECT_EQ(ours.whole, 600u);
    EXPECT_EQ(ours.right, 600u);
  }
  const Live paper = live_round_beside_an_old_one(Rule::kPaper, {}, 200);
  EXPECT_LT(paper.whole, 300u);
  EXPECT_LT(paper.right, 60u);
  // With memory for every chunk an old packet puts out nobody: it is added to the live sum instead.
  const Live roomy = live_round_beside_an_old_one(Rule::kPaper, {}, 600);
  EXPECT_LT(roomy.whole, 60u);
  EXPECT_LT(roomy.right, 60u);
  RecordProperty("paper_live_chunks_whole_of_600", int(paper.whole));
  RecordProperty("paper_live_averages_right_of_600", int(paper.right));
  RecordProperty("paper_live_averages_right_of_600_with_memory_for_all", int(roomy.right));
}

// A tenth of the packets of islands 1 to 3 stray and reach edge 0 long after their slots have timed
// out; another tenth are doubled and the copy strays.
struct Strays {
  std::size_t wrong = 0;      // averages at island 0
  std::size_t contained = 0;  // contributions in all sums that left edge 0
};

Strays strays_after_the_timeout(Rule rule) {
  NetSettings settings = small_net(4, 500);
  Random random(3);
  settings.wire = [&random](Hop hop, int, int to, const auto& packet) -> Copies {
    if (hop != Hop::kToEdge || to != 0 || header_in(packet).type() != PacketType::kData)
      return kOnce;
    const std::int64_t die = random.between(0, 9);
    const Duration stray = for_ms(20 + 20 * random.unit());
    if (die == 0) return {stray};
    if (die == 1) return {{0}, stray};
    return kOnce;
  };
  Trial trial(rule, settings, {.timeout = for_ms(8)});
  Strays strays;
  std::vector<ContributorMask> seen(500);
  trial.net.on_output = [&](int island, ByteView packet) {
    if (island != 0) return;
    const Header header = *read_header(packet);
    strays.contained += header.weight;
    EXPECT_EQ(seen[header.chunk] & header.mask, 0u) << header.chunk;
    seen[header.chunk] |= header.mask;
  };
  trial.open_round(1, {everyone(4)}, ms(1), ms(100));
  trial.net.run_until(ms(150));
  strays.wrong = 500 - trial.count(Verdict::kWhole, 0, 1);
  return strays;
}

TEST(PaperRules, PartialSumsOfOneChunkAreDisjoint) {
  const Strays ours = strays_after_the_timeout(Rule::kOurs);
  EXPECT_EQ(ours.wrong, 0u);
  EXPECT_EQ(ours.contained, 3 * 500u);

  const Strays paper = strays_after_the_timeout(Rule::kPaper);
  EXPECT_GT(paper.wrong, 100u);
  EXPECT_GT(paper.contained, 3 * 500u + 100);
  RecordProperty("paper_wrong_of_500", int(paper.wrong));
  RecordProperty("paper_contributions_counted_of_1500", int(paper.contained));
}

// Islands 1 and 2 run 195.3 chunks apart at edge 0.
std::size_t chunks_split_by_conflicts(Rule rule, std::size_t slots) {
  constexpr ChunkId kChunks = 2000;
  NetSettings settings = small_net(3, kChunks);
  settings.slots = slots;
  Trial trial(rule, settings, {.slots = slots, .hashed = true});
  std::size_t whole = 0;
  trial.net.on_output = [&](int island, ByteView packet) {
    whole += island == 0 && read_header(packet)->type() == PacketType::kResult ? 1 : 0;
  };
  trial.open_round(1, {everyone(3)}, ms(1), ms(100));
  trial.net.run_until(ms(150));
  EXPECT_EQ(trial.count(Verdict::kWhole, 0, 1), kChunks);  // two partial sums add up, as it says
  return kChunks - whole;
}

TEST(PaperRules, ChunksWithinTheWindowNeverShareASlot) {
  constexpr std::size_t kWindow = 197;
  EXPECT_EQ(chunks_split_by_conflicts(Rule::kOurs, kWindow), 0u);

  EXPECT_GT(chunks_split_by_conflicts(Rule::kPaper, kWindow), 1000u);
  for (const std::size_t times : {1, 2, 4, 8, 16}) {
    const std::size_t split = chunks_split_by_conflicts(Rule::kPaper, times * kWindow);
    EXPECT_GT(split, 2000 / (2 * times));
    RecordProperty("paper_split_of_2000_with_memory_times_" + std::to_string(times), int(split));
  }
}

// Gradient-like values from eight contributors, each chunk in a random order of arrival. The
// averages of all elements at all islands.
std::vector<std::vector<double>> averages_in_random_order(Rule rule, Element element,
                                                          std::uint64_t seed) {
  constexpr int kIslands = 9;
  NetSettings settings = small_net(kIslands, 64);
  settings.job.element = element;
  settings.exponent = element == Element::kI32 ? -30 : 0;
  settings.slack = for_ms(20);
  Random random(seed);
  settings.wire = [&random](Hop hop, int, int, const auto& packet) -> Copies {
    if (hop == Hop::kToEdge && header_in(packet).type() == PacketType::kData)
      return {for_ms(15 * random.unit())};
    return kOnce;
  };
  Trial trial(rule, settings);
  trial.value = [](int island, RoundId, std::uint64_t e) {
    Random normal(std::uint64_t(island) << 32u | e);
    const double radius = std::sqrt(-2 * std::log(1 - normal.unit()));
    return float(0.01 * radius * std::cos(2 * std::numbers::pi * normal.unit()));
  };
  trial.open_round(1, {everyone(kIslands)}, ms(1), ms(100));
  trial.net.run_until(ms(150));
  std::vector<std::vector<double>> averages;
  for (int i = 0; i < kIslands; ++i) averages.push_back(trial.averages(i, 1));
  return averages;
}

double share_that_differs(const std::vector<double>& a, const std::vector<double>& b) {
  std::size_t differ = 0;
  for (std::size_t e = 0; e < a.size(); ++e)
    differ += std::bit_cast<std::uint64_t>(a[e]) != std::bit_cast<std::uint64_t>(b[e]) ? 1 : 0;
  return double(differ) / double(a.size());
}

TEST(PaperRules, ASumDoesNotDependOnTheOrderOfArrival) {
  const auto one = averages_in_random_order(Rule::kOurs, Element::kI32, 1);
  const auto other = averages_in_random_order(Rule::kOurs, Element::kI32, 2);
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(share_that_differs(one[i], other[i]), 0) << i;  // from run to run
    EXPECT_EQ(share_that_differs(one[0], one[i]), 0) << i;    // from member to member
  }
  // The paper adds floating-point numbers; our fast mode does too, and says so.
  for (const Rule rule : {Rule::kPaper, Rule::kOurs}) {
    const auto first = averages_in_random_order(rule, Element::kF32, 1);
    const auto second = averages_in_random_order(rule, Element::kF32, 2);
    double runs = 0, members = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      runs += share_that_differs(first[i], second[i]) / double(first.size());
      members += share_that_differs(first[0], first[i]) / double(first.size() - 1);
    }
    EXPECT_GT(runs, 0.4);
    EXPECT_LT(runs, 0.7);
    EXPECT_GT(members, 0.4);
    RecordProperty("f32_percent_that_differ_between_orders", std::to_string(100 * runs));
    RecordProperty("f32_percent_that_differ_between_members", std::to_string(100 * members));
  }
}

}  // namespace
}  // namespace cotillion
