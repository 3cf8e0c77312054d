#include "search/pair_prices.hpp"

#include <algorithm>

#include "base/infinity.hpp"

namespace cotillion {
namespace {

// The least value at which pairs of at most that value connect everybody (Prim).
template <class Value>
double bottleneck(std::size_t n, Value value) {
  std::vector<double> nearest(n, kInfinity);
  std::vector<bool> joined(n, false);
  double worst = 0;
  std::size_t at = 0;
  for (std::size_t step = 1; step < n; ++step) {
    joined[at] = true;
    std::size_t next = n;
    for (std::size_t j = 0; j < n; ++j) {
      if (joined[j]) continue;
      nearest[j] = std::min(nearest[j], value(at, j));
      if (next == n || nearest[j] < nearest[next]) next = j;
    }
    worst = std::max(worst, nearest[next]);
    at = next;
  }
  return worst;
}

}  // namespace

PairPrices::PairPrices(const NetworkModel& network, const Rules& rules, int fragments)
    : n_(network.map().islands.size()) {
  const Map& map = network.map();
  const Routes& routes = network.routes();
  const int n = map.island_count();
  std::vector<double> time;  // by lane, of one payload
  for (LaneId lane = 0; lane < map.lane_count(); ++lane)
    time.push_back(ps_per_byte(lane_rate(map, lane)) * network.wire_factor() *
                   double(network.payload().count));
  price_.assign(n_ * n_, 0);
  flight_.assign(n_ * n_, 0);
  least_flight_.assign(std::size_t(map.lane_count()), kInfinity);
  for (IslandId a = 0; a < n; ++a)
    for (IslandId b = 0; b < n; ++b)
      flight_[std::size_t(a) * n_ + b] =
          double(std::max(network.latency(a, b), network.latency(b, a)).ps);
  std::vector<double> slow(n_ * n_, 0);  // the slowest lane of both streams
  for (IslandId a = 0; a < n; ++a) {
    double arriving = std::max(time[lane_up(map, a)], time[lane_down(map, a)]);
    if (network.meeting_place(a) != a)
      routes.walk_back(a, network.meeting_place(a), [&](LaneId lane) {
        arriving = std::max(arriving, time[lane]);
        return true;
      });
    for (IslandId b = 0; b < n; ++b) {
      if (a == b) continue;
      double slowest = arriving;
      routes.walk_back(network.meeting_place(a), b, [&](LaneId lane) {
        slowest = std::max(slowest, time[lane]);
        least_flight_[lane] = std::min(least_flight_[lane], flight(a, b));
        return true;
      });
      const std::size_t one = std::size_t(a) * n_ + b, other = std::size_t(b) * n_ + a;
      slow[one] = slow[other] = std::max(slow[other], slowest);
    }
  }
  for (IslandId a = 0; a < n; ++a)
    for (IslandId b = 0; b < n; ++b) {
      if (a == b) continue;
      const std::size_t at = std::size_t(a) * n_ + b;
      if (!rules.may_meet(a, b)) slow[at] = kInfinity;
      price_[at] = slow[at] + flight(a, b);
      slow[at] = slow[at] / fragments + flight(a, b);
    }
  connecting_price_ =
      bottleneck(n_, [&](std::size_t a, std::size_t b) { return price_[a * n_ + b]; });
  connecting_delay_ =
      bottleneck(n_, [&](std::size_t a, std::size_t b) { return slow[a * n_ + b]; });
}

}  // namespace cotillion
