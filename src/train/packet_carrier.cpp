#include "train/packet_carrier.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cotillion {
namespace {

// Rows of a file may have been written by hand, as thirds.
constexpr double kRowSlack = 1e-4;

bool rows_sum_to_one(const RecipeRound& round, std::size_t islands) {
  if (round.mixing.size() != islands * islands) return false;
  for (std::size_t i = 0; i < islands; ++i) {
    const auto row = round.mixing.begin() + std::ptrdiff_t(i * islands);
    const double sum = std::accumulate(row, row + std::ptrdiff_t(islands), 0.0);
    if (!(std::abs(sum - 1) <= kRowSlack)) return false;
  }
  return true;
}

}  // namespace

PacketCarrier::PacketCarrier(const PacketisedPlan& played, int rounds)
    : played_(played),
      clock_(played_.recipe),
      islands_(island_count(played_.recipe)),
      rounds_(rounds),
      schedule_(make_step_schedule(played_.recipe)) {
  for (const RecipeRound& round : rotation().rounds)
    COTILLION_CHECK(rows_sum_to_one(round, std::size_t(islands_)));
}

void PacketCarrier::between(Learner& learner, std::int64_t steps,
                            const std::function<void()>& before_merge) {
  COTILLION_CHECK(steps ==
                  next_);  // packets in flight belong to a step: none is left out or redone
  if (anybody_merges(steps)) before_merge();
  exchange(learner, steps);
  next_ = steps + 1;
  COTILLION_CHECK(time_after(next_) > time_after(steps));
}

bool PacketCarrier::anybody_merges(std::int64_t steps) const {
  for (int island = 0; island < islands_; ++island)
    for (const RotationClock::Appointment& due : clock_.merges(island, steps))
      if (due.round < rounds_) return true;
  return false;
}

}  // namespace cotillion
