// What goes wrong while a plan is played, and where. Read from a scenario file; whoever plays the
// plan, in virtual or in real time, rolls the dice of fault_dice.hpp on it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/result.hpp"
#include "plan/file/plan_loader.hpp"

namespace cotillion {

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

// Who is to play them. Real daemons can be killed, but not yet be slowed down, come back or have
// another clock: what a lab cannot play is refused, line by line.
enum class FaultPlayer : std::uint8_t { kSimulator, kLab };

[[nodiscard]] Expected<Faults, Diagnostics> read_faults(
    std::string_view text, const std::string& file, const PlanFile& plan,
    FaultPlayer player = FaultPlayer::kSimulator);

}  // namespace cotillion
