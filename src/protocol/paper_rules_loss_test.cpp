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

// One in twenty contributions is lost on its way to an edge; with repair, so are one in ten of
// the requests and of the answers.
struct Recovered {
  std::size_t lost = 0;               // contributions
  std::size_t whole = 0, wrong = 0;   // of 4000 averages
  std::size_t absences = 0;           // contributions that accounts name as missing
  double last_ms = 0;                 // when the last slot was put out
  std::size_t slots = 0;              // open at once, at most, at any edge
  std::uint64_t asked = 0, late = 0;  // contributions, at all edges
};

Recovered losses_before_aggregation(Rule rule, bool repair, Duration slack) {
  constexpr int kIslands = 4;
  constexpr ChunkId kChunks = 1000;
  NetSettings settings = small_net(kIslands, kChunks);
  settings.repair = repair;
  settings.slack = slack;
  Random random(7);
  Recovered recovered;
  settings.wire = [&](Hop hop, int, int, const auto& packet) -> Copies {
    if (hop == Hop::kRepair) return random.between(1, 10) == 1 ? kLost : kOnce;
    if (hop != Hop::kToEdge || header_in(packet).type() != PacketType::kData) return kOnce;
    if (random.between(1, 20) != 1) return kOnce;
    ++recovered.lost;
    return kLost;
  };
  Trial trial(rule, settings, {.timeout = for_ms(100)});
  Instant last;
  trial.net.on_output = [&](int, ByteView) { last = trial.net.now(); };
  trial.open_round(1, {everyone(kIslands)}, ms(1), ms(900));
  trial.net.run_until(ms(1500));
  recovered.whole = trial.count(Verdict::kWhole);
  recovered.last_ms = Duration{last.ps}.ms();
  recovered.wrong = trial.count(Verdict::kWrong);
  for (int i = 0; rule == Rule::kOurs && i < kIslands; ++i) {
    for (const Absence& absence : trial.net.accounts(i).at(0).absences)
      recovered.absences += absence.chunks;
    recovered.asked += trial.net.edge_counters(i)[EdgeCount::kRepairsAsked];
    recovered.late += trial.net.edge_counters(i)[EdgeCount::kLate];
    recovered.slots = std::max(recovered.slots, trial.net.edge(i).job(1)->open_slots_peak());
  }
  return recovered;
}

TEST(PaperRules, ALossBeforeAggregationIsReportedExactlyOrRepaired) {
  const Recovered off = losses_before_aggregation(Rule::kOurs, false, for_ms(5));
  EXPECT_GT(off.lost, 500u);
  EXPECT_EQ(off.absences, off.lost);
  EXPECT_LT(off.whole, 4000u);
  EXPECT_EQ(off.wrong, 0u);  // each is the average of those whom it names
  EXPECT_EQ(off.asked, 0u);

  const Recovered on = losses_before_aggregation(Rule::kOurs, true, for_ms(600));
  EXPECT_GT(on.lost, 500u);
  EXPECT_EQ(on.absences, 0u);
  EXPECT_EQ(on.whole, 4000u);
  EXPECT_GE(on.asked, on.lost);
  EXPECT_EQ(on.late, 0u);

  const Recovered paper = losses_before_aggregation(Rule::kPaper, false, {});
  EXPECT_EQ(paper.whole + paper.wrong, 4000u);
  EXPECT_GT(paper.wrong, 400u);  // an average of nobody can say whom

  RecordProperty("paper_wrong_of_4000", int(paper.wrong));
  RecordProperty("slots_without_repair", int(off.slots));
  RecordProperty("slots_with_repair", int(on.slots));
  RecordProperty("ms_to_the_last_output_without_repair", std::to_string(off.last_ms));
  RecordProperty("ms_to_the_last_output_with_repair", std::to_string(on.last_ms));
  RecordProperty("lost_without_repair", int(off.lost));
  RecordProperty("lost_with_repair", int(on.lost));
  RecordProperty("asked_with_repair", int(on.asked));
}

// Two rounds with repair, the keepers started some other time than the islands whose streams they
// keep.
std::size_t whole_with_keepers_of_boot(BootId boot, bool authenticated) {
  NetSettings settings = small_net(3, 100);
  settings.repair = true;
  settings.slack = for_ms(300);
  settings.keeper_boot = boot;
  settings.authenticated = authenticated;
  Random random(13);
  settings.wire = [&](Hop hop, int, int, const auto& packet) -> Copies {
    const bool data = hop == Hop::kToEdge && header_in(packet).type() == PacketType::kData;
    return data && random.between(1, 20) == 1 ? kLost : kOnce;
  };
  Trial trial(Rule::kOurs, settings);
  trial.open_round(1, {everyone(3)}, ms(1), ms(700));
  trial.open_round(2, {everyone(3)}, ms(701), ms(1400));
  trial.net.run_until(ms(2000));
  return trial.count(Verdict::kWhole);
}

TEST(PaperRules, AKeeperIsNotTakenForTheSenderWhoseStreamItKeeps) {
  for (const BootId boot : {1, 5})
    for (const bool authenticated : {true, false})
      EXPECT_EQ(whole_with_keepers_of_boot(boot, authenticated), 2 * 300u)
          << boot << ' ' << authenticated;
}

// Contributors 0 and 1 come summed through a chained edge on stream 5, contributor 3 through one
// that serves nobody else on stream 4, contributor 2 on its own on stream 6; all skip the same
// chunks. Whom does the edge ask, and for what?
using Asked = std::set<std::pair<ContributorMask, ChunkId>>;

Asked asked_when_streams_skip() {
  struct Requests final : Outbox {
    void send(Towards, SourceId, ByteView packet) override {
      const Header header = header_in(packet);
      if (header.type() == PacketType::kRepair)
        for_each_requested(header, payload_of(packet), [&](ChunkId chunk) {
          asked.insert({header.mask, chunk});
        });
    }
    Asked asked;
  } out;
  AggregationSpec spec;
  spec.job = {.element = Element::kI32, .elements = 8 * 16, .beats = 1};
  spec.repair = true;
  AggregationSeals seals;
  seals.own.set_boot(1);
  for (int source = 0; source < 7; ++source) {
    seals.sources.emplace_back();
    seals.sources.back().set_boot(1);
  }
  Aggregation edge(spec, std::move(seals));
  RoundSpec round = equal_round(1, 5, 4);
  round.source = {5, 5, 6, 4};
  round.chained = 0b1011;
  round.first_deadline = round.last_deadline = ms(100);
  EXPECT_TRUE(edge.open_round(ms(0), round, out).has_value());
  Seal seal;
  seal.set_boot(1);
  const auto arrive = [&](SourceId source, PacketType type, ContributorMask mask, ChunkId chunk) {
    Header header;
    header.set_type(type);
    header.job = 1;
    header.round = 1;
    header.chunk = chunk;
    header.mask = mask;
    header.weight = weight_of(round, mask);
    header.flags = flag::kGrid;
    header.set_content(Element::kI32, Operation::kSum, 0);
    std::vector<std::byte> packet(packet_bytes(type == PacketType::kEnd ? 0 : kBeatBytes));
    write_header(header, packet);
    seal.close(packet);
    edge.on_packet(ms(1), source, *read_header(packet), packet, out);
  };
  for (const ChunkId chunk : {0u, 1u, 3u, 4u, 6u}) {
    arrive(5, PacketType::kPartial, 0b011, chunk);
    arrive(4, PacketType::kPartial, 0b1000, chunk);
    arrive(6, PacketType::kData, 0b0100, chunk);
  }
  arrive(5, PacketType::kPartial, 0b001, 7);  // only one of the two: still a chained edge's
  arrive(5, PacketType::kEnd, 0b011, 8);
  arrive(4, PacketType::kEnd, 0b1000, 8);
  arrive(6, PacketType::kEnd, 0b100, 8);
  edge.on_time(ms(50), out);
  EXPECT_EQ(edge.counters()[EdgeCount::kUnexpected], 0u);
  return out.asked;
}

TEST(PaperRules, NobodyIsAskedForContributorsOfAChainedEdge) {
  EXPECT_EQ(asked_when_streams_skip(), (Asked{{0b100, 2}, {0b100, 5}, {0b100, 7}}));
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
