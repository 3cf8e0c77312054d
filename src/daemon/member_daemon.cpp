#include "daemon/member_daemon.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "daemon/daemon_metrics.hpp"
#include "plan/file/plan_file.hpp"

namespace cotillion {
namespace {

constexpr Duration kMemberPublishEvery{200'000'000'000};
constexpr Duration kTurn{20'000'000'000};  // how late signals and training code are noticed

// A word for the state, for machines.
const char* key_of(MemberState state) {
  constexpr const char* kKeys[] = {"greeting", "preparing", "waiting", "playing",
                                   "stopping", "done",      "failed"};
  return kKeys[std::size_t(state)];
}

}  // namespace

Result<Endpoint> read_endpoint(const std::string& text, std::uint16_t port) {
  const auto colon = text.find(':');
  const auto address = read_address(text.substr(0, colon));
  if (!address) return Unexpected<Error>{address.error()};
  if (colon != std::string::npos) {
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + colon + 1, end, port);
    if (read.ec != std::errc() || read.ptr != end)
      return failure(
          fmt::format("\"{}\" has no port that can be; write it like 10.0.0.1:29900", text));
  }
  return Endpoint{*address, port};
}

MemberDaemon::MemberDaemon(ControlChannel& channel, MemberRole& member_role,
                           const MemberDaemonSettings& settings)
    : channel_(channel),
      member_role_(member_role),
      settings_(settings),
      member_(instant_now(settings.zero),
              {settings.hello, settings.zero, settings.silence_timeout}) {}

void MemberDaemon::say(LogLevel level, std::string_view event, LogFields fields) const {
  if (settings_.log != nullptr) settings_.log->say(level, event, fields);
}

bool MemberDaemon::run() {
  member_.begin(instant_now(settings_.zero), *this);
  say(LogLevel::kInfo, "called the coordinator", {{"clock", to_text(settings_.clock)}});
  notifier_.ready("waiting for a part in a job");
  while (take_turn(channel_, member_, *this, settings_.zero,
                   until_next(instant_now(settings_.zero)))) {
    const Instant now = instant_now(settings_.zero);
    if (!last_ && settings_.asked_to_stop())
      member_.refuse(now, "asked to stop by a signal", *this);
    get_ready(now);
    if (playing_) keep_rounds(now);
    if (playing_) report(now);
    if (prepared_)
      if (const std::string why = member_role_.look(member_, now); !why.empty())
        member_.refuse(now, why, *this);
    if (last_ && reported_ >= std::min(*last_, member_.last_round())) member_.stopped(now, *this);
    publish(now);
  }
  notifier_.stopping(reason());
  member_role_.end(member_);
  const bool good = member_.state() == MemberState::kDone;
  say(good ? LogLevel::kInfo : LogLevel::kError, good ? "done" : "failed",
      {{"reason", reason()}, {"rounds", reported_}});
  published_at_ = kNever;
  publish(instant_now(settings_.zero));
  return good;
}

void MemberDaemon::get_ready(Instant now) {
  if (std::exchange(unprepared_, false)) {
    if (const auto made = member_role_.prepare(member_); !made)
      return member_.refuse(now, made.error().message, *this);
    prepared_ = true;
    say(LogLevel::kInfo, "has its part",
        {{"plan", member_.assignment().plan}, {"rounds", member_.assignment().rounds}});
  }
  if (!prepared_ || member_.state() != MemberState::kPreparing || !member_role_.ready()) return;
  member_.ready(now, *this);
  say(LogLevel::kInfo, "ready");
  notifier_.status("ready for round one");
}

void MemberDaemon::play(Instant origin) {
  playing_ = true;
  say(LogLevel::kInfo, "round one is agreed on",
      {{"in_ms", double((origin - instant_now(settings_.zero)).ps) / 1e9}});
}

void MemberDaemon::stop(RoundId after, const std::string& reason) {
  last_ = after;
  if (after == 0) playing_ = false;
  say(LogLevel::kInfo, "stopping", {{"after_round", after}, {"reason", reason}});
}

// In the middle of the round before: early enough for a clock that is fast and a thread that is
// late, and long after the one before that, whose place it takes, has closed.
Instant MemberDaemon::opens(RoundId round) const {
  const JobAssignment& job_assignment = member_.job_assignment();
  if (round == 1) return Instant{INT64_MIN};
  const Instant before = job_assignment.start_of(round - 1, member_.origin());
  const Duration half{(job_assignment.start_of(round, member_.origin()) - before).ps / 2};
  const auto live = RoundId(job_assignment.live_rounds());
  if (round <= live) return before + half;
  return std::max(before + half, job_assignment.over(round - live, member_.origin()));
}

Instant MemberDaemon::closes(RoundId round) const {
  const JobAssignment& job_assignment = member_.job_assignment();
  return std::max(job_assignment.start_of(round + 1, member_.origin()),
                  job_assignment.over(round, member_.origin())) +
         job_assignment.settings().grace;
}

Duration MemberDaemon::until_next(Instant now) const {
  if (!playing_ || member_.origin() == kNever) return kTurn;
  Instant next = now + kTurn;
  if (opened_ < member_.last_round()) next = std::min(next, opens(opened_ + 1));
  if (closed_ < opened_) next = std::min(next, closes(closed_ + 1));
  return std::max(next - now, Duration{0});
}

void MemberDaemon::keep_rounds(Instant now) {
  const RoundId last = member_.last_round();
  while (opened_ < last && opens(opened_ + 1) <= now) member_role_.open_round(member_, ++opened_);
  while (closed_ < opened_ && closes(closed_ + 1) <= now) member_role_.close_round(++closed_);
}

// A round's sums may all be here long before its end, or there may be none to wait for: it is over
// when everyone's stream has left and corrections are in the region.
void MemberDaemon::report(Instant now) {
  for (;; due_.reset()) {
    if (!due_) due_ = member_role_.next_report();
    if (!due_ || closes(due_->round) > now) return;
    const auto& report = due_;
    if (report->round > member_.last_round()) continue;
    reported_ = report->round;
    std::vector<std::string> missing;
    for (const Absence& absence : report->absences) {
      missing_ += absence.chunks;
      missing.push_back(fmt::format("{} in {} of {} chunks from {} on",
                                    member_.plan().map.islands[IslandId(absence.contributor)].name,
                                    absence.chunks, member_.job_assignment().job_chunks(),
                                    absence.first_chunk));
    }
    const double measured = double(report->measured.ps) / 1e9;
    if (!missing.empty()) {
      missing_text_ = fmt::format("{}", fmt::join(missing, "; "));
      say(LogLevel::kWarn, "round over",
          {{"round", report->round}, {"measured_ms", measured}, {"missing", missing_text_}});
      missing_text_ = fmt::format("round {}: {}", report->round, missing_text_);
    } else if (member_.assignment().you.role == Role::kEdge) {
      say(LogLevel::kInfo, "round over", {{"round", report->round}});
    } else {
      say(LogLevel::kInfo, "round over", {{"round", report->round}, {"measured_ms", measured}});
    }
    member_.report(now, *report, *this);
  }
}

void MemberDaemon::publish(Instant now) {
  notifier_.alive();
  if (published_at_ != kNever && now - published_at_ < kMemberPublishEvery) return;
  published_at_ = now;
  const MemberState state = member_.state();
  const Hello& hello = settings_.hello;
  const MetricLabels who = {{"island", hello.island}, {"role", name_of(hello.role)}};
  const bool prepared = prepared_ && member_.origin() != kNever;
  RoundId round = reported_;
  while (prepared && round < member_.last_round() &&
         member_.job_assignment().start_of(round + 1, member_.origin()) <= now)
    ++round;
  Metrics metrics = to_metrics(settings_.clock.estimate, {});
  for (int i = 0; i <= int(MemberState::kFailed); ++i) {
    MetricLabels labels = who;
    labels.emplace_back("state", key_of(MemberState(i)));
    metrics.push_back(metric_of("cotillion_member_state", labels, MemberState(i) == state ? 1 : 0));
  }
  metrics.push_back(metric_of("cotillion_member_round", who, round));
  metrics.push_back(metric_of("cotillion_member_rounds_reported_total", who, reported_));
  metrics.push_back(metric_of("cotillion_member_chunks_missing_total", who, double(missing_)));
  Json counted = Json::object();
  if (prepared_)
    for (Metric& metric : member_role_.metrics(who)) {
      counted[metric.name] = metric.value;
      metrics.push_back(std::move(metric));
    }
  const Json json = {{"daemon", name_of(hello.role)},
                     {"island", hello.island},
                     {"version", hello.version},
                     {"address", hello.address},
                     {"state", key_of(state)},
                     {"reason", member_.reason()},
                     {"plan", member_.assignment().plan},
                     {"rounds", prepared_ ? Json(member_.assignment().rounds) : Json(nullptr)},
                     {"round", round},
                     {"rounds_reported", reported_},
                     {"missing", missing_text_},
                     {"clock", to_text(settings_.clock)},
                     {"counters", counted}};
  status_.publish(std::move(metrics), json.dump(1) + "\n");
}

}  // namespace cotillion
