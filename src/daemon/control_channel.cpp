#include "daemon/control_channel.hpp"

#include <algorithm>

namespace cotillion {

bool take_turn(ControlChannel& channel, Member& member, MemberHost& host, WallClock zero,
               Duration most) {
  const Instant due = member.next_deadline();
  if (due == kNever) return false;
  const auto event = channel.next(std::min(most, due - instant_now(zero)));
  const Instant now = instant_now(zero);
  if (event && event->message)
    member.on_message(now, *event->message, host);
  else if (event)
    member.on_lost(now, event->lost, host);
  if (member.next_deadline() <= now) member.on_time(now, host);
  return !member.ended();
}

}  // namespace cotillion
