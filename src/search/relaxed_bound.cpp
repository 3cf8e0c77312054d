// Legend: S = D/b with the fastest access rate, f a flight, n_i(f) the islands that i can reach and
// hear from within it, e₁(f) ≥ (N − Σ n_i(f)/N)/(N − 1) what a round leaves whose cliques fly no
// longer than f (and its square root's like for the squared curve: a row of n_i equal shares).
//
// Rounds of one length: T ≥ S + f and J = T(A + ½) ≥ T(1½ + e₁(f)); streamed, T(½ + e₁(f)) + f.
// Whoever rests waits through the round and averages with nobody, so that holds with rests, too.
//
// Rounds of their own lengths: round p of length T_p reaches no further than T_p − S, and
//
//   J ≥ Σ U_p (U_p/2 + T_{p+1} + e₁ T_{p+2}) / ΣU,
//
// the least ratio of a cycle of lengths, found on a grid from below. U_p ≥ T_p counts a pause in
// which nobody meets to the round before it; whoever rests while others meet changes nothing.
//
// Overlapping rounds: J = τ(A − ½) + d with τ the mean length, and S more where copies are whole.
// Where nobody rests τ ≥ S and J ≥ S(½ + e₁(f)) + f for the longest flight f of the schedule.
// Where islands rest rounds may follow each other faster; but all of an island's own streams pass
// its access link, so an island with p_i of P rounds has τ·P ≥ p_i·S. Let an island's part in a
// clique of m come y rounds after its part before, and x rounds before the next. An update waits
// y/2
// + ½ rounds on average, and each member keeps its 1/m of it for x rounds: all in all
//
//   N·P·(A − ½) ≥ Σ_c [Σ y²/2 + (ε_m/m) Σy Σx],    ε_m = (N − m)/(N − 1).
//
// Σ y² = Σ x² over the period and Σ_c y² ≥ (Σ_c y)²/m, so with ε ≤ ½ a clique's part is at least
// (½ + ε)(Σx + Σy)²/4m, and Σ(x + y) = 2NP. By Cauchy's inequality
//
//   J ≥ S·h + f,    h the harmonic mean over islands of ½ + min(½, (N − n_i(f))/(N − 1)).
//
// Under the squared curve members that keep their 1/m leave ε_m = (N − m)²/(m·N·(N − 1)).
//
// Equal lengths on shortest ways have their own, better bound (lower_bound.hpp), which holds for
// decided ways on links that are never full.
#include "search/relaxed_bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/infinity.hpp"

namespace cotillion {
namespace {

constexpr double kNeverFull = 1e18;                          // bits per second
constexpr std::int64_t kNeverShort = std::int64_t{1} << 50;  // bytes
constexpr int kLengthCells = 32;
constexpr int kTurnsOfTest = 60;
constexpr double kLongest = 3;  // times the round that reaches everybody
constexpr int kHalvings = 40;

class Reach {
 public:
  Reach(const NetworkModel& network, bool squared) : squared_(squared) {
    const Map& map = network.map();
    n_ = map.island_count();
    double fastest = 0;
    for (const Island& island : map.islands)
      fastest = std::max(fastest, std::min(island.up.value, island.down.value));
    passes_ = double(network.payload().count) * ps_per_byte(BitsPerSecond{fastest}) *
              network.wire_factor();
    for (int i = 0; i < n_; ++i)
      for (int j = 0; j < n_; ++j)
        if (i != j)
          flights_.push_back(double(std::max(network.latency(IslandId(i), IslandId(j)),
                                             network.latency(IslandId(j), IslandId(i)))
                                        .ps));
  }

  [[nodiscard]] double passes() const { return passes_; }
  [[nodiscard]] std::set<double> flights() const { return {flights_.begin(), flights_.end()}; }
  // e₁ of rounds whose flights are no longer, at least.
  [[nodiscard]] double left(double flight) const {
    double sum = 0;
    for (int i = 0; i < n_; ++i) {
      const double reached = double(reach_of(i, flight));
      sum += squared_ ? 1 / reached - 1.0 / n_ : 1 - reached / n_;
    }
    return std::max(0.0, sum / (n_ - 1));
  }
  // A − ½ in units of S/τ, at least, whoever rests when.
  [[nodiscard]] double age_with_rests(double flight) const {
    double sum = 0;
    for (int i = 0; i < n_; ++i) {
      const double reached = double(reach_of(i, flight)), beyond = n_ - reached;
      const double kept =
          squared_ ? beyond * beyond / (reached * n_ * (n_ - 1)) : beyond / (n_ - 1);
      sum += 1 / (0.5 + std::min(0.5, kept));
    }
    return n_ / sum;
  }

 private:
  [[nodiscard]] std::int64_t reach_of(int island, double flight) const {
    const auto row = flights_.begin() + std::ptrdiff_t(island) * (n_ - 1);
    return 1 + std::count_if(row, row + (n_ - 1),
                             [&](double other) { return other <= flight * (1 + 1e-12); });
  }

  bool squared_;
  int n_ = 0;
  double passes_ = 0;            // S
  std::vector<double> flights_;  // of each island to each other, the longer way of both
};

// The least, over longest flights, of the objective for rounds of some length and a delay beside.
template <class Value>
LowerBound least_of_flights(const Reach& reach, double& at, Value value_of) {
  LowerBound bound{RealDuration::from_ps(kInfinity), {}, 1, ""};
  for (const double flight : reach.flights()) {
    const double left = reach.left(flight);
    const double value = value_of(flight, left);
    if (value >= bound.value.ps) continue;
    bound.value = RealDuration::from_ps(value);
    bound.length = RealDuration::from_ps(reach.passes());
    bound.area = 1 + left;
    at = flight;
  }
  return bound;
}

// Rounds of one length, T ≥ S + f.
LowerBound of_equal_lengths(const Reach& reach, bool whole) {
  double at = 0;
  LowerBound bound = least_of_flights(reach, at, [&](double flight, double left) {
    const double length = reach.passes() + flight;
    return whole ? length * (1.5 + left) : length * (0.5 + left) + flight;
  });
  bound.length = RealDuration::from_ps(reach.passes() + at);
  bound.reason = fmt::format(
      "Rounds of {} leave at least {:.0f} % of the disagreement: streams take {} to pass the "
      "fastest access links and fly {}.",
      to_text(bound.length), 100 * (bound.area - 1), to_text(RealDuration::from_ps(reach.passes())),
      to_text(RealDuration::from_ps(at)));
  return bound;
}

LowerBound overlapping(const Reach& reach, bool whole, bool rests) {
  double at = 0;
  LowerBound bound = least_of_flights(reach, at, [&](double flight, double left) {
    const double age = rests ? reach.age_with_rests(flight) : 0.5 + left;
    return reach.passes() * ((whole ? 1 : 0) + age) + flight;
  });
  bound.reason = fmt::format(
      "Streams take {} to pass the fastest access links; cliques that fly {} at most leave {:.0f} "
      "% of the disagreement after a round. That bounds the objective's formula{}{}.",
      to_text(bound.length), to_text(RealDuration::from_ps(at)), 100 * (bound.area - 1),
      rests ? ", whoever rests when" : "", whole ? "" : ", with any number of fragments");
  return bound;
}

// A span of round lengths by where it begins, and what rounds as long as its end leave.
struct Cell {
  double from = 0, left = 0;
};

// Whether lengths exist, one in each cell of some cycle, for which J could be below `value`.
class CycleTest {
 public:
  explicit CycleTest(std::vector<Cell> cells) : cells_(std::move(cells)) {}

  [[nodiscard]] bool may_be_below(double value) const {
    // Bellman–Ford over pairs of cells; from (p, p+1) to (p+1, p+2).
    const std::size_t m = cells_.size();
    std::vector<double> potential(m * m, 0);
    for (int turn = 0; turn < kTurnsOfTest; ++turn) {
      bool changed = false;
      for (std::size_t a = 0; a < m; ++a)
        for (std::size_t b = 0; b < m; ++b) {
          const double here = potential[a * m + b];
          for (std::size_t c = 0; c < m; ++c) {
            const double through = here + least_cost(cells_[a], cells_[b], cells_[c], value);
            if (through >= potential[b * m + c] - 1e-9) continue;
            potential[b * m + c] = through;
            changed = true;
          }
        }
      if (!changed) return false;
    }
    // Still falling: a cycle may be below, and where none is the bound is only lower.
    return true;
  }

 private:
  // The least of U_a (U_a/2 + T_b + e T_c − value) over the cells, U_a no less than T_a.
  [[nodiscard]] static double least_cost(const Cell& a, const Cell& b, const Cell& c,
                                         double value) {
    const double rest = b.from + b.left * c.from - value;
    const double at = std::max(-rest, a.from);
    return at * (at / 2 + rest);
  }
  std::vector<Cell> cells_;
};

LowerBound of_lengths(const Reach& reach) {
  const auto flights = reach.flights();
  const double first = reach.passes() + *flights.begin();
  const double everybody = reach.passes() + *flights.rbegin();
  const double last = kLongest * everybody;
  std::vector<Cell> cells;  // longer rounds reach no further and cost more
  const double ratio = std::pow(last / first, 1.0 / (kLengthCells - 1));
  for (double from = first; cells.size() < kLengthCells; from *= ratio)
    cells.push_back({from, reach.left(from * ratio - reach.passes())});
  const CycleTest test(std::move(cells));
  double low = 0, high = 1.5 * everybody;
  for (int k = 0; k < kHalvings && high - low > 1e-4 * high; ++k) {
    const double middle = (low + high) / 2;
    (test.may_be_below(middle) ? high : low) = middle;
  }
  return {RealDuration::from_ps(low), RealDuration::from_ps(first), 1,
          fmt::format("Streams take {} to pass the fastest access links, and no cycle of round "
                      "lengths reaches as far with less.",
                      to_text(RealDuration::from_ps(reach.passes())))};
}

bool is_streamed_form(Objective objective) {
  return objective == Objective::kPaperStreamed || objective == Objective::kSquaredStreamed;
}

}  // namespace

Map without_full_links(Map map) {
  for (Link& link : map.links)
    for (BitsPerSecond& rate : link.rate) rate = std::max(rate, BitsPerSecond{kNeverFull});
  map.edge.memory = {kNeverShort};
  for (Aggregator& aggregator : map.aggregators) aggregator.spec.memory = {kNeverShort};
  return map;
}

LowerBound relaxed_bound(const NetworkModel& network, const PlanSettings& settings,
                         const Constraints& constraints, const std::function<bool()>& stop) {
  if (network.map().island_count() < 2)
    return {{}, {}, 0, "One island has nobody to disagree with."};
  const Map map = without_full_links(network.map());
  const Routes routes(map);
  const NetworkModel ideal(map, routes, network.settings());
  PlanSettings plain = settings;
  plain.relax = {};
  const Score score(ideal, plain);
  const Reach reach(ideal, score.squared());
  const bool whole = !is_streamed_form(settings.objective);
  // Rounds that end before the next begins are no better than rounds that may overlap.
  if (settings.relax.overlap || (settings.relax.lengths && !whole)) {
    const bool rests = !constraints.may_rest || !constraints.may_rest->empty();
    return overlapping(reach, whole, rests && settings.relax.overlap);
  }
  if (settings.relax.lengths) return of_lengths(reach);
  const LowerBound gathered = lower_bound(ideal, score, Rules(ideal, constraints), stop);
  LowerBound reached = of_equal_lengths(reach, whole);
  return gathered.value > reached.value ? gathered : reached;
}

}  // namespace cotillion
