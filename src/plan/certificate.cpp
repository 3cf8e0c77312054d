#include "plan/certificate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "plan/overlap.hpp"
#include "plan/steady_state.hpp"
#include "topology/lane_walk.hpp"

namespace cotillion {
namespace {

// A few hundred roundings of doubles.
constexpr double kCertificateRounding = 1e-11;

class Checker {
 public:
  explicit Checker(Certificate& certificate) : certificate_(certificate) {}

  // What is true or false, and no inequality of the paper: not counted.
  void holds(bool condition, const std::string& what) {
    if (!condition) certificate_.broken.push_back(what);
  }

  // left ≤ right, to rounding relative to `size`.
  void at_most(double left, double right, double size, const std::string& what) {
    ++certificate_.constraints;
    const double excess = (left - right) / std::max(size, 1.0);
    certificate_.worst = std::max(certificate_.worst, excess);
    if (!(excess <= kCertificateRounding))
      certificate_.broken.push_back(fmt::format("{}: {} > {}", what, left, right));
  }

 private:
  Certificate& certificate_;
};

// No stream is faster than its equal share of any lane it uses: u ≥ 1/b_max.
void check_shares(const Map& map, const PlannedRound& round, Checker& checker) {
  std::vector<int> streams(map.lane_count(), 0);
  for (const LaneUse& use : round.lanes) streams[use.lane] = use.streams;
  for (const PlannedClique& clique : round.cliques)
    for (const Stream& stream : clique.streams)
      for (const LaneId lane : stream.tree) {
        const double rate = lane_rate(map, lane).value;
        checker.at_most(stream.rate.value * streams[lane], rate, rate,
                        "share of " + lane_name(map, lane));
      }
}

// A tree that routers can hold: each place is entered by one lane, and flights are sums of lanes.
void check_tree(const NetworkModel& network, const Stream& stream, Checker& checker) {
  const Map& map = network.map();
  const std::string& sender = map.islands[stream.sender].name;
  IdVector<PlaceId, LaneId> entered(map.place_count(), LaneId{-1});
  for (std::size_t l = 1; l < stream.tree.size(); ++l) {
    LaneId& lane = entered[lane_ends(map, stream.tree[l])];
    checker.holds(lane == LaneId{-1}, "tree of " + sender + " enters a place twice");
    lane = stream.tree[l];
  }
  for (const Arrival& arrival : stream.receivers) {
    const PlaceId via = network.meeting_place(arrival.receiver);
    Duration flight;
    if (via != PlaceId(arrival.receiver)) flight = network.routes().latency(arrival.receiver, via);
    std::size_t steps = 0;
    PlaceId at = via;
    for (; at != PlaceId(stream.sender) && ++steps <= entered.size();) {
      const LaneId lane = entered[at];
      if (lane == LaneId{-1}) break;
      flight = flight + lane_latency(map, lane);
      at = lane_begins(map, lane);
    }
    checker.holds(at == PlaceId(stream.sender) && flight == arrival.latency,
                  fmt::format("tree of {} to {}", sender, map.islands[arrival.receiver].name));
  }
}

void check_clique(const NetworkModel& network, const Plan& plan, const PlannedClique& clique,
                  Checker& checker) {
  const Map& map = network.map();
  const double end = plan.round.ps;
  for (const Stream& stream : clique.streams) {
    check_tree(network, stream, checker);
    const std::string& sender = map.islands[stream.sender].name;
    checker.at_most(-stream.offset.ps, 0, end, "offset of " + sender);
    const double pace = ps_per_byte(stream.rate) * network.wire_factor();
    for (const Arrival& arrival : stream.receivers) {
      checker.at_most(
          stream.offset.ps + double(arrival.latency.ps) + double(stream.payload.count) * pace,
          clique.price.ps, end,
          fmt::format("completion of {} at {}", sender, map.islands[arrival.receiver].name));
    }
  }
  checker.at_most(clique.price.ps, end, end, "price within T");
  if (plan.overlapped) return;  // what edges then hold depends on two rounds
  for (const IslandId island : clique.islands) {
    const double memory = network.memory(island);
    if (!std::isfinite(memory) || clique.streams.empty()) continue;
    // Differences of arrival times carry the rounding of the times, turned into bytes.
    const double pace = ps_per_byte(clique.rate) * network.wire_factor();
    const double size = std::max({double(network.payload().count), memory, end / pace});
    checker.at_most(edge_memory_needed(network, clique, island), memory, size,
                    "memory at " + map.islands[island].name);
  }
}

// An island's part in a round: its own copy, its sum, and how long each takes to pass.
struct Turn {
  double copy = 0, sum = 0, passes = 0;
};

// The order in which every island copies and merges, and what lanes and edges carry, when rounds
// overlap. A period follows a period.
class OverlapChecks {
 public:
  OverlapChecks(const NetworkModel& network, const Plan& plan, Checker& checker)
      : network_(network), plan_(plan), checker_(checker) {
    for (const PlannedRound& round : plan.rounds) period_ += round.length.ps;
  }

  void run() {
    check_orders();
    check_loads();
    const bool streamed = plan_.settings.objective == Objective::kPaperStreamed ||
                          plan_.settings.objective == Objective::kSquaredStreamed;
    const bool squared = plan_.settings.objective == Objective::kSquared ||
                         plan_.settings.objective == Objective::kSquaredStreamed;
    const double area = squared ? plan_.mixing.area_squared : plan_.mixing.area;
    const double value = period_ / double(plan_.rounds.size()) * (area - 0.5) + delay_;
    const double told = plan_.staleness().ps;
    checker_.at_most(std::fabs(value - told), 0, told, "the objective, from times");
    if (streamed)
      checker_.at_most(std::fabs(delay_ - plan_.streamed_delay.ps), 0, told, "the delay");
  }

 private:
  void check_orders() {
    std::vector<std::vector<Turn>> turns(network_.map().islands.size());
    for (const PlannedRound& round : plan_.rounds)
      for (const PlannedClique& clique : round.cliques)
        for (std::size_t i = 0; i < clique.streams.size(); ++i)
          check_member(round, clique, i, turns);
    for (std::size_t i = 0; i < turns.size(); ++i)
      check_turns(turns[i], network_.map().islands[IslandId(i)].name);
  }

  // Everybody's bytes are there when the sum begins, its own copy among them.
  void check_member(const PlannedRound& round, const PlannedClique& clique, std::size_t i,
                    std::vector<std::vector<Turn>>& turns) {
    const IslandId island = clique.islands[i];
    const double sum = clique.sums[i].ps;
    const std::string& name = network_.map().islands[island].name;
    for (const Stream& stream : clique.streams) {
      double comes = stream.offset.ps;
      for (const Arrival& arrival : stream.receivers)
        if (arrival.receiver == island) comes += double(arrival.latency.ps);
      checker_.at_most(comes, sum, period_, "arrival before the sum at " + name);
      delay_ = std::max(delay_, sum - stream.offset.ps + clique.serialisation.ps / fragments_);
    }
    turns[island].push_back({round.start.ps + clique.streams[i].offset.ps, round.start.ps + sum,
                             clique.serialisation.ps});
  }

  void check_turns(const std::vector<Turn>& turns, const std::string& name) {
    for (std::size_t k = 0; k < turns.size(); ++k) {
      const Turn& turn = turns[k];
      Turn next = turns[(k + 1) % turns.size()];
      if (k + 1 == turns.size()) {
        next.copy += period_;
        next.sum += period_;
      }
      checker_.at_most(turn.copy + turn.passes, next.copy, period_, "streams out of " + name);
      checker_.at_most(turn.sum + turn.passes, next.sum, period_, "sums into " + name);
      for (const double f : {0.0, fragments_ - 1})
        checker_.at_most(turn.sum + (f + 1) * turn.passes / fragments_,
                         next.copy + f * next.passes / fragments_, period_,
                         "merge before the next copy at " + name);
    }
  }

  void check_loads() {
    const Map& map = network_.map();
    const IdVector<LaneId, BitsPerSecond> peaks = lane_peaks(network_, plan_);
    for (const LaneId lane : peaks.ids()) {
      const double rate = lane_rate(map, lane).value;
      // Streams that follow each other to a picosecond count as one.
      checker_.at_most(peaks[lane].value, rate * (1 + 1e-9), rate,
                       "rounds together on " + lane_name(map, lane));
    }
    const IdVector<IslandId, double> held = edge_peaks(network_, plan_);
    const double payload = double(network_.payload().count);
    for (const IslandId i : held.ids()) {
      const double memory = network_.memory(i);
      if (std::isfinite(memory))
        checker_.at_most(held[i], memory, std::max(memory, payload) * double(plan_.rounds.size()),
                         "rounds together at " + map.islands[i].name);
    }
  }

  const NetworkModel& network_;
  const Plan& plan_;
  Checker& checker_;
  const double fragments_ = overlap_fragments(plan_.settings);
  double period_ = 0;
  double delay_ = 0;  // from a copy to its merge
};

}  // namespace

double edge_memory_needed(const NetworkModel& network, const PlannedClique& clique,
                          IslandId island) {
  double first = std::numeric_limits<double>::infinity(), last = 0, pace = 1;
  int arrivals = 0;
  for (const Stream& stream : clique.streams) {
    if (stream.sender == island) continue;
    for (const Arrival& arrival : stream.receivers) {
      if (arrival.receiver != island) continue;
      const double at = stream.offset.ps + double(arrival.latency.ps);
      first = std::min(first, at);
      last = std::max(last, at);
    }
    pace = ps_per_byte(stream.rate) * network.wire_factor();
    ++arrivals;
  }
  return arrivals < 2 ? 0 : (last - first) / pace;
}

Certificate check_plan(const NetworkModel& network, const Plan& plan) {
  Certificate certificate;
  Checker checker(certificate);
  for (const PlannedRound& round : plan.rounds) {
    for (const PlannedClique& clique : round.cliques)
      if (clique.feasible) check_clique(network, plan, clique, checker);
    check_shares(network.map(), round, checker);
    for (const LaneUse& use : round.lanes) {
      const double rate = lane_rate(network.map(), use.lane).value;
      checker.at_most(use.rate.value, rate, rate,
                      "capacity of " + lane_name(network.map(), use.lane));
    }
  }
  if (plan.overlapped) OverlapChecks(network, plan, checker).run();
  return certificate;
}

}  // namespace cotillion
