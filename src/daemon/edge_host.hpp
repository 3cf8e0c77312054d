// An edge on real sockets: hears the groups of its island's cliques, sums with the real protocol
// object, sends one stream in, answers the island's requests. One thread for each shard, with
// sockets, edge and counters of its own; what it is told comes by mail, off the path of packets.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "daemon/edge_reading.hpp"
#include "daemon/injector.hpp"
#include "daemon/shard_loop.hpp"
#include "daemon/udp_socket.hpp"
#include "exchange/clock.hpp"
#include "protocol/edge.hpp"

namespace cotillion {

// A group belongs to one sender and one clique; who sends on it follows from where it is heard.
struct HeardGroup {
  Ipv4Address group = 0;
  SourceId source = 0;
  Ipv4Address from = 0;  // the only address that may send to it; 0: any may
};

// When the last contribution of each source was accepted in one round; kNever: none was.
struct EdgeAccount {
  RoundId round = 0;
  IdVector<SourceId, Instant> accepted;
};

struct EdgeHostSettings {
  RunClock clock{0};
  Ipv4Address interface = 0;  // that hears the groups
  std::vector<HeardGroup> groups;
  std::uint16_t port = kUdpPort;  // of the groups; shard s hears port + s
  Endpoint own;                   // sums leave from here and requests come here; shard s: port + s
  Endpoint island;                // sums go there; shard s: port + s. Requests from no one else
  std::vector<int> cores;         // by shard: where its thread runs; empty: anywhere
  Bytes receive_buffer{32 << 20};
  int batch = 16;  // pieces heard with one call
  // Awake after the last packet before sleep. Only run_edge_bench asks for it, which has a core for
  // the edge.
  Duration spin{0};
  bool direct = false;  // AF_XDP before the sockets, for one shard; its frames end at a page
  InjectorSettings on_receive, on_send;
};

class EdgeShard;

class EdgeHost {
 public:
  // One edge for each shard (daemon/shards.hpp). Everything that can be refused is refused here.
  [[nodiscard]] static Result<std::unique_ptr<EdgeHost>> start(const EdgeHostSettings& settings,
                                                               std::vector<Edge> shards);
  ~EdgeHost();  // stops
  EdgeHost(const EdgeHost&) = delete;
  EdgeHost& operator=(const EdgeHost&) = delete;

  // Mails a round to every shard, as job, job + 1, and so on. Shards take their mail within
  // microseconds, and within 100 ms at the latest; what they refuse is counted.
  void open_round(JobId job, const RoundSpec& round);
  // Asks for the account of a round whose packets have all come, before the next one is opened.
  void account_for(RoundId round);
  // What all shards have answered, in order, each once.
  [[nodiscard]] std::optional<EdgeAccount> next_account();
  // Puts out what is open, sends it and returns when all threads are done. Once is enough.
  void stop();

  [[nodiscard]] int shards() const { return int(shards_.size()); }
  [[nodiscard]] EdgeReading reading() const;  // of all shards
  [[nodiscard]] EdgeReading reading(int shard) const;
  [[nodiscard]] std::uint64_t packets_heard() const;
  [[nodiscard]] Endpoint own(int shard) const;  // port filled in where it was 0

 private:
  EdgeHost() = default;

  ShardThreads<EdgeShard> shards_;
  std::vector<std::vector<EdgeAccount>> accounts_;  // by shard: not handed out yet
};

}  // namespace cotillion
