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

// Below the emulator, which is the world, come those who live in it. A daemon that waited for its
// turn behind the others' housekeeping sends late by milliseconds, and where streams fill their
// links nothing makes up for that before the round ends.
inline constexpr int kDaemonPriority = 10;

// SCHED_RR for the calling process and what it becomes, where that is allowed. Async-signal-safe.
inline void take_turns_first(int priority) {
  sched_param wanted{};
  wanted.sched_priority = priority;
  (void)::sched_setscheduler(0, SCHED_RR, &wanted);
}

// The calling process and what it starts come before the machine's other work, where that is
// allowed, and take turns with it all the same.
inline void go_before_others() {
  (void)::setpriority(PRIO_PROCESS, 0, -15);
}

// As everyone else again.
inline void run_in_turn() {
  const sched_param wanted{};
  (void)::pthread_setschedparam(::pthread_self(), SCHED_OTHER, &wanted);
}

}  // namespace cotillion
