// How one thread tells another, which may be asleep in poll, that there is something to see.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "base/check.hpp"

namespace cotillion {

class Wakeup {
 public:
  Wakeup() : fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) { COTILLION_CHECK(fd_ >= 0); }
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;
  ~Wakeup() { close(fd_); }

  [[nodiscard]] int fd() const { return fd_; }
  void wake() const {
    const std::uint64_t one = 1;
    (void)!write(fd_, &one, sizeof one);
  }
  void drain() const {
    std::uint64_t count = 0;
    (void)!read(fd_, &count, sizeof count);
  }

 private:
  int fd_;
};

}  // namespace cotillion
