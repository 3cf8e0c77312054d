// Real-time priority: a thread that has it runs when it wakes, however busy the machine is, and
// processors that are awake. Emulated links are as exact as that.
#pragma once

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include <cstdint>

#include "lab/descriptor.hpp"

namespace cotillion {

// SCHED_FIFO for the calling thread, above those of a lesser priority; whether it was granted.
[[nodiscard]] inline bool run_first(int priority) {
  sched_param wanted{};
  wanted.sched_priority = priority;
  return ::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &wanted) == 0;
}

// Below the emulator, which is the world, come those who live in it, before whatever else this
// machine does. A daemon that waits for its turn sends late, and where streams fill their links
// nothing makes up for that before the round ends.
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

// While it is open no processor goes to sleep between packets, where that is allowed. One that
// sleeps wakes late by microseconds, and that of a virtual machine when its host gets round to it:
// 80 ms have been seen.
[[nodiscard]] inline Descriptor keep_awake() {
  Descriptor wish(::open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC));
  const std::int32_t latency = 0;
  if (wish.is_open() && ::write(wish.get(), &latency, sizeof latency) != sizeof latency)
    wish.close();
  return wish;
}

// As everyone else again.
inline void run_in_turn() {
  const sched_param wanted{};
  (void)::pthread_setschedparam(::pthread_self(), SCHED_OTHER, &wanted);
}

}  // namespace cotillion
