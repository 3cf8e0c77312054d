// One case of the swarm: a small world, what is played in it and what goes wrong meanwhile, all of
// it drawn from one seed. A case is plain data, so that the minimiser can take it apart, and it can
// be written as the files that `cotillion plan` and `cotillion simulate` read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/file/plan_loader.hpp"
#include "plan/schedule.hpp"
#include "sim/simulation.hpp"

namespace cotillion::testing {

enum class FaultKind : std::uint8_t {
  kLoss,
  kDuplicate,
  kReorder,
  kJitter,
  kCorrupt,
  kTruncate,
  kReplay,
  kDown,
  kDead,
  kSlow,
  kRestart,
  kClock,
};

// One table of a fault file.
struct SwarmFault {
  FaultKind kind = FaultKind::kLoss;
  std::string on;     // as in the file; for the last four kinds an island
  double rate = 1;    // where the kind has one
  double burst = 1;   // of losses
  Duration by{0};     // of a clock: ahead, or behind where negative; of a slow island: late
  int drift_ppm = 0;  // of a clock
  int factor = 1;     // of a slow island
  Duration from{0};
  std::optional<Duration> until;

  [[nodiscard]] bool of_an_island() const { return kind >= FaultKind::kDead; }
  // Whether packets are taken away or made unreadable.
  [[nodiscard]] bool loses() const {
    return kind == FaultKind::kLoss || kind == FaultKind::kCorrupt ||
           kind == FaultKind::kTruncate || kind == FaultKind::kDown;
  }
  [[nodiscard]] bool copies() const {
    return kind == FaultKind::kDuplicate || kind == FaultKind::kReplay;
  }
};

struct SwarmCase {
  std::uint64_t seed = 1;  // of values and dice
  Map map;
  Schedule schedule;
  Duration slack{0};  // of the plan
  bool ships_state = false;
  Relaxations relax;  // of the plan
  Objective objective = Objective::kPaper;
  int headroom = 0;     // percent of every lane, where rounds overlap
  std::string refused;  // why rounds do not overlap though it was drawn; empty: nobody refused
  Element element = Element::kF32;
  int exponent = 0;  // of i32
  Exchange exchange = Exchange::kWhole;
  int fragments = 1;
  Missing missing = Missing::kMeanOfPresent;
  Duration grace{1'000'000'000};
  std::optional<Bytes> memory;  // of edges, where it is not what the plan was made for
  Duration step_time{0};        // zero: islands learn only when they merge
  int rounds = 1;
  std::vector<SwarmFault> faults;
};

// Always one that can be played.
[[nodiscard]] SwarmCase swarm_case(std::uint64_t seed);
// Its world alone, and faults for a world: tests put other faults into the same worlds.
[[nodiscard]] SwarmCase world_of(std::uint64_t seed);
// Copies, reordering, jitter and clocks that are slightly off: nothing is lost by them.
void add_harmless_faults(SwarmCase& world, std::uint64_t seed);
void add_any_faults(SwarmCase& world, std::uint64_t seed);

// swarm_text.cpp
[[nodiscard]] std::string schedule_toml(const SwarmCase& swarm);
[[nodiscard]] std::string faults_toml(const SwarmCase& swarm);
// The files of a case, the commands that play them, and what the commands cannot say.
[[nodiscard]] std::string to_text(const SwarmCase& swarm);

// A case as it is played: everything through the text of its files, as the program would.
struct Modelled {
  PlanFile plan;
  SimulationSettings settings;  // without hooks
};
[[nodiscard]] Result<Modelled> modelled(const SwarmCase& swarm);
// Everyone's part in it. Points into `network`.
[[nodiscard]] JobAssignment job_assignment_of(const Modelled& network);

}  // namespace cotillion::testing
