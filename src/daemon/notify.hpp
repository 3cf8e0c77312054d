// What systemd wants to hear from a service of Type=notify: ready, stopping, and that it is alive.
// A service that systemd did not start says nothing to nobody.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace cotillion {

class Notifier {
 public:
  // As systemd set NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID; all may be null.
  Notifier(const char* socket, const char* watchdog_us, const char* watchdog_pid);
  [[nodiscard]] static Notifier from_environment();

  void ready(std::string_view status) const;
  void status(std::string_view status) const;
  void stopping(std::string_view status) const;
  // From the loop that must not hang, as often as it likes: systemd is told twice as often as it
  // asked for.
  void alive();

 private:
  void say(const std::string& lines) const;

  std::string socket_;  // empty: nobody listens
  std::chrono::microseconds every_{0};
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace cotillion
