#include "daemon/shard_loop.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>

namespace cotillion {
namespace {

constexpr int kTurnsBetweenPolls = 8;          // while there is always more to do
constexpr Duration kSleepMax{50'000'000'000};  // so that nothing depends on one wake-up alone

}  // namespace

void ShardLoop::run(ShardWork& work, const ShardSockets& sockets) {
  place_thread();
  int turns = 0;
  while (!stopping_.load(std::memory_order_acquire)) {
    if (has_mail_.load(std::memory_order_acquire)) {
      has_mail_.store(false, std::memory_order_relaxed);
      work.read_mail();
    }
    const bool received = work.receive();
    const bool busy = work.on_time() || received;
    if (busy && ++turns < kTurnsBetweenPolls) continue;
    turns = 0;
    wait(work, sockets, busy);
  }
}

void ShardLoop::tell_of_mail() {
  has_mail_.store(true, std::memory_order_release);
  wakeup_.wake();
}

void ShardLoop::stop() {
  stopping_.store(true, std::memory_order_release);
  wakeup_.wake();
}

void ShardLoop::place_thread() const {
  wake_on_time();
  (void)prctl(PR_SET_NAME, name_, 0UL, 0UL, 0UL);
  if (core_ < 0) return;
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(unsigned(core_), &cores);
  (void)sched_setaffinity(0, sizeof cores, &cores);
}

void ShardLoop::wait(ShardWork& work, const ShardSockets& sockets, bool busy) {
  Duration pause{0};
  if (!busy && !has_mail_.load(std::memory_order_relaxed)) {
    const Instant now = clock_.now();
    const Instant due = std::min(work.next_deadline(now), now + kSleepMax);
    pause = std::max(due - now, Duration{0});
  }
  const timespec limit = timespec_of(pause);
  std::array<pollfd, 4> watched{
      pollfd{sockets.packets, POLLIN, 0}, pollfd{sockets.direct, POLLIN, 0},
      pollfd{sockets.requests, POLLIN, 0}, pollfd{wakeup_.fd(), POLLIN, 0}};
  if (ppoll(watched.data(), watched.size(), &limit, nullptr) <= 0) return;
  if (watched[3].revents != 0) wakeup_.drain();
  if (watched[2].revents != 0) work.receive_requests();
}

}  // namespace cotillion
