// What goes wrong in a simulation, and where. Read from a scenario file; drawn from a seed, lane by
// lane, so that a fault on one lane does not change the draws of another.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/random.hpp"
#include "base/result.hpp"
#include "plan/plan_loader.hpp"

namespace cotillion {

// When the first round of a play starts; what scenario files say counts from here.
inline constexpr Instant kOrigin{1'000'000'000};

enum class Mishap : std::uint8_t {
  kLoss,       // never arrives
  kDuplicate,  // arrives again, `by` later
  kReorder,    // arrives `by` later, others overtake it
  kJitter,     // arrives up to `by` later
  kCorrupt,    // a bit is flipped
  kTruncate,   // its end is cut off
  kReplay,     // arrives again, `by` later: in another round, usually
  kDown,       // the lane carries nothing
};

struct LaneFault {
  Mishap kind = Mishap::kLoss;
  std::vector<LaneId> lanes;
  double rate = 1;   // of packets
  double burst = 1;  // lost in a row, on average
  Duration by{0};
  Duration from{0};  // from the start of the first round
  Duration until{INT64_MAX / 4};
};

struct IslandFault {
  enum class Kind : std::uint8_t {
    kDead,     // neither sends nor receives, until it comes back as a new process; its edge goes on
    kSlow,     // its steps take `factor` times as long, and it sends `by` too late
    kClock,    // its clock is `by` ahead (behind, if negative) and gains `drift`
    kRestart,  // its edge loses all it holds
  };
  Kind kind = Kind::kDead;
  IslandId island = 0;
  Duration by{0};
  double drift = 0;  // seconds per second
  double factor = 1;
  Duration from{0};
  Duration until{INT64_MAX / 4};
};

struct Faults {
  std::vector<LaneFault> lanes;
  std::vector<IslandFault> islands;
};

// Lanes as people name them; empty when there is no such thing on the map.
[[nodiscard]] std::vector<LaneId> lanes_named(const Map& map, const std::string& on);
inline constexpr std::string_view kLaneForms =
    "a link \"TYO-HKG\", one direction \"TYO>HKG\", an island's access \"TYO\", \"core\", "
    "\"first-hops\", \"last-hops\" or \"everywhere\"";

[[nodiscard]] Expected<Faults, Diagnostics> read_faults(std::string_view text,
                                                        const std::string& file,
                                                        const PlanFile& plan);

// What befalls one packet on one lane.
struct Fate {
  bool lost = false;
  Duration delay{0};
  bool copied = false;
  Duration copy_after{0};
  bool corrupt = false;
  bool truncated = false;
};

class FaultDice {
 public:
  FaultDice(const Faults& faults, int lanes, std::uint64_t seed);

  [[nodiscard]] bool any(LaneId lane) const { return !by_lane_[std::size_t(lane)].empty(); }
  [[nodiscard]] Fate cast(LaneId lane, Duration since_start);
  // For details of a mishap: which bit, where to cut.
  [[nodiscard]] Random& random(LaneId lane) { return random_[std::size_t(lane)]; }

 private:
  struct OnLane {
    const LaneFault* fault = nullptr;
    std::int64_t lose_next = 0;  // of a burst
  };
  std::vector<std::vector<OnLane>> by_lane_;
  std::vector<Random> random_;
};

}  // namespace cotillion
