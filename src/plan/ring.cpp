// The best order is sought by depth first over all orders, cut by a bound: 2(N−1) consecutive
// hops are all hops twice but for two neighbours, and the cheapest two neighbours cost at most
// 2/N of the tour, so a tour of length S costs at least 2·S·(1 − 1/N) and the serialisation at
// the least share its flows have so far. Held and Karp's table gives the least S that completes
// a partial tour. Above kRingExactMax islands: nearest neighbours, improved by reversals.
#include "plan/ring.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

#include "base/infinity.hpp"
#include "plan/flow_ways.hpp"
#include "plan/named_schedule.hpp"

namespace cotillion {
namespace {

constexpr int kPricedMax = 64;  // islands up to which reversals are judged by price
constexpr double kRateRounding = 1e-9;
constexpr std::int64_t kVisitsMax = 50'000'000;  // partial tours seen before exactness is given up

double hop(const NetworkModel& network, IslandId from, IslandId to) {
  return double(network.routes().latency(to, from).ps);
}

double tour_length(const NetworkModel& network, const std::vector<IslandId>& order) {
  double length = 0;
  for (std::size_t i = 0; i < order.size(); ++i)
    length += hop(network, order[i], order[(i + 1) % order.size()]);
  return length;
}

// Serialisation of a whole exchange at this rate, in picoseconds.
double serialisation_ps(const NetworkModel& network, BitsPerSecond rate) {
  const double n = network.map().island_count();
  return 2 * (n - 1) / n * double(network.payload().count) * ps_per_byte(rate) *
         network.wire_factor();
}

class TourSearch {
 public:
  explicit TourSearch(const NetworkModel& network)
      : network_(network), n_(network.map().island_count()), load_(network.map().lane_count(), 0) {
    fill_completions();
  }

  // Improves `order`; true when nothing cheaper exists.
  bool improve(std::vector<IslandId>& order) {
    best_ = order;
    best_ps_ = price_ring(network_, order).time.ps;
    path_ = {0};
    extend(0, 1, {std::numeric_limits<double>::infinity()});
    order = best_;
    return visits_ <= kVisitsMax;
  }

 private:
  // completion_[visited][last]: the least way from `last` through everyone else and home.
  void fill_completions() {
    const std::size_t sets = std::size_t{1} << n_;
    completion_.assign(sets * n_, std::numeric_limits<double>::infinity());
    for (IslandId last = 0; last < n_; ++last)
      completion_[(sets - 1) * n_ + last] = hop(network_, last, 0);
    for (std::size_t visited = sets - 1; visited-- > 1;)
      for (IslandId last = 0; last < n_; ++last) {
        double& least = completion_[visited * n_ + last];
        for (IslandId next = 1; next < n_; ++next)
          if ((visited >> next & 1) == 0)
            least =
                std::min(least, hop(network_, last, next) +
                                    completion_[(visited | std::size_t{1} << next) * n_ + next]);
      }
  }

  // Puts a flow on its lanes or takes it off again; returns the least share on any of them.
  BitsPerSecond load(IslandId from, IslandId to, int change) {
    BitsPerSecond least{std::numeric_limits<double>::infinity()};
    visit_lanes(network_, {from, to}, [&](LaneId lane) {
      load_[lane] += change;
      if (load_[lane] > 0) least = std::min(least, lane_rate(network_.map(), lane) / load_[lane]);
    });
    return least;
  }

  // `rate` bounds what any flow of the finished ring gets: flows to come only lower it.
  void extend(double length, std::size_t visited, BitsPerSecond rate) {
    if (++visits_ > kVisitsMax) return;
    const IslandId last = path_.back();
    const double least = length + completion_[visited * n_ + last];
    if (serialisation_ps(network_, rate) + 2 * least * (1 - 1.0 / n_) >= best_ps_) return;
    if (int(path_.size()) == n_) {
      const double price = price_ring(network_, path_).time.ps;
      if (price < best_ps_) {
        best_ps_ = price;
        best_ = path_;
      }
      return;
    }
    for (IslandId next = 1; next < n_; ++next) {
      if ((visited >> next & 1) != 0) continue;
      const BitsPerSecond share = load(last, next, +1);
      path_.push_back(next);
      extend(length + hop(network_, last, next), visited | std::size_t{1} << next,
             std::min(rate, share));
      path_.pop_back();
      load(last, next, -1);
    }
  }

  const NetworkModel& network_;
  int n_;
  std::vector<double> completion_;
  std::vector<int> load_;
  std::vector<IslandId> path_, best_;
  double best_ps_ = 0;
  std::int64_t visits_ = 0;
};

std::vector<Flow> flows_round(const std::vector<IslandId>& order) {
  std::vector<Flow> flows;
  for (std::size_t i = 0; i < order.size(); ++i)
    flows.push_back({order[i], order[(i + 1) % order.size()]});
  return flows;
}

// Of a ring with these flights and shares, in its order.
RingPrice price_of(const NetworkModel& network, const std::vector<double>& hops,
                   const std::vector<FlowShare>& shares) {
  RingPrice price;
  price.limit = *std::min_element(shares.begin(), shares.end(),
                                  [](const auto& a, const auto& b) { return a.rate < b.rate; });
  price.serialisation = RealDuration::from_ps(serialisation_ps(network, price.limit.rate));
  double length = 0, least_pair = kInfinity;
  for (std::size_t i = 0; i < hops.size(); ++i) {
    length += hops[i];
    least_pair = std::min(least_pair, hops[i] + hops[(i + 1) % hops.size()]);
  }
  price.time = price.serialisation + RealDuration::from_ps(2 * length - least_pair);
  return price;
}

// Reverses stretches of the tour for as long as that shortens it.
void reverse_stretches(const NetworkModel& network, std::vector<IslandId>& order) {
  const int n = int(order.size());
  double length = tour_length(network, order);
  for (bool better = true; better;) {
    better = false;
    for (int i = 1; i < n - 1; ++i)
      for (int j = i + 1; j < n; ++j) {
        const IslandId before = order[i - 1], after = order[(j + 1) % n];
        const double gain = hop(network, before, order[i]) + hop(network, order[j], after) -
                            hop(network, before, order[j]) - hop(network, order[i], after);
        if (gain <= 0) continue;
        std::reverse(order.begin() + i, order.begin() + j + 1);
        // Asymmetric latencies: what lies between is now travelled the other way.
        const double now = tour_length(network, order);
        if (now < length) {
          length = now;
          better = true;
        } else {
          std::reverse(order.begin() + i, order.begin() + j + 1);
        }
      }
  }
}

// The same by price, congestion included, which costs more to evaluate.
void reverse_by_price(const NetworkModel& network, std::vector<IslandId>& order) {
  const int n = int(order.size());
  double best = price_ring(network, order).time.ps;
  for (bool better = true; better;) {
    better = false;
    for (int i = 0; i < n; ++i)
      for (int j = i + 1; j < n; ++j) {
        std::reverse(order.begin() + i, order.begin() + j + 1);
        const double now = price_ring(network, order).time.ps;
        if (now < best) {
          best = now;
          better = true;
        } else {
          std::reverse(order.begin() + i, order.begin() + j + 1);
        }
      }
  }
}

}  // namespace

RingPrice price_ring(const NetworkModel& network, const std::vector<IslandId>& order) {
  if (order.size() < 2) return {};
  const std::vector<Flow> flows = flows_round(order);
  std::vector<double> hops;
  for (const Flow& flow : flows) hops.push_back(hop(network, flow.from, flow.to));
  return price_of(network, hops, share_flows(network, flows));
}

std::vector<RingPrice> price_rerouted_rings(const NetworkModel& network,
                                            const std::vector<IslandId>& order) {
  std::vector<RingPrice> prices;
  if (order.size() < 2) return prices;
  const std::vector<Flow> flows = flows_round(order);
  BitsPerSecond known = price_ring(network, order).limit.rate, most{kInfinity};
  for (const IslandId island : order)
    most = std::min({most, lane_rate(network.map(), lane_up(network.map(), island)),
                     lane_rate(network.map(), lane_down(network.map(), island))});
  std::set<double, std::greater<>> rates{most.value};
  for (const LaneId lane : all_ids<LaneId>(network.map().lane_count()))
    for (int sharing = 1; sharing <= int(flows.size()); ++sharing)
      if (const double rate = lane_rate(network.map(), lane).value / sharing; rate < most.value)
        rates.insert(rate);
  for (const double rate : rates) {
    if (rate <= known.value * (1 + kRateRounding)) break;
    const auto ways = spread_flows(network, flows, {rate});
    if (!ways) continue;
    std::vector<double> hops;
    for (const FlowWay& way : *ways) hops.push_back(double(way.latency.ps));
    prices.push_back(price_of(network, hops, share_flows(network, *ways)));
  }
  return prices;
}

RingOrder best_ring(const NetworkModel& network) {
  RingOrder ring{line_of_islands(network.map(), network.routes()), false};
  const int n = network.map().island_count();
  if (n <= 2) {
    ring.exact = true;
    return ring;
  }
  reverse_stretches(network, ring.order);
  if (n <= kPricedMax) reverse_by_price(network, ring.order);
  if (n <= kRingExactMax) ring.exact = TourSearch(network).improve(ring.order);
  return ring;
}

}  // namespace cotillion
