#include "plan/steady_state.hpp"

#include <algorithm>
#include <cmath>

#include "topology/lane_walk.hpp"

namespace cotillion {
namespace {

// Times are sums of doubles of about 10¹² picoseconds.
constexpr double kTimeRounding = 1;  // ps

// Flows of one lane over a period, as steps up and down.
class LaneFlow {
 public:
  void add(double from, double lasts, double rate, double period) {
    lasts -= kTimeRounding;
    if (lasts <= 0) return;
    // What lasts longer than a period meets itself.
    const double turns = std::floor(lasts / period);
    const double start = from - std::floor(from / period) * period;
    const double end = start + (lasts - turns * period);
    first_ += turns * rate + (end > period ? rate : 0);
    steps_.emplace_back(start, rate);
    steps_.emplace_back(end > period ? end - period : end, -rate);
  }
  // Steps down go first where they meet steps up.
  [[nodiscard]] double peak() {
    std::sort(steps_.begin(), steps_.end());
    double now = first_, most = first_;
    for (const auto& [at, step] : steps_) most = std::max(most, now += step);
    return most;
  }

 private:
  double first_ = 0;  // when the period begins
  std::vector<std::pair<double, double>> steps_;
};

double period_of(const Plan& plan) {
  double period = 0;
  for (const PlannedRound& round : plan.rounds) period += round.length.ps;
  return period;
}

// From the sender to where a lane of its tree begins.
std::vector<double> lane_delays(const Map& map, const Stream& stream) {
  std::vector<double> delays;
  for (const LaneId lane : stream.tree) {
    double delay = 0;
    for (LaneId at = lane; at != stream.tree.front();) {
      at = lane_before(map, stream.tree, at);
      delay += double(lane_latency(map, at).ps);
    }
    delays.push_back(delay);
  }
  return delays;
}

class LanesOverTime {
 public:
  explicit LanesOverTime(const PlanOnMap& given)
      : given_(given), period_(period_of(given.plan)), flows_(given.map.lane_count()) {
    for (const PlannedRound& round : given.plan.rounds)
      for (const PlannedClique& clique : round.cliques) add(round, clique);
  }
  [[nodiscard]] IdVector<LaneId, BitsPerSecond> peaks() {
    IdVector<LaneId, BitsPerSecond> peaks;
    for (LaneFlow& flow : flows_) peaks.push_back({flow.peak()});
    return peaks;
  }

 private:
  void add(const PlannedRound& round, const PlannedClique& clique) {
    const double lasts = clique.serialisation.ps;
    for (const Stream& stream : clique.streams) {
      const std::vector<double> delays = lane_delays(given_.map, stream);
      for (std::size_t l = 0; l < stream.tree.size(); ++l)
        flows_[stream.tree[l]].add(round.start.ps + stream.offset.ps + delays[l], lasts,
                                   stream.rate.value * stream.copies[l], period_);
    }
    for (std::size_t i = 0; i < clique.islands.size() && !clique.streams.empty(); ++i) {
      if (ingress_at(clique.islands[i]).edge != kNoAggregator) {
        enter(clique.islands[i], round.start.ps + sum_begins(clique, i).ps, lasts,
              clique.rate.value);
        continue;
      }
      for (const Stream& stream : clique.streams)
        for (const Arrival& arrival : stream.receivers)
          if (arrival.receiver == clique.islands[i])
            enter(clique.islands[i], round.start.ps + stream.offset.ps + double(arrival.latency.ps),
                  lasts, stream.rate.value);
    }
  }
  // One stream on the last part of its way, by when it begins to reach the island.
  void enter(IslandId island, double arrives, double lasts, double rate) {
    const Ingress& ingress = ingress_at(island);
    double at = arrives - double(ingress.latency.ps);
    for (const LaneId lane : ingress.lanes) {
      flows_[lane].add(at, lasts, rate, period_);
      at += double(lane_latency(given_.map, lane).ps);
    }
  }
  [[nodiscard]] const Ingress& ingress_at(IslandId island) const { return given_.ingress[island]; }

  const PlanOnMap given_;
  double period_;
  IdVector<LaneId, LaneFlow> flows_;
};

// What comes to an island's edge in one round, and when it goes on.
struct EdgeTurn {
  double first = 0;   // arrival of the first byte
  double leaves = 0;  // the first byte of the sum
  double lasts = 0;   // S, of inputs and sum alike
};

// Bytes held for one island. Turns are in order; positions count through them.
double peak_of(const std::vector<EdgeTurn>& turns, double period, double payload) {
  const auto count = turns.size();
  if (count == 0) return 0;
  constexpr int kPeriods = 3;  // the last of them has all that the steady state has
  const auto position = [&](double t, double EdgeTurn::*begins) {
    double at = 0;
    for (std::size_t n = 0; n < kPeriods * count; ++n) {
      const EdgeTurn& turn = turns[n % count];
      const std::size_t periods = n / count;
      const double done = (t - turn.*begins - double(periods) * period) / turn.lasts;
      if (done > 0) at = std::max(at, (double(n) + std::min(done, 1.0)) * payload);
    }
    return at;
  };
  double most = 0;
  for (const EdgeTurn& turn : turns)
    for (const double at : {turn.first, turn.leaves})
      for (const double t : {at + period, at + turn.lasts + period})
        most = std::max(most, position(t, &EdgeTurn::first) - position(t, &EdgeTurn::leaves));
  return most;
}

IdVector<IslandId, Ingress> every_ingress(const NetworkModel& network) {
  IdVector<IslandId, Ingress> every;
  for (IslandId island{0}; island < network.map().island_count(); ++island)
    every.push_back(ingress_of(network, island));
  return every;
}

}  // namespace

IdVector<LaneId, BitsPerSecond> lane_peaks(const PlanOnMap& given) {
  return LanesOverTime(given).peaks();
}

IdVector<LaneId, BitsPerSecond> lane_peaks(const NetworkModel& network, const Plan& plan) {
  const IdVector<IslandId, Ingress> ingress = every_ingress(network);
  return lane_peaks({plan, network.map(), ingress});
}

IdVector<IslandId, double> edge_peaks(const PlanOnMap& given) {
  IdVector<IslandId, std::vector<EdgeTurn>> turns(given.map.islands.size());
  double payload = 0;
  for (const PlannedRound& round : given.plan.rounds)
    for (const PlannedClique& clique : round.cliques)
      for (std::size_t i = 0; i < clique.islands.size() && !clique.streams.empty(); ++i) {
        const IslandId island = clique.islands[i];
        if (given.ingress[island].edge == kNoAggregator) continue;
        payload = double(clique.streams.front().payload.count);
        EdgeTurn turn{INFINITY, round.start.ps + sum_begins(clique, i).ps, clique.serialisation.ps};
        for (const Stream& stream : clique.streams)
          for (const Arrival& arrival : stream.receivers)
            if (arrival.receiver == island)
              turn.first = std::min(turn.first,
                                    round.start.ps + stream.offset.ps + double(arrival.latency.ps));
        turns[island].push_back(turn);
      }
  IdVector<IslandId, double> peaks;
  for (const auto& of_island : turns)
    peaks.push_back(peak_of(of_island, period_of(given.plan), payload));
  return peaks;
}

IdVector<IslandId, double> edge_peaks(const NetworkModel& network, const Plan& plan) {
  const IdVector<IslandId, Ingress> ingress = every_ingress(network);
  return edge_peaks({plan, network.map(), ingress});
}

}  // namespace cotillion
