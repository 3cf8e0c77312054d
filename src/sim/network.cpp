#include "sim/network.hpp"

#include <algorithm>

namespace cotillion {
namespace {

// So many packets ahead there is time to fetch a packet, and then what is known of its chunk.
constexpr std::size_t kLater = 10;
constexpr std::size_t kSoon = 4;

}  // namespace

Network::Network(const Map& map, const Faults& faults, std::uint64_t seed,
                 const Observers& observers, EventQueue& event_queue, PacketSink& sink)
    : event_queue_(event_queue),
      sink_(sink),
      dice_(faults, map.lane_count(), seed),
      observers_(observers) {
  for (LaneId lane = 0; lane < map.lane_count(); ++lane) {
    lanes_.emplace_back(lane, lane_rate(map, lane), lane_latency(map, lane), blocks_);
    const bool watched =
        std::any_of(observers_.begin(), observers_.end(),
                    [&](const SimulationObserver* who) { return who->watches(lane); });
    careful_.push_back(dice_.any(lane) || watched ? 1 : 0);
  }
}

void Network::fill(InFlight& item, ByteView packet) {
  if (packet.size() <= item.bytes.size()) {
    std::copy(packet.begin(), packet.end(), item.bytes.begin());
    item.packet = InFlight::kHere + PacketId(packet.size());
  } else {
    item.packet = pool_.add(packet);
  }
}

void Network::carry(Instant now, const Route& route, ByteView packet, std::uint32_t wire_bytes) {
  InFlight item;
  item.wire_bytes = wire_bytes;
  fill(item, packet);
  put(now, route.first(), item);
}

void Network::put_carefully(Instant now, const Route::Step& step, InFlight item, Instant arrival) {
  item.step = &step;
  item.arrival = arrival;
  const Fate fate = dice_.any(step.lane) ? dice_.cast(step.lane, now - kOrigin) : Fate{};
  const Instant left = arrival - lanes_[step.lane].latency();
  const auto show = [&](const InFlight& what, bool lost, bool copy) {
    for (SimulationObserver* who : observers_)
      if (who->watches(step.lane))
        who->on_passage({step.lane, &step, now, left, what.arrival, what.wire_bytes, lost, copy},
                        bytes(what));
  };
  if (fate.copied) {
    hold(item);
    InFlight copy = item;
    copy.arrival = arrival + fate.copy_after;
    show(copy, false, true);
    put_aside(copy);
  }
  if (fate.lost) {
    show(item, true, false);
    ++lanes_[step.lane].seen().lost;
    return drop(item);
  }
  if (fate.corrupt || fate.truncated) spoil(item, fate);
  item.arrival = arrival + fate.delay + fate.jitter;
  show(item, false, false);
  if (dice_.any(step.lane)) return put_aside(item);  // may arrive out of order
  put_on(lanes_[step.lane], step, item, item.arrival);
}

void Network::put_aside(const InFlight& item) {
  strays_.push({item, order_++});
  event_queue_.set(int(lanes_.size()), strays_.top().item.arrival);
}

void Network::spoil(InFlight& item, const Fate& fate) {
  const ByteView before = bytes(item);
  std::vector<std::byte> packet(before.begin(), before.end());
  Random& random = dice_.random(item.step->lane);
  if (fate.corrupt && !packet.empty()) {
    const auto bit = std::size_t(random.between(0, std::int64_t(packet.size() * 8 - 1)));
    packet[bit / 8] ^= std::byte(1u << (bit % 8));
  }
  if (fate.truncated && !packet.empty())
    packet.resize(std::size_t(random.between(0, std::int64_t(packet.size() - 1))));
  drop(item);
  fill(item, packet);
}

void Network::on_time(Instant now, int place) {
  if (place == int(lanes_.size())) {
    const InFlight item = strays_.top().item;
    strays_.pop();
    event_queue_.set(place, strays_.empty() ? kNever : strays_.top().item.arrival);
    return deliver(now, item);
  }
  InFlightQueue& queue = lanes_[LaneId(place)].queue();
  queue.fetch(kLater);
  if (const InFlight* soon = queue.after(kSoon); soon != nullptr && soon->step->edge_count > 0)
    sink_.expect(*soon->step, bytes(*soon));
  // It stays where it is meanwhile: no lane goes on into itself.
  deliver(now, queue.front());
  queue.pop();
  event_queue_.set(place, queue.empty() ? kNever : queue.front().arrival);
}

void Network::deliver(Instant now, const InFlight& item) {
  const Route::Step& step = *item.step;
  for (const Route::Step& next : step.onward()) {
    hold(item);
    put(now, next, item);
  }
  if (step.heard()) sink_.hear(step, bytes(item));
  drop(item);
}

std::vector<LaneOutcome> Network::lanes() const {
  std::vector<LaneOutcome> carried;
  for (const Lane& lane : lanes_)
    if (lane.seen().packets > 0) carried.push_back(lane.seen());
  return carried;
}

}  // namespace cotillion
