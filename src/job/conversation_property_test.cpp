// Coordinator and members under random delays, broken connections and deaths: everybody who lives
// ends in time, round one is at the same instant for all, and only those in trouble are blamed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/support/base/seeds.hpp"
#include "tests/support/job/conversation.hpp"

namespace cotillion {
namespace {

using testing::Conversation;
using testing::ConversationSettings;
using testing::milliseconds;
using testing::Trouble;

struct Tally {
  int done = 0, failed = 0, stopped_early = 0, lost = 0, orphaned = 0;
};

const testing::PlanAndText& plan() {
  static const testing::PlanAndText kPlan = [] {
    Map map = testing::example_map("isosceles");
    map.payload = {2'000'000};
    return testing::written_plan(std::move(map), "pairs");
  }();
  return kPlan;
}

ConversationSettings random_settings(Random& random) {
  ConversationSettings settings;
  settings.hurry();
  settings.coordinator.rounds = int(random.between(1, 6));
  settings.coordinator.on_loss = random.unit() < 0.3 ? OnLoss::kStop : OnLoss::kGoOn;
  const std::size_t members = 2 * plan().plan.map.islands.size();
  const double trouble = random.unit() < 0.3 ? 0 : 0.3;
  for (std::size_t i = 0; i < members; ++i) {
    settings.when.push_back(Instant{random.between(0, milliseconds(5000).ps)});
    Trouble which = Trouble::kNone;
    if (random.unit() < trouble) which = Trouble(random.between(1, 6));
    // Most jobs should get further than to the first deadline.
    if (which == Trouble::kNeverJoins && random.unit() < 0.7) which = Trouble::kStopsReporting;
    settings.troubles.push_back(which);
  }
  if (random.unit() < 0.1) settings.coordinator_dies = {random.between(0, milliseconds(6000).ps)};
  if (random.unit() < 0.2) settings.user_stops = {random.between(0, milliseconds(6000).ps)};
  return settings;
}

// When everyone must have ended, whatever happened.
Instant bound(const Coordinator& coordinator, const CoordinatorSettings& settings) {
  const Duration rounds =
      coordinator.job_assignment().start_of(RoundId(settings.rounds + 1), Instant{0}) - Instant{0};
  return Instant{0} + settings.join_timeout + settings.ready_timeout + settings.lead + rounds +
         settings.report_timeout + settings.stop_timeout + settings.silence_timeout +
         milliseconds(1000);
}

// What is wrong; empty when nothing is.
std::string judged(const Conversation& talk, const ConversationSettings& settings, Tally& tally) {
  const Coordinator& coordinator = talk.coordinator();
  const Map& map = plan().plan.map;
  if (talk.alive() && !coordinator.ended()) return "the coordinator waits for ever";
  const auto blamed = [&](Who who) {
    return std::any_of(coordinator.losses().begin(), coordinator.losses().end(),
                       [&](const Loss& loss) { return loss.who == who; });
  };
  for (std::size_t i = 0; i < talk.players().size(); ++i) {
    const Conversation::Player& player = *talk.players()[i];
    const Who who{IslandId(i / 2), i % 2 ? Role::kEdge : Role::kIsland};
    const std::string name = to_text(map, who);
    const bool in_trouble = settings.troubles[i] != Trouble::kNone;
    if (!player.dead && !player.member->ended()) return name + " waits for ever";
    if (!player.dead && player.member->state() == MemberState::kFailed &&
        player.member->reason().empty())
      return name + " failed without a word";
    if (!talk.alive()) {
      ++tally.orphaned;
      continue;
    }
    if (blamed(who) && !in_trouble) return name + " is blamed for nothing";
    if (coordinator.state() == CoordinatorState::kDone && !blamed(who) && !player.said_stopped)
      if (coordinator.origin() != kNever) return name + " is missed and not named";
    if (settings.troubles[i] == Trouble::kNeverJoins &&
        coordinator.state() == CoordinatorState::kFailed && coordinator.losses().empty() &&
        coordinator.reason().find(name) == std::string::npos)
      return name + " never joined and is not named: " + coordinator.reason();
    if (player.started != kNever) {
      const Duration apart = player.started - coordinator.origin();
      if (std::abs(apart.ps) > settings.delay_most.ps)
        return fmt::format("{} starts {} apart", name, to_text(apart));
    } else if (!in_trouble && coordinator.origin() != kNever &&
               coordinator.state() == CoordinatorState::kDone && settings.user_stops == kNever) {
      return name + " was never started";
    }
  }
  if (!talk.alive()) return {};
  if (coordinator.reason().empty()) return "ended without a reason";
  if (coordinator.state() == CoordinatorState::kDone)
    ++(settings.user_stops == kNever ? tally.done : tally.stopped_early);
  else
    ++tally.failed;
  tally.lost += int(coordinator.losses().size());
  // What is collected is what was sent: by each member in order, whole unless it was lost.
  for (std::size_t i = 0; i < talk.players().size(); ++i) {
    const Conversation::Player& player = *talk.players()[i];
    std::vector<RoundReport> collected;
    for (const Account& account : coordinator.accounts())
      if (account.who == Who{IslandId(i / 2), i % 2 ? Role::kEdge : Role::kIsland})
        collected.push_back(account.report);
    if (collected.size() > player.reports.size() ||
        !std::equal(collected.begin(), collected.end(), player.reports.begin()))
      return "reports are not those that were sent";
    if (settings.troubles[i] == Trouble::kNone && coordinator.state() == CoordinatorState::kDone &&
        collected.size() != player.reports.size())
      return "a report is missing";
  }
  return {};
}

TEST(ConversationProperty, EverybodyAliveEndsInTimeAndTheLateAreNamed) {
  Tally tally;
  for (const std::uint64_t seed : testing::seeds_to_try(600)) {
    Random random(seed);
    const ConversationSettings settings = random_settings(random);
    Conversation talk(plan(), settings, seed);
    talk.run(bound(talk.coordinator(), settings.coordinator));
    const std::string wrong = judged(talk, settings, tally);
    ASSERT_EQ(wrong, "") << fmt::format("{}", fmt::join(talk.notes, "\n"))
                         << "\n  COTILLION_SEED=" << seed
                         << " build/release/coordinate_test "
                            "--gtest_filter=ConversationProperty.*";
  }
  std::printf("%d done, %d stopped early, %d failed, %d lost, %d orphaned\n", tally.done,
              tally.stopped_early, tally.failed, tally.lost, tally.orphaned);
  if (std::getenv("COTILLION_SEED") != nullptr) return;
  EXPECT_GT(tally.done, 0);
  EXPECT_GT(tally.stopped_early, 0);
  EXPECT_GT(tally.failed, 0);
  EXPECT_GT(tally.lost, 0);
  EXPECT_GT(tally.orphaned, 0);
}

}  // namespace
}  // namespace cotillion
