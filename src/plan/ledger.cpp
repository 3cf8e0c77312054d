// A period's moves are laid on the cyclic time line once for each fragment and then played over and
// over; in the first period every copy gives birth to a generation.
#include "plan/ledger.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/infinity.hpp"
#include "plan/tail_watch.hpp"

namespace cotillion {
namespace {

constexpr double kLedgerSettled = 1e-13;  // rounding leaves about 1e-16 of what has settled
constexpr double kSameTime = 1e-12;       // of a period: planned times are sums of rounded ones
constexpr std::int64_t kLedgerWorkMax = 1'000'000'000;  // elements touched, by all fragments

// A move that happens once in every period. Rounds count on from period to period; in the first
// one they are negative where a merge takes copies from before it.
struct CyclicMove {
  double phase = 0;
  LedgerMove move;
};

bool earlier_round(const CyclicMove& a, const CyclicMove& b) {
  if (a.move.round != b.move.round) return a.move.round < b.move.round;
  return a.move.kind == LedgerMove::Kind::kCopy && b.move.kind == LedgerMove::Kind::kMerge;
}

// All moves of one fragment in a period, in the order in which they happen.
class CyclicMoves {
 public:
  CyclicMoves(const LedgerPlan& plan, int fragment) : plan_(plan) {
    for (std::size_t k = 0; k < plan.rounds.size(); ++k)
      for (const LedgerClique& clique : plan.rounds[k])
        if (clique.islands.size() > 1) add(clique, int(k), fragment);
    order();
  }

  [[nodiscard]] const std::vector<CyclicMove>& moves() const { return moves_; }
  [[nodiscard]] const std::vector<LedgerSum>& sums() const { return sums_; }
  [[nodiscard]] double start() const { return moves_.empty() ? 0 : moves_.front().phase; }
  // Added to rounds, it makes all of them count from 0.
  [[nodiscard]] int rounds_before() const {
    int before = 0;
    for (const CyclicMove& move : moves_) before = std::max(before, -move.move.round);
    return before;
  }
  [[nodiscard]] int kept() const {
    std::vector<LedgerMove> moves;
    int latest = 0;
    for (const CyclicMove& move : moves_) moves.push_back(move.move);
    for (const LedgerMove& move : moves)
      if (move.kind == LedgerMove::Kind::kCopy) latest = std::max(latest, move.round);
    return rounds_kept(moves, latest - int(plan_.rounds.size()));
  }

 private:
  void add(const LedgerClique& clique, int round, int fragment) {
    const int n = int(clique.islands.size());
    COTILLION_CHECK(int(clique.copy.size()) == n && int(clique.sum.size()) == n);
    COTILLION_CHECK(clique.weights.empty() || int(clique.weights.size()) == n * n);
    const double stride = clique.serialisation / plan_.fragments;
    const double last_copy = *std::max_element(clique.copy.begin(), clique.copy.end());
    for (int i = 0; i < n; ++i) {
      COTILLION_CHECK(clique.copy[i] >= 0);
      COTILLION_CHECK(last_copy <= clique.sum[i] + stride + same_time());
      if (i == 0 || !clique.weights.empty()) sums_.push_back(sum_of(clique, i));
      const IslandId island = clique.islands[i];
      lay(clique.copy[i] + fragment * stride, {LedgerMove::Kind::kCopy, island, round, -1});
      lay(clique.sum[i] + (fragment + 1) * stride,
          {LedgerMove::Kind::kMerge, island, round, int(sums_.size()) - 1});
    }
  }

  static LedgerSum sum_of(const LedgerClique& clique, int member) {
    const std::size_t n = clique.islands.size();
    LedgerSum sum;
    for (std::size_t l = 0; l < n; ++l) {
      const double weight = clique.weights.empty() ? 1 / double(n) : clique.weights[member * n + l];
      if (weight != 0) sum.push_back({clique.islands[l], weight});
    }
    return sum;
  }

  void lay(double at, LedgerMove move) {
    const int turns = int(std::floor(at / plan_.period));
    move.round -= turns * int(plan_.rounds.size());
    moves_.push_back({at - turns * plan_.period, move});
  }

  // Planned times that differ by rounding alone are one: what an earlier round does then comes
  // first, and a copy before the merges that take it. The period is cut where nothing is.
  void order() {
    if (moves_.empty()) return;
    std::sort(moves_.begin(), moves_.end(), [](const CyclicMove& a, const CyclicMove& b) {
      return a.phase != b.phase ? a.phase < b.phase : earlier_round(a, b);
    });
    std::size_t cut = 0;
    while (cut < moves_.size() && gap_before(cut) <= same_time()) ++cut;
    if (cut == moves_.size()) cut = 0;
    for (std::size_t m = 0; m < cut; ++m) {
      moves_[m].phase += plan_.period;
      moves_[m].move.round += int(plan_.rounds.size());
    }
    std::rotate(moves_.begin(), moves_.begin() + std::ptrdiff_t(cut), moves_.end());
    auto group = moves_.begin();
    for (auto move = moves_.begin(); move != moves_.end(); ++move)
      if (move + 1 == moves_.end() || (move + 1)->phase - move->phase > same_time()) {
        std::stable_sort(group, move + 1, earlier_round);
        group = move + 1;
      }
  }

  [[nodiscard]] double gap_before(std::size_t m) const {
    return m > 0 ? moves_[m].phase - moves_[m - 1].phase
                 : moves_[m].phase + plan_.period - moves_.back().phase;
  }
  [[nodiscard]] double same_time() const { return kSameTime * plan_.period; }

  const LedgerPlan& plan_;
  std::vector<CyclicMove> moves_;
  std::vector<LedgerSum> sums_;
};

// By copy, in the order of moves: how long ago the same island copied before.
std::vector<double> intervals_of(const std::vector<CyclicMove>& moves, const LedgerPlan& plan) {
  std::vector<double> last(plan.island_count, -1), intervals;
  for (const CyclicMove& each : moves)
    if (each.move.kind == LedgerMove::Kind::kCopy) last[each.move.island] = each.phase;
  for (double& phase : last) phase -= plan.period;
  for (const CyclicMove& each : moves)
    if (each.move.kind == LedgerMove::Kind::kCopy) {
      intervals.push_back(std::max(each.phase - last[each.move.island], 0.0));
      last[each.move.island] = each.phase;
    }
  return intervals;
}

bool everyone_copies(const LedgerPlan& plan) {
  std::vector<bool> copies(plan.island_count, false);
  for (const auto& round : plan.rounds)
    for (const LedgerClique& clique : round)
      if (clique.islands.size() > 1)
        for (const IslandId island : clique.islands) copies[island] = true;
  return std::find(copies.begin(), copies.end(), false) == copies.end();
}

// ∫ of a disagreement over time, period by period.
struct Course {
  TailWatch watch;
  double area = 0, of_period = 0;

  // True once the rest is known. Areas are handed on in units in which they are about 1.
  bool settled(double unit) {
    area += of_period;
    return watch.settled_into(of_period / unit, area / unit);
  }
  void close() {
    const double ratio = std::min(watch.ratio(), 1 - kNoFall);
    area += of_period * ratio / (1 - ratio);
  }
};

// What swings never falls from every period to the next, but its peaks do if it decays.
class PeakWatch {
 public:
  // Takes the disagreement at the end of a period; true once its peaks no longer fall.
  bool stuck(double now) {
    peak_ = std::max(peak_, now);
    if (++periods_ % kPeriodsWithoutFall != 0) return false;
    const bool stuck = peak_ >= last_ * (1 - kPeriodsWithoutFall * kNoFall);
    last_ = peak_;
    peak_ = 0;
    return stuck;
  }

 private:
  double peak_ = 0, last_ = kInfinity;
  int periods_ = 0;
};

// One fragment's generations of one period, followed until nothing is left of them.
class CyclicReplay {
 public:
  CyclicReplay(const LedgerPlan& plan, int fragment)
      : plan_(plan),
        cyclic_(plan, fragment),
        intervals_(intervals_of(cyclic_.moves(), plan)),
        generations_(plan.island_count, int(intervals_.size()), cyclic_.kept(), plan.target,
                     cyclic_.sums()) {}

  ExactStaleness run() {
    play_period(0);
    absolute_.area = absolute_.of_period;
    squared_.area = squared_.of_period;
    ExactStaleness exact;
    const double unit = plan_.period * plan_.period / double(plan_.rounds.size());
    const std::int64_t work =
        std::int64_t(cyclic_.moves().size()) * std::int64_t(intervals_.size()) * plan_.fragments;
    const std::int64_t periods_max = kLedgerWorkMax / work + 2 * kPeriodsWithoutFall;
    // What all agree about for as long as a copy may be under way is settled.
    const int quiet_periods = 1 + (cyclic_.kept() - 1) / int(plan_.rounds.size()) + 1;
    PeakWatch peaks;
    int quiet = 0;
    for (int period = 1; quiet < quiet_periods; ++period) {
      play_period(period);
      const bool known = absolute_.settled(unit), known_squared = squared_.settled(unit);
      quiet = absolute_.of_period < kLedgerSettled * unit ? quiet + 1 : 0;
      if (peaks.stuck(generations_.squared()))
        return {RealDuration::from_ps(kInfinity), RealDuration::from_ps(kInfinity), false};
      exact.approximate = period >= periods_max;
      if ((known && known_squared && quiet == 0) || exact.approximate) {
        absolute_.close();
        squared_.close();
        break;
      }
    }
    exact.absolute = mean_of(absolute_.area, waiting_);
    exact.squared = mean_of(squared_.area, waiting_squared_);
    return exact;
  }

 private:
  void play_period(int number) {
    const int rounds_later = cyclic_.rounds_before() + number * int(plan_.rounds.size());
    absolute_.of_period = squared_.of_period = 0;
    double now = cyclic_.start();
    int column = 0;
    for (const CyclicMove& each : cyclic_.moves()) {
      now = wait(now, each.phase);
      if (number == 0 && each.move.kind == LedgerMove::Kind::kCopy)
        bear(column++, each.move.island);
      generations_.play(each.move, rounds_later);
    }
    wait(now, cyclic_.start() + plan_.period);
    generations_.refresh();
  }

  double wait(double from, double to) {
    const double time = std::max(to - from, 0.0);
    absolute_.of_period += time * generations_.absolute();
    squared_.of_period += time * generations_.squared();
    return from + time;
  }

  void bear(int column, IslandId island) {
    const double interval = intervals_[column];
    const double before = generations_.absolute(), before_squared = generations_.squared();
    generations_.born(column, island, interval);
    waiting_ += (generations_.absolute() - before) * interval / 2;
    waiting_squared_ += (generations_.squared() - before_squared) * interval / 2;
  }

  [[nodiscard]] RealDuration mean_of(double area, double waiting) const {
    return RealDuration::from_ps((area + waiting) / plan_.period);
  }

  const LedgerPlan& plan_;
  const CyclicMoves cyclic_;
  const std::vector<double> intervals_;  // the weight of each generation
  Generations generations_;
  Course absolute_, squared_;
  double waiting_ = 0, waiting_squared_ = 0;
};

// Fragments fare alike where streams take equally long: all then only move in time.
bool fragments_differ(const LedgerPlan& plan) {
  double least = kInfinity, most = 0;
  for (const auto& round : plan.rounds)
    for (const LedgerClique& clique : round)
      if (clique.islands.size() > 1) {
        least = std::min(least, clique.serialisation);
        most = std::max(most, clique.serialisation);
      }
  return least < most;
}

}  // namespace

ExactStaleness exact_staleness(const LedgerPlan& plan) {
  COTILLION_CHECK(plan.island_count >= 1 && plan.fragments >= 1);
  if (plan.island_count == 1 || plan.period == 0) return {};
  if (!everyone_copies(plan))
    return {RealDuration::from_ps(kInfinity), RealDuration::from_ps(kInfinity), false};
  const int fragments = fragments_differ(plan) ? plan.fragments : 1;
  ExactStaleness mean;
  for (int f = 0; f < fragments; ++f) {
    const ExactStaleness exact = CyclicReplay(plan, f).run();
    mean.absolute = mean.absolute + exact.absolute / fragments;
    mean.squared = mean.squared + exact.squared / fragments;
    mean.approximate = mean.approximate || exact.approximate;
  }
  return mean;
}

}  // namespace cotillion
