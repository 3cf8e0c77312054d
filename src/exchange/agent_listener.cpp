#include "exchange/agent_listener.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace cotillion {
namespace {

constexpr std::size_t kClosingMax = 8;

}  // namespace

Result<AgentListener> AgentListener::open(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    return failure(fmt::format("\"{}\" is no path for a socket: it must have 1 to {} letters", path,
                               sizeof address.sun_path - 1));
  std::memcpy(address.sun_path, path.data(), path.size());
  // Who holds the lock owns the path: a socket that a dead agent left is in nobody's way.
  const int lock = ::open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0)
    return failure(fmt::format("{}.lock: {}; choose another --socket", path, std::strerror(errno)));
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    ::close(lock);
    return failure(
        fmt::format("another agent has its region at {}; end it, or choose another "
                    "--socket",
                    path));
  }
  (void)::unlink(path.c_str());
  const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 || ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path.c_str(), 0660) != 0 || ::listen(fd, 8) != 0) {
    const int why = errno;
    if (fd >= 0) ::close(fd);
    (void)::unlink((path + ".lock").c_str());
    ::close(lock);
    return failure(fmt::format("{}: {}; choose another --socket", path, std::strerror(why)));
  }
  return AgentListener(fd, lock, path);
}

AgentListener::AgentListener(AgentListener&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      lock_(std::exchange(other.lock_, -1)),
      connection_(std::exchange(other.connection_, -1)),
      attached_(other.attached_),
      closing_(std::move(other.closing_)),
      request_(other.request_),
      process_(other.process_),
      path_(std::move(other.path_)) {}

AgentListener::~AgentListener() {
  if (fd_ < 0) return;
  if (connection_ >= 0) ::close(connection_);
  for (const int connection : closing_) ::close(connection);
  (void)::unlink(path_.c_str());
  (void)::unlink((path_ + ".lock").c_str());
  ::close(fd_);
  ::close(lock_);
}

void AgentListener::answer(int connection, const ExchangeRegion* region,
                           const std::string& refusal) const {
  AttachReply answer;
  answer.magic = kAttachMagic;
  answer.welcome = region != nullptr ? 1 : 0;
  std::memcpy(answer.words.data(), refusal.data(),
              std::min(refusal.size(), answer.words.size() - 1));
  iovec piece{&answer, sizeof answer};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
  if (region != nullptr) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* descriptors = CMSG_FIRSTHDR(&message);
    descriptors->cmsg_level = SOL_SOCKET;
    descriptors->cmsg_type = SCM_RIGHTS;
    descriptors->cmsg_len = CMSG_LEN(sizeof(int));
    const int fd = region->fd();
    std::memcpy(CMSG_DATA(descriptors), &fd, sizeof fd);
  }
  (void)::sendmsg(connection, &message, MSG_NOSIGNAL);
}

void AgentListener::close_later(int connection) {
  closing_.push_back(connection);
  if (closing_.size() <= kClosingMax) return;
  ::close(closing_.front());
  closing_.erase(closing_.begin());
}

AgentListener::Visit AgentListener::look(const ExchangeRegion* region) {
  std::erase_if(closing_, [](int connection) {
    AttachRequest heard;
    const ssize_t came = ::recv(connection, &heard, sizeof heard, MSG_DONTWAIT);
    if (came > 0 || (came < 0 && (errno == EAGAIN || errno == EINTR))) return false;
    ::close(connection);
    return true;
  });
  if (const int newcomer = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      newcomer >= 0) {
    // Training code sends its request as soon as it has connected. A connection without one is no
    // training code, and makes way.
    if (connection_ >= 0 && !attached_ && !request_) close_later(std::exchange(connection_, -1));
    if (connection_ < 0) {
      connection_ = newcomer;
      attached_ = false;
      request_.reset();
      ucred who{};
      socklen_t length = sizeof who;
      (void)::getsockopt(connection_, SOL_SOCKET, SO_PEERCRED, &who, &length);
      process_ = who.pid;
    } else {
      answer(newcomer, nullptr,
             fmt::format("process {} is attached to this region already; end it first", process_));
      close_later(newcomer);
    }
  }
  if (connection_ < 0) return Visit::kNothing;
  AttachRequest heard;
  const ssize_t came = ::recv(connection_, &heard, sizeof heard, MSG_DONTWAIT);
  const auto leave = [&] {
    close_later(std::exchange(connection_, -1));
    return std::exchange(attached_, false) ? Visit::kLeft : Visit::kNothing;
  };
  if (came == 0 || (came < 0 && errno != EAGAIN && errno != EINTR)) return leave();
  if (came > 0 && !attached_) {
    if (came != sizeof heard || heard.magic != kAttachMagic) {
      answer(connection_, nullptr, "the agent is of another version; use the same on both sides");
      return leave();
    }
    request_ = heard;
  }
  if (attached_ || !request_ || region == nullptr) return Visit::kNothing;
  if (request_->elements != 0 && request_->elements != region->words().elements) {
    answer(connection_, nullptr,
           fmt::format("the model has {} elements, the plan's payload has {}; plan with a payload "
                       "of the model's size",
                       request_->elements, region->words().elements));
    return leave();
  }
  answer(connection_, region, {});
  attached_ = true;
  return Visit::kAttached;
}

}  // namespace cotillion
