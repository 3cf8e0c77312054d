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
#include "sim/simulated_island.hpp"

namespace cotillion {

struct SimulationSettings {
  int rounds = 1;
  std::uint64_t seed = 1;
  SimulatedIslandSettings actors;
  Faults faults;
  // Real payloads: what an island's model is before the first round; zeros otherwise.
  std::function<void(IslandId, std::vector<float>&)> fill;
  // When an island has finished a step of actors.step_time: for training under a plan.
  std::function<void(SimulatedIsland&, IslandId, std::uint64_t step)> step;
  std::vector<Spectator*> spectators;
  // For those who need to see all that becomes of a model: an island is about to copy so many
  // elements from `first` on; it copied them; it is about to merge a fragment; it has; it merged
  // what came late; it gave its account of a round, so long after the start of the first one.
  std::function<void(SimulatedIsland&, IslandId, RoundId, std::uint64_t first, std::size_t count)>
      before_copy;
  std::function<void(IslandId, RoundId, std::uint64_t first, std::span<const float>)> after_copy;
  std::function<void(SimulatedIsland&, IslandId, RoundId, int fragment)> before_merge;
  std::function<void(SimulatedIsland&, IslandId, RoundId, int fragment)> after_merge;
  std::function<void(SimulatedIsland&, IslandId, RoundId, int fragment)> after_late;
  std::function<void(SimulatedIsland&, IslandId, RoundId, std::span<const Absence>, Duration)>
      after_close;
  // Everything in the order of time, though nobody looks: the outcome is the same, later.
  bool together = false;
  // Called now and then with the virtual time, for progress; true to stop.
  std::function<bool(Duration played, Duration of)> progress;
};

[[nodiscard]] Result<Outcome> simulate(const PlanFile& plan, const SimulationSettings& settings);

}  // namespace cotillion
