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

constexpr std::size_t kTurnedAwayMax = 8;

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
      guest_(std::exchange(other.guest_, -1)),
      seated_(other.seated_),
      turned_away_(std::move(other.turned_away_)),
      knock_(other.knock_),
      process_(other.process_),
      path_(std::move(other.path_)) {}

AgentListener::~AgentListener() {
  if (fd_ < 0) return;
  if (guest_ >= 0) ::close(guest_);
  for (const int guest : turned_away_) ::close(guest);
  (void)::unlink(path_.c_str());
  (void)::unlink((path_ + ".lock").c_str());
  ::close(fd_);
  ::close(lock_);
}

void AgentListener::answer(int guest, const ExchangeRegion* region,
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
  (void)::sendmsg(guest, &message, MSG_NOSIGNAL);
}

void AgentListener::turn_away(int guest) {
  turned_away_.push_back(guest);
  if (turned_away_.size() <= kTurnedAwayMax) return;
  ::close(turned_away_.front());
  turned_away_.erase(turned_away_.begin());
}

AgentListener::Visit AgentListener::look(const ExchangeRegion* region) {
  std::erase_if(turned_away_, [](int guest) {
    AttachRequest heard;
    const ssize_t came = ::recv(guest, &heard, sizeof heard, MSG_DONTWAIT);
    if (came > 0 || (came < 0 && (errno == EAGAIN || errno == EINTR))) return false;
    ::close(guest);
    return true;
  });
  if (const int knocks = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      knocks >= 0) {
    // Whoever comes knocks before anything else: one that has not is no training code, and in
    // nobody's way.
    if (guest_ >= 0 && !seated_ && !knock_) turn_away(std::exchange(guest_, -1));
    if (guest_ < 0) {
      guest_ = knocks;
      seated_ = false;
      knock_.reset();
      ucred who{};
      socklen_t length = sizeof who;
      (void)::getsockopt(guest_, SOL_SOCKET, SO_PEERCRED, &who, &length);
      process_ = who.pid;
    } else {
      answer(knocks, nullptr,
             fmt::format("process {} sits at this region already; end it first", process_));
      turn_away(knocks);
    }
  }
  if (guest_ < 0) return Visit::kNothing;
  AttachRequest heard;
  const ssize_t came = ::recv(guest_, &heard, sizeof heard, MSG_DONTWAIT);
  const auto leave = [&] {
    turn_away(std::exchange(guest_, -1));
    return std::exchange(seated_, false) ? Visit::kLeft : Visit::kNothing;
  };
  if (came == 0 || (came < 0 && errno != EAGAIN && errno != EINTR)) return leave();
  if (came > 0 && !seated_) {
    if (came != sizeof heard || heard.magic != kAttachMagic) {
      answer(guest_, nullptr, "the agent is of another version; use the same on both sides");
      return leave();
    }
    knock_ = heard;
  }
  if (seated_ || !knock_ || region == nullptr) return Visit::kNothing;
  if (knock_->elements != 0 && knock_->elements != region->words().elements) {
    answer(guest_, nullptr,
           fmt::format("the model has {} elements, the plan's payload has {}; plan with a payload "
                       "of the model's size",
                       knock_->elements, region->words().elements));
    return leave();
  }
  answer(guest_, region, {});
  seated_ = true;
  return Visit::kAttached;
}

}  // namespace cotillion
