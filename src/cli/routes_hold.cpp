#include "cli/routes_hold.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "cli/world.hpp"

namespace cotillion::cli {
namespace {

constexpr int kTimeoutMs = 10'000;

[[noreturn]] void stop(const std::string& path, int error) {
  throw Stop{kSystemError, fmt::format("{}: {}", path, std::strerror(error))};
}

// The process that has the lock; nobody when it is free.
std::optional<pid_t> holder_of(int file, const std::string& path) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(file, F_GETLK, &lock) != 0) stop(path, errno);
  if (lock.l_type == F_UNLCK) return std::nullopt;
  return lock.l_pid;
}

struct Closing {
  int file;
  ~Closing() {
    if (file >= 0) ::close(file);
  }
};

}  // namespace

std::string RoutesHold::default_path(const std::string& place) {
  std::string name = place;
  for (char& c : name) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (!plain && c != '-') c = '_';
  }
  return fmt::format("/run/cotillion-routes-{}.lock", name);
}

RoutesHold::RoutesHold(const std::string& path)
    : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644)) {
  if (file_ < 0) stop(path, errno);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(file_, F_SETLK, &lock) == 0) return;
  const int error = errno;
  const auto holder = error == EAGAIN || error == EACCES ? holder_of(file_, path) : std::nullopt;
  ::close(file_);
  if (!holder) stop(path, error);
  throw Stop{kSystemError,
             fmt::format("routes are installed by process {} (it locks {}); `cotillion routes "
                         "remove` ends it",
                         *holder, path)};
}

// The file stays: whoever removed it could remove one that was just locked by another.
RoutesHold::~RoutesHold() {
  ::close(file_);
}

std::optional<pid_t> RoutesHold::end_holder(const std::string& path) {
  const Closing file{::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)};
  if (file.file < 0 && errno == ENOENT) return std::nullopt;
  if (file.file < 0) stop(path, errno);
  const auto holder = holder_of(file.file, path);
  if (!holder) return std::nullopt;
  if (*holder <= 0)
    throw Stop{kSystemError, path + ": locked by a process of another PID namespace; end it there"};
  // By system call: glibc 2.36 declares these without C linkage, so that C++ cannot link them.
  // A handle first, and then the question again: a number may have been given to another process.
  const Closing process{int(::syscall(SYS_pidfd_open, *holder, 0))};
  if (holder_of(file.file, path) != holder) return std::nullopt;
  if (process.file < 0 || ::syscall(SYS_pidfd_send_signal, process.file, SIGTERM, nullptr, 0) != 0)
    throw Stop{kSystemError, fmt::format("process {} holds the routes and cannot be ended: {}",
                                         *holder, std::strerror(errno))};
  pollfd ended{process.file, POLLIN, 0};
  if (::poll(&ended, 1, kTimeoutMs) != 1)
    throw Stop{kSystemError,
               fmt::format("process {} was asked to end and has not; its routes are still "
                           "installed",
                           *holder)};
  return holder;
}

}  // namespace cotillion::cli
