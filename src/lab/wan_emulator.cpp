#include "lab/wan_emulator.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <string>

#include "base/check.hpp"
#include "base/file.hpp"
#include "exchange/clock.hpp"
#include "lab/frame.hpp"
#include "lab/priority.hpp"
#include "lab/steady.hpp"

namespace cotillion {
namespace {

constexpr int kReadsInARow = 32;         // from one end, so that none waits long for the others
constexpr std::size_t kSpareSlots = 64;  // for what is being read or copied
constexpr Duration kTooSoonToSleep{5'000'000};

Duration thread_cpu() {
  return {clock_ns(CLOCK_THREAD_CPUTIME_ID) * 1000};
}

// Time for which a virtual machine's cores had work and did not run. No priority helps there.
Duration stolen_so_far() {
  std::istringstream file(read_if_there("/proc/stat"));
  std::string name;
  file >> name;
  std::int64_t ticks = 0;
  for (int column = 0; column < 8; ++column) file >> ticks;  // the eighth is steal
  return {file ? ticks * std::int64_t(kPicosecondsPerSecond) / ::sysconf(_SC_CLK_TCK) : 0};
}

std::size_t slots_of(const std::vector<EmulatedLink>& links) {
  std::size_t slots = kSpareSlots;
  for (const EmulatedLink& link : links)
    for (const WanLinkSettings& way : link.ways) slots += way.packets;
  return slots;
}

}  // namespace

WanEmulator::WanEmulator(const WanEmulatorSettings& settings,
                         const std::vector<EmulatedLink>& links)
    : settings_(settings),
      dice_(settings_.faults, settings.lanes, settings.seed),
      pages_(slots_of(links) * settings.mtu),
      lengths_(slots_of(links)),
      streams_(slots_of(links), settings.groups.size()),
      poll_(::epoll_create1(EPOLL_CLOEXEC)) {
  COTILLION_CHECK(poll_ >= 0);
  COTILLION_CHECK(std::is_sorted(settings.groups.begin(), settings.groups.end()));
  COTILLION_CHECK(settings.mtu > 0);
  counters_.lanes.resize(std::size_t(settings.lanes));
  for (LaneCounters& lane : counters_.lanes) {
    lane.by_group.assign(settings.groups.size(), 0);
    lane.left_by_group.assign(settings.groups.size(), 0);
  }
  shown_ = counters_;  // so that to show them needs no memory
  for (const EmulatedLink& link : links)
    for (std::size_t way = 0; way < 2; ++way) {
      COTILLION_CHECK(link.ends[way] >= 0 && link.ways[way].lane < settings.lanes);
      directions_.push_back({link.ends[way], link.ends[1 - way], WanLink(link.ways[way], &dice_),
                             &counters_.lanes[LaneId(link.ways[way].lane)]});
    }
  for (PacketSlot slot = PacketSlot(lengths_.size()); slot > 0; --slot) free_.push_back(slot - 1);
  const auto watch = [&](int fd, std::uint32_t direction) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u32 = direction;
    COTILLION_CHECK(::epoll_ctl(poll_, EPOLL_CTL_ADD, fd, &event) == 0);
  };
  for (std::uint32_t direction = 0; direction < directions_.size(); ++direction)
    watch(directions_[direction].in, direction);
  watch(wakeup_.fd(), std::uint32_t(directions_.size()));
  thread_ = std::thread([this] { live(); });
}

WanEmulator::~WanEmulator() {
  leaving_ = true;
  wakeup_.wake();
  thread_.join();
  ::close(poll_);
}

ByteSpan WanEmulator::room(PacketSlot slot) {
  return {pages_.at(std::size_t(slot) * settings_.mtu), settings_.mtu};
}

void WanEmulator::release(PacketSlot slot) {
  COTILLION_CHECK(slot < lengths_.size() && free_.size() < lengths_.size());
  free_.push_back(slot);
}

void WanEmulator::live() {
  (void)::pthread_setname_np(::pthread_self(), "wan");
  wake_on_time();
  counters_.realtime = run_first(settings_.priority);
  opened_ = steady_now();
  cpu_before_ = thread_cpu();
  while (!leaving_) {
    const bool emitted = emit_due();
    // What was emitted may have been passed on into another link before the call was over.
    const bool read = read_ready();
    serve();
    if (!emitted && !read) wait();
  }
}

bool WanEmulator::emit_due() {
  bool any = false;
  Instant now = steady_now();
  for (Direction& direction : directions_)
    while (const auto due = direction.link.take(now)) {
      any = true;
      now = steady_now();
      direction.link.note_emission(due->due, now);
      const ssize_t wrote = ::write(direction.out, room(due->slot).data(), lengths_[due->slot]);
      if (wrote < 0)
        ++counters_.refused;
      else if (const std::size_t stream = streams_[due->slot]; stream < settings_.groups.size())
        ++direction.counters->left_by_group[stream];
      release(due->slot);
    }
  return any;
}

bool WanEmulator::read_ready() {
  std::array<epoll_event, 64> events;
  const int ready = ::epoll_wait(poll_, events.data(), int(events.size()), 0);
  bool any = false;
  for (int i = 0; i < ready; ++i) {
    const std::uint32_t which = events[std::size_t(i)].data.u32;
    if (which == directions_.size()) {
      wakeup_.drain();
      continue;
    }
    Direction& direction = directions_[which];
    for (int turn = 0; turn < kReadsInARow; ++turn) {
      if (free_.empty()) {
        ++counters_.starved;  // it stays where it is until something has left
        return any;
      }
      const PacketSlot slot = free_.back();
      const ssize_t got = ::read(direction.in, room(slot).data(), settings_.mtu);
      if (got <= 0) break;
      any = true;
      free_.pop_back();
      take_in(direction, steady_now(), slot, std::size_t(got));
    }
  }
  return any;
}

void WanEmulator::take_in(Direction& direction, Instant now, PacketSlot slot, std::size_t bytes) {
  const ByteSpan packet = room(slot).first(bytes);
  const auto frame = read_frame(packet);
  if (!frame || is_link_local(frame->destination)) {
    ++counters_.ignored;
    release(slot);
    return;
  }
  lengths_[slot] = std::uint32_t(bytes);
  const auto fortune =
      direction.link.enter(now, wire_bytes(*frame, bytes, settings_.framing), slot, now - origin_);
  const auto& groups = settings_.groups;
  const auto group = std::lower_bound(groups.begin(), groups.end(), frame->destination);
  const bool streams = group != groups.end() && *group == frame->destination;
  streams_[slot] = streams ? std::size_t(group - groups.begin()) : groups.size();
  ++(streams ? direction.counters->by_group[streams_[slot]] : direction.counters->others);
  if (fortune.copy_due && !free_.empty()) {
    const PacketSlot copy = free_.back();
    std::copy_n(packet.begin(), bytes, room(copy).begin());
    lengths_[copy] = std::uint32_t(bytes);
    streams_[copy] = streams_[slot];
    if (direction.link.put(*fortune.copy_due, copy)) free_.pop_back();
  }
  if (!fortune.taken) {
    release(slot);
    return;
  }
  Random& random = dice_.random(direction.link.settings().lane);
  if (fortune.corrupt) (void)corrupt(packet, random);
  if (fortune.truncated) lengths_[slot] = std::uint32_t(truncate(packet, random));
}

Instant WanEmulator::next_due() const {
  Instant next = kNever;
  for (const Direction& direction : directions_) next = std::min(next, direction.link.next_due());
  return next;
}

void WanEmulator::wait() {
  const Instant next = next_due();
  timespec left{};
  if (next != kNever) {
    const Duration until = next - steady_now();
    if (until < kTooSoonToSleep) return;
    left = timespec_of(std::max(until, settings_.least_sleep));
  }
  epoll_event event{};
  (void)::epoll_pwait2(poll_, &event, 1, next == kNever ? nullptr : &left, nullptr);
}

void WanEmulator::serve() {
  const int request = request_.load(std::memory_order_acquire);
  if (request == kNothing) return;
  const Instant now = steady_now();
  if (request == kOpenCounters) {
    for (Direction& direction : directions_) direction.link.clear_counts();
    for (LaneCounters& lane : counters_.lanes) {
      std::fill(lane.by_group.begin(), lane.by_group.end(), 0);
      std::fill(lane.left_by_group.begin(), lane.left_by_group.end(), 0);
      lane.others = 0;
    }
    counters_.ignored = counters_.refused = counters_.starved = 0;
    opened_ = now;
    cpu_before_ = thread_cpu();
    origin_ = now + start_;
  } else {
    for (Direction& direction : directions_) {
      direction.counters->counts = direction.link.counts();
      direction.counters->lateness = direction.link.lateness();
    }
    counters_.wall = now - opened_;
    counters_.cpu = thread_cpu() - cpu_before_;
    COTILLION_CHECK(counters_.wall >= Duration{0} && counters_.cpu >= Duration{0});
    shown_ = counters_;
  }
  request_.store(kNothing, std::memory_order_release);
  request_.notify_all();
}

void WanEmulator::ask(Request request) {
  const int before = request_.exchange(request, std::memory_order_acq_rel);
  COTILLION_CHECK(before == kNothing);  // one asks at a time
  wakeup_.wake();
  request_.wait(request);
}

void WanEmulator::open_counters(Duration start) {
  start_ = start;
  stolen_before_ = stolen_so_far();
  ask(kOpenCounters);
}

WanCounters WanEmulator::counters() {
  ask(kShowCounters);
  shown_.stolen = stolen_so_far() - stolen_before_;
  return shown_;
}

}  // namespace cotillion
