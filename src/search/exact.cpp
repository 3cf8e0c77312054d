#include "search/exact.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/infinity.hpp"
#include "search/canonical.hpp"
#include "search/partition_table.hpp"

namespace cotillion {
namespace {

constexpr double kTie = 1e-10;  // values closer than this, relatively, are one value
// Pairs looked at for one period before it is given up as too large to prove: about a minute.
constexpr std::int64_t kLooksMax = 3'000'000'000;
constexpr std::int64_t kLooksFurther = 30'000'000;  // for all cheap periods together: a second
constexpr std::int64_t kLooksOfPeriod = 64;         // what it takes to mix a whole period
constexpr int kGlancesOfLook = 16;                  // at partitions that sizes alone rule out
constexpr std::size_t kPairsMax = 10'000'000;       // that may start something better, likewise
constexpr int kBatch = 64;  // pieces of work between which the value to beat is renewed
constexpr int kPiece = 64;  // partitions, or pairs, that one piece of work starts from

class Exact {
 public:
  Exact(const NetworkModel& network, const Score& score, const Rules& rules,
        const Standing& to_beat, Workers& workers, const std::function<bool()>& stop,
        const std::function<void(int, double)>& tell)
      : tell_(tell),
        score_(score),
        rules_(rules),
        workers_(workers),
        stop_(stop),
        n_(network.map().island_count()),
        table_(network, score, rules) {
    result_.best = result_.proven = to_beat;
    result_.partitions = table_.allowed();
  }

  ExactResult run(const ExactPeriods& periods) {
    std::int64_t looks_further = kLooksFurther;
    for (int period = 1; period <= std::max(periods.all, periods.cheap); ++period) {
      std::int64_t looks = kLooksMax;
      if (!prove(period, period <= periods.all ? looks : looks_further)) break;
      result_.period_proven = period;
      result_.class_size += schedules_of(period);
      result_.proven = result_.best;
    }
    COTILLION_CHECK(result_.best.value <= result_.proven.value * (1 + kTie));
    return std::move(result_);
  }

 private:
  struct Pair {
    int x = 0, y = 0;  // x ≥ y: in either order
    double f = 0;
  };
  struct Found {
    Standing best{{}, kInfinity, kInfinity, kInfinity};
    std::int64_t evaluated = 0;
    std::int64_t looked_at = 0;
    bool complete = true;
  };

  // Sequences of allowed partitions that contain what is pinned: by inclusion and exclusion.
  [[nodiscard]] double schedules_of(int period) const {
    std::vector<Round> pins;
    for (const Round& pin : rules_.pinned())
      if (std::find(pins.begin(), pins.end(), pin) == pins.end()) pins.push_back(pin);
    double total = 0, choose = 1;
    for (std::size_t k = 0; k <= pins.size(); ++k) {
      total += choose * std::pow(double(result_.partitions) - double(k), period);
      choose *= -double(pins.size() - k) / double(k + 1);
    }
    return total;
  }

  // β: what the value to beat leaves for the mean of f, ties included.
  [[nodiscard]] double beta(double value, double length, double delay) const {
    return score_.area_at(value * (1 + kTie), length, delay) - 1 + 1e-12;
  }

  // Pairs that may be the start of something better, by piece of work so that order is fixed.
  bool find_pairs() {
    const int count = table_.count();
    const int pieces = (count + kPiece - 1) / kPiece;
    std::vector<std::vector<Pair>> found(std::size_t(pieces), std::vector<Pair>{});
    workers_.run(pieces, [&](int piece, int) {
      if (stop_ && stop_()) return;
      const int end = std::min(count, (piece + 1) * kPiece);
      for (int i = piece * kPiece; i < end; ++i) {
        const Partition& x = table_[i];
        const double room = beta(result_.best.value, x.length, x.delay);
        if (x.e1 / 2 > room) continue;
        for (int j = 0; j <= i; ++j) {
          const Partition& y = table_[j];
          if ((x.e1 + y.e1) / 2 > room) continue;
          const double here = table_.f(x, y);
          if (here <= room) found[piece].push_back({i, j, here});
        }
        if (found[piece].size() > kPairsMax) return;
      }
    });
    if (stop_ && stop_()) return false;
    pairs_.clear();
    std::size_t total = 0;
    for (const auto& piece : found) total += piece.size();
    if (total > kPairsMax) return false;
    for (const auto& piece : found) pairs_.insert(pairs_.end(), piece.begin(), piece.end());
    COTILLION_CHECK(pairs_.size() == total);
    return true;
  }

  // False when `looks_left` did not suffice, or it was stopped.
  bool prove(int period, std::int64_t& looks_left) {
    if (period == 1) {
      Found found;
      AreaMeter meter(n_, score_.squared(), AreaMeter::Care::kProof);
      for (int x = 0; x < table_.count(); ++x) consider({x}, meter, found);
      take(found);
      return true;
    }
    if (n_ == 1) return true;
    // Found once: a lower value to beat only removes pairs.
    if (period == 2 && !find_pairs()) return false;
    const int pieces = (int(pairs_.size()) + kPiece - 1) / kPiece;
    // What one batch finds is there for the next to beat, whoever works on it.
    for (int first = 0; first < pieces; first += kBatch)
      if (!prove_batch(period, first, std::min(kBatch, pieces - first), pieces, looks_left))
        return false;
    return true;
  }

  bool prove_batch(int period, int first, int count, int pieces, std::int64_t& looks_left) {
    std::vector<Found> found(std::size_t(count), Found{});
    looks_most_ = looks_left / 8;  // of one piece: some are much larger than others
    workers_.run(count, [&](int task, int worker) {
      const int piece = first + task;
      if (worker == 0 && tell_) tell_(period, double(piece) / pieces);
      Found& here = found[task];
      here.complete = !(stop_ && stop_());
      AreaMeter meter(n_, score_.squared(), AreaMeter::Care::kProof);
      here.best.value = result_.best.value * (1 + kTie);
      const std::size_t end = std::min(pairs_.size(), std::size_t(piece + 1) * kPiece);
      for (std::size_t k = std::size_t(piece) * kPiece; k < end && here.complete; ++k)
        prove_from(pairs_[k], period, meter, here);
    });
    for (const Found& piece : found) {
      take(piece);
      looks_left -= piece.looked_at;
    }
    return looks_left > 0 &&
           std::all_of(found.begin(), found.end(), [](const Found& f) { return f.complete; });
  }

  // Everything that may begin with this pair.
  void prove_from(const Pair& pair, int period, AreaMeter& meter, Found& found) {
    std::vector<int> path{pair.x, pair.y};
    if (period == 3) return add_third(pair, meter, found);
    extend(path, pair.f, pair.f, period, meter, found);
    if (period == 2 || pair.x == pair.y || !found.complete) return;
    path = {pair.y, pair.x};
    extend(path, pair.f, pair.f, period, meter, found);
  }

  // Counts a look; false when there have been too many.
  bool look(Found& found) {
    if (++found.looked_at > looks_most_ || (found.looked_at % 65536 == 0 && stop_ && stop_()))
      found.complete = false;
    return found.complete;
  }

  // Three rounds mix alike in any order, so the pair is taken for the one with the least f of the
  // three. The others then have at least as much, and at most 3β less twice that.
  void add_third(const Pair& pair, AreaMeter& meter, Found& found) {
    const Partition &x = table_[pair.x], &y = table_[pair.y];
    const Connected met = Connected(x).joined(y);
    const double delay = std::max(x.delay, y.delay);
    const double share = beta(found.best.value, x.length, delay);
    for (int k = 0; k < table_.count(); ++k) {
      const Partition& z = table_[k];
      const double length = std::max(x.length, z.length);
      const double room = z.length <= x.length && z.delay <= delay
                              ? share
                              : beta(found.best.value, length, std::max(delay, z.delay));
      if (pair.f > room) {
        // Lengths only grow from here; delays may not.
        if (pair.f > beta(found.best.value, length, delay)) return;
        continue;
      }
      if (k % kGlancesOfLook == 0 && !look(found)) return;
      if (met.parts() > n_ - z.count + 1) continue;
      const double most = 3 * room - 2 * pair.f;
      if (z.e1 / 2 + std::max(x.e1, y.e1) / 2 > most) continue;
      if (!look(found)) return;
      const double f2 = table_.f(y, z);
      if (f2 > most || f2 < pair.f * (1 - kTie)) continue;
      const double f3 = table_.f(x, z);
      if (pair.f + f2 + f3 > 3 * room || f3 < pair.f * (1 - kTie)) continue;
      if (met.joined(z).parts() > 1) continue;
      look_closer({pair.x, pair.y, k}, pair.f + f2 + f3, room, meter, found);
    }
  }

  // A period whose Σf leaves it a chance: by what three rounds leave, then exactly.
  void look_closer(const std::vector<int>& path, double total, double share, AreaMeter& meter,
                   Found& found) {
    const std::size_t period = path.size();
    found.looked_at += kLooksOfPeriod;
    for (std::size_t k = 0; k < period && period > 2; ++k) {
      total += table_.e3(table_[path[k]], table_[path[(k + 1) % period]],
                         table_[path[(k + 2) % period]]);
      if (total > double(period) * share) return;
    }
    consider(path, meter, found);
  }

  // `mean` is the largest mean of f over pairs from the beginning of the path: what the longest
  // round of the whole period, which may be yet to come, must leave for each of them.
  void extend(std::vector<int>& path, double sum, double mean, int period, AreaMeter& meter,
              Found& found) {
    double length = 0, delay = 0;
    for (const int x : path) {
      length = std::max(length, table_[x].length);
      delay = std::max(delay, table_[x].delay);
    }
    const Partition& last = table_[path.back()];
    const double share = beta(found.best.value, length, delay);
    if (mean > share) return;
    if (int(path.size()) == period) {
      const double total = sum + (period == 2 ? sum : table_.f(last, table_[path.front()]));
      if (total <= period * share) look_closer(path, total, share, meter, found);
      return;
    }
    const auto pairs = double(path.size());
    for (int y = 0; y < table_.count(); ++y) {
      const Partition& next = table_[y];
      const double room =
          next.length <= length && next.delay <= delay
              ? share
              : beta(found.best.value, std::max(length, next.length), std::max(delay, next.delay));
      if (mean > room) {
        // Lengths only grow from here; delays may not.
        if (mean > beta(found.best.value, std::max(length, next.length), delay)) return;
        continue;
      }
      if (sum + (last.e1 + next.e1) / 2 > pairs * room) continue;
      if (!look(found)) return;
      const double more = table_.f(last, next);
      if (sum + more > pairs * room) continue;
      path.push_back(y);
      extend(path, sum + more, std::max(mean, (sum + more) / pairs), period, meter, found);
      path.pop_back();
      if (!found.complete) return;
    }
  }

  // The exact value of a period, and whether it is the best so far.
  void consider(const std::vector<int>& path, AreaMeter& meter, Found& found) {
    COTILLION_CHECK(!path.empty());
    std::vector<const Grouping*> groups;
    double price = 0, delay = 0;
    for (const int x : path) {
      const Partition& partition = table_[x];
      price = std::max(price, partition.price);
      delay = std::max(delay, partition.delay);
      groups.push_back(&partition.groups);
    }
    const double length = score_.length(price, groups);
    ++found.evaluated;
    const auto schedule_of_path = [&] {
      Schedule schedule;
      for (const int x : path) schedule.rounds.push_back(table_[x].round);
      return schedule;
    };
    // With nothing to beat there is no limit that would end the sum.
    if (std::isinf(found.best.value) && !connects_all(schedule_of_path(), n_)) return;
    double area = 0;
    if (n_ > 1) {
      area = meter.start(std::move(groups),
                         score_.area_at(found.best.value * (1 + kTie), length, delay));
      if (!std::isfinite(area)) return;
    }
    // What is pinned is exempt from the other rules and must be there.
    Schedule schedule = schedule_of_path();
    for (const Round& pin : rules_.pinned())
      if (std::count(schedule.rounds.begin(), schedule.rounds.end(), pin) <
          std::count(rules_.pinned().begin(), rules_.pinned().end(), pin))
        return;
    if (!rules_.pinned().empty() && !rules_.allows(schedule)) return;
    schedule.rounds = canonical(schedule.rounds);
    better({std::move(schedule), score_.value(length, delay, area), length, area}, found.best);
  }

  static void better(Standing candidate, Standing& best) {
    const bool tie = std::fabs(candidate.value - best.value) <= kTie * best.value;
    const bool first =
        best.schedule.rounds.empty() || precedes(candidate.schedule.rounds, best.schedule.rounds);
    if (tie ? first : candidate.value < best.value) best = std::move(candidate);
  }

  void take(const Found& found) {
    result_.evaluated += found.evaluated;
    const double before = result_.best.value;
    if (!found.best.schedule.rounds.empty()) better(found.best, result_.best);
    COTILLION_CHECK(result_.best.value <= before * (1 + kTie));
  }

  const std::function<void(int, double)>& tell_;
  const Score& score_;
  const Rules& rules_;
  Workers& workers_;
  const std::function<bool()>& stop_;
  std::int64_t looks_most_ = 0;
  int n_;
  PartitionTable table_;
  std::vector<Pair> pairs_;
  ExactResult result_;
};

}  // namespace

ExactResult search_exactly(const NetworkModel& network, const Score& score, const Rules& rules,
                           const ExactPeriods& periods, const Standing& to_beat, Workers& workers,
                           const std::function<bool()>& stop,
                           const std::function<void(int, double)>& tell) {
  return Exact(network, score, rules, to_beat, workers, stop, tell).run(periods);
}

}  // namespace cotillion
