#include "daemon/notify.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

namespace cotillion {
namespace {

// systemd's end, at an abstract address or at a path.
class NotifySocket {
 public:
  explicit NotifySocket(const std::string& name)
      : name_(name), fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name.front() == '@') address.sun_path[0] = '\0';
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address),
                     socklen_t(offsetof(sockaddr_un, sun_path) + name.size())),
              0);
  }
  ~NotifySocket() {
    ::close(fd_);
    if (name_.front() == '/') ::unlink(name_.c_str());
  }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  // What was said next; empty when nothing was.
  [[nodiscard]] std::string heard() const {
    char buffer[512];
    const ssize_t size = ::recv(fd_, buffer, sizeof buffer, 0);
    return size > 0 ? std::string(buffer, std::size_t(size)) : "";
  }

 private:
  std::string name_;
  int fd_;
};

TEST(Notifier, SaysReadyStatusAndStopping) {
  for (const std::string& name : {fmt::format("@cotillion-notify-{}", ::getpid()),
                                  ::testing::TempDir() + fmt::format("notify-{}", ::getpid())}) {
    const NotifySocket systemd(name);
    Notifier notifier(name.c_str(), nullptr, nullptr);
    notifier.ready("waiting for everyone");
    notifier.status("round 3\nREADY=0");
    notifier.alive();  // was not asked for
    notifier.stopping("asked to");
    EXPECT_EQ(systemd.heard(), "READY=1\nSTATUS=waiting for everyone");
    EXPECT_EQ(systemd.heard(), "STATUS=round 3?READY=0");
    EXPECT_EQ(systemd.heard(), "STOPPING=1\nSTATUS=asked to");
    EXPECT_EQ(systemd.heard(), "");
  }
}

TEST(Notifier, SaysThatItIsAliveNoMoreOftenThanNeeded) {
  const std::string name = fmt::format("@cotillion-alive-{}", ::getpid());
  const std::string own = fmt::format("{}", ::getpid());
  const NotifySocket systemd(name);
  Notifier notifier(name.c_str(), "3600000000", own.c_str());
  for (int i = 0; i < 100; ++i) notifier.alive();
  EXPECT_EQ(systemd.heard(), "WATCHDOG=1");
  EXPECT_EQ(systemd.heard(), "");
  for (const char* period : {"", "x", "-5", "0", "99999999999999999999"})
    Notifier(name.c_str(), period, own.c_str()).alive();
  Notifier(name.c_str(), "1000", "1").alive();  // meant for another process
  EXPECT_EQ(systemd.heard(), "");
}

TEST(Notifier, NobodyToTellIsNoMistake) {
  const Notifier nobody(nullptr, nullptr, nullptr), empty("", nullptr, nullptr);
  const Notifier gone("/nonexistent/notify", nullptr, nullptr);
  const Notifier too_long(std::string(500, 'x').c_str(), nullptr, nullptr);
  for (const Notifier* notifier : {&nobody, &empty, &gone, &too_long}) notifier->ready("ready");
}

}  // namespace
}  // namespace cotillion
