#include "job/recorded_moves.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace cotillion {
namespace {

constexpr double kSpread = 1e-3;  // of what was born may be left where nothing settles exactly

// Rounds until what was born has spread.
std::optional<std::size_t> rounds_to_settle(const Mixing& mixing) {
  if (mixing.settles_after) return std::size_t(*mixing.settles_after);
  std::size_t longest = 0;
  for (const PhaseCurves& phase : mixing.phases) {
    const std::vector<double>& left = phase.absolute.values;
    const auto found = std::find_if(left.begin(), left.end(), [](double e) { return e < kSpread; });
    if (found == left.end()) return {};
    longest = std::max(longest, std::size_t(found - left.begin()));
  }
  return longest;
}

}  // namespace

RecordedMoves::RecordedMoves(int islands, int fragments) : runs_(std::size_t(fragments)) {
  COTILLION_CHECK(islands > 0 && fragments > 0);
  for (LedgerRun& run : runs_) run.island_count = islands;
}

void RecordedMoves::copied(Instant at, IslandId island, RoundId round, int fragment) {
  run_of(fragment).events.push_back({at, {LedgerMove::Kind::kCopy, island, int(round), -1}});
}

void RecordedMoves::merged(Instant at, IslandId island, RoundId round, int fragment,
                           const std::vector<double>& row) {
  LedgerRun& run = run_of(fragment);
  LedgerSum sum;
  for (IslandId from{0}; from < run.island_count; ++from)
    if (row[std::size_t(from)] != 0) sum.push_back({from, row[std::size_t(from)]});
  run.events.push_back({at, {LedgerMove::Kind::kMerge, island, int(round), int(run.sums.size())}});
  run.sums.push_back(std::move(sum));
}

std::optional<ExactStaleness> RecordedMoves::staleness(const Plan& plan,
                                                       const JobAssignment& assignment,
                                                       RoundId played) const {
  const std::size_t period = plan.rounds.size();
  const auto settles = rounds_to_settle(plan.mixing);
  if (!settles || plan.mixing.phases.empty()) return {};
  const std::size_t around = period + *settles + std::size_t(assignment.live_rounds());
  if (played < around + period) return {};
  const std::size_t periods = (played - around) / period;
  const Instant from = assignment.start_of(RoundId(period + 1), {0});
  const Instant to = assignment.start_of(RoundId((periods + 1) * period + 1), {0});
  const Instant horizon = assignment.start_of(played + 1, {0});
  ExactStaleness mean;
  for (const LedgerRun& run : runs_) {
    const ExactStaleness one = exact_staleness(run, from, to, horizon);
    mean.absolute = mean.absolute + one.absolute / double(runs_.size());
    mean.squared = mean.squared + one.squared / double(runs_.size());
    mean.approximate = mean.approximate || one.approximate;
  }
  return mean;
}

}  // namespace cotillion
