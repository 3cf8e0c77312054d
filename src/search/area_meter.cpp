#include "search/area_meter.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/infinity.hpp"

namespace cotillion {
namespace {

constexpr double kRounding = 1e-9;
constexpr int kRoundsMax = 20'000;  // beyond it a schedule is not worth following

// Sums are taken in kLanes parts whatever the machine's vectors are, so that results are the
// same on all of them.
constexpr int kLanes = 8;
int padded(int columns) {
  return (columns + kLanes - 1) / kLanes * kLanes;
}

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__) && \
    defined(__GNUC__) && !defined(__clang__)
#define COTILLION_WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define COTILLION_WIDEST
#endif

using Lanes [[gnu::vector_size(kLanes * sizeof(double)), gnu::aligned(sizeof(double))]] = double;

// What a round makes of rows: row c becomes Σ share·row over what c meets, from start[c] on.
struct RowAverages {
  const int* start;
  const int* from;
  const double* share;
  const int* sizes;
  int count;
};
struct RowsToAverage {
  const double* rows;
  int columns;
  const double* inverse_sizes;  // of columns; may be null
};

// Writes them to `into`. Returns Σ size·|into|, or, where inverse sizes of columns are given,
// Σ size·into²·inverse size.
COTILLION_WIDEST double average_rows(const RowsToAverage& given, const RowAverages& averages,
                                     double* into) {
  const auto [rows, columns, inverse_sizes] = given;
  const auto [start, from, share, sizes, count] = averages;
  Lanes sums = {};
  for (int c = 0; c < count; ++c) {
    const double size = sizes[c];
    for (int a = 0; a < columns; a += kLanes) {
      Lanes row = {};
      for (int m = start[c]; m < start[c + 1]; ++m)
        row += share[m] *
               *reinterpret_cast<const Lanes*>(rows + std::ptrdiff_t(from[m]) * columns + a);
      *reinterpret_cast<Lanes*>(into + std::ptrdiff_t(c) * columns + a) = row;
      if (inverse_sizes != nullptr)
        sums += size * row * row * *reinterpret_cast<const Lanes*>(inverse_sizes + a);
      else
        sums += size * (row < 0 ? -row : row);
    }
  }
  double sum = 0;
  for (int k = 0; k < kLanes; ++k) sum += sums[k];
  return sum;
}

}  // namespace

void AreaMeter::Store::resize(int period) {
  rounds.resize(period);
  transfers.resize(period);
  windows.resize(period);
  for (auto& by_length : windows) by_length.resize(std::max(1, period - 1));
}

// Σ over pairs of cliques of | |c∩a| − |c||a|/N | / (2N−2): pairs that do not meet add |c||a|/N.
double AreaMeter::e_of_two(const Grouping& first, const Grouping& second,
                           const Transfer& transfer) const {
  double sum = squared_ ? -1 : n_;
  for (int c = 0; c < second.count(); ++c)
    for (int m = transfer.start[c]; m < transfer.start[c + 1]; ++m) {
      const double both = transfer.share[m] * second.size(c);
      const double product = double(second.size(c)) * first.size(transfer.from[m]);
      sum += squared_ ? both * both / product : std::fabs(both - product / n_) - product / n_;
    }
  return squared_ ? sum / (n_ - 1.0) : sum / (2.0 * n_ - 2);
}

void AreaMeter::find_transfer(const Grouping& from, const Grouping& to, Transfer& into) {
  count_.assign(std::size_t(from.count()), 0);
  into.start.assign(1, 0);
  into.from.clear();
  into.share.clear();
  for (int c = 0; c < to.count(); ++c) {
    met_.clear();
    for (const IslandId island : to.members(c))
      if (count_[from.group_of(island)]++ == 0) met_.push_back(from.group_of(island));
    for (const int group : met_) {
      into.from.push_back(group);
      into.share.push_back(double(count_[group]) / to.size(c));
      count_[group] = 0;
    }
    into.start.push_back(int(into.from.size()));
  }
}

void AreaMeter::gaps_of_two(const Grouping& first, const Transfer& transfer,
                            std::vector<double>& into) const {
  const int rows = int(transfer.start.size()) - 1, columns = padded(first.count());
  into.resize(std::size_t(rows) * columns);
  for (int c = 0; c < rows; ++c) {
    double* row = &into[std::size_t(c) * columns];
    for (int a = 0; a < first.count(); ++a) row[a] = -double(first.size(a)) / n_;
    std::fill(row + first.count(), row + columns, 0);
    for (int m = transfer.start[c]; m < transfer.start[c + 1]; ++m)
      row[transfer.from[m]] += transfer.share[m];
  }
}

// One round on: rows are averaged as the transfer says; returns e.
double AreaMeter::advance(const std::vector<double>& gaps, const Grouping& first,
                          const Grouping& last, const Transfer& transfer,
                          std::vector<double>& into) {
  const int rows = int(transfer.start.size()) - 1, columns = padded(first.count());
  into.resize(std::size_t(rows) * columns);
  const double* inverse_sizes = nullptr;
  if (squared_) {
    inverse_sizes_.assign(std::size_t(columns), 0);
    for (int a = 0; a < first.count(); ++a) inverse_sizes_[a] = 1.0 / first.size(a);
    inverse_sizes = inverse_sizes_.data();
  }
  sizes_.clear();
  for (int c = 0; c < rows; ++c) sizes_.push_back(last.size(c));
  const double total = average_rows(
      {gaps.data(), columns, inverse_sizes},
      {transfer.start.data(), transfer.from.data(), transfer.share.data(), sizes_.data(), rows},
      into.data());
  return squared_ ? total / (n_ - 1.0) : total / (2.0 * n_ - 2);
}

// Adds what windows of one length leave; false when the area is going to pass the limit. An
// annealer also refuses when it would pass if the rest were as it is now: changes are small, and
// what one has done to the head of the curve it does, by and large, to the tail.
bool AreaMeter::add(double sum, double& total, double limit) {
  sums_.push_back(sum);
  total += sum;
  const std::size_t length = sums_.size() - 1;
  if (total > limit * period()) return false;
  if (care_ == Care::kProof || changed_ < 0 || length < 2 || length >= rest_.size()) return true;
  const double change = sum / profile_[length];
  return total + rest_[length] * (change < 1 ? 2 * change - 1 : 1) <= limit * period();
}

// Windows shorter than a period first: those that the change does not touch are known.
double AreaMeter::measure(double limit) {
  const int p = period();
  double total = p;  // e(0) = 1
  sums_.assign(1, p);
  tail_ = 0;
  if (p == 1) return round(0).count() == 1 && limit >= 1 ? 1 : kInfinity;
  double sum = 0;
  for (int r = 0; r < p; ++r) {
    if (touched(r, 1)) window(r, 1).e = e_of_one(round(r), squared_);
    sum += window(r, 1).e;
  }
  if (!add(sum, total, limit)) return kInfinity;
  for (int r = 0; r < p; ++r)
    if (touched((r - 1 + p) % p, 2))
      find_transfer(round((r - 1 + p) % p), round(r), transfer_into(r));
  for (int length = 2; length < p; ++length) {
    sum = 0;
    for (int first = 0; first < p; ++first) {
      Window& here = window(first, length);
      if (touched(first, length)) {
        const int last = (first + length - 1) % p;
        if (length == 2) {
          here.e = e_of_two(round(first), round(last), transfer_into(last));
        } else {
          // The gaps of a pair are only worked out for windows that go beyond it.
          Window& shorter = window(first, length - 1);
          if (length == 3 && touched(first, 2))
            gaps_of_two(round(first), transfer_into((last - 1 + p) % p), shorter.gaps);
          here.e = advance(shorter.gaps, round(first), round(last), transfer_into(last), here.gaps);
        }
      }
      sum += here.e;
    }
    if (!add(sum, total, limit)) return kInfinity;
  }
  return measure_long(total, limit);
}

// Windows of a period and longer all contain every round. They are followed until they have
// settled, or fall by the same factor from one period to the next.
double AreaMeter::measure_long(double total, double limit) {
  const int p = period();
  gaps_.resize(p);
  next_.resize(p);
  SurvivalTail tail(care_, p);
  for (int length = p; length < kRoundsMax; ++length) {
    double sum = 0;
    for (int first = 0; first < p; ++first) {
      const int last = (first + length - 1) % p;
      const Transfer& into = transfer_into(last);
      if (length == 2) {
        sum += e_of_two(round(first), round(last), into);
        gaps_of_two(round(first), into, gaps_[first]);
        continue;
      }
      const std::vector<double>* gaps = &gaps_[first];
      if (length == p) {
        Window& shorter = window(first, p - 1);
        if (p == 3 && touched(first, 2))
          gaps_of_two(round(first), transfer_into((last - 1 + p) % p), shorter.gaps);
        gaps = &shorter.gaps;
      }
      sum += advance(*gaps, round(first), round(last), into, next_[first]);
      std::swap(gaps_[first], next_[first]);
    }
    if (!add(sum, total, limit)) return kInfinity;
    const TailState state = tail.follow(sums_, total);
    tail_ = tail.rest();
    if (state == TailState::kUnknown) continue;
    const double area = (total + tail_) / p;
    if (state == TailState::kSettled) return area;
    const bool too_large = area > limit;
    if (state == TailState::kClosed && !too_large) return area;
    if (state == TailState::kClosed) return kInfinity;
    // Slow modes come to rule later, so that a tail is rather longer than it looks.
    if (care_ == Care::kSearch && (state == TailState::kStuck || too_large)) return kInfinity;
  }
  return kInfinity;
}

double AreaMeter::start(std::vector<const Grouping*> rounds, double limit) {
  changed_ = -1;
  const int p = int(rounds.size());
  COTILLION_CHECK(p > 0);
  for (const Grouping* round : rounds) COTILLION_CHECK(round->island_count() == n_);
  current_.resize(p);
  proposed_.resize(p);
  current_.rounds = rounds;
  proposed_.rounds = std::move(rounds);
  const double area = measure(limit);
  COTILLION_CHECK(!(area < 1 - kRounding));  // every generation is held for a round at least
  if (area < kInfinity) keep_change();
  return area;
}

double AreaMeter::changed(int round, const Grouping& with, double limit) {
  COTILLION_CHECK(round >= 0 && round < period() && with.island_count() == n_);
  changed_ = round;
  proposed_.rounds[round] = &with;
  const double area = measure(limit);
  COTILLION_CHECK(!(area < 1 - kRounding));
  return area;
}

void AreaMeter::keep_change() {
  const int p = period();
  profile_ = sums_;
  rest_.assign(profile_.size(), tail_);
  for (std::size_t length = profile_.size() - 1; length-- > 0;)
    rest_[length] = rest_[length + 1] + profile_[length + 1];
  for (int r = 0; r < p; ++r) {
    if (touched(r, 1)) current_.rounds[r] = proposed_.rounds[r];
    if (p > 1 && touched((r - 1 + p) % p, 2))
      std::swap(current_.transfers[r], proposed_.transfers[r]);
    for (int length = 1; length < p; ++length)
      if (touched(r, length))
        std::swap(current_.windows[r][length - 1], proposed_.windows[r][length - 1]);
  }
}

void AreaMeter::accept() {
  keep_change();
}

double AreaMeter::least_area(int round, std::span<const int> gone,
                             std::span<const std::vector<IslandId>> fresh) const {
  const int p = period();
  if (p == 1) return 1;
  const Grouping& groups = *current_.rounds[round];
  double squares = 0;
  for (const int group : gone) squares -= double(groups.size(group)) * groups.size(group);
  for (const auto& clique : fresh) squares += double(clique.size()) * double(clique.size());
  double total = p;
  for (int first = 0; first < p; ++first) total += current_.windows[first][0].e;
  total += squared_ ? (double(fresh.size()) - double(gone.size())) / (n_ - 1.0)
                    : -squares / n_ / (n_ - 1.0);
  for (int first = 0; first < p && p > 2; ++first)
    if ((round - first + p) % p >= 2) total += current_.windows[first][1].e;
  return total / p;
}

}  // namespace cotillion
