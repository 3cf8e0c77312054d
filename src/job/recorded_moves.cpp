#include "job/recorded_moves.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "plan/replay.hpp"

namespace cotillion {
namespace {

constexpr double kSpread = 1e-3;  // of what was born may be left where nothing settles exactly
constexpr int kRoundsToSettleMost = 100'000;
// Longer runs are accounted for by their beginning: they tell nothing more, and take memory.
constexpr RoundId kRoundsRecorded = 1000;
constexpr std::size_t kBirthsFollowed = 8192;

// Rounds until what was born has spread; nothing where it does not, or hardly.
std::optional<std::size_t> rounds_to_settle(const Mixing& mixing) {
  if (mixing.settles_after) return std::size_t(*mixing.settles_after);
  const int period = int(mixing.phases.size());
  int longest = 0;
  for (const PhaseCurves& phase : mixing.phases)
    while (survival_at(phase.absolute, longest, period) >= kSpread)
      if (++longest > kRoundsToSettleMost) return {};
  return std::size_t(longest);
}

}  // namespace

RecordedMoves::RecordedMoves(int islands, int fragments)
    : islands_(islands), fragments_(std::size_t(fragments)) {
  COTILLION_CHECK(islands > 0 && fragments > 0);
  for (Fragment& fragment : fragments_) fragment.run.island_count = islands;
}

void RecordedMoves::copied(Instant at, IslandId island, RoundId round, int fragment) {
  if (round > kRoundsRecorded) return;
  fragments_[std::size_t(fragment)].run.events.push_back(
      {at, {LedgerMove::Kind::kCopy, island, int(round), -1}});
}

void RecordedMoves::merged(Instant at, IslandId island, RoundId round, int fragment,
                           const std::vector<double>& row) {
  COTILLION_CHECK(row.size() == std::size_t(islands_));
  if (round > kRoundsRecorded) return;
  auto& [run, known] = fragments_[std::size_t(fragment)];
  const auto [sum, is_new] = known.try_emplace(row, int(run.sums.size()));
  if (is_new) {
    run.sums.emplace_back();
    for (const IslandId from : all_ids<IslandId>(row.size()))
      if (row[std::size_t(from)] != 0) run.sums.back().push_back({from, row[std::size_t(from)]});
  }
  run.events.push_back({at, {LedgerMove::Kind::kMerge, island, int(round), sum->second}});
}

std::optional<ExactOutcome> RecordedMoves::account(const Plan& plan,
                                                   const JobAssignment& assignment,
                                                   RoundId played) const {
  const auto settles = rounds_to_settle(plan.mixing);
  if (plan.mixing.phases.empty() || !settles) return {};
  const bool whole = assignment.settings().exchange == Exchange::kWhole;
  // The first round, what was born in it, and what is under way at the end.
  const std::size_t around = plan.rounds.size() + *settles + std::size_t(assignment.live_rounds());
  ExactOutcome exact;
  exact.planned = exact_staleness(islands_, plan, whole ? 0 : assignment.job().fragments);
  exact.rounds_needed = around + plan.rounds.size();
  exact.lived = lived(plan, assignment, std::min(played, kRoundsRecorded), around);
  return exact;
}

std::optional<ExactStaleness> RecordedMoves::lived(const Plan& plan,
                                                   const JobAssignment& assignment, RoundId played,
                                                   std::size_t around) const {
  const std::size_t period = plan.rounds.size();
  if (played < around + period) return {};
  const std::size_t most =
      std::max<std::size_t>(kBirthsFollowed / (period * std::size_t(islands_)), 1);
  const std::size_t periods = std::min((played - around) / period, most);
  const Instant from = assignment.start_of(RoundId(period + 1), {0});
  const Instant to = assignment.start_of(RoundId((periods + 1) * period + 1), {0});
  const Instant horizon = assignment.start_of(played + 1, {0});
  ExactStaleness mean;
  for (const auto& [run, known] : fragments_) {
    if (run.events.empty() || !is_sound(run)) return {};
    const ExactStaleness one = exact_staleness(run, from, to, horizon);
    mean.absolute = mean.absolute + one.absolute / double(fragments_.size());
    mean.squared = mean.squared + one.squared / double(fragments_.size());
    mean.approximate = mean.approximate || one.approximate;
  }
  return mean;
}

}  // namespace cotillion
