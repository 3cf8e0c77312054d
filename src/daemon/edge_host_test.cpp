// The edge host on loopback: real sockets, real time.
#include "daemon/edge_host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/daemon/flood.hpp"
#include "tests/support/daemon/loopback_rig.hpp"

namespace cotillion {
namespace {

using testing::Flood;
using ::testing::HasSubstr;
using testing::kAllOthers;
using testing::kLoopback;
using testing::kReceiving;
using testing::LoopbackRig;
using testing::RigSettings;

std::uint64_t chunks_of(LoopbackRig& rig) {
  std::uint64_t chunks = 0;
  for (int s = 0; s < rig.shards(); ++s) chunks += chunk_count(rig.islands(s).job());
  return chunks;
}

TEST(EdgeHost, SumsOfThreeIslandsAreExact) {
  LoopbackRig rig(RigSettings{});
  for (RoundId round = 1; round <= 3; ++round) {
    rig.open_round(round);
    ASSERT_TRUE(rig.pump_until_whole());
    rig.islands().expect_exact();
  }
  rig.host().stop();
  const EdgeReading reading = rig.host().reading();
  EXPECT_EQ(reading[EdgeCount::kAccepted], 3 * 3 * chunks_of(rig));
  EXPECT_EQ(reading[EdgeCount::kResults], 3 * chunks_of(rig));
  EXPECT_EQ(reading[HostCount::kRoundsOpened], 3u);
  EXPECT_EQ(reading[HostCount::kOpenSlots], 0u);
}

TEST(EdgeHost, AnAccountIsOfItsOwnRoundAlthoughTheNextHasCome) {
  LoopbackRig rig(RigSettings{});
  rig.open_round(1);
  ASSERT_TRUE(rig.pump_until_whole());
  rig.open_round(2);
  ASSERT_TRUE(rig.pump_until_whole());
  for (const RoundId round : {1u, 2u}) rig.host().account_for(round);
  std::vector<EdgeAccount> accounts;
  ASSERT_TRUE(rig.pump([&] {
    if (const auto account = rig.host().next_account(); account) accounts.push_back(*account);
    return accounts.size() == 2;
  }));
  for (const SourceId source : accounts[0].accepted.ids()) {
    if (accounts[1].accepted[source] == kNever) continue;  // the island of this edge
    EXPECT_LT(accounts[0].accepted[source], accounts[1].accepted[source]) << source;
  }
}

TEST(EdgeHost, ShardsShareNothingAndTheirSumsAreExact) {
  RigSettings settings;
  settings.shards = 3;
  LoopbackRig rig(settings);
  for (RoundId round = 1; round <= 2; ++round) {
    rig.open_round(round);
    ASSERT_TRUE(rig.pump_until_whole());
    for (int s = 0; s < 3; ++s) rig.islands(s).expect_exact();
  }
  rig.host().stop();
  EXPECT_EQ(rig.host().reading()[EdgeCount::kResults], 2 * chunks_of(rig));
  for (int s = 0; s < 3; ++s)
    EXPECT_EQ(rig.host().reading(s)[EdgeCount::kResults], 2 * chunk_count(rig.islands(s).job()));
}

TEST(EdgeHost, AStoreOfFewPacketsIsSentBeforeItIsUsedAgain) {
  RigSettings settings;
  settings.resend_packets = 3;
  LoopbackRig rig(settings);
  rig.open_round(1);
  ASSERT_TRUE(rig.pump_until_whole());
  rig.islands().expect_exact();
}

// Of 94 sums the store holds the last twelve. All of these are asked for: eight follow sums that
// have gone, four stand in line. Two of them leave in the midst of the next round's sums, which
// take the places of the store one after the other; for the other two it is too late then.
TEST(EdgeHost, WhatStandsInLineLeavesAsItWas) {
  RigSettings settings;
  settings.resend_packets = 12;
  settings.last_hop = {1000};
  settings.rate = {400e9};
  settings.bursts = true;
  LoopbackRig rig(settings);
  rig.islands().deaf = [](const Header& header) {
    return carries_sum(header.type()) && header.round == 1 && header.chunk >= 74 &&
           !header.has(flag::kResent);
  };
  rig.open_round(1);
  ASSERT_TRUE(rig.pump([&] {
    const EdgeReading reading = rig.host().reading();
    return reading[EdgeCount::kGone] >= 8 && reading[EdgeCount::kResends] >= 8;
  }));
  rig.open_round(2);
  ASSERT_TRUE(rig.pump([&] { return rig.host().reading()[EdgeCount::kResends] >= 10; }));
  ASSERT_TRUE(rig.pump_until_whole());
  rig.islands().expect_exact();
  EXPECT_EQ(rig.islands().repeats(), 0u);
}

TEST(EdgeHost, BadPacketsAreCountedAndChangeNoSum) {
  RigSettings settings;
  settings.authenticated = true;
  settings.beats = 1;  // so that replayed packets are small too
  settings.rate = {40e6};
  LoopbackRig rig(settings);
  rig.open_round(1);
  ASSERT_TRUE(rig.pump_until_whole());
  const auto heard = rig.islands().sent();
  Flood flood(rig, {heard.begin(), heard.end()});
  for (RoundId round = 2; round <= 3; ++round) {
    rig.open_round(round);
    ASSERT_TRUE(rig.pump_until_whole());
    rig.islands().expect_exact();
  }
  ASSERT_TRUE(rig.pump([&] {
    const EdgeReading reading = rig.host().reading();
    return reading[HostCount::kMalformed] > 0 && reading[EdgeCount::kForged] > 0 &&
           reading[EdgeCount::kDuplicates] + reading[EdgeCount::kStaleRound] > 0;
  }));
  flood.stop();
  rig.host().stop();
  const EdgeReading reading = rig.host().reading();
  EXPECT_GT(flood.sent(), 0u);
  EXPECT_EQ(reading[EdgeCount::kAccepted], 3 * 3 * chunks_of(rig));
  EXPECT_EQ(reading[EdgeCount::kResults], 3 * chunks_of(rig));
  EXPECT_EQ(reading[EdgeCount::kOutputs], 3 * chunks_of(rig));
}

TEST(EdgeHost, WhatIsLostOnTheWayInLeavesPartialSumsAtTheDeadline) {
  RigSettings settings;
  settings.on_receive.loss = 0.2;
  settings.deadline = {1'500'000'000'000};
  LoopbackRig rig(settings);
  rig.open_round(1);
  ASSERT_TRUE(rig.pump([&] { return rig.islands().closed(); }));
  rig.islands().expect_exact();
  rig.host().stop();
  const EdgeReading reading = rig.host().reading();
  EXPECT_GT(reading[EdgeCount::kTimeouts], 0u);
  EXPECT_GT(reading[HostCount::kInjected], 0u);
  EXPECT_LT(reading[EdgeCount::kAccepted], 3 * chunks_of(rig));
  EXPECT_EQ(reading[HostCount::kOpenSlots], 0u);
  EXPECT_EQ(
      reading[EdgeCount::kResults] + reading[EdgeCount::kTimeouts] + reading[EdgeCount::kLate],
      reading[EdgeCount::kOutputs]);
}

TEST(EdgeHost, WhatIsLostOnTheLastHopIsAskedForAndSentAgain) {
  RigSettings settings;
  settings.on_send.loss = 0.1;
  settings.on_send.duplication = 0.05;
  settings.on_send.delay = 0.05;
  settings.on_send.corruption = 0.02;
  LoopbackRig rig(settings);
  rig.open_round(1);
  ASSERT_TRUE(rig.pump_until_whole());
  rig.islands().expect_exact();
  ASSERT_TRUE(rig.pump([&] { return rig.host().reading()[EdgeCount::kResends] > 0; }));
}

TEST(EdgeHost, DelaysAndDuplicatesOnTheWayInSpoilNothing) {
  RigSettings settings;
  settings.introduced = true;  // a greeting may be overtaken
  settings.on_receive.duplication = 0.2;
  settings.on_receive.delay = 0.3;
  LoopbackRig rig(settings);
  rig.open_round(1);
  ASSERT_TRUE(rig.pump_until_whole());
  rig.islands().expect_exact();
  ASSERT_TRUE(rig.pump([&] { return rig.host().reading()[EdgeCount::kDuplicates] > 0; }));
}

TEST(EdgeHost, AStopPutsOutWhatIsOpen) {
  LoopbackRig rig(RigSettings{});
  rig.islands().silent = [](int island) { return island == 1; };
  rig.open_round(1);
  const std::uint64_t chunks = chunks_of(rig);
  ASSERT_TRUE(rig.pump([&] { return rig.host().reading()[EdgeCount::kAccepted] == 2 * chunks; }));
  EXPECT_EQ(rig.islands().sums(), 0u);
  rig.host().stop();
  EXPECT_EQ(rig.host().reading()[HostCount::kOpenSlots], 0u);
  EXPECT_EQ(rig.host().reading()[EdgeCount::kOutputs], chunks);
  ASSERT_TRUE(rig.pump([&] { return rig.islands().sums() == chunks; }));
  rig.islands().expect_exact();
  rig.host().stop();  // again: nothing happens
}

TEST(EdgeHost, AHostThatHearsNothingStops) {
  LoopbackRig rig(RigSettings{});
  rig.host().stop();
  EXPECT_EQ(rig.host().reading()[HostCount::kPackets], 0u);
}

TEST(EdgeHost, RoundsThatMakeNoSenseAreCounted) {
  LoopbackRig rig(RigSettings{});
  rig.host().open_round(9, equal_round(1, 4, 3));
  ASSERT_TRUE(rig.pump([&] { return rig.host().reading()[HostCount::kRoundsRefused] == 1; }));
}

TEST(EdgeHost, SettingsThatCannotWorkAreRefusedWithARemedy) {
  const auto refusal = [](EdgeHostSettings settings, int shards) {
    std::vector<Edge> edges;
    for (int i = 0; i < shards; ++i) {
      AggregationSpec spec;
      spec.job.elements = 1000;
      std::vector<EdgeJob> jobs;
      jobs.push_back({spec, {}});
      const Bytes memory{std::int64_t(footprint(spec).sums)};
      edges.push_back(std::move(*Edge::build({.memory = memory}, {0}, std::move(jobs))));
    }
    const auto started = EdgeHost::start(settings, std::move(edges));
    return started ? std::string("started") : started.error().message;
  };
  EdgeHostSettings settings;
  settings.interface = kLoopback;
  settings.port = testing::free_ports(1);
  settings.own = {kLoopback, 0};
  EXPECT_THAT(refusal(settings, 1), HasSubstr("more than 50 days away"));
  settings.clock = RunClock::starting_now();
  EXPECT_THAT(refusal(settings, 1), "started");
  EXPECT_THAT(refusal(settings, 0), HasSubstr("at least one"));
  EdgeHostSettings no_group = settings;
  no_group.groups = {{kLoopback, 0}};
  EXPECT_THAT(refusal(no_group, 1), HasSubstr("127.0.0.1 is no multicast group"));
  EdgeHostSettings elsewhere = settings;
  elsewhere.interface = 0xc000'0201;  // 192.0.2.1 belongs to nobody
  EXPECT_THAT(refusal(elsewhere, 1), HasSubstr("no interface of this machine has this address"));
  elsewhere = settings;
  elsewhere.own.address = 0xc000'0201;
  EXPECT_THAT(refusal(elsewhere, 1), HasSubstr("no interface of this machine has this address"));
  EdgeHostSettings dice = settings;
  dice.on_send.loss = 2;
  EXPECT_THAT(refusal(dice, 1), HasSubstr("loss 2 is no probability"));
  EdgeHostSettings cores = settings;
  cores.cores = {0};
  EXPECT_THAT(refusal(cores, 2), HasSubstr("1 cores for 2 shards"));
}

}  // namespace
}  // namespace cotillion
