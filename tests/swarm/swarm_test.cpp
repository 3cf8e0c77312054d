// Some hundreds of random worlds with random faults, and what the project promises of faults of one
// kind. One that fails prints the command that plays it again and the smallest case like it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "tests/support/base/seeds.hpp"
#include "tests/swarm/minimiser.hpp"
#include "tests/swarm/swarm_draw.hpp"
#include "tests/swarm/swarm_run.hpp"

namespace cotillion {
namespace {

using testing::FaultKind;
using testing::Played;
using testing::seeds_to_try;
using testing::SwarmCase;
using testing::SwarmFault;
using testing::Tally;
using testing::Verdict;

using testing::kMicrosecond;
constexpr Duration kGrace{20'000'000'000};  // enough for queues and repair in these small worlds

// One that is replayed, and sanitizers, try fewer: then nobody can count on having seen everything.
bool few() {
  return seeds_to_try(60).size() < 60;
}

std::string again(std::uint64_t seed) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  return fmt::format("COTILLION_SEED={} build/release/swarm_test --gtest_filter={}.{}", seed,
                     test->test_suite_name(), test->name());
}

// Plays a case and says whether everything holds; the smallest case like it if not.
::testing::AssertionResult holds(const SwarmCase& swarm, std::uint64_t seed, Played& played) {
  testing::announce_on_abort(again(seed));
  played = testing::played(swarm);
  const Verdict& verdict = played.verdict;
  if (verdict.playable && verdict.holds()) return ::testing::AssertionSuccess();
  auto failure = ::testing::AssertionFailure();
  failure << verdict.wrong.invariant << ": " << verdict.wrong.what << "\n  " << again(seed) << "\n";
  if (!verdict.holds()) failure << testing::smallest_text(swarm);
  return failure;
}

SwarmCase patient_world(std::uint64_t seed) {
  SwarmCase world = testing::world_of(seed);
  world.grace = kGrace;
  return world;
}

// Every edge at its own island, where all links lie before it.
SwarmCase world_with_edges_at_home(std::uint64_t seed) {
  SwarmCase world = testing::world_of(seed);
  Map& map = world.map;
  map.edge.memory = map.edge.memory + 8 * map.edge.slot;
  map.aggregators.clear();
  for (IslandId i = 0; i < map.island_count(); ++i) map.aggregators.push_back({i, map.edge, {i}});
  return world;
}

// The time of one chunk at the rate of a clique: plans are fluid, the last chunk is whole.
Duration time_of_a_chunk(const SwarmCase& world, RoundId round, std::size_t clique) {
  const auto network = testing::modelled(world);
  const auto& rounds = network->plan.plan.rounds;
  const BitsPerSecond rate = rounds[(round - 1) % rounds.size()].cliques[clique].rate;
  if (rate.value == 0) return {0};
  return {std::llround(transfer_time(world.map.edge.chunk + world.map.edge.framing, rate).ps)};
}

// By which a round may be longer than planned: its slack; where rounds overlap, what whole packets
// add and how long edges and islands wait.
Duration time_added(const SwarmCase& world, const Outcome& outcome) {
  const auto network = testing::modelled(world);
  if (!network->plan.plan.overlapped) return outcome.added_slack + world.slack;
  const JobAssignment assignment = testing::job_assignment_of(*network);
  return assignment.hops_max() + assignment.hops_max() + world.grace + world.grace;
}

// Halfway through the middle one of the rounds that are played.
Duration middle_of(const SwarmCase& world) {
  const auto network = testing::modelled(world);
  const JobAssignment assignment = testing::job_assignment_of(*network);
  const auto round = RoundId(world.rounds / 2 + 1);
  const std::int64_t from = assignment.start_of(round, Instant{0}).ps;
  const std::int64_t middle = (from + assignment.start_of(round + 1, Instant{0}).ps) / 2;
  return Duration{middle / kMicrosecond.ps * kMicrosecond.ps};
}

TEST(Swarm, EverythingHoldsWhateverGoesWrong) {
  Tally all;
  for (const std::uint64_t seed : seeds_to_try(400)) {
    testing::announce_on_abort(testing::replay_command_of(seed));
    const Verdict verdict = testing::examined(seed);
    ASSERT_TRUE(verdict.playable && verdict.holds()) << testing::failure_text(seed);
    all.add(verdict.tally);
  }
  std::printf("%s\n", testing::to_text(all).c_str());
  if (few()) return;
  for (const std::uint64_t seen :
       {all.whole, all.partial, all.late, all.absences, all.owed, all.alike, all.deaths,
        all.restarts, all.relaxed, all.overlapped, all.thrice, all.counted})
    EXPECT_GT(seen, 0u);
}

// 1 % of all packets lost before the edge: rounds keep their time, what is missing is reported, and
// the correction is the one for what arrived.
TEST(Swarm, LossBeforeTheEdgeCostsOnlyWhatWasLost) {
  Tally all;
  for (const std::uint64_t seed : seeds_to_try(60)) {
    SwarmCase world = world_with_edges_at_home(seed);
    for (const char* where : {"core", "first-hops"})
      world.faults.push_back({.kind = FaultKind::kLoss, .on = where, .rate = 0.01, .until = {}});
    Played played;
    ASSERT_TRUE(holds(world, seed, played));
    for (const RoundOutcome& round : played.outcome.rounds)
      for (std::size_t c = 0; c < round.cliques.size(); ++c)
        EXPECT_LE(round.cliques[c].measured.ps,
                  (round.cliques[c].planned + time_added(world, played.outcome) +
                   time_of_a_chunk(world, round.round, c))
                      .ps)
            << again(seed);
    all.add(played.verdict.tally);
  }
  if (few()) return;
  EXPECT_GT(all.absences, 0u);
  EXPECT_GT(all.partial, 0u);
}

// What is lost behind the edge is asked for again, and comes before the deadline.
TEST(Swarm, LossOnTheLastHopIsRepaired) {
  std::uint64_t lost = 0, missed = 0;
  for (const std::uint64_t seed : seeds_to_try(60)) {
    SwarmCase world = world_with_edges_at_home(seed);
    world.grace = kGrace;
    world.map.edge.resend = {1 << 20};
    for (Aggregator& edge : world.map.aggregators) edge.spec.resend = world.map.edge.resend;
    world.faults.push_back(
        {.kind = FaultKind::kLoss, .on = "last-hops", .rate = 0.02, .until = {}});
    Played played;
    ASSERT_TRUE(holds(world, seed, played));
    for (const LaneOutcome& lane : played.outcome.lanes) lost += lane.lost;
    for (const RoundOutcome& round : played.outcome.rounds)
      for (const AbsenceOutcome& absence : round.absences) missed += absence.chunks;
  }
  std::printf("%lu packets lost, %lu contributions missed\n", lost, missed);
  EXPECT_TRUE(few() || (lost > 0 && 20 * missed < lost));
}

// Every average is what it is without them; to the bit on the grid, where order does not count.
TEST(Swarm, DuplicatesReplaysAndReorderingChangeNoSum) {
  std::uint64_t compared = 0;
  for (const std::uint64_t seed : seeds_to_try(60)) {
    SwarmCase world = patient_world(seed);
    world.step_time = {0};  // a merge that comes before a step instead of after it rounds elsewhere
    Played without, with;
    ASSERT_TRUE(holds(world, seed, without));
    const Duration round = middle_of(world);
    world.faults = {
        {.kind = FaultKind::kDuplicate,
         .on = "everywhere",
         .rate = 0.01,
         .by = {2 * kMicrosecond.ps},
         .until = {}},
        {.kind = FaultKind::kReplay, .on = "everywhere", .rate = 0.01, .by = round, .until = {}},
        {.kind = FaultKind::kReorder,
         .on = "everywhere",
         .rate = 0.01,
         .by = {50 * kMicrosecond.ps},
         .until = {}},
    };
    ASSERT_TRUE(holds(world, seed, with));
    for (const RoundOutcome& played : with.outcome.rounds)
      EXPECT_TRUE(played.absences.empty()) << again(seed);
    ASSERT_EQ(with.averages.size(), without.averages.size());
    if (world.element != Element::kI32) continue;
    for (std::size_t i = 0; i < with.averages.size(); ++i) {
      ASSERT_EQ(with.averages[i], without.averages[i]) << again(seed);
      ++compared;
    }
  }
  EXPECT_TRUE(few() || compared > 0);
}

// A world in which one fault strikes one island halfway, and nothing else; visit(absence, island,
// seed) for whatever was missing then.
template <class Visit>
void expect_to_hold_when_one_suffers(FaultKind kind, Visit visit) {
  for (const std::uint64_t seed : seeds_to_try(60)) {
    SwarmCase world = testing::world_of(seed);
    const IslandId island = IslandId(seed % std::uint64_t(world.map.island_count()));
    world.faults.push_back({.kind = kind,
                            .on = world.map.islands[island].name,
                            .from = middle_of(world),
                            .until = {}});
    Played played;
    ASSERT_TRUE(holds(world, seed, played));
    for (const RoundOutcome& round : played.outcome.rounds)
      for (const AbsenceOutcome& absence : round.absences) visit(absence, island, seed);
  }
}

TEST(Swarm, OthersFinishByTheDeadlineWhenAnIslandDies) {
  std::uint64_t missed = 0;
  expect_to_hold_when_one_suffers(
      FaultKind::kDead, [&](const AbsenceOutcome& absence, IslandId dead, std::uint64_t seed) {
        EXPECT_EQ(absence.contributor, dead) << again(seed);
        if (absence.receiver == dead) return;  // it gave no account
        missed += absence.chunks;
      });
  EXPECT_TRUE(few() || missed > 0);
}

TEST(Swarm, AnEdgeThatRestartsCostsNobodyElse) {
  std::uint64_t missed = 0;
  expect_to_hold_when_one_suffers(
      FaultKind::kRestart, [&](const AbsenceOutcome& absence, IslandId edge, std::uint64_t seed) {
        EXPECT_EQ(absence.receiver, edge) << again(seed);
        missed += absence.chunks;
      });
  EXPECT_TRUE(few() || missed > 0);
}

// Faults that lose nothing and delay by less than grace: nothing is missing, and on the grid
// every member of a clique gets the same bits.
TEST(Swarm, WhereNothingIsLostMembersOfACliqueGetTheSameBits) {
  std::uint64_t alike = 0;
  for (const std::uint64_t seed : seeds_to_try(80)) {
    SwarmCase world = patient_world(seed);
    world.element = Element::kI32;
    world.exponent = -16;
    testing::add_harmless_faults(world, seed);
    Played played;
    ASSERT_TRUE(holds(world, seed, played));
    for (const RoundOutcome& round : played.outcome.rounds)
      EXPECT_TRUE(round.absences.empty()) << again(seed);
    alike += played.verdict.tally.alike;
  }
  EXPECT_TRUE(few() || alike > 0);
}

// An invariant that is none, to see the minimiser at work: no packet is ever lost.
std::string loses_nothing(const SwarmCase& swarm) {
  const Played played = testing::played(swarm);
  const bool lost = std::any_of(played.outcome.lanes.begin(), played.outcome.lanes.end(),
                                [](const LaneOutcome& lane) { return lane.lost > 0; });
  return lost ? "no packet is ever lost" : "";
}

TEST(Minimiser, LeavesNothingButWhatTheFailureNeeds) {
  int shrunk = 0;
  for (std::uint64_t seed = 1; shrunk < 4; ++seed) {
    SwarmCase failing = testing::world_of(seed);
    testing::add_harmless_faults(failing, seed);
    testing::add_any_faults(failing, seed);
    if (loses_nothing(failing).empty()) continue;
    ++shrunk;
    const testing::Minimised least = testing::minimised(failing, loses_nothing);
    const SwarmCase& smallest = least.smallest;
    EXPECT_EQ(loses_nothing(smallest), least.invariant);
    ASSERT_EQ(smallest.faults.size(), 1u) << to_text(smallest);
    EXPECT_TRUE(smallest.faults[0].kind == FaultKind::kLoss ||
                smallest.faults[0].kind == FaultKind::kDown);
    EXPECT_EQ(smallest.rounds, 1);
    EXPECT_EQ(smallest.schedule.rounds.size(), 1u);
    EXPECT_EQ(smallest.map.island_count(), 2) << to_text(smallest);
    EXPECT_LE(smallest.map.payload, smallest.map.edge.chunk);
    EXPECT_EQ(smallest.element, Element::kF32);
    EXPECT_EQ(smallest.exchange, Exchange::kWhole);
    EXPECT_FALSE(smallest.relax.any());
    EXPECT_EQ(to_text(testing::minimised(failing, loses_nothing).smallest), to_text(smallest));
  }
}

// Another that is none.
std::string never_overlaps(const SwarmCase& swarm) {
  const auto network = testing::modelled(swarm);
  return network && network->plan.plan.overlapped ? "rounds never overlap" : "";
}

TEST(Minimiser, KeepsTheRelaxationThatTheFailureNeeds) {
  std::uint64_t seed = 1;
  SwarmCase failing = testing::world_of(seed);
  while (!(failing.relax.routes && failing.relax.lengths && !never_overlaps(failing).empty()))
    failing = testing::world_of(++seed);
  const SwarmCase smallest = testing::minimised(failing, never_overlaps).smallest;
  EXPECT_EQ(smallest.relax, (Relaxations{.overlap = true})) << to_text(smallest);
  EXPECT_EQ(smallest.headroom, 0);
  EXPECT_NE(to_text(smallest).find("--relax overlap "), std::string::npos) << to_text(smallest);
}

TEST(Minimiser, KeepsToTheInvariantThatFailed) {
  // Two losses: the one asked for is kept, whatever the other does.
  SwarmCase failing = testing::world_of(3);
  failing.faults.push_back({.kind = FaultKind::kDown, .on = "core", .until = {}});
  failing.faults.push_back({.kind = FaultKind::kLoss, .on = "last-hops", .rate = 1, .until = {}});
  const auto last_hops_lose = [](const SwarmCase& swarm) -> std::string {
    const Played played = testing::played(swarm);
    for (const LaneOutcome& lane : played.outcome.lanes)
      if (lane.lost > 0 && is_access(swarm.map, lane.lane)) return "last hops lose nothing";
    return loses_nothing(swarm);
  };
  const testing::Minimised least = testing::minimised(failing, last_hops_lose);
  EXPECT_EQ(least.invariant, "last hops lose nothing");
  ASSERT_EQ(least.smallest.faults.size(), 1u);
  EXPECT_EQ(least.smallest.faults[0].on, "last-hops");
}

}  // namespace
}  // namespace cotillion
