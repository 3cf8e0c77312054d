#include "job/fault_dice.hpp"

#include <cmath>

namespace cotillion {

FaultDice::FaultDice(const Faults& faults, int lanes, std::uint64_t seed) : by_lane_(lanes) {
  Random seeds(seed);
  for (int lane = 0; lane < lanes; ++lane) random_.emplace_back(seeds.next());
  for (const LaneFault& fault : faults.lanes)
    for (const LaneId lane : fault.lanes) by_lane_[lane].push_back({&fault, 0});
}

Fate FaultDice::cast(LaneId lane, Duration since_start) {
  Fate fate;
  Random& random = random_[lane];
  for (OnLane& entry : by_lane_[lane]) {
    const LaneFault& fault = *entry.fault;
    if (since_start < fault.from || since_start >= fault.until) continue;
    switch (fault.kind) {
      case Mishap::kLoss:
        // Bursts of geometric length start so rarely that `rate` of all packets is lost: between
        // two of them burst · (1 − rate) / rate pass, on average.
        if (entry.lose_next == 0 &&
            random.unit() < fault.rate / (fault.rate + fault.burst * (1 - fault.rate))) {
          entry.lose_next = 1;
          while (random.unit() < 1 - 1 / fault.burst) ++entry.lose_next;
        }
        if (entry.lose_next > 0) {
          --entry.lose_next;
          fate.lost = true;
        }
        break;
      case Mishap::kDown:
        fate.lost = true;
        break;
      case Mishap::kDuplicate:
      case Mishap::kReplay:
        if (random.unit() < fault.rate) {
          fate.copied = true;
          fate.copy_after = fault.by;
        }
        break;
      case Mishap::kReorder:
        if (random.unit() < fault.rate) fate.delay = fate.delay + fault.by;
        break;
      case Mishap::kJitter:
        fate.jitter = fate.jitter + Duration{std::int64_t(random.unit() * double(fault.by.ps))};
        break;
      case Mishap::kCorrupt:
        fate.corrupt |= random.unit() < fault.rate;
        break;
      case Mishap::kTruncate:
        fate.truncated |= random.unit() < fault.rate;
        break;
    }
  }
  return fate;
}

}  // namespace cotillion
