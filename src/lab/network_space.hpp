// A network namespace without a name: it lives in this descriptor and in the sockets and processes
// within it, and is gone when these are, however they end.
#pragma once

#include <string>

#include "base/result.hpp"
#include "lab/descriptor.hpp"

namespace cotillion {

class NetworkSpace {
 public:
  // A new one, empty. The calling thread stays where it is.
  [[nodiscard]] static Result<NetworkSpace> make();
  // That in which the calling thread is.
  [[nodiscard]] static Result<NetworkSpace> here();

  // From now on the calling thread is in it; other threads are not.
  [[nodiscard]] Result<void> enter() const;
  // Makes a file of it, for setns: a mount, and gone with the mount namespace. Again does no harm.
  [[nodiscard]] Result<void> show(const std::string& path) const;
  [[nodiscard]] int fd() const { return descriptor_.get(); }

 private:
  explicit NetworkSpace(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  Descriptor descriptor_;
};

// The calling thread is elsewhere while this lives, and then back where it was.
class Visit {
 public:
  [[nodiscard]] static Result<Visit> to(const NetworkSpace& space);
  Visit(Visit&&) = default;
  Visit& operator=(Visit&&) = delete;
  ~Visit();

 private:
  explicit Visit(NetworkSpace home) : home_(std::move(home)) {}
  NetworkSpace home_;
};

}  // namespace cotillion
