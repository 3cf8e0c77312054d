#include "plan/detours.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <tuple>

#include "base/infinity.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kPathsOfTriple = 40;      // of each pair
constexpr std::size_t kPathsOfPair = 12;        // where a clique has more than three members
constexpr std::size_t kPartPathsMost = 20'000;  // looked at, for one pair
constexpr std::size_t kTriplesPriced = 48;      // in full, best first by latency and memory alone
constexpr int kDetoursMost = 64;                // taken one after the other
constexpr double kDetourRounding = 1e-12;

using Path = std::vector<LaneId>;  // in the order of travel

double ps_of(const CliquePrice& price) {
  if (price.feasible) return price.price.ps;
  return kInfinity;
}

LaneId backwards(LaneId lane) {
  return LaneId(int(lane) ^ 1);  // the two directions of a link are neighbours
}

// Simple paths between places, shortest first.
std::vector<Path> simple_paths(const NetworkModel& network,
                               const IdVector<PlaceId, std::vector<LaneId>>& out, PlaceId from,
                               PlaceId to, std::size_t most) {
  const Map& map = network.map();
  struct Part {
    std::int64_t least;  // its length, and the shortest way on
    std::int64_t length;
    Path lanes;
  };
  const auto later = [](const Part& a, const Part& b) {
    return std::tie(a.least, a.lanes) > std::tie(b.least, b.lanes);
  };
  std::priority_queue<Part, std::vector<Part>, decltype(later)> open(later);
  // As long back as there; where it is not, paths only come in another order.
  const auto way_on = [&](PlaceId at) { return network.routes().latency(at, to).ps; };
  open.push({way_on(from), 0, {}});
  std::vector<Path> paths;
  for (std::size_t looks = 0; !open.empty() && looks < kPartPathsMost && paths.size() < most;
       ++looks) {
    const Part part = open.top();
    open.pop();
    const PlaceId at = part.lanes.empty() ? from : lane_ends(map, part.lanes.back());
    if (at == to) {
      paths.push_back(part.lanes);
      continue;
    }
    for (const LaneId lane : out[at]) {
      const PlaceId next = lane_ends(map, lane);
      const bool passed =
          next == from || std::any_of(part.lanes.begin(), part.lanes.end(),
                                      [&](LaneId each) { return lane_ends(map, each) == next; });
      if (passed) continue;
      Part longer{0, part.length + lane_latency(map, lane).ps, part.lanes};
      longer.least = longer.length + way_on(next);
      longer.lanes.push_back(lane);
      open.push(std::move(longer));
    }
  }
  return paths;
}

// Puts a path into a tree; false where it enters a place by another lane than the tree does.
bool add(const Map& map, const Path& path, PlaceTree& tree) {
  for (const LaneId lane : path) {
    const LaneId known = tree.entered_by(lane_ends(map, lane));
    if (known != PlaceTree::kNotEntered && known != lane) return false;
    tree.enter(lane);
  }
  return true;
}
Path reversed(const Path& path) {
  Path back;
  for (auto lane = path.rbegin(); lane != path.rend(); ++lane) back.push_back(backwards(*lane));
  return back;
}

class Detours {
 public:
  Detours(const NetworkModel& network, const Round& round, const PricedRound& from,
          const RoundAim& aim)
      : network_(network), round_(round), aim_(aim), out_(network.map().place_count()) {
    const Map& map = network.map();
    for (LaneId lane = 0; lane < 2 * int(map.links.size()); ++lane)
      out_[lane_begins(map, lane)].push_back(lane);
    best_.round = from;
    best_.value = value_of(network, from, aim);
  }

  std::optional<Rerouted> run() {
    bool found = false;
    for (int taken = 0; taken < kDetoursMost; ++taken) {
      const auto waiting = dearest_that_waits();
      if (!waiting || !improve(*waiting)) break;
      found = true;
    }
    if (!found) return std::nullopt;
    return std::move(best_);
  }

 private:
  // The dearest clique, if memory is what makes it dear and its streams meet at its own places.
  [[nodiscard]] std::optional<std::size_t> dearest_that_waits() const {
    std::optional<std::size_t> dearest;
    double most = -1;
    for (std::size_t c = 0; c < round_.cliques.size(); ++c) {
      const CliquePrice& price = best_.round.prices[c];
      const double ps = ps_of(price);
      if (round_.cliques[c].size() < 3 || ps <= most) continue;
      most = ps;
      dearest = c;
    }
    if (!dearest) return std::nullopt;
    const CliquePrice& price = best_.round.prices[*dearest];
    if (price.feasible && !price.throttled && price.chain.empty()) return std::nullopt;
    for (const IslandId island : round_.cliques[*dearest].islands)
      if (network_.meeting_place(island) != PlaceId(island)) return std::nullopt;
    return dearest;
  }

  bool improve(std::size_t c) {
    return round_.cliques[c].size() == 3 ? improve_triple(c) : improve_pair(c);
  }

  // Takes these ways for one clique if the round is better with them.
  bool take(std::size_t c, CliqueWays ways) {
    RoundWays all = best_.round.ways;
    all.cliques[c] = std::move(ways);
    PricedRound priced = price_round(network_, round_, std::move(all), scratch_);
    const double value = value_of(network_, priced, aim_);
    if (!(value < best_.value * (1 - kDetourRounding))) return false;
    best_.round = std::move(priced);
    best_.value = value;
    return true;
  }

  // Ways of three members along given paths between 0–1, 0–2 and 1–2; none where they are no trees.
  [[nodiscard]] std::optional<CliqueWays> ways_of(const Clique& clique, const Path& near,
                                                  const Path& far, const Path& across) const {
    const Map& map = network_.map();
    CliqueWays ways;
    const Path* pairs[3][2] = {{&near, &far}, {&near, &across}, {&far, &across}};
    for (int j = 0; j < 3; ++j) {
      PlaceTree tree(network_, clique, j);
      for (int k = 0; k < 2; ++k) {
        // A path leads from the member with the lower number to the other.
        const bool forwards = j == 0 || (j == 1 && k == 1);
        if (!add(map, forwards ? *pairs[j][k] : reversed(*pairs[j][k]), tree)) return std::nullopt;
      }
      if (!tree.reaches_all()) return std::nullopt;
      ways.push_back(tree.way());
    }
    return ways;
  }

  // What a clique would cost on these ways at the pace it has now.
  [[nodiscard]] double guess(std::size_t c, const CliqueWays& ways) {
    latencies_of(ways, latencies_);
    const CliquePrice price = price_clique(
        latencies_, demand_of(network_, round_.cliques[c], best_.round.rates.bounds[c]), scratch_);
    return ps_of(price);
  }

  bool improve_triple(std::size_t c) {
    const Clique& clique = round_.cliques[c];
    const auto between = [&](std::size_t a, std::size_t b) {
      return simple_paths(network_, out_, clique.islands[a], clique.islands[b], kPathsOfTriple);
    };
    const std::vector<Path> near = between(0, 1), far = between(0, 2), across = between(1, 2);
    const double passes = double(network_.payload().count) *
                          ps_per_byte(best_.round.rates.bounds[c].rate) * network_.wire_factor();
    const double now = ps_of(best_.round.prices[c]);
    const auto too_long = [&](const Path& path) { return passes + double(length_of(path)) >= now; };
    std::vector<std::pair<double, CliqueWays>> guesses;
    for (const Path& a : near) {
      if (too_long(a)) break;
      for (const Path& b : far) {
        if (too_long(b)) break;
        for (const Path& d : across) {
          if (too_long(d)) break;
          auto ways = ways_of(clique, a, b, d);
          if (!ways) continue;
          if (const double price = guess(c, *ways); price < now)
            guesses.emplace_back(price, std::move(*ways));
        }
      }
    }
    std::stable_sort(guesses.begin(), guesses.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    if (guesses.size() > kTriplesPriced) guesses.resize(kTriplesPriced);
    bool better = false;
    for (auto& [price, ways] : guesses) better = take(c, std::move(ways)) || better;
    return better;
  }
  [[nodiscard]] std::int64_t length_of(const Path& path) const {
    std::int64_t length = 0;
    for (const LaneId lane : path) length += lane_latency(network_.map(), lane).ps;
    return length;
  }

  // One pair takes another path, there and back or in one direction. Members behind the path are
  // reached along it, where the old tree would have come from elsewhere.
  bool improve_pair(std::size_t c) {
    const Clique& clique = round_.cliques[c];
    const CliqueWays now = best_.round.ways.cliques[c];
    bool better = false;
    for (int i = 0; i < clique.size(); ++i)
      for (int j = i + 1; j < clique.size(); ++j)
        for (const Path& path : simple_paths(network_, out_, clique.islands[std::size_t(i)],
                                             clique.islands[std::size_t(j)], kPathsOfPair)) {
          const auto there = grafted(clique, i, now, path);
          const auto back = grafted(clique, j, now, reversed(path));
          for (const bool one : {true, false})
            for (const bool other : {true, false}) {
              if ((!one && !other) || (one && !there) || (other && !back)) continue;
              CliqueWays ways = now;
              if (one) ways[std::size_t(i)] = *there;
              if (other) ways[std::size_t(j)] = *back;
              better = take(c, std::move(ways)) || better;
            }
        }
    return better;
  }
  [[nodiscard]] std::optional<Way> grafted(const Clique& clique, int sender, const CliqueWays& now,
                                           const Path& path) const {
    PlaceTree tree = tree_of(network_, clique, sender, now[sender]);
    for (const LaneId lane : path) tree.enter(lane);
    if (!tree.reaches_all()) return std::nullopt;
    return tree.way();
  }

  const NetworkModel& network_;
  const Round& round_;
  const RoundAim& aim_;
  IdVector<PlaceId, std::vector<LaneId>> out_;
  PriceScratch scratch_;
  CliqueLatencies latencies_;
  Rerouted best_;
};

}  // namespace

std::optional<Rerouted> detour(const NetworkModel& network, const Round& round,
                               const PricedRound& from, const RoundAim& aim) {
  return Detours(network, round, from, aim).run();
}

}  // namespace cotillion
