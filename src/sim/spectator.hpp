// Whoever wants to see a simulation as it happens: traces and captures. Nobody watching costs
// nothing.
#pragma once

#include "protocol/counters.hpp"
#include "protocol/packet.hpp"
#include "sim/route.hpp"

namespace cotillion {

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
  EdgeCounters counters;  // of all its lives
};

class Spectator {
 public:
  virtual ~Spectator() = default;
  // Asked once for every lane.
  [[nodiscard]] virtual bool watches(LaneId lane) const = 0;
  [[nodiscard]] virtual bool watches_edges() const { return false; }
  virtual void on_passage(const Passage& passage, ByteView packet) = 0;
  // After an edge has heard a packet, or a deadline.
  virtual void on_edge(Instant, const EdgeState&) {}
};

}  // namespace cotillion
