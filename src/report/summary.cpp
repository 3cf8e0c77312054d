#include "report/summary.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "job/side_by_side.hpp"
#include "lab/error_histogram.hpp"

namespace cotillion {
namespace {

constexpr double kAsDear = 0.999;

Spread dearest_rounds(const Outcome& outcome) {
  Duration dearest{0};
  for (const RoundOutcome& round : outcome.rounds) dearest = std::max(dearest, round.planned);
  std::vector<Duration> times;
  for (const RoundOutcome& round : outcome.rounds)
    if (double(round.planned.ps) >= kAsDear * double(dearest.ps)) times.push_back(round.measured);
  return spread_of(std::move(times));
}

std::uint64_t missing_in(const Outcome& outcome) {
  std::uint64_t chunks = 0;
  for (const RoundOutcome& round : outcome.rounds)
    for (const AbsenceOutcome& absence : round.absences) chunks += absence.chunks;
  return chunks;
}

// The same widths for titles and lines, which are printed as they come.
constexpr const char* kLine =
    "{:<22}{:>8}{:>8}{:>11}{:>11}{:>10}{:>15}{:>9}{:>8}{:>9}{:>7}{:>9}{:>8}{:>8}{:>6}\n";

}  // namespace

std::string summary_titles() {
  return fmt::format(fmt::runtime(kLine), "plan", "memory", "rounds", "planned ms", "simulated",
                     "measured", "from–to", "of plan", "of sim", "missing", "trees", "late p50",
                     "p99", "stolen", "load");
}

std::string summary_line(const PlanFile& plan, const Outcome& simulated, const Outcome& measured,
                         const WanCounters& counters, const Crossings& crossings, double load) {
  const Spread before = dearest_rounds(simulated), seen = dearest_rounds(measured);
  ErrorHistogram late;
  for (const LaneCounters& lane : counters.lanes) late.add(lane.lateness);
  const double planned = plan.plan.round.ps / 1e9;
  const auto beyond = [&](double other) {
    return fmt::format("{:+.2f} %", 100 * (seen.median.ms() / other - 1));
  };
  return fmt::format(
      fmt::runtime(kLine), plan.plan.schedule, to_text(plan.map.edge.memory), seen.count,
      fmt::format("{:.1f}", planned), fmt::format("{:.1f}", before.median.ms()),
      fmt::format("{:.1f}", seen.median.ms()),
      fmt::format("{:.1f}–{:.1f}", seen.least.ms(), seen.most.ms()), beyond(planned),
      beyond(before.median.ms()), missing_in(measured), crossings.problems.empty() ? "once" : "NO",
      fmt::format("{:.3f}", late.quantile(0.5).ms()),
      fmt::format("{:.3f}", late.quantile(0.99).ms()), fmt::format("{:.0f}", counters.stolen.ms()),
      fmt::format("{:.1f}", load));
}

std::optional<RoundPeriod> period_of(const Plan& plan, const Outcome& outcome) {
  const std::size_t period = plan.rounds.size();
  const std::size_t last =
      outcome.rounds.empty() ? 0 : (outcome.rounds.size() - 1) / period * period;
  if (last == 0) return {};
  const Duration first_came = outcome.rounds[0].measured, last_came = outcome.rounds[last].measured;
  if (first_came.ps == 0 || last_came.ps == 0) return {};
  const RealDuration planned = plan.mean_length();
  const double drift = double((last_came - first_came).ps) / double(last);
  return RoundPeriod{planned,
                     RealDuration::from_ps(planned.ps + double(outcome.added_slack.ps) + drift)};
}

std::string period_text(const RoundPeriod& period) {
  return fmt::format("Rounds came every {:.1f} ms, planned {:.1f} ms ({:+.2f} %).",
                     period.measured.ms(), period.planned.ms(),
                     100 * (period.measured / period.planned - 1));
}

void add_lanes(const WanCounters& counters, Outcome& outcome) {
  outcome.lanes.clear();
  outcome.hops = 0;
  for (const LaneId lane : counters.lanes.ids()) {
    const WanLinkCounts& counts = counters.lanes[lane].counts;
    if (counts.packets == 0) continue;
    const ErrorHistogram& late = counters.lanes[lane].lateness;
    LaneOutcome seen;
    seen.lane = lane;
    seen.bytes = {std::int64_t(counts.bytes)};
    seen.packets = counts.packets;
    seen.lost = counts.lost + counts.dropped + counts.overflowed;
    seen.queue_longest = counts.queue_longest;
    seen.late_median = late.quantile(0.5);
    seen.late_p99 = late.quantile(0.99);
    seen.late_most = late.max();
    outcome.lanes.push_back(seen);
    outcome.hops += counts.packets;
  }
}

}  // namespace cotillion
