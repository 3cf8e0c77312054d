// What programs share that `cotillion lab --rival` runs beside a plan: who they are, how they get
// into their islands' namespaces, and how all of them begin at the same moment.
//
// The lab gives them, in the environment: COTILLION_ADDRESSES and COTILLION_SPACES, by rank and
// with commas between (a space is a path for setns), COTILLION_FOLDER for files of their own,
// COTILLION_BYTES of payload and COTILLION_TIMES, how often to average it. They print "ms TIME" for
// each time; any other line is shown when they fail.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace cotillion::peers {

inline std::string variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr)
    throw std::runtime_error(std::string(name) + " is not set: `cotillion lab --rival` does it");
  return value;
}

inline std::vector<std::string> list_in(const char* name) {
  std::vector<std::string> entries;
  std::stringstream text(variable(name));
  for (std::string entry; std::getline(text, entry, ',');) entries.push_back(entry);
  return entries;
}

struct Rival {
  std::vector<std::string> addresses = list_in("COTILLION_ADDRESSES");
  std::vector<std::string> spaces = list_in("COTILLION_SPACES");
  std::string folder = variable("COTILLION_FOLDER");
  std::size_t elements = std::stoul(variable("COTILLION_BYTES")) / sizeof(float);
  int times = std::stoi(variable("COTILLION_TIMES"));
};

inline void enter(const std::string& space) {
  const int descriptor = ::open(space.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0 || ::setns(descriptor, CLONE_NEWNET) != 0)
    throw std::runtime_error(space + ": " + std::strerror(errno));
  ::close(descriptor);
}

inline std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

// Memory that all ranks see. They agree on beginnings there, and not over the links, as islands
// agree on theirs by their clocks; and the last one to finish knows how long it took.
class StartLine {
 public:
  static constexpr int kTimesMost = 1000;
  // Ranks come from one process, or find the memory by a path.
  explicit StartLine(const std::string& path, int ranks) : ranks_(ranks) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ::ftruncate(file, sizeof(Heats)) != 0)
      throw std::runtime_error(path + ": " + std::strerror(errno));
    void* memory = ::mmap(nullptr, sizeof(Heats), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (memory == MAP_FAILED) throw std::runtime_error(path + ": " + std::strerror(errno));
    heats_ = std::launder(static_cast<Heats*>(memory));  // zeros are what they begin with
  }

  // Until everyone is here, and a little longer.
  void wait(int time) {
    Heat& heat = heats_->at(std::size_t(time));
    if (heat.here.fetch_add(1) + 1 == ranks_) heat.start = now_ns() + kReady;
    while (heat.start == 0) sleep_until(now_ns() + 1'000'000);
    sleep_until(heat.start);
  }

  // Says how long it took when all have finished.
  void finish(int time) {
    Heat& heat = heats_->at(std::size_t(time));
    const std::int64_t end = now_ns();
    for (std::int64_t last = heat.end; end > last && !heat.end.compare_exchange_weak(last, end);) {
    }
    if (heat.there.fetch_add(1) + 1 != ranks_) return;
    std::printf("ms %.3f\n", double(heat.end - heat.start) / 1e6);
    std::fflush(stdout);
  }

 private:
  struct Heat {
    std::atomic<int> here, there;
    std::atomic<std::int64_t> start, end;
  };
  using Heats = std::array<Heat, kTimesMost>;
  static_assert(std::atomic<std::int64_t>::is_always_lock_free);
  static constexpr std::int64_t kReady = 300'000'000;

  static void sleep_until(std::int64_t ns) {
    const timespec until{time_t(ns / 1'000'000'000), long(ns % 1'000'000'000)};
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
    }
  }

  int ranks_;
  Heats* heats_ = nullptr;
};

// Whole numbers, so that sums are exact in any order.
inline void fill(std::vector<float>& state, int rank) {
  for (std::size_t i = 0; i < state.size(); ++i) state[i] = float((i + std::size_t(rank)) % 1024);
}

// The average is the sum divided; what takes part in the comparison is the sum.
inline void check(const std::vector<float>& sum, int ranks) {
  for (std::size_t i = 0; i < sum.size(); ++i) {
    float expected = 0;
    for (int rank = 0; rank < ranks; ++rank) expected += float((i + std::size_t(rank)) % 1024);
    if (sum[i] != expected) throw std::runtime_error("a sum is wrong");
  }
}

}  // namespace cotillion::peers
