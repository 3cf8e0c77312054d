// Ctrl-C as a request: while this exists, the first SIGINT or SIGTERM is remembered, so that work
// can end with what it has. The second ends the program at once.
#pragma once

#include <csignal>

namespace cotillion::cli {

class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // May be called from any thread.
  [[nodiscard]] bool asked() const;

 private:
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
};

}  // namespace cotillion::cli
