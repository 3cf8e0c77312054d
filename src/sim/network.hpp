// Lanes, and the routers between them that copy packets along the plan's trees.
#pragma once

#include <queue>
#include <vector>

#include "job/fault_dice.hpp"
#include "sim/event_queue.hpp"
#include "sim/lane.hpp"
#include "sim/observer.hpp"

namespace cotillion {

// Whoever hears packets where a step of their way ends.
class PacketSink {
 public:
  virtual void hear(const Route::Step& step, ByteView packet) = 0;
  // It will be heard soon: what is needed for it may be fetched into the cache.
  virtual void expect(const Route::Step& step, ByteView packet) = 0;

 protected:
  ~PacketSink() = default;
};

class Network {
 public:
  Network(const Map& map, const Faults& faults, std::uint64_t seed, const Observers& observers,
          EventQueue& event_queue, PacketSink& sink);

  // Places 0 … of the event queue belong to the network: its lanes, and one for strays.
  [[nodiscard]] static int places(const Map& map) { return map.lane_count() + 1; }

  void carry(Instant now, const Route& route, ByteView packet, std::uint32_t wire_bytes);
  void on_time(Instant now, int place);

  [[nodiscard]] std::uint64_t hops() const { return hops_; }
  [[nodiscard]] std::vector<LaneOutcome> lanes() const;  // that carried anything

 private:
  // Off its lane: behind or before others that were put on it after or before.
  struct Stray {
    InFlight item;
    std::uint64_t order = 0;
    bool operator<(const Stray& other) const {
      return item.arrival != other.item.arrival ? item.arrival > other.item.arrival
                                                : order > other.order;
    }
  };

  // Puts on what was on another lane before.
  void put(Instant now, const Route::Step& step, const InFlight& from) {
    Lane& lane = lanes_[step.lane];
    ++hops_;
    const Instant arrival = lane.pass(now, from.wire_bytes);
    if (careful_[step.lane]) return put_carefully(now, step, from, arrival);
    put_on(lane, step, from, arrival);
  }
  void put_on(Lane& lane, const Route::Step& step, const InFlight& from, Instant arrival) {
    if (lane.queue().empty()) event_queue_.set(step.lane, arrival);
    InFlight& item = lane.queue().push();
    item = from;
    item.arrival = arrival;
    item.step = &step;
  }
  void put_carefully(Instant now, const Route::Step& step, InFlight item, Instant arrival);
  void put_aside(const InFlight& item);
  void fill(InFlight& item, ByteView packet);
  [[nodiscard]] ByteView bytes(const InFlight& item) const {
    return item.here() ? ByteView(item.bytes).first(item.packet - InFlight::kHere)
                       : pool_.bytes(item.packet);
  }
  void hold(const InFlight& item) {
    if (!item.here()) pool_.hold(item.packet);
  }
  void drop(const InFlight& item) {
    if (!item.here()) pool_.drop(item.packet);
  }
  void spoil(InFlight& item, const Fate& fate);
  void deliver(Instant now, const InFlight& item);

  EventQueue& event_queue_;
  PacketSink& sink_;
  FaultDice dice_;
  const Observers& observers_;
  InFlightBlocks blocks_;
  IdVector<LaneId, Lane> lanes_;
  IdVector<LaneId, char> careful_;  // it has faults, or somebody watches
  PacketPool pool_;
  std::priority_queue<Stray> strays_;
  std::uint64_t order_ = 0;
  std::uint64_t hops_ = 0;
};

}  // namespace cotillion
