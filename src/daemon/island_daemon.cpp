#include "daemon/island_daemon.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "daemon/daemon_metrics.hpp"

namespace cotillion {
namespace {

// "round 7 of the clique A B C".
std::string clique_text(const Member& member, RoundId round) {
  std::vector<std::string> names;
  for (const IslandId island : member.part(round).clique)
    names.push_back(member.plan().map.islands[island].name);
  return fmt::format("round {} of the clique {}", round, fmt::join(names, " "));
}

}  // namespace

Result<void> IslandDaemon::prepare(const Member& member) {
  const Assignment& job = member.assignment();
  const IslandId self = job.you.island;
  const PlanFile& plan = member.plan();
  const JobAssignment& job_assignment = member.job_assignment();
  if (chunk_count(job_assignment.job()) < ChunkId(job.shards))
    return failure(fmt::format("{} shards for {} chunks; use fewer shards", job.shards,
                               chunk_count(job_assignment.job())));
  if (listener_) {
    auto region =
        ExchangeRegion::make(region_spec(job_assignment.job(), job.shards, plan.map, self));
    if (!region) return Unexpected<Error>{region.error()};
    region_.emplace(std::move(*region));
  }
  const RoleSettings role{Payloads::kReal, job.exponent, settings_.place.round_trip_margin};
  const auto edge = read_endpoint(member.entry({self, Role::kEdge}).address);
  if (!edge) return Unexpected<Error>{edge.error().within("the edge's address")};
  IslandHostSettings hosting;
  hosting.clock = RunClock(settings_.place.zero);
  hosting.own = settings_.place.own;
  hosting.edge = *edge;
  hosting.interface = settings_.place.interface;
  hosting.port = job.port;
  hosting.cores = settings_.place.cores;
  hosting.receive_buffer = settings_.place.receive_buffer;
  hosting.sending = sender_role(job_assignment);
  // Threads of real machines wake late. What was missed may be made up for while edges still wait.
  hosting.sending.catch_up =
      std::max(hosting.sending.catch_up, Duration{job_assignment.settings().grace.ps / 2});
  hosting.receiving = receiver_role(plan, job_assignment, role, self);
  hosting.merging.progress = job.progress;
  hosting.merging.missing = job.missing;
  hosting.exponent = job.exponent;
  hosting.self = self;
  hosting.elements = job_assignment.job().elements;
  hosting.own_boot = settings_.place.boot;
  hosting.edge_boot = member.entry({self, Role::kEdge}).boot;
  auto host =
      IslandHost::start(hosting, job_assignment.job(), job.shards, region_ ? &*region_ : nullptr);
  if (!host) return Unexpected<Error>{host.error()};
  host_ = std::move(*host);
  return {};
}

// When training code is attached and has offered a first copy of everything.
bool IslandDaemon::ready() {
  if (!listener_) return true;
  if (!listener_->attached()) return false;
  for (int f = 0; f < region_->fragments(); ++f)
    if (region_->fragment(f).offers.load(std::memory_order_acquire) == 0) return false;
  return true;
}

void IslandDaemon::open_round(const Member& member, RoundId round) {
  const JobAssignment& job_assignment = member.job_assignment();
  const IslandId self = member.assignment().you.island;
  RoundOpening opening;
  opening.part = member.part(round);
  const MulticastGroup* group = job_assignment.groups().of(job_assignment.phase_of(round), self);
  if (group != nullptr) opening.group = group->address;
  opening.part.sends = opening.part.sends && group != nullptr;
  if (round < member.last_round())
    if (const RoundAssignment next = member.part(round + 1); next.sends)
      opening.next_stream = next.stream;
  host_->open_round(opening);
}

void IslandDaemon::close_round(RoundId) {}

std::optional<RoundReport> IslandDaemon::next_report() {
  auto report = host_->next_report();
  if (report && region_) report->steps = region_->words().steps.load(std::memory_order_relaxed);
  return report;
}

std::string IslandDaemon::look(const Member& member, Instant now) {
  const bool plays =
      member.state() == MemberState::kPlaying || member.state() == MemberState::kStopping;
  if (plays) tell_lateness(member);
  if (!listener_) {
    const std::uint64_t wrong = host_->reading().wrong;
    return wrong == 0 ? "" : fmt::format("{} elements of sums are wrong", wrong);
  }
  switch (listener_->look(&*region_)) {
    case AgentListener::Visit::kAttached:
      if (settings_.log != nullptr)
        settings_.log->info("training code came", {{"process", listener_->process()}});
      break;
    case AgentListener::Visit::kLeft:
      left_ = true;
      break;
    case AgentListener::Visit::kNothing:
      break;
  }
  if (plays) tell_round(member, now);
  if (left_ && member.state() < MemberState::kStopping)
    return fmt::format("its training code (process {}) has gone in round {}", listener_->process(),
                       round_);
  return {};
}

void IslandDaemon::tell_round(const Member& member, Instant now) {
  const JobAssignment& job_assignment = member.job_assignment();
  const auto start = [&](RoundId round) { return job_assignment.start_of(round, member.origin()); };
  const RoundId before = round_;
  while (round_ < member.last_round() && start(round_ + 1) <= now) ++round_;
  if (round_ == before) return;
  RegionHeader& words = region_->words();
  words.begins_ns = wall_of(start(round_), settings_.place.zero);
  words.ends_ns = wall_of(start(round_ + 1), settings_.place.zero);
  words.round = round_;
  region_->tell(ExchangeState::kPlaying, {});
}

// An edge says something in every round. Where it has not, what others sent may well have come to
// it, and they are not to blame.
bool IslandDaemon::edge_is_silent(const Member& member, const IslandReading& reading) {
  const RoundId round = reading.missing_round;
  const bool silent = !reading.missing.empty() &&
                      reading.heard < member.job_assignment().start_of(round, member.origin());
  if (silent == silent_) return silent;
  silent_ = silent;
  const std::string& edge = member.entry({member.assignment().you.island, Role::kEdge}).address;
  if (settings_.log != nullptr && silent)
    settings_.log->warn("its own edge is silent", {{"edge", edge}, {"since_round", round}});
  else if (settings_.log != nullptr)
    settings_.log->info("its own edge is heard again", {{"edge", edge}, {"in_round", round}});
  return silent;
}

void IslandDaemon::tell_lateness(const Member& member) {
  std::vector<std::string> late;
  const IslandReading reading = host_->reading();
  if (edge_is_silent(member, reading))
    late.push_back(
        fmt::format("its own edge, {}, is silent",
                    member.entry({member.assignment().you.island, Role::kEdge}).address));
  for (const Absence& absence : reading.missing)
    late.push_back(fmt::format("{} lacks in {} of {} chunks from chunk {} on",
                               member.plan().map.islands[IslandId(absence.contributor)].name,
                               absence.chunks, member.job_assignment().job_chunks(),
                               absence.first_chunk));
  const std::string text =
      late.empty() ? ""
                   : fmt::format("in {}, {}", clique_text(member, reading.missing_round),
                                 fmt::join(late, ", "));
  if (region_ && text != region_->words().late.read()) region_->words().late.write(text);
}

Metrics IslandDaemon::metrics(const MetricLabels& labels) const {
  Metrics metrics = to_metrics(host_->reading(), labels);
  if (region_)
    metrics.push_back(metric_of("cotillion_island_steps_total", labels,
                                double(region_->words().steps.load(std::memory_order_relaxed))));
  return metrics;
}

void IslandDaemon::end(const Member& member) {
  if (host_ != nullptr) host_->stop();
  if (!region_) return;
  region_->tell(
      member.state() == MemberState::kDone ? ExchangeState::kEnded : ExchangeState::kFailed,
      member.reason());
}

}  // namespace cotillion
