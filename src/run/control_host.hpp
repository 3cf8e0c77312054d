// The loops around the two pure sides of the conversation: real time and gRPC in, calls out.
#pragma once

#include <functional>

#include "coordinate/member.hpp"
#include "run/control_client.hpp"
#include "run/control_server.hpp"

namespace cotillion {

[[nodiscard]] WallClock wall_clock_now();
[[nodiscard]] inline Instant instant_now(WallClock zero) {
  return instant_of(wall_clock_now(), zero);
}

// A number for this process, larger than that of any earlier one on this machine.
[[nodiscard]] inline BootId boot_now() {
  return BootId(wall_clock_now());
}

struct CoordinatorHooks {
  std::function<void(const std::string&)> note;  // what happened, for people
  std::function<void()> look;                    // a few times a second, for progress
  // Non-empty: why the job is to stop.
  std::function<std::string()> asked_to_stop;
};

// Until the coordinator has ended.
void host(ControlServer& server, Coordinator& coordinator, WallClock zero,
          const CoordinatorHooks& hooks);

// A member's turn: waits for what comes next, or its deadline, `most` at most, and passes it on.
// The host's send() goes to the client's. False when the member has ended.
[[nodiscard]] bool take_turn(ControlClient& client, Member& member, MemberHost& host,
                             WallClock zero, Duration most);

}  // namespace cotillion
