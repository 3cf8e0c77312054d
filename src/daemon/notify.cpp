#include "daemon/notify.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "base/text.hpp"

namespace cotillion {
namespace {

std::int64_t environment_number(const char* text) {
  std::int64_t value = 0;
  if (text == nullptr) return 0;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
  return error == std::errc() && *end == '\0' ? value : 0;
}

}  // namespace

Notifier::Notifier(const char* socket, const char* watchdog_us, const char* watchdog_pid)
    : socket_(socket == nullptr ? "" : socket) {
  const bool for_us = watchdog_pid == nullptr || environment_number(watchdog_pid) == ::getpid();
  if (const std::int64_t us = environment_number(watchdog_us); for_us && us > 0)
    every_ = std::chrono::microseconds(us / 2);
}

Notifier Notifier::from_environment() {
  return {std::getenv("NOTIFY_SOCKET"), std::getenv("WATCHDOG_USEC"), std::getenv("WATCHDOG_PID")};
}

void Notifier::ready(std::string_view status) const {
  say("READY=1\nSTATUS=" + shown(status, 200));
}
void Notifier::status(std::string_view status) const {
  say("STATUS=" + shown(status, 200));
}
void Notifier::stopping(std::string_view status) const {
  say("STOPPING=1\nSTATUS=" + shown(status, 200));
}

void Notifier::alive() {
  if (every_.count() == 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + every_;
  say("WATCHDOG=1");
}

void Notifier::say(const std::string& lines) const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.empty() || socket_.size() >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_.front() == '@') address.sun_path[0] = '\0';  // an abstract one
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  const auto size = socklen_t(offsetof(sockaddr_un, sun_path) + socket_.size());
  // Nobody there is nobody's fault, and a full queue must not stop a daemon.
  (void)::sendto(fd, lines.data(), lines.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                 reinterpret_cast<const sockaddr*>(&address), size);
  ::close(fd);
}

}  // namespace cotillion
