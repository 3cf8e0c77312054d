#include "search/incumbents.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.hpp"
#include "base/infinity.hpp"
#include "search/canonical.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kKept = 8;

}  // namespace

bool ahead(const Standing& a, const Standing& b) {
  if (a.value != b.value) return a.value < b.value;
  return precedes(a.schedule.rounds, b.schedule.rounds);
}

void Incumbents::keep(Standing standing) {
  if (!std::isfinite(standing.value)) return;
  standing.schedule.rounds = canonical(standing.schedule.rounds);
  const auto same = [&](const Standing& known) {
    return known.schedule.rounds == standing.schedule.rounds;
  };
  if (std::any_of(kept_.begin(), kept_.end(), same)) return;
  kept_.insert(std::upper_bound(kept_.begin(), kept_.end(), standing, ahead), standing);
  if (kept_.size() > kKept) kept_.pop_back();
  COTILLION_CHECK(!kept_.empty() && kept_[0].value <= standing.value * (1 + 1e-9));
}

void Incumbents::measure(const std::function<double(const Schedule&)>& value) {
  for (Standing& kept : kept_) kept.value = value(kept.schedule);
  std::stable_sort(kept_.begin(), kept_.end(), ahead);
}

double Incumbents::best() const {
  if (kept_.empty()) return kInfinity;
  return kept_[0].value;
}

}  // namespace cotillion
