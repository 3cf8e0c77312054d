// An island on real sockets: sends its stream to the plan's groups at the plan's instants, hears
// the sums of its edge, asks for what was lost, and puts corrections into the exchange region.
// One thread for each shard, with a socket, a sender and a receiver of its own.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "daemon/edge_reading.hpp"
#include "daemon/shard_loop.hpp"
#include "daemon/udp_socket.hpp"
#include "exchange/clock.hpp"
#include "exchange/exchange_region.hpp"
#include "job/messages.hpp"
#include "job/roles.hpp"

namespace cotillion {

struct IslandHostSettings {
  RunClock clock{0};
  Endpoint own;               // streams and requests leave from here, sums come here; shard s: + s
  Endpoint edge;              // requests go there; shard s: port + s. Sums from no one else
  Ipv4Address interface = 0;  // through which groups are reached
  std::uint16_t port = kUdpPort;  // of the groups; shard s: + s
  std::vector<int> cores;         // by shard: where its thread runs; empty: anywhere
  Bytes receive_buffer{32 << 20};
  SenderSettings sending;
  ReceiverSettings receiving;
  MergeSettings merging;
  int exponent = 0;  // of i32 jobs
  IslandId self = 0;
  std::uint64_t elements = 1;  // of the whole model
  BootId own_boot = 1, edge_boot = 1;
};

// One round, as the host tells it.
struct RoundOpening {
  RoundAssignment part;
  Ipv4Address group = 0;   // of its stream
  StreamSpec next_stream;  // of the round after this one; round 0: none
};

// One shard's account of one round.
struct ShardAccount {
  RoundId round = 0;
  Duration measured;              // from the round's start to the last chunk placed
  std::vector<Absence> absences;  // chunks numbered in the whole model
  std::vector<double> mixing;     // its share of this island's row of Ŵ
  std::vector<ReportedMove> moves;
};

struct IslandReading {
  HostCounters host;
  SenderCounters sender;
  ReceiverCounters receiver;
  std::uint64_t corrections = 0;  // put into the region, or checked against a synthetic one
  std::uint64_t wrong = 0;        // elements of sums, as a synthetic model knows them
  Duration copy_age_max{0};       // the oldest copy that was sent
  Bytes sums_max{0};              // the most memory of sums that wait to be merged
  Duration held_up{0};            // copies that waited for training code to let go
  std::vector<Absence> missing;   // of the newest round that is past its deadlines
  RoundId missing_round = 0;      // which that is
  Instant heard{INT64_MIN};       // when its edge was, last

  void add(const IslandReading& other);
};

class IslandShard;

class IslandHost {
 public:
  // The region must outlive it, with fragments as region_spec says; without one it is a
  // synthetic model (daemon/synthetic_model.hpp). Everything that can be refused is refused here.
  [[nodiscard]] static Result<std::unique_ptr<IslandHost>> start(const IslandHostSettings& settings,
                                                                 const JobSpec& job, int shards,
                                                                 const ExchangeRegion* region);
  ~IslandHost();  // stops
  IslandHost(const IslandHost&) = delete;
  IslandHost& operator=(const IslandHost&) = delete;

  // Before its start, in order; `opening` is the whole island's.
  void open_round(const RoundOpening& opening);
  void stop();

  // A round that all shards have given their accounts of, in order, each once.
  [[nodiscard]] std::optional<RoundReport> next_report();
  [[nodiscard]] IslandReading reading() const;
  [[nodiscard]] Endpoint own(int shard) const;

 private:
  explicit IslandHost(const JobSpec& job);

  JobSpec job_;
  ShardThreads<IslandShard> shards_;
  std::vector<std::vector<ShardAccount>> accounts_;  // by shard: not reported yet
  RoundId reported_ = 0;
};

// The region of an island: a fragment for every shard's every fragment, in the order of elements.
[[nodiscard]] RegionSpec region_spec(const JobSpec& job, int shards, const Map& map, IslandId self);

}  // namespace cotillion
