// A member's channel to the coordinator, whatever it is made of: gRPC between machines, a queue
// inside a test. Nothing blocks on the other side, and what comes waits until it is asked for.
#pragma once

#include <optional>
#include <string>

#include "exchange/clock.hpp"
#include "job/member.hpp"

namespace cotillion {

struct ChannelEvent {
  std::optional<Message> message;  // none: the connection is lost
  std::string lost;                // and why
};

class ControlChannel {
 public:
  virtual ~ControlChannel() = default;
  // What came next; nothing when nothing did for so long.
  [[nodiscard]] virtual std::optional<ChannelEvent> next(Duration wait) = 0;
  virtual void send(const Message& message) = 0;
};

[[nodiscard]] inline Instant instant_now(WallClock zero) {
  return instant_of(wall_clock_now(), zero);
}

// A number for this process, larger than that of any earlier one on this machine.
[[nodiscard]] inline BootId boot_now() {
  return BootId(wall_clock_now());
}

// A member's turn: waits for what comes next, or its deadline, `most` at most, and passes it on.
// The host's send() goes to the channel's. False when the member has ended.
[[nodiscard]] bool take_turn(ControlChannel& channel, Member& member, MemberHost& host,
                             WallClock zero, Duration most);

}  // namespace cotillion
