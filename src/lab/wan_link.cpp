#include "lab/wan_link.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.hpp"

namespace cotillion {
namespace {

bool later(const WanLink::Due& a, const WanLink::Due& b) {
  return a.due > b.due;
}

}  // namespace

WanLink::WanLink(const WanLinkSettings& settings, FaultDice* dice)
    : settings_(settings),
      dice_(dice != nullptr && dice->any(settings.lane) ? dice : nullptr),
      ps_per_byte_(ps_per_byte(settings.rate)),
      limit_(std::bit_ceil(std::max<std::size_t>(settings.packets, 2))),
      ring_(limit_) {
  COTILLION_CHECK(settings.rate.value > 0 && settings.latency >= Duration{0});
  COTILLION_CHECK(settings.lane >= 0 && settings.queue >= Duration{0});
  strays_.reserve(limit_);
}

WanLink::Fortune WanLink::enter(Instant now, std::uint32_t wire_bytes, PacketSlot slot,
                                Duration since_start) {
  const double begin = std::max(busy_until_, double(now.ps));
  const Duration wait{std::int64_t(begin) - now.ps};
  if (wait > settings_.queue) {
    ++counts_.dropped;
    return {};
  }
  if (!has_room()) {
    ++counts_.overflowed;
    return {};
  }
  busy_until_ = begin + wire_bytes * ps_per_byte_;
  ++counts_.packets;
  counts_.bytes += wire_bytes;
  counts_.queue_longest = std::max(counts_.queue_longest, wait);
  Instant due = Instant{std::llround(busy_until_)} + settings_.latency;
  // A lost packet has used the link all the same.
  const Fate fate = dice_ != nullptr ? dice_->cast(settings_.lane, since_start) : Fate{};
  Fortune fortune;
  if (fate.copied) {
    ++counts_.copied;
    fortune.copy_due = due + fate.copy_after;
  }
  if (fate.lost) {
    ++counts_.lost;
    return fortune;
  }
  fortune.taken = true;
  fortune.corrupt = fate.corrupt;
  fortune.truncated = fate.truncated;
  if (fate.corrupt || fate.truncated) ++counts_.spoilt;
  // Jitter keeps the order, as queues somewhere on the way would; reordering is a fault of its own.
  due = due + fate.jitter;
  if (fate.delay > Duration{0}) {
    const bool put_aside = put(due + fate.delay, slot);
    COTILLION_CHECK(put_aside);
    return fortune;
  }
  due = std::max(due, last_due_);
  last_due_ = due;
  COTILLION_CHECK(last_ - first_ < ring_.size());
  ring_[last_++ & (ring_.size() - 1)] = {slot, due};
  return fortune;
}

bool WanLink::put(Instant due, PacketSlot slot) {
  if (!has_room()) {
    ++counts_.overflowed;
    return false;
  }
  strays_.push_back({slot, due});
  std::push_heap(strays_.begin(), strays_.end(), later);
  return true;
}

Instant WanLink::next_due() const {
  const Instant ordered = first_ == last_ ? kNever : ring_[first_ & (ring_.size() - 1)].due;
  return strays_.empty() ? ordered : std::min(ordered, strays_.front().due);
}

std::optional<WanLink::Due> WanLink::take(Instant now) {
  const Instant next = next_due();
  if (next > now) return std::nullopt;
  if (!strays_.empty() && strays_.front().due == next) {
    std::pop_heap(strays_.begin(), strays_.end(), later);
    const Due due = strays_.back();
    strays_.pop_back();
    return due;
  }
  COTILLION_CHECK(first_ < last_ && last_ - first_ <= ring_.size());
  return ring_[first_++ & (ring_.size() - 1)];
}

void WanLink::clear_counts() {
  counts_ = {};
  lateness_ = {};
}

}  // namespace cotillion
