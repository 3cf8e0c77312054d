#include "job/messages.hpp"

#include <fmt/format.h>

#include <array>

#include "base/wide.hpp"

namespace cotillion {
namespace {

constexpr std::array kNames = {"Hello", "Refusal", "Ping",        "Pong", "Assignment",
                               "Ready", "Start",   "RoundReport", "Stop", "Stopped"};
static_assert(kNames.size() == std::variant_size_v<Message>);

template <class Which, std::size_t kSize>
bool same(const Counters<Which, kSize>& a, const Counters<Which, kSize>& b) {
  for (std::size_t i = 0; i < kSize; ++i)
    if (a[Which(i)] != b[Which(i)]) return false;
  return true;
}

bool same(const JobSettings& a, const JobSettings& b) {
  return a.job == b.job && a.element == b.element && a.exchange == b.exchange &&
         a.fragments == b.fragments && a.grace == b.grace && a.memory == b.memory;
}

bool same(const SenderCounters& a, const SenderCounters& b) {
  return a.sent == b.sent && a.resent == b.resent && a.zero == b.zero && a.clamped == b.clamped &&
         a.withheld == b.withheld && a.forged == b.forged && a.unexpected == b.unexpected &&
         a.slipped_ps == b.slipped_ps && a.late_ps == b.late_ps;
}

}  // namespace

bool operator==(const Assignment& a, const Assignment& b) {
  return a.job == b.job && a.epoch == b.epoch && a.rounds == b.rounds && a.you == b.you &&
         a.plan == b.plan && a.plan_text == b.plan_text && same(a.job_settings, b.job_settings) &&
         a.exponent == b.exponent && a.progress == b.progress && a.missing == b.missing &&
         a.members == b.members && a.shards == b.shards && a.port == b.port;
}

bool operator==(const RoundReport& a, const RoundReport& b) {
  return a.round == b.round && a.measured == b.measured && a.absences == b.absences &&
         a.mixing == b.mixing && a.moves == b.moves && a.steps == b.steps &&
         same(a.sender, b.sender) && same(a.receiver, b.receiver) && a.arrivals == b.arrivals &&
         a.memory_peak == b.memory_peak && same(a.edge, b.edge);
}

const char* name_of(const Message& message) {
  return kNames[message.index()];
}

const char* name_of(Role role) {
  return role == Role::kIsland ? "island" : "edge";
}

std::string to_text(const Map& map, Who who) {
  return fmt::format("{} {}", who.role == Role::kIsland ? "island" : "edge of",
                     map.islands[who.island].name);
}

bool is_sane(const ClockEstimate& clock) {
  return clock.error_ns >= 0 && clock.ahead_ns >= -kClockOffMost && clock.ahead_ns <= kClockOffMost;
}

std::optional<ClockEstimate> clock_of(const Pong& pong, WallClock came) {
  const Int128 there = Int128(pong.ping_came) - pong.ping_sent;
  const Int128 back = Int128(came) - pong.sent;
  const Int128 ahead = (there - back) / 2, error = (there + back + 1) / 2;
  if (pong.sent < pong.ping_came || error < 0 || error > kClockOffMost) return std::nullopt;
  if (ahead < -kClockOffMost || ahead > kClockOffMost) return std::nullopt;
  return ClockEstimate{std::int64_t(ahead), std::int64_t(error)};
}

ClockEstimate between(const ClockEstimate& clock, const ClockEstimate& other) {
  if (!clock.known() || !other.known()) return {};
  return {clock.ahead_ns - other.ahead_ns, clock.error_ns + other.error_ns};
}

}  // namespace cotillion
