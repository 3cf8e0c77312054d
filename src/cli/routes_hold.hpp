// Who holds a router's routes: the process that locks this file. The lock dies with the process, as
// the routes do, so that neither is ever left over.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace cotillion::cli {

class RoutesHold {
 public:
  // "/run/cotillion-routes-TYO.lock": characters of a name that do not belong in a file's are '_'.
  [[nodiscard]] static std::string default_path(const std::string& place);

  // Takes the lock, and keeps it until destroyed. Throws Stop when someone else has it.
  explicit RoutesHold(const std::string& path);
  ~RoutesHold();
  RoutesHold(const RoutesHold&) = delete;
  RoutesHold& operator=(const RoutesHold&) = delete;

  // Asks the holder to end and waits until it has; nothing when nobody holds the lock. Throws Stop
  // when it cannot be asked or goes on regardless.
  [[nodiscard]] static std::optional<pid_t> end_holder(const std::string& path);

 private:
  int file_ = -1;
};

}  // namespace cotillion::cli
