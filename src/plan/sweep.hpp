// How the answer moves when one thing about the network does: every policy scored at each of a
// list of settings, and where the winner changes.
#pragma once

#include <string>
#include <vector>

#include "plan/policies.hpp"

namespace cotillion {

// What can be moved. Memory is every edge's, access every island's, rate every link's.
enum class Knob { kMemory, kAccess, kRate, kPayload, kStepTime, kTechnology };

struct KnobSetting {
  std::string text;       // "200 MB", "multicast"
  double number = 0;      // in bytes, bits per second or milliseconds; position for technologies
  Technology technology;  // for kTechnology
};

struct SweepPoint {
  KnobSetting setting;
  std::vector<Policy> policies;  // best first
};

struct WinnerChange {
  std::size_t point = 0;  // the first at which `winner` leads
  std::string winner;
};

struct Sweep {
  Knob knob = Knob::kMemory;
  std::vector<SweepPoint> points;
  std::vector<WinnerChange> winners;  // the first entry is for point 0
};

// The map, settings and network settings with the knob turned.
void turn(Knob knob, const KnobSetting& setting, Map& map, NetworkModelSettings& network,
          PlanSettings& plan);

// `settings` in the order in which to turn the knob; not empty. Winners are the best feasible,
// runnable policies that train while they exchange.
[[nodiscard]] Sweep sweep(const Map& map, const NetworkModelSettings& network,
                          const CompareSettings& compare, Knob knob,
                          const std::vector<KnobSetting>& settings);

}  // namespace cotillion
