// The coordinator's deadlines: what is due when, and what becomes of those who miss it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "job/coordinator.hpp"

namespace cotillion {
namespace {}  // namespace

Instant Coordinator::report_due(RoundId round) const {
  // Edges wait for the last chunks of a round for the grace.
  return job_assignment_.start_of(round + 1, origin_) + settings_.job_settings.grace +
         settings_.report_timeout;
}

RoundId Coordinator::round_at(Instant now) const {
  if (now < origin_) return 0;
  RoundId round = rounds_reported() + 1;
  while (round < RoundId(settings_.rounds) && job_assignment_.start_of(round + 1, origin_) <= now)
    ++round;
  return std::min(round, RoundId(settings_.rounds));
}

Instant Coordinator::state_deadline() const {
  switch (state_) {
    case CoordinatorState::kGathering:
      return since_ + settings_.join_timeout;
    case CoordinatorState::kAssigned:
    case CoordinatorState::kMeasuring:
      return since_ + settings_.ready_timeout;
    case CoordinatorState::kStarted:
      return origin_;
    case CoordinatorState::kPlaying:
      return report_due(rounds_reported() + 1);
    case CoordinatorState::kStopping:
      return stop_by_;
    case CoordinatorState::kDone:
    case CoordinatorState::kFailed:
      return kNever;
  }
  return kNever;
}

Instant Coordinator::next_deadline() const {
  if (ended()) return kNever;
  Instant due = state_deadline();
  for (const Place& place : places_)
    if (place.there())
      due = std::min({due, place.ping_due, place.heard + settings_.silence_timeout});
  return due;
}

void Coordinator::on_time(Instant now, CoordinatorOutbox& out) {
  for (Place& place : places_) {
    if (ended() || !place.there()) continue;
    if (now - place.heard >= settings_.silence_timeout)
      lose(now, place,
           fmt::format("has said nothing for {} while the job was {}", wait_text(now - place.heard),
                       name_of(state_)),
           out);
    else if (place.ping_due <= now)
      ping(now, place, out);
  }
  if (ended()) return;
  begin_round_one(now, out);
  if (state_deadline() <= now) lose_the_late(now, out);
}

void Coordinator::begin_round_one(Instant now, CoordinatorOutbox& out) {
  if (state_ != CoordinatorState::kStarted || now < origin_) return;
  state_ = CoordinatorState::kPlaying;
  since_ = now;
  out.note("round one begins");
}

void Coordinator::lose_the_late(Instant now, CoordinatorOutbox& out) {
  if (state_ == CoordinatorState::kGathering) {
    std::vector<std::string> late;
    for (const Place& place : places_)
      if (awaits(place))
        late.push_back(name(place) + (place.there() ? " (joined, but does not answer pings)" : ""));
    return fail(now,
                fmt::format("after {} these have not joined: {}", wait_text(now - since_),
                            fmt::join(late, ", ")),
                out);
  }
  const CoordinatorState state = state_;
  const RoundId round = rounds_reported() + 1;
  for (Place& place : places_) {
    if (state_ != state || !awaits(place)) continue;
    if (state == CoordinatorState::kAssigned)
      lose(now, place,
           fmt::format("was given its part {} ago and is not ready", wait_text(now - since_)), out);
    else if (state == CoordinatorState::kMeasuring)
      lose(now, place,
           fmt::format("has answered {} of {} pings in {}", place.pongs, settings_.pings_when_ready,
                       wait_text(now - since_)),
           out);
    else if (state == CoordinatorState::kStopping)
      lose(now, place, fmt::format("was told to stop {} ago and has not", wait_text(now - since_)),
           out);
    else if (place.reported < round)
      lose(now, place,
           fmt::format("has not reported round {}, which ended {} ago", round,
                       wait_text(now - job_assignment_.start_of(round + 1, origin_))),
           out);
  }
  if (state_ == CoordinatorState::kMeasuring)
    advance(now, out);  // everyone answers, and clocks stay apart
}

const char* name_of(CoordinatorState state) {
  switch (state) {
    case CoordinatorState::kGathering:
      return "gathering";
    case CoordinatorState::kAssigned:
      return "being prepared";
    case CoordinatorState::kMeasuring:
      return "measuring clocks";
    case CoordinatorState::kStarted:
      return "about to begin";
    case CoordinatorState::kPlaying:
      return "being played";
    case CoordinatorState::kStopping:
      return "stopping";
    case CoordinatorState::kDone:
      return "done";
    case CoordinatorState::kFailed:
      return "failed";
  }
  return "?";
}

}  // namespace cotillion
