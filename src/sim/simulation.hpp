// A plan played packet by packet in virtual time: the real Edge, Sender and Receiver on lanes with
// rate, latency and a queue, through routers that copy along the plan's trees. Time is an integer
// number of picoseconds; the same plan, settings and seed give the same outcome on any machine.
//
// What it does not capture: processing time in routers and edges, cross traffic, and lanes that
// drop when they are full: queues are as long as they get, and the longest is reported.
#pragma once

#include <functional>
#include <vector>

#include "job/faults.hpp"
#include "job/outcome.hpp"
#include "sim/event_queue.hpp"
#include "sim/observer.hpp"
#include "sim/simulated_island.hpp"

namespace cotillion {

struct SimulationSettings {
  int rounds = 1;
  std::uint64_t seed = 1;
  SimulatedIslandSettings islands;
  Faults faults;
  // Real payloads: what an island's model is before the first round; zeros otherwise.
  std::function<void(IslandId, std::vector<float>&)> fill;
  // They are shown everything in the order of time.
  Observers observers;
  // Everything in the order of time, though nobody observes: the outcome is the same, later.
  bool one_partition = false;
  // Called now and then with the virtual time, for progress; true to stop the simulation.
  std::function<bool(Duration played, Duration of)> progress;
};

// The outcome is complete. A simulation that was stopped has none.
[[nodiscard]] Result<Outcome> simulate(const PlanFile& plan, const SimulationSettings& settings);

}  // namespace cotillion
