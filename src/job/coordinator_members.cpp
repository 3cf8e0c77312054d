// What the coordinator makes of its members: who may join, what their pongs and reports say, and
// what becomes of a job that has lost one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/text.hpp"
#include "job/coordinator.hpp"

namespace cotillion {
namespace {

// Whether two members' packets would come to the same socket: shard s of each listens at its port
// plus s. Addresses are "10.0.0.1:29900"; what is not is only compared.
bool collide(const std::string& a, const std::string& b, int shards) {
  const auto split = [](const std::string& text) {
    const std::string_view all = text;
    const auto colon = all.rfind(':');
    std::uint16_t port = 0;
    if (colon != std::string_view::npos)
      (void)std::from_chars(all.data() + colon + 1, all.data() + all.size(), port);
    return std::pair{all.substr(0, colon), int(port)};
  };
  const auto [host, port] = split(a);
  const auto [other, other_port] = split(b);
  return host == other && std::abs(port - other_port) < shards;
}

}  // namespace

std::string Coordinator::objection(const Hello& hello) const {
  const auto island =
      std::find_if(map_.islands.begin(), map_.islands.end(),
                   [&](const Island& candidate) { return candidate.name == hello.island; });
  if (island == map_.islands.end()) {
    std::vector<std::string> names;
    for (const Island& known : map_.islands) names.push_back(known.name);
    return fmt::format("no island of the plan is called '{}'; it has {}", shown(hello.island),
                       fmt::join(names, ", "));
  }
  if (hello.version != settings_.version)
    return fmt::format("version {} cannot take part in a job of version {}; install the same",
                       shown(hello.version), settings_.version);
  if (!hello.plan.empty() && hello.plan != fingerprint_)
    return fmt::format("another plan: it has {}, the job plays {}", shown(hello.plan, 80),
                       fingerprint_);
  if (hello.boot == 0) return "boot id 0 means unknown; give the process one of its own";
  const Place& place =
      places_[2 * std::size_t(island - map_.islands.begin()) + (hello.role == Role::kEdge ? 1 : 0)];
  if (place.there() && place.hello.boot != hello.boot)
    return fmt::format("{} has joined already from {} (boot {}, this one is {}); end one of them",
                       name(place), shown(place.hello.address), place.hello.boot, hello.boot);
  for (const Place& other : places_)
    if (&other != &place && other.there() &&
        collide(other.hello.address, hello.address, settings_.shards))
      return fmt::format(
          "{} has joined from {}, and packets of both would come to the same port; "
          "give each an address or a port of its own (--listen)",
          name(other), shown(other.hello.address));
  // A late join needs a new epoch; until there are epochs it is refused.
  if (state_ != CoordinatorState::kGathering)
    return fmt::format("the job is {}; nobody joins it any more", name_of(state_));
  return {};
}

void Coordinator::hear(Instant now, ConnectionId from, const Hello& hello, CoordinatorOutbox& out) {
  if (Place* speaker = place_of(from); speaker != nullptr)
    return lose(now, *speaker, "said Hello twice", out);
  if (const std::string why = objection(hello); !why.empty()) {
    out.note(fmt::format("refused an {} that says it is {}: {}", name_of(hello.role),
                         shown(hello.island), why));
    out.send(from, Refusal{why});
    return out.close(from);
  }
  const auto found = std::find_if(places_.begin(), places_.end(), [&](const Place& place) {
    return place.who.role == hello.role && map_.islands[place.who.island].name == hello.island;
  });
  // The same process again: its old connection broke, and we have not heard of it yet.
  if (found->there()) out.close(found->connection);
  const Who who = found->who;
  *found = {};
  found->who = who;
  found->connection = from;
  found->hello = hello;
  found->joined = found->heard = now;
  found->clock = between(hello.clock, settings_.clock);
  const auto joined = std::count_if(places_.begin(), places_.end(),
                                    [](const Place& place) { return place.there(); });
  out.note(fmt::format("{} joined from {} ({} of {})", name(*found), shown(hello.address), joined,
                       places_.size()));
  ping(now, *found, out);
}

void Coordinator::ping(Instant now, Place& place, CoordinatorOutbox& out) {
  place.ping = {place.ping.number + 1, wall(now)};
  place.pinged = true;
  place.ping_due = now + settings_.ping_every;
  out.send(place.connection, place.ping);
}

void Coordinator::hear(Instant now, Place& place, const Pong& pong, CoordinatorOutbox& out) {
  // Answers that were overtaken by the next ping only show that the member is alive.
  if (!place.pinged || pong.number != place.ping.number || pong.ping_sent != place.ping.sent)
    return;
  place.pinged = false;
  const auto clock = clock_of(pong, wall(now));
  if (!clock) return lose(now, place, "sent a ping reply with impossible timestamps", out);
  place.trip = std::max(place.trip, Duration{2 * clock->error_ns * 1000});
  if (clock->error_ns < place.clock.error_ns) place.clock = *clock;
  ++place.pongs;
  if (state_ == CoordinatorState::kGathering && awaits(place)) return ping(now, place, out);
  if (state_ == CoordinatorState::kMeasuring) place.ping_due = now + settings_.ping_pause;
  if (state_ == CoordinatorState::kGathering || state_ == CoordinatorState::kMeasuring)
    advance(now, out);
}

std::string Coordinator::objection(const Place& place, const RoundReport& report) const {
  if (state_ != CoordinatorState::kPlaying && state_ != CoordinatorState::kStopping)
    return fmt::format("reported round {} while the job was {}", report.round, name_of(state_));
  if (report.round != place.reported + 1 || report.round > RoundId(settings_.rounds))
    return fmt::format("reported round {} after round {} of {}", report.round, place.reported,
                       settings_.rounds);
  const std::size_t n = map_.islands.size();
  const auto unknown = [&](IslandId island) { return island < 0 || std::size_t(island) >= n; };
  for (const Absence& absence : report.absences)
    if (unknown(IslandId(absence.contributor)) || absence.chunks > job_assignment_.job_chunks())
      return fmt::format("reported an impossible absence in round {}", report.round);
  for (const ReportedArrival& arrival : report.arrivals)
    if (unknown(arrival.sender))
      return fmt::format("reported a stream in round {} that nobody sends", report.round);
  if (!report.mixing.empty() && report.mixing.size() != n)
    return fmt::format("reported mixing of {} in round {}; there are {}",
                       counted(report.mixing.size(), "island"), report.round, n);
  return {};
}

void Coordinator::hear(Instant now, Place& place, const RoundReport& report,
                       CoordinatorOutbox& out) {
  if (const std::string why = objection(place, report); !why.empty())
    return lose(now, place, why, out);
  const RoundId before = rounds_reported();
  place.reported = report.round;
  accounts_.push_back({place.who, report});
  if (rounds_reported() != before)
    out.note(fmt::format("round {} of {} is reported by everyone", report.round, settings_.rounds));
  advance(now, out);
}

void Coordinator::on_lost(Instant now, ConnectionId connection, const std::string& why,
                          CoordinatorOutbox& out) {
  if (ended()) return;
  Place* place = place_of(connection);
  if (place != nullptr && place->stopped) {  // it has said goodbye
    place->lost = true;
    return advance(now, out);
  }
  if (place != nullptr) lose(now, *place, "lost its connection: " + shown(why, 300), out);
}

void Coordinator::lose(Instant now, Place& place, const std::string& why, CoordinatorOutbox& out) {
  const std::string what = fmt::format("{} {}", name(place), why);
  out.note(what);
  out.close(place.connection);
  if (state_ == CoordinatorState::kGathering) {  // it may come again
    const Who who = place.who;
    place = {};
    place.who = who;
    return;
  }
  place.lost = true;
  // One that leaves when everyone has been told to is missed by nobody.
  if (state_ != CoordinatorState::kStopping || !place.stopped)
    losses_.push_back({place.who, place.reported, now, why});
  const bool anyone = std::any_of(places_.begin(), places_.end(), [](const Place& other) {
    return other.there() && other.who.role == Role::kIsland;
  });
  if (state_ != CoordinatorState::kStopping && (settings_.on_loss == OnLoss::kStop || !anyone))
    return fail(now, anyone ? what : what + ", the last island of all", out);
  advance(now, out);
}

}  // namespace cotillion
