// Real-time priority: a thread that has it runs when it wakes, however busy the machine is.
// Emulated links are as exact as that.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

namespace cotillion {

// SCHED_FIFO for the calling thread, above those of a lesser priority; whether it was granted.
[[nodiscard]] inline bool run_first(int priority) {
  sched_param wanted{};
  wanted.sched_priority = priority;
  return ::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &wanted) == 0;
}

// The calling process and what it starts come before the machine's other work, where that is
// allowed. They take turns all the same: real-time priority would let them starve whoever is here.
inline void go_before_others() {
  (void)::setpriority(PRIO_PROCESS, 0, -15);
}

// As everyone else again.
inline void run_in_turn() {
  const sched_param wanted{};
  (void)::pthread_setschedparam(::pthread_self(), SCHED_OTHER, &wanted);
}

}  // namespace cotillion
