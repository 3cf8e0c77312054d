#include "daemon/edge_daemon.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/daemon_metrics.hpp"
#include "daemon/shards.hpp"
#include "job/roles.hpp"

namespace cotillion {

Result<void> EdgeDaemon::prepare(const Member& member) {
  const Assignment& job = member.assignment();
  const IslandId self = job.you.island;
  const Map& map = member.plan().map;
  shards_ = job.shards;
  slot_ = edge_of(member.plan(), self).slot;
  const RoleSettings role{Payloads::kReal, job.exponent, settings_.place.round_trip_margin};
  const AggregationSpec whole = edge_role(member.plan(), member.job_assignment(), role, self);
  if (chunk_count(whole.job) < ChunkId(shards_))
    return failure(
        fmt::format("{} shards for {} chunks; use fewer shards", shards_, chunk_count(whole.job)));
  EdgeHostSettings hosting;
  hosting.clock = RunClock(settings_.place.zero);
  hosting.interface = settings_.place.interface;
  hosting.port = job.port;
  hosting.own = settings_.place.own;
  hosting.cores = settings_.place.cores;
  hosting.receive_buffer = settings_.place.receive_buffer;
  hosting.direct = settings_.direct;
  hosting.on_receive = settings_.on_receive;
  hosting.on_send = settings_.on_send;
  const auto island = read_endpoint(member.entry({self, Role::kIsland}).address);
  if (!island) return Unexpected<Error>{island.error().within("the island's address")};
  hosting.island = *island;
  for (const MulticastGroup& group : member.job_assignment().groups().all()) {
    if (!std::binary_search(group.receivers.begin(), group.receivers.end(), self)) continue;
    const auto from = read_endpoint(member.entry({group.sender, Role::kIsland}).address);
    if (!from)
      return Unexpected<Error>{
          from.error().within("the address of " + map.islands[group.sender].name)};
    hosting.groups.push_back({group.address, source_of(group.sender), from->address});
  }
  std::vector<Edge> edges;
  for (int shard = 0; shard < shards_; ++shard) {
    const AggregationSpec share = shard_share(whole, shard, shards_);
    AggregationSeals seals{
        sealed(settings_.place.boot), sealed(member.entry({self, Role::kIsland}).boot), {}};
    for (IslandId source = 0; source < map.island_count(); ++source)
      seals.sources.push_back(sealed(member.entry({source, Role::kIsland}).boot));
    const Bytes sums{std::int64_t(footprint(share).sums)};
    const Bytes resend{std::int64_t(footprint(share).resend)};
    std::vector<EdgeJob> jobs;
    jobs.push_back({share, std::move(seals)});
    auto edge = Edge::build({.memory = sums, .resend = resend}, {0}, std::move(jobs));
    if (!edge) return Unexpected<Error>{edge.error().within(fmt::format("shard {}", shard))};
    edges.push_back(std::move(*edge));
  }
  auto host = EdgeHost::start(hosting, std::move(edges));
  if (!host) return Unexpected<Error>{host.error()};
  host_ = std::move(*host);
  return {};
}

void EdgeDaemon::open_round(const Member& member, RoundId round) {
  const RoundAssignment part =
      shard_part(member.part(round), member.job_assignment().job(), shards_);
  host_->open_round(member.job_assignment().job().id, part.spec);
  parts_.emplace_back(round, part);
}

std::optional<RoundReport> EdgeDaemon::next_report() {
  const auto account = host_->next_account();
  if (!account) return {};
  const auto found = std::find_if(parts_.begin(), parts_.end(),
                                  [&](const auto& entry) { return entry.first == account->round; });
  RoundReport report;
  report.round = account->round;
  const EdgeReading reading = host_->reading();
  report.edge = reading.edge;
  report.memory_peak = {std::int64_t(reading[HostCount::kOpenSlotsPeak]) * slot_.count};
  if (found == parts_.end()) return report;
  const RoundAssignment& part = found->second;
  for (int bit = 0; bit < part.spec.members; ++bit) {
    const IslandId sender = part.clique[std::size_t(bit)];
    if (bit == part.spec.own || !account->accepted.has(source_of(sender))) continue;
    const Instant last = account->accepted[source_of(sender)];
    // Of a sender that is silent in this round the last one is of a round before.
    const bool came = last != kNever && last >= part.start;
    report.arrivals.push_back({sender, came ? last - part.start : Duration{0}});
  }
  parts_.erase(parts_.begin(), found + 1);
  return report;
}

std::string EdgeDaemon::look(const Member&, Instant) {
  return {};
}

Metrics EdgeDaemon::metrics(const MetricLabels& labels) const {
  return to_metrics(host_->reading(), labels);
}

void EdgeDaemon::end(const Member&) {
  if (host_ != nullptr) host_->stop();
}

}  // namespace cotillion
