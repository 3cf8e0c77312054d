#include "search/exact.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/check.hpp"
#include "search/canonical.hpp"

namespace cotillion {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kTie = 1e-10;  // values closer than this, relatively, are one value
constexpr int kIslandsMax = 9;
// Pairs looked at for one period before it is given up as too large to prove: about a minute.
constexpr std::int64_t kLooksMax = 3'000'000'000;
constexpr std::int64_t kLooksOfPeriod = 64;    // what it takes to mix a whole period
constexpr std::size_t kPairsMax = 10'000'000;  // that may start something better, likewise
constexpr int kBatch = 64;  // pieces of work between which the value to beat is renewed
constexpr int kPiece = 64;  // partitions, or pairs, that one piece of work starts from

struct Partition {
  Round round;
  Grouping groups;
  std::array<std::uint16_t, kIslandsMax> cliques{};  // as sets of bits
  int count = 0;
  bool pinned = false;
  double price = 0, delay = 0, length = 0;
  double e1 = 0;
};

// Restricted growth strings: every island joins a clique that exists or opens the next.
void enumerate(int n, std::vector<int>& which, int used,
               const std::function<void(const std::vector<int>&, int)>& visit) {
  if (int(which.size()) == n) return visit(which, used);
  for (int group = 0; group <= used; ++group) {
    which.push_back(group);
    enumerate(n, which, std::max(used, group + 1), visit);
    which.pop_back();
  }
}

class Exact {
 public:
  Exact(const Stage& stage, const Score& score, const Rules& rules, const Standing& to_beat,
        Workers& workers, const std::function<bool()>& stop,
        const std::function<void(int, double)>& tell)
      : tell_(tell),
        score_(score),
        rules_(rules),
        workers_(workers),
        stop_(stop),
        n_(stage.map().island_count()),
        stage_(stage) {
    COTILLION_CHECK(n_ >= 1 && n_ <= kIslandsMax);
    result_.best = to_beat;
    list_partitions();
    tabulate();
  }

  ExactResult run(int period_max) {
    for (int period = 1; period <= period_max; ++period) {
      if (!prove(period)) break;
      result_.period_proven = period;
      result_.class_size += schedules_of(period);
    }
    return std::move(result_);
  }

 private:
  struct Pair {
    int x = 0, y = 0;
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

  void list_partitions() {
    CliqueBook book(stage_, score_.settings().fragments);
    std::vector<int> which;
    enumerate(n_, which, 0, [&](const std::vector<int>& groups, int count) {
      std::vector<Clique> cliques(std::size_t(count), Clique{});
      for (IslandId i = 0; i < n_; ++i) cliques[groups[i]].islands.push_back(i);
      add(completed(std::move(cliques), n_), book);
    });
    std::sort(partitions_.begin(), partitions_.end(), [](const Partition& a, const Partition& b) {
      return std::pair(a.length, a.e1) < std::pair(b.length, b.e1);
    });
  }

  void add(Round round, CliqueBook& book) {
    const auto& pins = rules_.pinned();
    const bool pinned = std::find(pins.begin(), pins.end(), round) != pins.end();
    if (!pinned && !rules_.allows(round)) return;
    ++result_.partitions;
    const RoundState state = state_of(round, book);
    if (!std::isfinite(state.price)) return;
    Partition partition;
    partition.pinned = pinned;
    partition.groups = state.groups;
    partition.price = state.price;
    partition.delay = state.delay;
    // Without egress caps; these only lengthen it.
    partition.length = round_length(Seconds::from_ps(state.price), score_.settings()).ps;
    partition.count = state.groups.count();
    double squares = 0;
    for (int c = 0; c < partition.count; ++c) {
      for (const IslandId island : state.groups.members(c))
        partition.cliques[c] = std::uint16_t(partition.cliques[c] | 1u << island);
      squares += double(state.groups.size(c)) * state.groups.size(c);
    }
    if (n_ > 1)
      partition.e1 = score_.squared() ? (partition.count - 1.0) / (n_ - 1.0)
                                      : (n_ - squares / n_) / (n_ - 1.0);
    partition.round = std::move(round);
    partitions_.push_back(std::move(partition));
  }

  // What a pair of cliques of given sizes adds to e₂ by how many islands they share.
  void tabulate() {
    for (unsigned set = 0; set < sizes_.size(); ++set)
      sizes_[set] = std::uint8_t(set == 0 ? 0 : sizes_[set >> 1] + (set & 1));
    if (n_ == 1) return;
    for (int both = 0; both <= kIslandsMax; ++both)
      for (int a = 1; a <= kIslandsMax; ++a)
        for (int b = 1; b <= kIslandsMax; ++b) {
          const double product = double(a) * b;
          term_[both][a][b] = score_.squared() ? double(both) * both / product / (n_ - 1.0)
                                               : std::fabs(both - product / n_) / (2.0 * n_ - 2);
        }
  }

  [[nodiscard]] double f(const Partition& x, const Partition& y) const {
    double e2 = score_.squared() ? -1 / (n_ - 1.0) : 0;
    for (int c = 0; c < x.count; ++c)
      for (int a = 0; a < y.count; ++a)
        e2 +=
            term_[sizes_[x.cliques[c] & y.cliques[a]]][sizes_[x.cliques[c]]][sizes_[y.cliques[a]]];
    return (x.e1 + y.e1) / 2 + e2;
  }

  // What three rounds leave: Σ over cliques c of the last and a of the first of
  // | Σ_b |c∩b||b∩a|/|b| − |c||a|/N | / (2N−2), b being cliques of the middle one.
  [[nodiscard]] double e3(const Partition& x, const Partition& y, const Partition& z) const {
    double met[kIslandsMax][kIslandsMax];  // |b∩a|/|b|
    for (int b = 0; b < y.count; ++b)
      for (int a = 0; a < x.count; ++a)
        met[b][a] = double(sizes_[y.cliques[b] & x.cliques[a]]) / double(sizes_[y.cliques[b]]);
    double total = score_.squared() ? -1 : 0;
    for (int c = 0; c < z.count; ++c) {
      double row[kIslandsMax] = {};
      for (int b = 0; b < y.count; ++b) {
        const int both = sizes_[z.cliques[c] & y.cliques[b]];
        if (both == 0) continue;
        for (int a = 0; a < x.count; ++a) row[a] += both * met[b][a];
      }
      for (int a = 0; a < x.count; ++a) {
        const double product = double(sizes_[z.cliques[c]]) * sizes_[x.cliques[a]];
        total += score_.squared() ? row[a] * row[a] / product : std::fabs(row[a] - product / n_);
      }
    }
    return score_.squared() ? total / (n_ - 1.0) : total / (2.0 * n_ - 2);
  }

  // β: what the value to beat leaves for the mean of f, ties included.
  [[nodiscard]] double beta(double value, double length, double delay) const {
    return score_.area_at(value * (1 + kTie), length, delay) - 1 + 1e-12;
  }

  // Pairs that may be the start of something better, by piece of work so that order is fixed.
  bool find_pairs() {
    const int count = int(partitions_.size());
    const int pieces = (count + kPiece - 1) / kPiece;
    std::vector<std::vector<Pair>> found(std::size_t(pieces), std::vector<Pair>{});
    workers_.run(pieces, [&](int piece, int) {
      if (stop_ && stop_()) return;
      const int end = std::min(count, (piece + 1) * kPiece);
      for (int i = piece * kPiece; i < end; ++i) {
        const Partition& x = partitions_[i];
        const double room = beta(result_.best.value, x.length, x.delay);
        if (x.e1 / 2 > room) continue;
        for (int j = 0; j <= i; ++j) {
          const Partition& y = partitions_[j];
          if ((x.e1 + y.e1) / 2 > room) continue;
          const double here = f(x, y);
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
    for (const auto& piece : found)
      for (const Pair& pair : piece) {
        pairs_.push_back(pair);
        if (pair.x != pair.y) pairs_.push_back({pair.y, pair.x, pair.f});
      }
    return true;
  }

  bool prove(int period) {
    if (period == 1) {
      Found found;
      AreaMeter meter(n_, score_.squared(), AreaMeter::Care::kProof);
      for (std::size_t x = 0; x < partitions_.size(); ++x) consider({int(x)}, meter, found);
      take(found);
      return true;
    }
    if (n_ == 1) return true;
    // Found once: a lower value to beat only removes pairs.
    if (period == 2 && !find_pairs()) return false;
    const int pieces = (int(pairs_.size()) + kPiece - 1) / kPiece;
    std::int64_t looks_left = kLooksMax;
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
      for (std::size_t k = std::size_t(piece) * kPiece; k < end && here.complete; ++k) {
        std::vector<int> path{pairs_[k].x, pairs_[k].y};
        extend(path, pairs_[k].f, period, meter, here);
      }
    });
    for (const Found& piece : found) {
      take(piece);
      looks_left -= piece.looked_at;
    }
    return looks_left > 0 &&
           std::all_of(found.begin(), found.end(), [](const Found& f) { return f.complete; });
  }

  void extend(std::vector<int>& path, double sum, int period, AreaMeter& meter, Found& found) {
    double length = 0, delay = 0;
    for (const int x : path) {
      length = std::max(length, partitions_[x].length);
      delay = std::max(delay, partitions_[x].delay);
    }
    const Partition& last = partitions_[path.back()];
    const double share = beta(found.best.value, length, delay);
    if (sum > double(path.size() - 1) * share) return;
    if (int(path.size()) == period) {
      const double closing = period == 2 ? sum : f(last, partitions_[path.front()]);
      double total = sum + closing;
      if (total > period * share) return;
      found.looked_at += kLooksOfPeriod;
      for (int k = 0; k < period && period > 2; ++k) {
        total += e3(partitions_[path[k]], partitions_[path[(k + 1) % period]],
                    partitions_[path[(k + 2) % period]]);
        if (total > period * share) return;
      }
      consider(path, meter, found);
      return;
    }
    for (std::size_t y = 0; y < partitions_.size(); ++y) {
      const Partition& next = partitions_[y];
      const double room =
          next.length <= length && next.delay <= delay
              ? share
              : beta(found.best.value, std::max(length, next.length), std::max(delay, next.delay));
      if (sum + (last.e1 + next.e1) / 2 > double(path.size()) * room) {
        // Lengths only grow from here; delays may not.
        if (beta(found.best.value, std::max(length, next.length), delay) < 0) break;
        continue;
      }
      if (++found.looked_at > looks_most_ || (found.looked_at % 65536 == 0 && stop_ && stop_())) {
        found.complete = false;
        return;
      }
      const double more = f(last, next);
      if (sum + more > double(path.size()) * room) continue;
      path.push_back(int(y));
      extend(path, sum + more, period, meter, found);
      path.pop_back();
      if (!found.complete) return;
    }
  }

  // The exact value of a period, and whether it is the best so far.
  void consider(const std::vector<int>& path, AreaMeter& meter, Found& found) {
    std::vector<const Grouping*> groups;
    double price = 0, delay = 0;
    for (const int x : path) {
      const Partition& partition = partitions_[x];
      price = std::max(price, partition.price);
      delay = std::max(delay, partition.delay);
      groups.push_back(&partition.groups);
    }
    const double length = score_.length(price, groups);
    ++found.evaluated;
    const auto schedule_of_path = [&] {
      Schedule schedule;
      for (const int x : path) schedule.rounds.push_back(partitions_[x].round);
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
    if (!found.best.schedule.rounds.empty()) better(found.best, result_.best);
  }

  const std::function<void(int, double)>& tell_;
  const Score& score_;
  const Rules& rules_;
  Workers& workers_;
  const std::function<bool()>& stop_;
  std::int64_t looks_most_ = 0;
  int n_;
  const Stage& stage_;
  std::vector<Partition> partitions_;  // feasible ones, by length
  std::array<std::uint8_t, 1 << kIslandsMax> sizes_{};
  double term_[kIslandsMax + 1][kIslandsMax + 1][kIslandsMax + 1] = {};
  std::vector<Pair> pairs_;
  ExactResult result_;
};

}  // namespace

ExactResult search_exactly(const Stage& stage, const Score& score, const Rules& rules,
                           int period_max, const Standing& to_beat, Workers& workers,
                           const std::function<bool()>& stop,
                           const std::function<void(int, double)>& tell) {
  return Exact(stage, score, rules, to_beat, workers, stop, tell).run(period_max);
}

}  // namespace cotillion
