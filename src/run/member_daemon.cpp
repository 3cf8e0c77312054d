#include "run/member_daemon.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace cotillion {
namespace {

constexpr Duration kTurn{20'000'000'000};  // how late signals and training code are noticed

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

MemberDaemon::MemberDaemon(Line& line, Performer& performer, const MemberDaemonSettings& settings)
    : line_(line),
      performer_(performer),
      settings_(settings),
      member_(instant_now(settings.zero),
              {settings.hello, settings.zero, settings.silence_patience}) {}

void MemberDaemon::say(LogLine::Level level, const std::string& event,
                       std::vector<std::pair<std::string, std::string>> fields) const {
  settings_.note({level, event, std::move(fields)});
}

bool MemberDaemon::run() {
  member_.begin(instant_now(settings_.zero), *this);
  say(LogLine::Level::kInfo, "joined the coordinator");
  while (
      take_turn(line_, member_, *this, settings_.zero, until_next(instant_now(settings_.zero)))) {
    const Instant now = instant_now(settings_.zero);
    if (!last_ && settings_.asked_to_stop())
      member_.refuse(now, "asked to stop by a signal", *this);
    get_ready(now);
    if (playing_) keep_rounds(now);
    if (playing_) report(now);
    if (prepared_)
      if (const std::string why = performer_.look(member_, now); !why.empty())
        member_.refuse(now, why, *this);
    if (last_ && reported_ >= std::min(*last_, member_.last_round())) member_.stopped(now, *this);
  }
  performer_.end(member_);
  const bool good = member_.state() == MemberState::kDone;
  say(good ? LogLine::Level::kInfo : LogLine::Level::kError, good ? "done" : "failed",
      {{"reason", reason()}, {"rounds", std::to_string(reported_)}});
  return good;
}

void MemberDaemon::get_ready(Instant now) {
  if (std::exchange(unprepared_, false)) {
    if (const auto made = performer_.prepare(member_); !made)
      return member_.refuse(now, made.error().message, *this);
    prepared_ = true;
    say(LogLine::Level::kInfo, "has its part",
        {{"plan", member_.assignment().plan},
         {"rounds", std::to_string(member_.assignment().rounds)}});
  }
  if (!prepared_ || member_.state() != MemberState::kPreparing || !performer_.ready()) return;
  member_.ready(now, *this);
  say(LogLine::Level::kInfo, "ready");
}

void MemberDaemon::play(Instant origin) {
  playing_ = true;
  say(LogLine::Level::kInfo, "round one is agreed on",
      {{"in", wait_text(origin - instant_now(settings_.zero))}});
}

void MemberDaemon::stop(RoundId after, const std::string& reason) {
  last_ = after;
  if (after == 0) playing_ = false;
  say(LogLine::Level::kInfo, "stopping", {{"after", std::to_string(after)}, {"reason", reason}});
}

// In the middle of the round before: early enough for a clock that is fast and a thread that is
// late, and long after the one before that, whose place it takes, has closed.
Instant MemberDaemon::opens(RoundId round) const {
  const Casting& casting = member_.casting();
  if (round == 1) return Instant{INT64_MIN};
  const Instant before = casting.start_of(round - 1, member_.origin());
  const Duration half{(casting.start_of(round, member_.origin()) - before).ps / 2};
  return before + half;
}

Instant MemberDaemon::closes(RoundId round) const {
  const Casting& casting = member_.casting();
  return casting.start_of(round + 1, member_.origin()) + casting.settings().patience;
}

Duration MemberDaemon::until_next(Instant now) const {
  if (!playing_ || member_.origin() == kNever) return kTurn;
  const Instant next = std::min(opens(opened_ + 1), closes(closed_ + 1));
  return std::clamp(next - now, Duration{0}, kTurn);
}

void MemberDaemon::keep_rounds(Instant now) {
  const RoundId last = member_.last_round();
  while (opened_ < last && opens(opened_ + 1) <= now) performer_.open_round(member_, ++opened_);
  while (closed_ < opened_ && closes(closed_ + 1) <= now) performer_.close_round(++closed_);
}

void MemberDaemon::report(Instant now) {
  while (const auto report = performer_.next_report()) {
    if (report->round > member_.last_round()) continue;
    reported_ = report->round;
    std::vector<std::pair<std::string, std::string>> fields{
        {"round", std::to_string(report->round)}, {"measured", to_text(report->measured)}};
    std::vector<std::string> missing;
    for (const ReportedAbsence& absence : report->absences)
      missing.push_back(
          fmt::format("{} in {} of {} chunks from {} on",
                      member_.plan().map.islands[std::size_t(absence.contributor)].name,
                      absence.chunks, member_.casting().job_chunks(), absence.first_chunk));
    if (!missing.empty())
      fields.emplace_back("missing", fmt::format("{}", fmt::join(missing, "; ")));
    say(missing.empty() ? LogLine::Level::kInfo : LogLine::Level::kWarning, "round over",
        std::move(fields));
    member_.report(now, *report, *this);
  }
}

}  // namespace cotillion
