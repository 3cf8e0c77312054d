#include "cli/interrupt.hpp"

#include <atomic>

namespace cotillion::cli {
namespace {

// A handler may only touch what is lock-free.
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void remember_interrupt(int signal) {
  if (!interrupted.exchange(true)) return;
  // The signal is blocked until this returns, and ends the program then.
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void install_handler(int signal, struct sigaction& old) {
  struct sigaction action {};
  action.sa_handler = remember_interrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;  // a plan that is being written is written whole
  ::sigaction(signal, &action, &old);
  // Whoever started us without it, as nohup does, does not want it.
  if (old.sa_handler == SIG_IGN) ::sigaction(signal, &old, nullptr);
}

}  // namespace

Interrupt::Interrupt() {
  interrupted = false;
  install_handler(SIGINT, old_interrupt_);
  install_handler(SIGTERM, old_terminate_);
}

Interrupt::~Interrupt() {
  ::sigaction(SIGINT, &old_interrupt_, nullptr);
  ::sigaction(SIGTERM, &old_terminate_, nullptr);
}

bool Interrupt::asked() const {
  return interrupted;
}

}  // namespace cotillion::cli
