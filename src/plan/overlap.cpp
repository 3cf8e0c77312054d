#include "plan/overlap.hpp"

#include <algorithm>
#include <cmath>

#include "base/infinity.hpp"
#include "plan/planned_round.hpp"
#include "plan/steady_state.hpp"
#include "plan/timing.hpp"

namespace cotillion {
namespace {

constexpr int kSlowerMost = 24;         // times that streams are slowed for a lane too full
constexpr double kLaneRounding = 1e-9;  // relative
constexpr double kPicosecond = 1;       // times are sums of doubles

bool is_streamed(Objective objective) {
  return objective == Objective::kPaperStreamed || objective == Objective::kSquaredStreamed;
}

class Overlapping {
 public:
  Overlapping(const NetworkModel& network, const Schedule& schedule, const PlanSettings& settings,
              const Mixing& mixing, std::vector<PricedRound> rounds)
      : network_(network),
        schedule_(schedule),
        settings_(settings),
        mixing_(mixing),
        rounds_(std::move(rounds)) {}

  std::optional<Plan> run() {
    if (settings_.whole_steps || mixing_.phases.empty()) return std::nullopt;
    for (int slower = 0; slower < kSlowerMost; ++slower) {
      plan_ = untimed_plan(network_, schedule_, settings_, mixing_, rounds_);
      const Timing timing = best_timing(problem());
      if (!timing.feasible) return std::nullopt;
      write_times(timing);
      if (!slow_where_lanes_overflow()) {
        write_loads();
        score();
        return std::move(plan_);
      }
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] double area() const {
    const bool squared = settings_.objective == Objective::kSquared ||
                         settings_.objective == Objective::kSquaredStreamed;
    return squared ? mixing_.area_squared : mixing_.area;
  }

  [[nodiscard]] TimingProblem problem() const {
    TimingProblem problem;
    problem.island_count = network_.map().island_count();
    problem.payload = double(network_.payload().count);
    problem.fragments = overlap_fragments(settings_);
    problem.area = area();
    problem.slack = settings_.slack.ps;
    problem.headroom = settings_.headroom;
    PlanSettings capped = settings_;
    capped.slack = {};
    const int period = int(rounds_.size());
    problem.period_least =
        period *
        round_length(network_, capped, RealDuration(), payloads_sent(network_, plan_), period).ps;
    for (std::size_t k = 0; k < rounds_.size(); ++k) {
      problem.rounds.emplace_back();
      for (std::size_t c = 0; c < rounds_[k].prices.size(); ++c)
        problem.rounds.back().push_back(timed(k, c));
    }
    return problem;
  }

  [[nodiscard]] TimedClique timed(std::size_t k, std::size_t c) const {
    TimedClique clique;
    clique.islands = schedule_.rounds[k].cliques[c].islands;
    clique.pace = rounds_[k].prices[c].pace;
    const CliqueWays& ways = rounds_[k].ways.cliques[c];
    for (std::size_t i = 0; i < clique.islands.size(); ++i) {
      clique.memory.push_back(network_.memory(clique.islands[i]));
      for (std::size_t j = 0; j < clique.islands.size(); ++j)
        clique.latency.push_back(ways.empty() ? Duration{} : ways[j].latency[i]);
    }
    return clique;
  }

  void write_times(const Timing& timing) {
    plan_.overlapped = true;
    plan_.feasible = true;
    plan_.streamed_delay = RealDuration::from_ps(timing.delay);
    plan_.round = {};
    for (std::size_t k = 0; k < plan_.rounds.size(); ++k) {
      PlannedRound& round = plan_.rounds[k];
      const double start = timing.start[k];
      const double end =
          k + 1 < plan_.rounds.size() ? timing.start[k + 1] : timing.start[0] + timing.period;
      round.start = RealDuration::from_ps(start);
      round.length = RealDuration::from_ps(end - start);
      round.planned = {};
      for (PlannedClique& clique : round.cliques) {
        if (clique.islands.size() < 2) continue;
        clique.binding.chain.clear();
        clique.price = {};
        clique.sums.clear();
        for (Stream& stream : clique.streams)
          stream.offset = RealDuration::from_ps(timing.copy[k][stream.sender] - start);
        for (const IslandId island : clique.islands) {
          clique.sums.push_back(RealDuration::from_ps(timing.sum[k][island] - start));
          clique.price = std::max(clique.price, clique.sums.back() + clique.serialisation);
        }
        round.planned = std::max(round.planned, clique.price);
      }
      plan_.round = std::max(plan_.round, round.planned);
    }
  }

  // Slows the streams that use a lane which two rounds together would overfill; false when there
  // is none.
  bool slow_where_lanes_overflow() {
    const IdVector<LaneId, BitsPerSecond> peaks = lane_peaks(network_, plan_);
    IdVector<LaneId, double> factor;
    bool any = false;
    for (const LaneId lane : peaks.ids()) {
      const double excess = peaks[lane].value / lane_rate(network_.map(), lane).value;
      factor.push_back(excess > 1 + kLaneRounding ? excess : 1);
      any = any || factor.back() > 1;
    }
    for (std::size_t k = 0; any && k < rounds_.size(); ++k)
      for (std::size_t c = 0; c < rounds_[k].prices.size(); ++c) {
        double most = 1;
        for (const LaneLoad& load : rounds_[k].rates.cliques[c])
          most = std::max(most, factor[load.lane]);
        if (most == 1) continue;
        rounds_[k].prices[c].pace *= most;
        rounds_[k].prices[c].throttled = true;
      }
    return any;
  }

  // What edges hold when two rounds are under way.
  void write_loads() {
    const IdVector<IslandId, double> peaks = edge_peaks(network_, plan_);
    IdVector<AggregatorId, double> held(network_.map().aggregators.size(), 0);
    for (const IslandId i : peaks.ids())
      if (network_.aggregates(i)) held[network_.edge(i)] += peaks[i];
    for (PlannedRound& round : plan_.rounds)
      for (EdgeUse& use : round.edges) {
        const EdgeSpec& spec = network_.map().aggregators[use.aggregator].spec;
        const double slots =
            held[use.aggregator] * double(spec.slot.count) / double(spec.chunk.count);
        use.memory_peak = Bytes{std::int64_t(std::ceil(slots))};
      }
  }

  void score() {
    const RealDuration length = plan_.mean_length();
    plan_.objectives.clear();
    for (const Objective objective : kObjectives) {
      const bool squared =
          objective == Objective::kSquared || objective == Objective::kSquaredStreamed;
      // Whole copies that would have to be made before the last ones are merged never settle.
      const RealDuration delay = is_streamed(objective) ? delay_at(settings_.fragments)
                                 : holds_whole()        ? delay_at(1)
                                                        : RealDuration::from_ps(kInfinity);
      plan_.objectives.push_back(length * ((squared ? mixing_.area_squared : mixing_.area) - 0.5) +
                                 delay);
    }
    plan_.streamed_delay = delay_at(settings_.fragments);
  }

  // From a fragment's copy to its merge, at the longest, with so many fragments.
  [[nodiscard]] RealDuration delay_at(int fragments) const {
    double longest = 0;
    for (const PlannedRound& round : plan_.rounds)
      for (const PlannedClique& clique : round.cliques) {
        if (clique.streams.empty()) continue;
        double first = kInfinity, last = 0;
        for (const Stream& stream : clique.streams) first = std::min(first, stream.offset.ps);
        for (const RealDuration sum : clique.sums) last = std::max(last, sum.ps);
        longest = std::max(longest, last - first + clique.serialisation.ps / fragments);
      }
    return RealDuration::from_ps(longest);
  }

  // Whether every island has merged all of a round before it copies again.
  [[nodiscard]] bool holds_whole() const {
    IdVector<IslandId, double> first(network_.map().islands.size(), kInfinity);  // of a period
    IdVector<IslandId, double> merged(first.size(), -kInfinity);
    for (const PlannedRound& round : plan_.rounds)
      for (const PlannedClique& clique : round.cliques)
        for (std::size_t i = 0; i < clique.streams.size(); ++i) {
          const IslandId island = clique.islands[i];
          const double copy = round.start.ps + clique.streams[i].offset.ps;
          if (copy < merged[island] - kPicosecond) return false;
          first[island] = std::min(first[island], copy);
          merged[island] = round.start.ps + clique.sums[i].ps + clique.serialisation.ps;
        }
    const double period = plan_.mean_length().ps * double(plan_.rounds.size());
    for (const IslandId i : first.ids())
      if (first[i] + period < merged[i] - kPicosecond) return false;
    return true;
  }

  const NetworkModel& network_;
  const Schedule& schedule_;
  const PlanSettings& settings_;
  const Mixing& mixing_;
  std::vector<PricedRound> rounds_;
  Plan plan_;
};

}  // namespace

int overlap_fragments(const PlanSettings& settings) {
  return is_streamed(settings.objective) ? settings.fragments : 1;
}

std::optional<Plan> overlap(const NetworkModel& network, const Schedule& schedule,
                            const PlanSettings& settings, const Mixing& mixing,
                            std::vector<PricedRound> rounds) {
  return Overlapping(network, schedule, settings, mixing, std::move(rounds)).run();
}

}  // namespace cotillion
