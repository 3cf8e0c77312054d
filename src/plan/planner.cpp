// The passes for one schedule: ways (ways, reroute, detours), rates and prices (round_price), times
// (round_lengths, overlap), score (mixing, objective); then the certificate. The paper is the
// default of each; a relaxation offers one more choice, and the best plan wins, the paper's on
// ties.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.hpp"
#include "base/infinity.hpp"
#include "plan/certificate.hpp"
#include "plan/decided_ways.hpp"
#include "plan/overlap.hpp"
#include "plan/plan.hpp"
#include "plan/planned_round.hpp"
#include "plan/round_lengths.hpp"

namespace cotillion {
namespace {

// d of one round: from a fragment's snapshot to its merge. An island's own surplus weight on its
// own generation lasts until it merges too, so the island itself counts among the senders.
RealDuration delay_of(const PlannedRound& round, int fragments) {
  double longest = 0;
  for (const PlannedClique& clique : round.cliques) {
    double first = kInfinity, last = 0;
    for (const Stream& stream : clique.streams) {
      first = std::min(first, stream.offset.ps);
      for (const Arrival& arrival : stream.receivers)
        last = std::max(last, stream.offset.ps + double(arrival.latency.ps));
    }
    if (clique.streams.empty()) continue;
    longest = std::max(longest, last - first + clique.serialisation.ps / fragments);
  }
  return RealDuration::from_ps(longest);
}

// One schedule on one network under one set of settings.
class Planning {
 public:
  Planning(const NetworkModel& network, const Schedule& schedule, const PlanSettings& settings,
           const Mixing* known)
      : network_(network),
        schedule_(schedule),
        settings_(settings),
        mixing_(known != nullptr ? *known : mix(schedule, network.map().island_count())) {}

  Plan best() {
    std::vector<PricedRound> shortest;
    for (const Round& round : schedule_.rounds)
      shortest.push_back(price_round(network_, round, shortest_ways(network_, round), scratch_));
    Plan best = barrier(shortest);
    if (!settings_.relax.any() || mixing_.phases.empty()) return best;
    if (settings_.relax.overlap) offer(overlapped(shortest), best);
    if (settings_.relax.routes) {
      const RoundAim barrier_aim;
      offer(barrier(decided(shortest, barrier_aim)), best);
      if (settings_.relax.overlap) {
        const RoundAim aim{true, is_squared() ? mixing_.area_squared : mixing_.area,
                           overlap_fragments(settings_)};
        offer(overlapped(decided(shortest, aim)), best);
      }
    }
    return best;
  }

 private:
  [[nodiscard]] bool is_squared() const {
    return settings_.objective == Objective::kSquared ||
           settings_.objective == Objective::kSquaredStreamed;
  }

  static void offer(std::optional<Plan> plan, Plan& best) {
    if (plan && plan->feasible && (!best.feasible || plan->staleness() < best.staleness()))
      best = std::move(*plan);
  }

  // A round ends before the next begins.
  [[nodiscard]] Plan barrier(const std::vector<PricedRound>& priced) const {
    Plan plan = untimed_plan(network_, schedule_, settings_, mixing_, priced);
    const std::vector<RealDuration> lengths =
        settings_.relax.lengths && plan.feasible ? own_lengths(plan) : equal_lengths(plan);
    RealDuration start;
    for (std::size_t k = 0; k < plan.rounds.size(); ++k) {
      PlannedRound& round = plan.rounds[k];
      round.start = settings_.relax.lengths ? start : lengths[k] * double(k);
      round.length = lengths[k];
      start = start + round.length;
      plan.streamed_delay = std::max(plan.streamed_delay, delay_of(round, settings_.fragments));
    }
    for (const Objective objective : kObjectives)
      plan.objectives.push_back(
          !plan.feasible ? RealDuration::from_ps(kInfinity)
          : settings_.relax.lengths
              ? staleness(objective, plan.mixing, lengths, delays_of(plan))
              : staleness(objective, plan.mixing, lengths, plan.streamed_delay));
    return plan;
  }

  [[nodiscard]] std::vector<RealDuration> equal_lengths(const Plan& plan) const {
    const RealDuration length = round_length(
        network_, settings_, plan.round, payloads_sent(network_, plan), int(plan.rounds.size()));
    return std::vector<RealDuration>(plan.rounds.size(), length);
  }

  [[nodiscard]] std::vector<RealDuration> delays_of(const Plan& plan) const {
    std::vector<RealDuration> delays;
    for (const PlannedRound& round : plan.rounds)
      delays.push_back(delay_of(round, settings_.fragments));
    return delays;
  }

  // Each round as long as it needs, all stretched alike where islands may not send as much.
  [[nodiscard]] std::vector<RealDuration> own_lengths(const Plan& plan) const {
    std::vector<RealDuration> least;
    for (const PlannedRound& round : plan.rounds)
      least.push_back(round_length(round.planned, settings_));
    std::vector<RealDuration> lengths =
        best_lengths(settings_.objective, mixing_, std::move(least), delays_of(plan));
    RealDuration period;
    for (const RealDuration length : lengths) period = period + length;
    const RealDuration mean = round_length(network_, settings_, RealDuration(),
                                           payloads_sent(network_, plan), int(lengths.size()));
    const double stretch = std::max(1.0, mean * double(lengths.size()) / period);
    for (RealDuration& length : lengths) {
      length = length * stretch;
      if (settings_.whole_steps && stretch > 1)
        length = round_length(length - settings_.slack, settings_);
    }
    return lengths;
  }

  // At the paces that are best when rounds end, and at those that the network would allow.
  [[nodiscard]] std::optional<Plan> overlapped(std::vector<PricedRound> priced) const {
    std::optional<Plan> best = overlap(network_, schedule_, settings_, mixing_, priced);
    bool throttled = false;
    for (std::size_t k = 0; k < priced.size(); ++k)
      for (std::size_t c = 0; c < priced[k].prices.size(); ++c) {
        CliquePrice& price = priced[k].prices[c];
        throttled = throttled || price.throttled;
        price.throttled = false;
        if (priced[k].rates.bounds[c].lane >= 0)
          price.pace = ps_per_byte(priced[k].rates.bounds[c].rate) * network_.wire_factor();
      }
    if (!throttled) return best;
    auto other = overlap(network_, schedule_, settings_, mixing_, std::move(priced));
    if (other && (!best || other->staleness() < best->staleness())) return other;
    return best;
  }

  // Ways that are better than the shortest, where there are any. A round that is not the longest
  // keeps its shortest ways, unless its own length counts.
  [[nodiscard]] std::vector<PricedRound> decided(const std::vector<PricedRound>& shortest,
                                                 const RoundAim& aim) const {
    std::vector<PricedRound> rounds = shortest;
    double longest = 0;
    for (std::size_t k = 0; k < rounds.size(); ++k) {
      if (auto better = decided_ways(network_, schedule_.rounds[k], shortest[k], aim))
        rounds[k] = std::move(*better);
      longest = std::max(longest, rounds[k].price_ps());
    }
    if (!aim.overlap && !settings_.relax.lengths)
      for (std::size_t k = 0; k < rounds.size(); ++k)
        if (shortest[k].price_ps() <= longest) rounds[k] = shortest[k];
    return rounds;
  }

  const NetworkModel& network_;
  const Schedule& schedule_;
  const PlanSettings& settings_;
  const Mixing mixing_;
  mutable PriceScratch scratch_;
};

}  // namespace

RealDuration round_length(RealDuration round, const PlanSettings& settings) {
  const RealDuration length = round + settings.slack;
  const double step = settings.step_time.ps;
  if (!settings.whole_steps || step <= 0) return length;
  return RealDuration::from_ps(std::ceil(length.ps / step) * step);
}

RealDuration round_length(const NetworkModel& network, const PlanSettings& settings,
                          RealDuration round, const std::vector<int>& sent, int period) {
  const double wire = double(wire_bytes(network.map().edge, network.payload()).count);
  RealDuration needed = round;
  for (std::size_t i = 0; i < settings.egress_most.size(); ++i) {
    const double seconds = wire * sent[i] / (period * settings.egress_most[i]);
    needed =
        std::max(needed, RealDuration::from_ps(seconds * kPicosecondsPerSecond) - settings.slack);
  }
  return round_length(needed, settings);
}

Plan make_plan(const NetworkModel& network, const Schedule& schedule, const PlanSettings& settings,
               const Mixing* known) {
  COTILLION_CHECK(!schedule.rounds.empty() && settings.fragments >= 1);
  Plan plan = Planning(network, schedule, settings, known).best();
  const Certificate certificate = check_plan(network, plan);
  if (!certificate.broken.empty())
    check_failed(certificate.broken.front().c_str(), __FILE__, __LINE__);
  plan.constraints_checked = certificate.constraints;
  plan.worst_excess = certificate.worst;
  return plan;
}

}  // namespace cotillion
