#include "daemon/edge_host.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/edge_shard.hpp"
#include "daemon/shards.hpp"

namespace cotillion {

Result<std::unique_ptr<EdgeHost>> EdgeHost::start(const EdgeHostSettings& settings,
                                                  std::vector<Edge> shards) {
  if (shards.empty()) return failure("an edge without shards; give it at least one");
  if (!settings.cores.empty() && settings.cores.size() != shards.size())
    return failure(fmt::format("{} cores for {} shards; name one for each, or none",
                               settings.cores.size(), shards.size()));
  if (settings.port == 0 || settings.port + shards.size() > 65'536)
    return failure(fmt::format("groups at port {}; {} shards need as many ports from it on",
                               settings.port, shards.size()));
  if (!settings.clock.fits())
    return failure("a clock whose origin is more than 50 days away; count from the job's start");
  if (settings.direct && shards.size() > 1)
    return failure("AF_XDP serves one shard; one queue of an interface has one socket");
  if (settings.batch < 1) return failure("batches of no packets");
  for (const HeardGroup& heard : settings.groups)
    if (!is_group(heard.group) || heard.source < 0)
      return failure(fmt::format("{} is no multicast group; they are 224.0.0.0 to 239.255.255.255",
                                 to_text(heard.group)));
  for (const InjectorSettings& injector : {settings.on_receive, settings.on_send})
    if (const auto sound = checked(injector); !sound)
      return Unexpected<Error>{sound.error().within("injector")};

  auto host = std::unique_ptr<EdgeHost>(new EdgeHost);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    auto shard = EdgeShard::make(settings, int(i), std::move(shards[i]));
    if (!shard) return Unexpected<Error>{shard.error().within(fmt::format("shard {}", i))};
    host->shards_.add(std::move(*shard));
  }
  host->shards_.start();
  return host;
}

EdgeHost::~EdgeHost() {
  stop();
}

void EdgeHost::open_round(JobId job, const RoundSpec& round) {
  for (std::size_t i = 0; i < shards_.size(); ++i)
    shards_[i].open_round(shard_id(job, int(i)), round);
}

void EdgeHost::account_for(RoundId round) {
  for (const auto& shard : shards_) shard->account_for(round);
}

std::optional<EdgeAccount> EdgeHost::next_account() {
  accounts_.resize(shards_.size());
  for (std::size_t i = 0; i < shards_.size(); ++i) shards_[i].take_accounts(accounts_[i]);
  if (std::any_of(accounts_.begin(), accounts_.end(),
                  [](const auto& list) { return list.empty(); }))
    return {};
  EdgeAccount all;
  for (auto& list : accounts_) {
    const EdgeAccount& part = list.front();
    all.round = part.round;
    all.accepted.resize(part.accepted.size(), kNever);
    for (const SourceId i : part.accepted.ids())
      if (part.accepted[i] != kNever)
        all.accepted[i] = all.accepted[i] == kNever ? part.accepted[i]
                                                    : std::max(all.accepted[i], part.accepted[i]);
    list.erase(list.begin());
  }
  return all;
}

void EdgeHost::stop() {
  shards_.stop();
}

EdgeReading EdgeHost::reading() const {
  EdgeReading all;
  for (const auto& shard : shards_) all.add(shard->reading());
  return all;
}

EdgeReading EdgeHost::reading(int shard) const {
  return shards_[std::size_t(shard)].reading();
}

std::uint64_t EdgeHost::packets_heard() const {
  std::uint64_t packets = 0;
  for (const auto& shard : shards_) packets += shard->packets_heard();
  return packets;
}

Endpoint EdgeHost::own(int shard) const {
  return shards_[std::size_t(shard)].own();
}

}  // namespace cotillion
