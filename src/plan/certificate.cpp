#include "plan/certificate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.hpp"

namespace cotillion {
namespace {

// A few hundred roundings of doubles.
constexpr double kCertificateRounding = 1e-11;

class Checker {
 public:
  explicit Checker(Certificate& certificate) : certificate_(certificate) {}

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

void check_clique(const NetworkModel& network, const Plan& plan, const PlannedClique& clique,
                  Checker& checker) {
  const Map& map = network.map();
  const double end = plan.round.ps;
  for (const Stream& stream : clique.streams) {
    const std::string& sender = map.islands[stream.sender].name;
    checker.at_most(-stream.offset.ps, 0, end, "offset of " + sender);
    const double pace = ps_per_byte(stream.rate) * network.wire_factor();
    for (const Arrival& arrival : stream.receivers) {
      COTILLION_CHECK(arrival.latency == network.latency(arrival.receiver, stream.sender));
      checker.at_most(
          stream.offset.ps + double(arrival.latency.ps) + double(stream.payload.count) * pace,
          clique.price.ps, end,
          fmt::format("completion of {} at {}", sender, map.islands[arrival.receiver].name));
    }
  }
  checker.at_most(clique.price.ps, end, end, "price within T");
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

}  // namespace

double edge_memory_needed(const NetworkModel& network, const PlannedClique& clique,
                          IslandId island) {
  double first = std::numeric_limits<double>::infinity(), last = 0, pace = 1;
  int arrivals = 0;
  for (const Stream& stream : clique.streams) {
    if (stream.sender == island) continue;
    const double at = stream.offset.ps + double(network.latency(island, stream.sender).ps);
    first = std::min(first, at);
    last = std::max(last, at);
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
  return certificate;
}

}  // namespace cotillion
