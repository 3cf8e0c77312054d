#include "lab/network_space.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>

#include "base/check.hpp"

namespace cotillion {

Result<NetworkSpace> NetworkSpace::here() {
  Descriptor descriptor(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  if (!descriptor.is_open())
    return failure(fmt::format("/proc/thread-self/ns/net: {}", std::strerror(errno)));
  return NetworkSpace(std::move(descriptor));
}

Result<NetworkSpace> NetworkSpace::make() {
  auto home = here();
  if (!home) return home;
  if (::unshare(CLONE_NEWNET) != 0)
    return failure(fmt::format("a new network namespace: {}{}", std::strerror(errno),
                               errno == ENOSPC ? "; user.max_net_namespaces is reached" : ""));
  auto made = here();
  if (const auto back = home->enter(); !back) return Unexpected<Error>{back.error()};
  return made;
}

Result<void> NetworkSpace::enter() const {
  if (::setns(descriptor_.get(), CLONE_NEWNET) != 0)
    return failure(fmt::format("a network namespace cannot be entered: {}", std::strerror(errno)));
  return {};
}

Result<void> NetworkSpace::show(const std::string& path) const {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0600));
  const std::string self = fmt::format("/proc/self/fd/{}", descriptor_.get());
  if (!file.is_open() || ::mount(self.c_str(), path.c_str(), nullptr, MS_BIND, nullptr) != 0)
    return failure(fmt::format("{}: {}", path, std::strerror(errno)));
  return {};
}

Result<Visit> Visit::to(const NetworkSpace& space) {
  auto home = NetworkSpace::here();
  if (!home) return Unexpected<Error>{home.error()};
  if (const auto entered = space.enter(); !entered) return Unexpected<Error>{entered.error()};
  return Visit(std::move(*home));
}

Visit::~Visit() {
  if (home_.fd() < 0) return;  // moved from
  const auto back = home_.enter();
  COTILLION_CHECK(back.has_value());
}

}  // namespace cotillion
