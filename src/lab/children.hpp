// Programs that are started in network namespaces, and ended: nobody is left when this is gone. It
// collects every child of this process that ends, whoever started it.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/units.hpp"
#include "lab/network_space.hpp"

namespace cotillion {

struct Program {
  std::vector<std::string> argv;         // the first is a path
  std::string output;                    // a file for both of its streams; empty: they are ours
  std::vector<std::string> environment;  // "NAME=value", added to ours
  int priority = 0;                      // real-time, where that is allowed; 0: as we are
};

class Children {
 public:
  Children() = default;
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  // Ends who is still there at once.
  ~Children();

  [[nodiscard]] Result<pid_t> start(const NetworkSpace& space, const Program& program);
  // 128 and the signal's number for those that a signal ended; nothing while it runs.
  [[nodiscard]] std::optional<int> code_of(pid_t child);
  void signal(pid_t child, int number);
  [[nodiscard]] int running();
  // Waits until all have ended; whether they have.
  [[nodiscard]] bool wait(Duration timeout);
  // Asks everyone to end (SIGTERM) and ends who has not after this time (SIGKILL).
  void end(Duration timeout);

 private:
  void reap();
  std::map<pid_t, std::optional<int>> children_;
};

}  // namespace cotillion
