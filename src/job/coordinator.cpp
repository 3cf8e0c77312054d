#include "job/coordinator.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/fingerprint.hpp"
#include "base/text.hpp"

namespace cotillion {
namespace {

constexpr Duration kStopsAhead{10'000'000'000};  // beyond the longest trip, for those who hear it

}  // namespace

Result<Coordinator> Coordinator::make(Instant now, const PlanFile& plan, std::string text,
                                      const CoordinatorSettings& settings) {
  auto job_assignment = JobAssignment::make(plan, settings.job_settings);
  if (!job_assignment) return Unexpected<Error>{job_assignment.error()};
  return Coordinator(now, plan, std::move(text), std::move(*job_assignment), settings);
}

Coordinator::Coordinator(Instant now, const PlanFile& plan, std::string text,
                         JobAssignment job_assignment, const CoordinatorSettings& settings)
    : map_(plan.map),
      text_(std::move(text)),
      fingerprint_(fingerprint(text_)),
      job_assignment_(std::move(job_assignment)),
      settings_(settings),
      slack_(job_assignment_.slack()),
      since_(now) {
  for (IslandId island = 0; island < map_.island_count(); ++island)
    for (const Role role : {Role::kIsland, Role::kEdge}) {
      places_.emplace_back();
      places_.back().who = {island, role};
    }
}

void Coordinator::on_message(Instant now, ConnectionId from, const Message& message,
                             CoordinatorOutbox& out) {
  if (ended()) return;
  begin_round_one(now, out);
  if (const auto* hello = std::get_if<Hello>(&message)) return hear(now, from, *hello, out);
  Place* place = place_of(from);
  if (place == nullptr) {
    out.send(from,
             Refusal{fmt::format("{} from nobody known here; say Hello first", name_of(message))});
    return out.close(from);
  }
  place->heard = now;
  if (const auto* pong = std::get_if<Pong>(&message)) return hear(now, *place, *pong, out);
  if (const auto* report = std::get_if<RoundReport>(&message))
    return hear(now, *place, *report, out);
  if (const auto* refusal = std::get_if<Refusal>(&message))
    return lose(now, *place, "refuses: " + shown(refusal->reason, 300), out);
  if (const auto* stopped = std::get_if<Stopped>(&message)) {
    if (state_ != CoordinatorState::kStopping)
      return lose(now, *place, "stopped: " + shown(stopped->reason, 300), out);
    place->stopped = true;
    return advance(now, out);
  }
  if (std::holds_alternative<Ready>(message) && state_ == CoordinatorState::kStopping) return;
  if (std::holds_alternative<Ready>(message) && state_ == CoordinatorState::kAssigned) {
    place->ready = true;
    return advance(now, out);
  }
  lose(now, *place, fmt::format("said {} while the job was {}", name_of(message), name_of(state_)),
       out);
}

bool Coordinator::awaits(const Place& place) const {
  switch (state_) {
    case CoordinatorState::kGathering:
      return !place.there() || place.pongs < settings_.pings;
    case CoordinatorState::kAssigned:
      return place.there() && !place.ready;
    case CoordinatorState::kMeasuring:
      return place.there() && place.pongs < settings_.pings_when_ready;
    case CoordinatorState::kStarted:
      return false;
    case CoordinatorState::kPlaying:
      return place.there() && place.reported < RoundId(settings_.rounds);
    case CoordinatorState::kStopping:
      return place.there() && !place.stopped;
    case CoordinatorState::kDone:
    case CoordinatorState::kFailed:
      return false;
  }
  return false;
}

bool Coordinator::awaits_anyone() const {
  return std::any_of(places_.begin(), places_.end(),
                     [this](const Place& place) { return awaits(place); });
}

std::vector<Who> Coordinator::awaited() const {
  std::vector<Who> list;
  const RoundId reported = rounds_reported();
  for (const Place& place : places_)
    if (awaits(place) && (state_ != CoordinatorState::kPlaying || place.reported == reported))
      list.push_back(place.who);
  return list;
}

std::vector<MemberView> Coordinator::members() const {
  std::vector<MemberView> list;
  for (const Place& place : places_)
    list.push_back(
        {place.who, place.there(), place.lost, place.hello.address, place.clock, place.reported});
  return list;
}

RoundId Coordinator::rounds_reported() const {
  RoundId least = RoundId(settings_.rounds);
  for (const Place& place : places_)
    if (!place.lost) least = std::min(least, place.reported);
  return least;
}

Coordinator::Place* Coordinator::place_of(ConnectionId connection) {
  for (Place& place : places_)
    if (place.there() && place.connection == connection) return &place;
  return nullptr;
}

void Coordinator::advance(Instant now, CoordinatorOutbox& out) {
  if (awaits_anyone()) return;
  if (state_ == CoordinatorState::kGathering) return assign(now, out);
  if (state_ == CoordinatorState::kAssigned) return measure(now, out);
  if (state_ == CoordinatorState::kMeasuring) {
    const std::string why = clocks_apart();
    if (why.empty()) return start(now, out);
    // A busy moment need not be the last word: pings go on while there is time.
    if (now >= state_deadline()) fail(now, why, out);
    return;
  }
  if (state_ == CoordinatorState::kPlaying)
    return tell_stop(now, {RoundId(settings_.rounds), false, "all rounds are played"}, out);
  if (state_ != CoordinatorState::kStopping) return;
  state_ = stop_.failed ? CoordinatorState::kFailed : CoordinatorState::kDone;
  for (const Place& place : places_)
    if (place.there()) out.close(place.connection);
}

std::string Coordinator::clocks_apart() const {
  const Place *worst = nullptr, *second = nullptr;
  for (const Place& place : places_) {
    if (!place.there()) continue;
    if (worst == nullptr || place.clock.error_ns > worst->clock.error_ns)
      second = std::exchange(worst, &place);
    else if (second == nullptr || place.clock.error_ns > second->clock.error_ns)
      second = &place;
  }
  const Duration grace = settings_.job_settings.grace;
  const auto known = [](const Place& place) {
    return Duration{std::min<std::int64_t>(place.clock.error_ns, INT64_MAX / 4000) * 1000};
  };
  if (second == nullptr || known(*worst) + known(*second) <= grace) return {};
  return fmt::format(
      "the clocks of {} and {} are known to ±{} and ±{} only, but edges wait {} beyond the plan's "
      "latest arrival (each round has {} of slack): keep clocks by PTP or NTP, or set more "
      "grace and plan with more slack",
      name(*worst), name(*second), to_text(known(*worst)), to_text(known(*second)), to_text(grace),
      to_text(slack_));
}

void Coordinator::assign(Instant now, CoordinatorOutbox& out) {
  if (const std::string why = clocks_apart(); !why.empty()) return fail(now, why, out);
  state_ = CoordinatorState::kAssigned;
  since_ = now;
  Assignment assignment;
  assignment.job = job_assignment_.job().id;
  assignment.epoch = settings_.epoch;
  assignment.rounds = settings_.rounds;
  assignment.plan = fingerprint_;
  assignment.plan_text = text_;
  assignment.job_settings = settings_.job_settings;
  assignment.exponent = settings_.exponent;
  assignment.progress = settings_.progress;
  assignment.missing = settings_.missing;
  assignment.port = settings_.port;
  assignment.shards = settings_.shards;
  for (const Place& place : places_)
    assignment.members.push_back({place.who, place.hello.boot, place.hello.address});
  out.note("everyone has joined and has been given the plan");
  for (const Place& place : places_) {
    assignment.you = place.who;
    out.send(place.connection, assignment);
  }
}

Duration Coordinator::longest_trip() const {
  Duration longest{0};
  for (const Place& place : places_)
    if (place.there()) longest = std::max(longest, place.trip);
  return longest;
}

void Coordinator::measure(Instant now, CoordinatorOutbox& out) {
  state_ = CoordinatorState::kMeasuring;
  since_ = now;
  // One after the other: members on the same machine would be in each other's way.
  Instant due = now;
  for (Place& place : places_) {
    if (!place.there()) continue;
    place.clock = between(place.hello.clock, settings_.clock);
    place.pongs = 0;
    place.pinged = false;
    place.ping_due = due;
    due = due + Duration{settings_.ping_pause.ps / std::int64_t(places_.size())};
  }
  advance(now, out);
}

void Coordinator::start(Instant now, CoordinatorOutbox& out) {
  state_ = CoordinatorState::kStarted;
  since_ = now;
  const Duration trip = longest_trip();
  const Duration lead = std::max(settings_.lead, trip + trip + kStopsAhead);
  // A whole nanosecond, because that is how it is told.
  const WallClock origin = wall(now + lead) + 1;
  origin_ = instant_of(origin, settings_.zero);
  out.note(fmt::format("everyone is ready; round one begins in {}", wait_text(origin_ - now)));
  for (const Place& place : places_)
    if (place.there()) out.send(place.connection, Start{origin, place.clock});
}

void Coordinator::stop(Instant now, const std::string& reason, CoordinatorOutbox& out) {
  if (state_ >= CoordinatorState::kStopping) return;
  const bool playing = state_ == CoordinatorState::kStarted || state_ == CoordinatorState::kPlaying;
  // A round that is certain to be in play, or yet to come, when the last one hears of it.
  const RoundId after = playing ? round_at(now + longest_trip() + kStopsAhead) : 0;
  tell_stop(now, {after, false, reason}, out);
}

void Coordinator::fail(Instant now, const std::string& why, CoordinatorOutbox& out) {
  tell_stop(now, {0, true, why}, out);
}

void Coordinator::tell_stop(Instant now, const Stop& stop, CoordinatorOutbox& out) {
  stop_ = stop;
  reason_ = stop.reason;
  state_ = CoordinatorState::kStopping;
  since_ = now;
  Instant ends = now;
  if (stop.after > 0) ends = std::max(ends, report_due(stop.after));
  stop_by_ = ends + settings_.stop_timeout;
  out.note(stop.after > 0 && stop.after < RoundId(settings_.rounds)
               ? fmt::format("stopping after round {}: {}", stop.after, stop.reason)
               : fmt::format("stopping: {}", stop.reason));
  for (const Place& place : places_)
    if (place.there()) out.send(place.connection, stop_);
  advance(now, out);
}

}  // namespace cotillion
