// The observer of a simulation: whoever wants to see it as it happens, or to take part with models
// of its own. Traces, captures, training and the checks of the swarm are observers; so is the
// recorder that makes the outcome. Every event does nothing unless an observer overrides it, and a
// simulation that nobody observes pays nothing for it.
#pragma once

#include <span>
#include <vector>

#include "protocol/counters.hpp"
#include "protocol/receiver.hpp"
#include "sim/route.hpp"

namespace cotillion {

class SimulatedIsland;

// One packet over one lane.
struct Passage {
  LaneId lane = 0;
  const Route::Step* step = nullptr;
  Instant put;      // into the lane's queue
  Instant left;     // the queue, last bit
  Instant arrival;  // of its last bit at the far end
  std::uint32_t wire_bytes = 0;
  bool lost = false;
  bool copy = false;  // that the lane made: it was not sent again
};

struct EdgeState {
  IslandId island = 0;
  std::size_t open_slots = 0;
  EdgeCounters counters;  // totals, including those before a restart
};

class SimulationObserver {
 public:
  virtual ~SimulationObserver() = default;

  // Asked once for every lane: whether packets over it are shown.
  [[nodiscard]] virtual bool watches(LaneId) const { return false; }
  virtual void on_passage(const Passage&, ByteView /*packet*/) {}
  // Asked once: whether edges are shown, whenever one has heard a packet or reached a deadline.
  [[nodiscard]] virtual bool watches_edges() const { return false; }
  virtual void on_edge(Instant, const EdgeState&) {}

  // An island has finished a step of its step time, counted from 1.
  virtual void on_step(SimulatedIsland&, std::uint64_t /*step*/) {}
  // An island is about to copy so many elements of its model from `first` on; it has copied them.
  virtual void on_copy_due(SimulatedIsland&, RoundId, std::uint64_t /*first*/,
                           std::size_t /*count*/) {}
  virtual void on_copied(SimulatedIsland&, RoundId, std::uint64_t /*first*/,
                         std::span<const float>) {}
  // It copies a fragment, at this instant of true time, in rehearsals too.
  virtual void on_fragment_copied(Instant, SimulatedIsland&, RoundId, int /*fragment*/) {}
  // It is about to merge a fragment; it has; it has merged what came late.
  virtual void on_merge_due(SimulatedIsland&, RoundId, int /*fragment*/) {}
  virtual void on_merged(SimulatedIsland&, RoundId, int /*fragment*/) {}
  virtual void on_late_merged(SimulatedIsland&, RoundId, int /*fragment*/) {}
  // It has given its account of a round, at this instant of true time.
  virtual void on_round_closed(Instant, SimulatedIsland&, RoundId, std::span<const Absence>) {}
};

using Observers = std::vector<SimulationObserver*>;

}  // namespace cotillion
