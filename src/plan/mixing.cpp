// Φ ← W·Φ averages rows inside each clique, O(N²); all members of a uniform clique then hold
// the same row, so its distance from J is computed once for all of them.
#include "plan/mixing.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/infinity.hpp"
#include "plan/tail_watch.hpp"

namespace cotillion {
namespace {

// Rounding leaves about 1e-16 of a settled curve; a decaying one cannot fall from above
// kUnsettled to below kSettled in one round on maps of the size we accept.
constexpr double kSettled = 1e-13;
constexpr double kUnsettled = 1e-5;
// Beyond this the tail is closed with the ratio known so far and the area marked approximate.
constexpr std::int64_t kWorkMax = 4'000'000'000;  // matrix elements touched, per schedule
constexpr std::int64_t kMixingRoundsMax = 2'000'000;

class Portfolio {
 public:
  Portfolio(int n, const std::vector<double>& target) : n_(n), target_(target) {
    phi_.assign(std::size_t(n) * n, 0);
    for (int i = 0; i < n; ++i) row(i)[i] = 1;
  }

  void apply(const Round& round) {
    for (const Clique& clique : round.cliques) {
      if (clique.size() == 1) continue;
      if (clique.weights.empty())
        average(clique);
      else
        mix_weighted(clique);
    }
  }

  struct Distance {
    double absolute = 0, squared = 0;
  };

  // Distance from J after `round`, whose uniform cliques share one row.
  [[nodiscard]] Distance distance(const Round& round) const {
    Distance total;
    for (const Clique& clique : round.cliques) {
      const bool shared = clique.weights.empty();
      const int rows = shared ? 1 : clique.size();
      const double copies = shared ? clique.size() : 1;
      for (int i = 0; i < rows; ++i) {
        const double* values = row(clique.islands[i]);
        double absolute = 0, squared = 0;
        for (int j = 0; j < n_; ++j) {
          const double gap = values[j] - target_[j];
          absolute += std::fabs(gap);
          squared += gap * gap;
        }
        total.absolute += copies * absolute;
        total.squared += copies * squared;
      }
    }
    total.absolute /= 2.0 * n_ - 2;
    total.squared /= n_ - 1.0;
    return total;
  }

 private:
  double* row(int i) { return &phi_[std::size_t(i) * n_]; }
  [[nodiscard]] const double* row(int i) const { return &phi_[std::size_t(i) * n_]; }

  void average(const Clique& clique) {
    double* mean = row(clique.islands[0]);
    for (int m = 1; m < clique.size(); ++m) {
      const double* member = row(clique.islands[m]);
      for (int j = 0; j < n_; ++j) mean[j] += member[j];
    }
    for (int j = 0; j < n_; ++j) mean[j] /= clique.size();
    for (int m = 1; m < clique.size(); ++m) std::copy(mean, mean + n_, row(clique.islands[m]));
  }

  void mix_weighted(const Clique& clique) {
    const int size = clique.size();
    mixed_.assign(std::size_t(size) * n_, 0);
    for (int i = 0; i < size; ++i)
      for (int m = 0; m < size; ++m) {
        const double weight = clique.weights[std::size_t(i) * size + m];
        if (weight == 0) continue;  // sparse matrices of large cliques are common
        const double* member = row(clique.islands[m]);
        for (int j = 0; j < n_; ++j) mixed_[std::size_t(i) * n_ + j] += weight * member[j];
      }
    for (int i = 0; i < size; ++i)
      std::copy_n(&mixed_[std::size_t(i) * n_], n_, row(clique.islands[i]));
  }

  int n_;
  const std::vector<double>& target_;
  std::vector<double> phi_;
  std::vector<double> mixed_;
};

struct PhaseResult {
  PhaseCurves curves;
  bool settled = false;
  bool decays = true;
  bool approximate = false;
};

PhaseResult follow(const Schedule& schedule, int n, int phase, const std::vector<double>& target,
                   double discount) {
  const int period = int(schedule.rounds.size());
  Portfolio portfolio(n, target);
  PhaseResult result;
  std::vector<double>& absolute = result.curves.absolute.values;
  std::vector<double>& squared = result.curves.squared.values;
  absolute.push_back(1);
  squared.push_back(1);
  TailWatch watch, watch_squared;
  double area = 1, area_squared = 1, sum = 0, sum_squared = 0, remains = 1;
  const std::int64_t work_per_round = 2 * std::int64_t(n) * n;
  const std::int64_t rounds_max =
      std::min(kMixingRoundsMax, kWorkMax / period / work_per_round) + 4 * period;
  for (int h = 1;; ++h) {
    const Round& round = schedule.rounds[(phase + h) % period];
    portfolio.apply(round);
    remains *= discount;
    const auto [e, e_squared] = portfolio.distance(round);
    if (e < kSettled) {
      // Either averaging has just made all rows equal, or a fast decay has reached rounding.
      result.settled = absolute.back() > kUnsettled;
      result.curves.decay = result.settled ? 0 : std::pow(absolute.back(), 1.0 / (h - 1));
      absolute.push_back(0);
      squared.push_back(0);
      return result;
    }
    absolute.push_back(e * remains);
    squared.push_back(e_squared * remains);
    area += absolute.back();
    area_squared += squared.back();
    sum += absolute.back();
    sum_squared += squared.back();
    if (h % period != 0) continue;
    const bool known = watch.settled_into(sum, area);
    const bool known_squared = watch_squared.settled_into(sum_squared, area_squared);
    if (known && known_squared) break;
    // Averaging always shortens the squared distance unless it has nothing left to average; the
    // absolute one may pause.
    result.decays = !watch_squared.stuck();
    if (!result.decays) break;
    result.approximate = h >= rounds_max;
    if (result.approximate) break;
    sum = sum_squared = 0;
  }
  result.curves.absolute.tail = std::min(watch.ratio(), 1 - kNoFall);
  result.curves.squared.tail = std::min(watch_squared.ratio(), 1 - kNoFall);
  result.curves.decay = std::pow(result.curves.absolute.tail, 1.0 / period);
  return result;
}

}  // namespace

double survival_at(const SurvivalCurve& curve, int h, int period) {
  const int known = int(curve.values.size());
  if (h < known) return curve.values[h];
  if (curve.tail == 0) return 0;
  const int turns = (h - known) / period + 1;
  return curve.values[h - turns * period] * std::pow(curve.tail, turns);
}

double weighted_area(const SurvivalCurve& curve, int phase, const std::vector<double>& durations,
                     int lag) {
  const std::size_t period = durations.size();
  double area = 0, last_period = 0;
  for (std::size_t h = curve.values.size(); h-- > 0;) {
    const double held = curve.values[h] * durations[(std::size_t(phase + lag) + h) % period];
    area += held;
    if (h + period >= curve.values.size()) last_period += held;
  }
  return curve.tail > 0 ? area + last_period * curve.tail / (1 - curve.tail) : area;
}

Mixing mix(const Schedule& schedule, int island_count, const MixingAim& aim) {
  COTILLION_CHECK(island_count >= 1 && !schedule.rounds.empty());
  const int period = int(schedule.rounds.size());
  Mixing mixing;
  if (island_count == 1) {
    // Nobody to disagree with.
    mixing.phases.resize(period);
    mixing.settles_after = 0;
    return mixing;
  }
  std::vector<double> target = aim.target;
  if (target.empty()) target.assign(island_count, 1.0 / island_count);
  COTILLION_CHECK(int(target.size()) == island_count);

  const auto never = [&] {
    mixing.phases.clear();
    mixing.area = mixing.area_squared = kInfinity;
    mixing.decay = 1;
    mixing.settles_after.reset();
    return mixing;
  };
  if (!connects_all(schedule, island_count)) return never();
  const std::vector<double> unit(period, 1);
  bool settled = true;
  int slowest = 0;
  for (int phase = 0; phase < period; ++phase) {
    PhaseResult result = follow(schedule, island_count, phase, target, aim.discount);
    if (!result.decays) return never();
    settled = settled && result.settled;
    mixing.approximate = mixing.approximate || result.approximate;
    slowest = std::max(slowest, int(result.curves.absolute.values.size()) - 1);
    mixing.decay = std::max(mixing.decay, result.curves.decay);
    mixing.area += weighted_area(result.curves.absolute, phase, unit) / period;
    mixing.area_squared += weighted_area(result.curves.squared, phase, unit) / period;
    mixing.phases.push_back(std::move(result.curves));
  }
  if (settled) {
    mixing.settles_after = slowest;
    mixing.decay = 0;
  }
  return mixing;
}

}  // namespace cotillion
