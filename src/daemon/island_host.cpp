#include "daemon/island_host.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/island_shard.hpp"
#include "daemon/shards.hpp"

namespace cotillion {
namespace {

void add_absence(std::vector<Absence>& list, const Absence& more) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const Absence& absence) {
    return absence.contributor == more.contributor;
  });
  if (found == list.end()) return list.push_back(more);
  found->chunks += more.chunks;
  found->first_chunk = std::min(found->first_chunk, more.first_chunk);
}

}  // namespace

void IslandReading::add(const IslandReading& other) {
  host.add(other.host);
  sender.add(other.sender);
  receiver.add(other.receiver);
  corrections += other.corrections;
  wrong += other.wrong;
  copy_age_max = std::max(copy_age_max, other.copy_age_max);
  held_up = held_up + other.held_up;
  sums_max = sums_max + other.sums_max;
  for (const Absence& absence : other.missing) add_absence(missing, absence);
  missing_round = std::max(missing_round, other.missing_round);
  heard = std::max(heard, other.heard);
}

RegionSpec region_spec(const JobSpec& job, int shards, const Map& map, IslandId self) {
  RegionSpec spec;
  spec.elements = job.elements;
  spec.self = self;
  for (const Island& island : map.islands) spec.islands.push_back(island.name);
  for (int shard = 0; shard < shards; ++shard) {
    const ShardJob part = shard_job(job, shard, shards);
    for (int f = 0; f < part.job.fragments; ++f) {
      const std::uint64_t first = first_element(part.job, first_chunk(part.job, f));
      const std::uint64_t end = std::min<std::uint64_t>(
          part.job.elements, first_element(part.job, first_chunk(part.job, f + 1)));
      spec.fragments.push_back({part.first_element + first, end - first});
    }
  }
  return spec;
}

Result<std::unique_ptr<IslandHost>> IslandHost::start(const IslandHostSettings& settings,
                                                      const JobSpec& job, int shards,
                                                      const ExchangeRegion* region) {
  if (chunk_count(job) < ChunkId(shards) * ChunkId(job.fragments))
    return failure(fmt::format("{} shards of {} fragments for a model of {} chunks; use fewer",
                               shards, job.fragments, chunk_count(job)));
  if (!settings.cores.empty() && settings.cores.size() != std::size_t(shards))
    return failure(fmt::format("{} cores for {} shards; name one for each, or none",
                               settings.cores.size(), shards));
  if (!settings.clock.fits())
    return failure("a clock whose origin is more than 50 days away; count from the job's start");
  auto host = std::unique_ptr<IslandHost>(new IslandHost(job));
  host->accounts_.resize(std::size_t(shards));
  for (int i = 0; i < shards; ++i) {
    auto shard = IslandShard::make(settings, shard_job(job, i, shards), i, region);
    if (!shard) return Unexpected<Error>{shard.error().within(fmt::format("shard {}", i))};
    host->shards_.add(std::move(*shard));
  }
  host->shards_.start();
  return host;
}

IslandHost::IslandHost(const JobSpec& job) : job_(job) {}

IslandHost::~IslandHost() {
  stop();
}

void IslandHost::open_round(const RoundOpening& opening) {
  RoundOpening each = opening;
  const int shards = int(shards_.size());
  each.part = shard_part(opening.part, job_, shards);
  each.next_stream.rate = opening.next_stream.rate / double(shards);
  for (const auto& shard : shards_) shard->open_round(each);
}

void IslandHost::stop() {
  shards_.stop();
}

std::optional<RoundReport> IslandHost::next_report() {
  for (std::size_t i = 0; i < shards_.size(); ++i) shards_[i].take_accounts(accounts_[i]);
  const RoundId round = reported_ + 1;
  const auto its = [&](const ShardAccount& account) { return account.round == round; };
  for (const auto& list : accounts_)
    if (std::none_of(list.begin(), list.end(), its)) return {};
  reported_ = round;
  const IslandReading now = reading();
  RoundReport report;
  report.round = round;
  report.sender = now.sender;
  report.receiver = now.receiver;
  for (auto& list : accounts_) {
    const auto found = std::find_if(list.begin(), list.end(), its);
    const ShardAccount& account = *found;
    report.measured = std::max(report.measured, account.measured);
    for (const Absence& absence : account.absences) add_absence(report.absences, absence);
    report.moves.insert(report.moves.end(), account.moves.begin(), account.moves.end());
    report.mixing.resize(account.mixing.size());
    for (std::size_t j = 0; j < account.mixing.size(); ++j) report.mixing[j] += account.mixing[j];
    list.erase(found);
  }
  return report;
}

IslandReading IslandHost::reading() const {
  IslandReading all;
  for (const auto& shard : shards_) all.add(shard->reading());
  return all;
}

Endpoint IslandHost::own(int shard) const {
  return shards_[std::size_t(shard)].own();
}

}  // namespace cotillion
