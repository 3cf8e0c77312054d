// The loop around the pure coordinator: real time and gRPC in, calls out.
#pragma once

#include <functional>

#include "daemon/control_channel.hpp"
#include "daemon/control_client.hpp"
#include "daemon/control_server.hpp"

namespace cotillion {

struct CoordinatorHooks {
  std::function<void(const std::string&)> note;  // what happened, for people
  std::function<void()> look;                    // a few times a second, for progress
  // Non-empty: why the job is to stop.
  std::function<std::string()> asked_to_stop;
};

// Until the coordinator has ended.
void host(ControlServer& server, Coordinator& coordinator, WallClock zero,
          const CoordinatorHooks& hooks);

}  // namespace cotillion
