#include "job/member.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "base/fingerprint.hpp"
#include "base/text.hpp"

namespace cotillion {

Member::Member(Instant now, MemberSettings settings)
    : settings_(std::move(settings)), heard_(now) {}

void Member::begin(Instant now, MemberHost& host) {
  heard_ = now;
  host.send(settings_.hello);
}

void Member::on_message(Instant now, const Message& message, MemberHost& host) {
  if (ended()) return;
  heard_ = now;
  if (const auto* ping = std::get_if<Ping>(&message)) {
    const WallClock wall = wall_of(now, settings_.zero);
    return host.send(Pong{ping->number, ping->sent, wall, wall});
  }
  if (const auto* stop = std::get_if<Stop>(&message)) return hear(*stop, host);
  if (const auto* refusal = std::get_if<Refusal>(&message))
    return fail("the coordinator refuses: " + shown(refusal->reason, 500), host);
  const auto* assignment = std::get_if<Assignment>(&message);
  if (assignment != nullptr && state_ == MemberState::kGreeting)
    return hear(now, *assignment, host);
  const auto* start = std::get_if<Start>(&message);
  if (start != nullptr && state_ == MemberState::kWaiting) return hear(now, *start, host);
  if (start != nullptr && state_ == MemberState::kStopping) return;
  refuse(now, fmt::format("{} while it was {}", name_of(message), name_of(state_)), host);
}

void Member::hear(Instant now, const Assignment& assignment, MemberHost& host) {
  if (fingerprint(assignment.plan_text) != assignment.plan)
    return refuse(now, "the plan that came is not the one it claims to be", host);
  auto plan = read_plan(assignment.plan_text, "the coordinator's plan");
  if (!plan) return refuse(now, to_text(plan.error().front()), host);
  const Who you = assignment.you;
  const bool mine = you.role == settings_.hello.role && you.island >= 0 &&
                    you.island < plan->map.island_count() &&
                    plan->map.islands[you.island].name == settings_.hello.island;
  if (!mine) return refuse(now, "the part that came is somebody else's", host);
  // Everyone is listed once, in the order of islands.
  bool complete =
      assignment.members.size() == 2 * plan->map.islands.size() && assignment.rounds >= 1;
  for (std::size_t i = 0; complete && i < assignment.members.size(); ++i)
    complete =
        assignment.members[i].who == Who{IslandId(i / 2), i % 2 ? Role::kEdge : Role::kIsland};
  complete = complete && assignment.job_settings.grace.ps >= 0;
  if (!complete) return refuse(now, "the list of members that came is not the plan's", host);
  plan_ = std::make_unique<PlanFile>(std::move(*plan));
  auto job_assignment = JobAssignment::make(*plan_, assignment.job_settings);
  if (!job_assignment) return refuse(now, job_assignment.error().message, host);
  job_assignment_.emplace(std::move(*job_assignment));
  assignment_ = assignment;
  state_ = MemberState::kPreparing;
  host.prepare();
}

void Member::hear(Instant now, const Start& start, MemberHost& host) {
  const WallClock wall = wall_of(now, settings_.zero);
  if (!is_sane(start.clock) || start.origin < wall - 2 * kClockOffMost ||
      start.origin > wall + 2 * kClockOffMost)
    return refuse(now, "round one is further off than clocks can be", host);
  origin_ = instant_of(start.origin + start.clock.ahead_ns, settings_.zero);
  if (origin_ <= now)
    return refuse(now,
                  fmt::format("round one began {} before Start came; give it a longer lead",
                              wait_text(now - origin_)),
                  host);
  const Duration error{std::min<std::int64_t>(start.clock.error_ns, kClockOffMost) * 1000};
  const Duration slack = job_assignment_->slack();
  if (error > slack)
    return refuse(now,
                  fmt::format("the clock here is known to ±{} only, but a round has {} of slack: "
                              "keep it by PTP or NTP, or plan with more slack",
                              to_text(error), to_text(slack)),
                  host);
  state_ = MemberState::kPlaying;
  host.play(origin_);
}

void Member::hear(const Stop& stop, MemberHost& host) {
  if (state_ == MemberState::kStopping && stop.after >= stop_.after) return;
  stop_ = stop;
  if (state_ < MemberState::kPlaying) stop_.after = 0;
  state_ = MemberState::kStopping;
  reason_ = shown(stop.reason, 500);
  host.stop(stop_.after, reason_);
}

void Member::on_lost(Instant, const std::string& why, MemberHost& host) {
  if (ended()) return;
  fail(fmt::format("the connection to the coordinator is lost while {}: {}", name_of(state_),
                   shown(why, 300)),
       host);
}

void Member::on_time(Instant now, MemberHost& host) {
  if (now < next_deadline()) return;
  fail(fmt::format("the coordinator has been silent for {} while {}", wait_text(now - heard_),
                   name_of(state_)),
       host);
}

Instant Member::next_deadline() const {
  return ended() ? kNever : heard_ + settings_.silence_timeout;
}

void Member::ready(Instant, MemberHost& host) {
  if (state_ != MemberState::kPreparing) return;  // it has been told to stop meanwhile
  state_ = MemberState::kWaiting;
  host.send(Ready{});
}

void Member::report(Instant, const RoundReport& report, MemberHost& host) {
  if (state_ != MemberState::kPlaying && state_ != MemberState::kStopping) return;
  COTILLION_CHECK(report.round == reported_ + 1);
  reported_ = report.round;
  host.send(report);
}

void Member::stopped(Instant, MemberHost& host) {
  if (state_ != MemberState::kStopping) return;
  host.send(Stopped{reported_, reason_});
  state_ = stop_.failed ? MemberState::kFailed : MemberState::kDone;
}

void Member::refuse(Instant, const std::string& why, MemberHost& host) {
  if (ended()) return;
  host.send(Refusal{why});
  fail(why, host);
}

void Member::fail(const std::string& why, MemberHost& host) {
  const bool busy = state_ != MemberState::kGreeting;
  state_ = MemberState::kFailed;
  reason_ = why;
  if (busy) host.stop(0, why);
}

const MemberEntry& Member::entry(Who who) const {
  return assignment_.members[2 * std::size_t(who.island) + (who.role == Role::kEdge ? 1 : 0)];
}

RoundAssignment Member::part(RoundId round) const {
  RoundAssignment part = job_assignment_->part(round, assignment_.you.island, origin_);
  part.spec.epoch = part.stream.epoch = part.receiver.spec.epoch = assignment_.epoch;
  return part;
}

RoundId Member::last_round() const {
  const auto all = RoundId(assignment_.rounds);
  return state_ == MemberState::kStopping ? std::min(all, stop_.after) : all;
}

const char* name_of(MemberState state) {
  switch (state) {
    case MemberState::kGreeting:
      return "greeting";
    case MemberState::kPreparing:
      return "preparing";
    case MemberState::kWaiting:
      return "waiting for round one";
    case MemberState::kPlaying:
      return "playing";
    case MemberState::kStopping:
      return "stopping";
    case MemberState::kDone:
      return "done";
    case MemberState::kFailed:
      return "failed";
  }
  return "?";
}

}  // namespace cotillion
