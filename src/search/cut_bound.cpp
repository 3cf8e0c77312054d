#include "search/cut_bound.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/check.hpp"
#include "plan/named_schedule.hpp"

namespace cotillion {
namespace {

constexpr int kAllSourcesMost = 64;  // islands from each of which an order goes outwards
constexpr int kSourcesMost = 8;      // on larger maps
constexpr int kRegionsMost = 16;
constexpr int kSlowSteps = 200;
constexpr std::size_t kCutRoundsMost = 4096;

struct Cut {
  double left = 0;  // g at birth
  double step = 0;  // κ
};

// What may cross the cuts of one order, by how many islands are inside.
struct Crossings {
  std::vector<double> out, in;           // streams that lanes can take
  std::vector<double> leavers, joiners;  // islands that may meet someone on the other side
  std::vector<double> torn;              // islands on the other side than their edge
  explicit Crossings(std::size_t n)
      : out(n + 1), in(n + 1), leavers(n + 1), joiners(n + 1), torn(n + 1) {}

  // Counts are differences until `add_up`.
  static void span(std::vector<double>& counts, int from, int to, double by) {
    counts[std::size_t(from) + 1] += by;
    if (std::size_t(to) + 1 < counts.size()) counts[std::size_t(to) + 1] -= by;
  }
  void add_up() {
    for (auto* counts : {&out, &in, &leavers, &joiners, &torn})
      std::partial_sum(counts->begin(), counts->end(), counts->begin());
  }
};

double survival_of(const Cut& cut, double rounds, double n, bool squared) {
  const double left = cut.left - rounds * cut.step;
  if (left <= 0) return 0;
  const double share = left / cut.left;
  return squared ? share * share / (n - 1) : 2 * left / (n - 1);
}

// After each number of rounds, what the cut that holds out longest keeps back.
std::vector<double> survival_of(std::vector<Cut> cuts, double n, bool squared) {
  std::vector<double> survival;
  while (!cuts.empty() && survival.size() < kCutRoundsMost) {
    const double rounds = double(survival.size()) + 1;
    double most = 0;
    std::size_t kept = 0;
    for (const Cut& cut : cuts) {
      const double left = survival_of(cut, rounds, n, squared);
      most = std::max(most, left);
      if (left > 0) cuts[kept++] = cut;
    }
    cuts.resize(kept);
    if (most > 0) survival.push_back(most);
  }
  return survival;
}

// What links and rules let across the cuts of an order (ranks by place).
Crossings crossings_of(const std::vector<int>& rank, const NetworkModel& network,
                       const Gathering& gathering) {
  const Map& map = network.map();
  const int n = map.island_count();
  Crossings cross{std::size_t(n)};
  for (std::size_t link = 0; link < map.links.size(); ++link) {
    const int a = rank[map.links[link].ends[0]], b = rank[map.links[link].ends[1]];
    if (a == b) continue;
    const double there = gathering.streams_most(LaneId(2 * link));
    const double back = gathering.streams_most(LaneId(2 * link + 1));
    Crossings::span(cross.out, std::min(a, b), std::max(a, b), a < b ? there : back);
    Crossings::span(cross.in, std::min(a, b), std::max(a, b), a < b ? back : there);
  }
  for (IslandId i = 0; i < n; ++i) {
    const int edge = rank[network.meeting_place(i)];
    if (edge != rank[i])
      Crossings::span(cross.torn, std::min(edge, rank[i]), std::max(edge, rank[i]), 1);
    int first = rank[i], last = rank[i];
    if (gathering.size_most(i) > 1)
      for (IslandId j = 0; j < n; ++j)
        if (gathering.may_meet(i, j)) {
          first = std::min(first, rank[j]);
          last = std::max(last, rank[j]);
        }
    if (last > rank[i]) Crossings::span(cross.leavers, rank[i], last, 1);
    if (first < rank[i]) Crossings::span(cross.joiners, first, rank[i], 1);
  }
  cross.add_up();
  return cross;
}

}  // namespace

Cuts::Cuts(const NetworkModel& network, const Rules& rules)
    : network_(network), n_(network.map().island_count()) {
  for (const Round& round : rules.pinned())
    for (const Clique& clique : round.cliques) uniform_ = uniform_ && clique.weights.empty();
  add(line_of_islands(network.map(), network.routes()));
  std::vector<IslandId> sources;
  if (n_ <= kAllSourcesMost) {
    for (IslandId i = 0; i < n_; ++i) sources.push_back(i);
  } else {
    // Islands as far from each other as can be.
    std::vector<std::int64_t> away(std::size_t(n_), INT64_MAX);
    IslandId at = 0;
    for (int k = 0; k < kSourcesMost; ++k) {
      sources.push_back(at);
      for (IslandId i = 0; i < n_; ++i)
        away[i] = std::min(away[i], network.routes().latency(i, at).ps);
      at = IslandId(std::max_element(away.begin(), away.end()) - away.begin());
    }
  }
  add_outwards(sources);
  add_regions();
  add_slow();
}

// Routers go with the nearest island; where an edge is, they must, or its islands would be cut
// off from it: `bound` passes such cuts over.
void Cuts::add(const std::vector<IslandId>& islands) {
  const Map& map = network_.map();
  Order rank(std::size_t(map.place_count()), 0);
  for (std::size_t k = 0; k < islands.size(); ++k) rank[islands[k]] = int(k);
  for (PlaceId place(n_); place < map.place_count(); ++place) {
    IslandId nearest = 0;
    for (IslandId i = 1; i < n_; ++i)
      if (network_.routes().latency(place, i) < network_.routes().latency(place, nearest))
        nearest = i;
    rank[place] = rank[nearest];
  }
  for (int last = n_ - 1; last >= 0; --last) {
    const IslandId i{last};
    if (network_.meeting_place(i) >= n_) rank[network_.meeting_place(i)] = rank[i];
  }
  orders_.push_back(std::move(rank));
}

void Cuts::add_outwards(const std::vector<IslandId>& sources) {
  for (const IslandId source : sources) {
    std::vector<IslandId> islands(std::size_t(n_), 0);
    std::iota(islands.begin(), islands.end(), IslandId(0));
    std::stable_sort(islands.begin(), islands.end(), [&](IslandId a, IslandId b) {
      return network_.routes().latency(a, source) < network_.routes().latency(b, source);
    });
    add(islands);
  }
}

void Cuts::add_regions() {
  const Map& map = network_.map();
  std::set<std::string> regions;
  for (const Island& island : map.islands) regions.insert(island.region);
  if (regions.size() < 2 || int(regions.size()) > kRegionsMost) return;
  for (const std::string& region : regions) {
    std::vector<IslandId> islands(std::size_t(n_), 0);
    std::iota(islands.begin(), islands.end(), IslandId(0));
    std::stable_partition(islands.begin(), islands.end(),
                          [&](IslandId i) { return map.islands[i].region == region; });
    add(islands);
  }
}

// A vector over places that varies little across wide links: power iteration on the lazy walk,
// with the constant part taken out each time. Any vector gives sound cuts, a good one thin ones.
void Cuts::add_slow() {
  const Map& map = network_.map();
  const std::size_t places = std::size_t(map.place_count());
  std::vector<double> weight(places, 0), x(places), next(places);
  double total = 0;
  for (const Link& link : map.links)
    for (const PlaceId end : link.ends) {
      weight[end] += link.rate[0].value;
      total += link.rate[0].value;
    }
  if (total <= 0) return;
  for (std::size_t p = 0; p < places; ++p) x[p] = p < std::size_t(n_) ? orders_.front()[p] : n_ / 2;
  for (int step = 0; step < kSlowSteps; ++step) {
    double mean = 0, norm = 0;
    for (std::size_t p = 0; p < places; ++p) mean += weight[p] * x[p] / total;
    for (std::size_t p = 0; p < places; ++p) norm = std::max(norm, std::fabs(x[p] - mean));
    if (norm <= 0) return;
    for (std::size_t p = 0; p < places; ++p) {
      x[p] = (x[p] - mean) / norm;
      next[p] = x[p] / 2;
    }
    for (const Link& link : map.links)
      for (int end = 0; end < 2; ++end) {
        const PlaceId at = link.ends[end];
        next[at] += link.rate[0].value / weight[at] * x[link.ends[1 - end]] / 2;
      }
    x.swap(next);
  }
  std::vector<IslandId> islands(std::size_t(n_), 0);
  std::iota(islands.begin(), islands.end(), IslandId(0));
  std::stable_sort(islands.begin(), islands.end(),
                   [&](IslandId a, IslandId b) { return x[a] < x[b]; });
  add(islands);
}

CutBound Cuts::bound(const Gathering& gathering, bool squared) const {
  const auto n = std::size_t(n_);
  std::vector<Cut> cuts;
  CutBound bound;
  double area_most = 0;
  for (const Order& rank : orders_) {
    const Crossings cross = crossings_of(rank, network_, gathering);
    for (std::size_t inside = 1; inside < n; ++inside) {
      if (cross.torn[inside] > 0) continue;
      const double from = std::min(cross.out[inside], cross.leavers[inside]);
      const double to = std::min(cross.in[inside], cross.joiners[inside]);
      Cut cut{double(inside) * double(n - inside) / double(n), 0};
      if (from > 0 && to > 0) cut.step = uniform_ ? from * to / (from + to) : std::min(from, to);
      if (!network_.technology().multicast)
        cut.step =
            std::min(cut.step, std::min(cross.out[inside], cross.in[inside]) / (uniform_ ? 2 : 1));
      COTILLION_CHECK(cut.step >= 0);
      if (cut.step >= cut.left) continue;
      cuts.push_back(cut);
      const double area = cut.left * cut.left / std::max(cut.step, 1e-9);
      if (area <= area_most) continue;
      area_most = area;
      bound.inside = int(inside);
      bound.crossing = from + to;
      bound.first = IslandId(std::find(rank.begin(), rank.begin() + n_, 0) - rank.begin());
    }
  }
  bound.survival = survival_of(std::move(cuts), double(n), squared);
  return bound;
}

}  // namespace cotillion
