// Losses: the rows of "What the paper leaves open" (docs/understand/protocol.md) about packets that
// never come, under the paper's literal rule and under ours. See paper_rules_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/random.hpp"
#include "tests/support/protocol/paper_edge.hpp"

namespace cotillion {
namespace {

using namespace testing;
using Verdict = Trial::Verdict;

// The last sum of a round is lost on its way to island 0.
struct Known {
  std::size_t whole = 0;     // of 100 averages
  std::size_t reported = 0;  // averages whose gap is named
  bool asked = false;
};

Known last_packet_lost(Rule rule, bool announced) {
  NetSettings settings = small_net(2, 100);
  bool lost = false;
  settings.wire = [&](Hop hop, int, int to, const auto& packet) -> Copies {
    if (hop != Hop::kToIsland || to != 0) return kOnce;
    const Header header = header_in(packet);
    if (carries_sum(header.type()) && header.chunk == 99 && !std::exchange(lost, true))
      return kLost;
    if (!announced && lost && !carries_sum(header.type())) return kLost;
    return kOnce;
  };
  Trial trial(rule, settings);
  trial.open_round(1, {{0, 1}}, ms(1), ms(100));
  trial.net.run_until(ms(150));
  Known known{trial.count(Verdict::kWhole, 0, 1), trial.count(Verdict::kReported, 0, 1), false};
  known.asked = rule == Rule::kPaper ? trial.net.paper_island(0).missing_packets() > 0
                                     : trial.net.receiver(0).counters()[ReceiverCount::kAsked] > 0;
  return known;
}

TEST(PaperRules, ALostLastPacketIsSeen) {
  const Known ours = last_packet_lost(Rule::kOurs, true);
  EXPECT_EQ(ours.whole, 100u);
  EXPECT_TRUE(ours.asked);

  const Known paper = last_packet_lost(Rule::kPaper, true);
  EXPECT_EQ(paper.whole, 99u);
  EXPECT_EQ(paper.reported, 0u);
  EXPECT_FALSE(paper.asked);  // no gap, no suspicion
  // It is END and heartbeats that tell; without them the chunk map still says what is missing.
  const Known silent = last_packet_lost(Rule::kOurs, false);
  EXPECT_EQ(silent.whole, 99u);
  EXPECT_EQ(silent.reported, 1u);
}

enum class Trouble : std::uint8_t { kRequestLost, kResendLost, kRequestSlow };

// One sum is lost on its way to island 0, and then its repair meets with more of the same.
std::size_t whole_after(Rule rule, Trouble trouble, Duration ask_again = {}) {
  NetSettings settings = small_net(2, 100);
  int copies = 0, requests = 0;
  settings.wire = [&](Hop hop, int, int to, const auto& packet) -> Copies {
    const Header header = header_in(packet);
    if (hop == Hop::kToIsland && to == 0 && carries_sum(header.type()) && header.chunk == 50)
      return ++copies == 1 || (copies == 2 && trouble == Trouble::kResendLost) ? kLost : kOnce;
    if (hop == Hop::kFromIsland && to == 0 && header.type() == PacketType::kNak) {
      ++requests;
      if (requests == 1 && trouble == Trouble::kRequestLost) return kLost;
      if (trouble == Trouble::kRequestSlow) return {for_ms(5)};
    }
    return kOnce;
  };
  // t_resend is five times the round trip.
  Trial trial(rule, settings, {.resend = for_ms(1), .ask_again = ask_again});
  trial.open_round(1, {{0, 1}}, ms(1), ms(100));
  trial.net.run_until(ms(150));
  return trial.count(Verdict::kWhole, 0, 1);
}

TEST(PaperRules, ALostRequestAndALostResendAreCovered) {
  for (const Trouble trouble :
       {Trouble::kRequestLost, Trouble::kResendLost, Trouble::kRequestSlow}) {
    EXPECT_EQ(whole_after(Rule::kOurs, trouble), 100u) << int(trouble);
    EXPECT_EQ(whole_after(Rule::kPaper, trouble), 99u) << int(trouble);
  }
  // Asking again helps the paper's island as long as the copy is held, and no longer.
  EXPECT_EQ(whole_after(Rule::kPaper, Trouble::kRequestLost, for_ms(0.5)), 100u);
  EXPECT_EQ(whole_after(Rule::kPaper, Trouble::kRequestLost, for_ms(2)), 99u);
  EXPECT_EQ(whole_after(Rule::kPaper, Trouble::kRequestSlow, for_ms(0.5)), 99u);
}

// The resend store is too small for the rate: what is asked for has been overwritten.
struct Refused {
  std::size_t waiting = 0;   // packets that island 0 still hopes for at the end
  std::size_t whole = 0;     // of 1000 averages
  std::size_t reported = 0;  // averages whose gap is named
  std::uint64_t gone = 0;    // answers that say so
};

Refused request_for_what_is_gone(Rule rule) {
  NetSettings settings = small_net(2, 1000);
  settings.resend_packets = 8;
  settings.gaps.round_trip = for_ms(0.3);
  int copies = 0;
  settings.wire = [&](Hop hop, int, int to, const auto& packet) -> Copies {
    const Header header = header_in(packet);
    const bool sum = hop == Hop::kToIsland && to == 0 && carries_sum(header.type());
    return sum && header.chunk == 50 && ++copies == 1 ? kLost : kOnce;
  };
  Trial trial(rule, settings, {.resend = for_ms(0.04)});
  trial.open_round(1, {{0, 1}}, ms(1), ms(100));
  Refused refused;
  trial.net.at(ms(40), [&] {
    refused.waiting = rule == Rule::kPaper ? trial.net.paper_island(0).missing_packets()
                                           : trial.net.receiver(0).missing_packets();
  });
  trial.net.run_until(ms(150));
  refused.whole = trial.count(Verdict::kWhole, 0, 1);
  refused.reported = trial.count(Verdict::kReported, 0, 1);
  if (rule == Rule::kOurs) refused.gone = trial.net.receiver(0).counters()[ReceiverCount::kGone];
  return refused;
}

TEST(PaperRules, WhatIsNoLongerKeptIsSaid) {
  const Refused ours = request_for_what_is_gone(Rule::kOurs);
  EXPECT_EQ(ours.gone, 1u);
  EXPECT_EQ(ours.waiting, 0u);
  EXPECT_EQ(ours.whole, 999u);
  EXPECT_EQ(ours.reported, 1u);

  const Refused paper = request_for_what_is_gone(Rule::kPaper);
  EXPECT_EQ(paper.waiting, 1u);
  EXPECT_EQ(paper.whole, 999u);
  EXPECT_EQ(paper.reported, 0u);
}

// One in twenty contributions is lost on its way to an edge.
struct Lost {
  std::size_t lost = 0;              // contributions
  std::size_t whole = 0, wrong = 0;  // of 4000 averages
  std::size_t absences = 0;          // contributions that accounts name as missing
};

Lost losses_before_aggregation(Rule rule) {
  constexpr int kIslands = 4;
  constexpr ChunkId kChunks = 1000;
  NetSettings settings = small_net(kIslands, kChunks);
  Random random(7);
  Lost losses;
  settings.wire = [&](Hop hop, int, int, const auto& packet) -> Copies {
    if (hop != Hop::kToEdge || header_in(packet).type() != PacketType::kData) return kOnce;
    if (random.between(1, 20) != 1) return kOnce;
    ++losses.lost;
    return kLost;
  };
  Trial trial(rule, settings, {.timeout = for_ms(100)});
  trial.open_round(1, {everyone(kIslands)}, ms(1), ms(900));
  trial.net.run_until(ms(1500));
  losses.whole = trial.count(Verdict::kWhole);
  losses.wrong = trial.count(Verdict::kWrong);
  for (int i = 0; rule == Rule::kOurs && i < kIslands; ++i)
    for (const Absence& absence : trial.net.accounts(i).at(0).absences)
      losses.absences += absence.chunks;
  return losses;
}

TEST(PaperRules, ALossBeforeAggregationIsReportedExactly) {
  const Lost ours = losses_before_aggregation(Rule::kOurs);
  EXPECT_GT(ours.lost, 500u);
  EXPECT_EQ(ours.absences, ours.lost);
  EXPECT_LT(ours.whole, 4000u);
  EXPECT_EQ(ours.wrong, 0u);  // each is the average of those whom it names

  const Lost paper = losses_before_aggregation(Rule::kPaper);
  EXPECT_EQ(paper.whole + paper.wrong, 4000u);
  EXPECT_GT(paper.wrong, 400u);  // an average of nobody can say whom
  RecordProperty("paper_wrong_of_4000", int(paper.wrong));
}

// 76 sums of a round are lost on a last hop of 200 ms there and back: 1e-4 of 1 GB.
double seconds_to_close_76_gaps(Rule rule) {
  constexpr ChunkId kChunks = 4000;
  NetSettings settings = small_net(2, kChunks);
  settings.last_hop = for_ms(100);
  settings.gaps.round_trip = for_ms(210);
  Random random(11);
  std::set<ChunkId> lost;
  while (lost.size() < 76) lost.insert(ChunkId(random.between(0, kChunks - 2)));
  std::set<ChunkId> met;
  Instant last_sum{0};
  settings.wire = [&](Hop hop, int, int to, const auto& packet) -> Copies {
    const Header header = header_in(packet);
    if (hop != Hop::kToIsland || to != 0 || !carries_sum(header.type())) return kOnce;
    return lost.contains(header.chunk) && met.insert(header.chunk).second ? kLost : kOnce;
  };
  Trial trial(rule, settings, {.resend = for_ms(60'000)});
  trial.net.on_output = [&](int island, ByteView packet) {
    if (island == 0 && header_in(packet).chunk == kChunks - 1) last_sum = trial.net.now();
  };
  trial.open_round(1, {{0, 1}}, ms(1), ms(60'000));
  trial.net.run_until(ms(60'001));
  EXPECT_EQ(trial.count(Verdict::kWhole, 0, 1), kChunks);
  const Instant whole = rule == Rule::kPaper ? trial.net.paper_island(0).whole_at()
                                             : trial.net.accounts(0).at(0).when;
  return RealDuration(whole - (last_sum + settings.last_hop)).seconds();
}

TEST(PaperRules, ManyGapsCostOneRoundTrip) {
  const double ours = seconds_to_close_76_gaps(Rule::kOurs);
  EXPECT_LT(ours, 1.1 * 0.2);
  const double paper = seconds_to_close_76_gaps(Rule::kPaper);
  EXPECT_NEAR(paper, 76 * 0.2, 0.2);
  RecordProperty("seconds_ours", std::to_string(ours));
  RecordProperty("seconds_paper", std::to_string(paper));
}

}  // namespace
}  // namespace cotillion
