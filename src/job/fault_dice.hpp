// What happens to each packet, drawn from a seed, lane by lane, so that a fault on one lane does
// not change the draws of another.
#pragma once

#include <vector>

#include "base/random.hpp"
#include "job/faults.hpp"

namespace cotillion {

// What happens to one packet on one lane.
struct Fate {
  bool lost = false;
  Duration delay{0};   // by which others overtake it
  Duration jitter{0};  // on top of it; whether order is kept is for the player to say
  bool copied = false;
  Duration copy_after{0};
  bool corrupt = false;
  bool truncated = false;
};

class FaultDice {
 public:
  FaultDice(const Faults& faults, int lanes, std::uint64_t seed);

  [[nodiscard]] bool any(LaneId lane) const { return !by_lane_[lane].empty(); }
  [[nodiscard]] Fate cast(LaneId lane, Duration since_start);
  // For details of a mishap: which bit, where to cut.
  [[nodiscard]] Random& random(LaneId lane) { return random_[lane]; }

 private:
  struct OnLane {
    const LaneFault* fault = nullptr;
    std::int64_t lose_next = 0;  // of a burst
  };
  IdVector<LaneId, std::vector<OnLane>> by_lane_;
  IdVector<LaneId, Random> random_;
};

}  // namespace cotillion
