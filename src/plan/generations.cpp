#include "plan/generations.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kRecentSumsMax = 1024;

}  // namespace

int rounds_kept(const std::vector<LedgerMove>& moves, int latest) {
  int kept = 1;
  for (const LedgerMove& move : moves)
    if (move.kind == LedgerMove::Kind::kCopy)
      latest = std::max(latest, move.round);
    else
      kept = std::max(kept, latest - move.round + 1);
  return kept;
}

Generations::Generations(int island_count, int columns, int rounds_kept,
                         const std::vector<double>& target, const std::vector<LedgerSum>& sums)
    : n_(island_count),
      kept_(rounds_kept),
      columns_(std::size_t(columns)),
      share_(target),
      weight_(columns_, 0),
      towards_(columns_, 0),
      held_(std::size_t(n_) * columns_, 0),
      copied_(std::size_t(kept_) * n_ * columns_, 0),
      sums_(sums),
      recent_(std::min(sums.size(), kRecentSumsMax)) {
  COTILLION_CHECK(n_ >= 2 && columns >= 1 && kept_ >= 1);
  if (share_.empty()) share_.assign(n_, 1.0 / n_);
  COTILLION_CHECK(int(share_.size()) == n_);
}

void Generations::born(int column, IslandId island, double weight) {
  weight_[column] = weight;
  towards_[column] = share_[island];
  held(island)[column] = 1;
  const double others = n_ - 1, share = share_[island];
  absolute_ += weight * (std::fabs(1 - share) + others * std::fabs(share));
  squared_ += weight * ((1 - share) * (1 - share) + others * share * share);
}

void Generations::play(const LedgerMove& move, int rounds_later) {
  const int round = move.round + rounds_later;
  COTILLION_CHECK(round >= 0);
  double* own = copied(move.island, round);
  if (move.kind == LedgerMove::Kind::kCopy)
    std::copy_n(held(move.island), columns_, own);
  else
    merge(move.island, summed(move.sum, round), own);
}

const std::vector<double>& Generations::summed(int sum, int round) {
  Summed& recent = recent_[std::size_t(sum) % recent_.size()];
  if (recent.sum == sum && recent.round == round) return recent.row;
  recent.sum = sum;
  recent.round = round;
  recent.row.assign(columns_, 0);
  double* row = recent.row.data();
  for (const LedgerTerm& term : sums_[sum]) {
    const double* copy = copied(term.island, round);
    for (std::size_t c = 0; c < columns_; ++c) row[c] += term.weight * copy[c];
  }
  return recent.row;
}

void Generations::merge(IslandId island, const std::vector<double>& sum, const double* own) {
  double* phi = held(island);
  double absolute = 0, squared = 0;
  for (std::size_t c = 0; c < columns_; ++c) {
    const double before = phi[c] - towards_[c];
    phi[c] += sum[c] - own[c];
    const double after = phi[c] - towards_[c];
    absolute += weight_[c] * (std::fabs(after) - std::fabs(before));
    squared += weight_[c] * (after * after - before * before);
  }
  absolute_ += absolute;
  squared_ += squared;
}

void Generations::refresh() {
  absolute_ = squared_ = 0;
  for (IslandId island = 0; island < n_; ++island) {
    const double* phi = held(island);
    for (std::size_t c = 0; c < columns_; ++c) {
      const double gap = phi[c] - towards_[c];
      absolute_ += weight_[c] * std::fabs(gap);
      squared_ += weight_[c] * gap * gap;
    }
  }
}

}  // namespace cotillion
