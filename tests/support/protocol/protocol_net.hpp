// A small network for tests of the protocol: islands with sender, receiver and edge, in virtual
// time, on wires that a test may cut, double, delay and tamper with. The real objects throughout.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <vector>

#include "protocol/edge.hpp"
#include "protocol/receiver.hpp"
#include "protocol/sender.hpp"

namespace cotillion::testing {

enum class Hop : std::uint8_t { kToEdge, kToIsland, kFromIsland };

// What a wire does with one packet: when each copy arrives after its time of flight.
using Copies = std::vector<Duration>;

class PaperEdge;
class PaperIsland;

// The paper's literal rules, for tests that show why ours differ (paper_edge.hpp).
struct PaperSettings {
  std::size_t slots = 4096;
  bool hashed = false;               // or the hash is coordinated with the order of sending
  Duration timeout{50'000'000'000};  // of a slot, from its first contribution
  Duration resend{1'000'000'000};    // t_resend
  Duration ask_again{0};             // after a request without answer; 0: never, as in the paper
};

struct NetSettings {
  JobSpec job;
  int islands = 3;
  int exponent = 0;
  Exchange exchange = Exchange::kWhole;
  MergeSettings merge;
  std::size_t slots = 64;
  std::size_t resend_packets = 1024;
  GapSettings gaps;  // of receivers; round_trip defaults to twice the last hop
  bool authenticated = false;
  BitsPerSecond rate{1e9};
  Duration slack{5'000'000'000};                      // 5 ms
  Duration last_hop{100'000'000};                     // 0.1 ms, one way
  std::function<Duration(int from, int to)> latency;  // default 10 ms + 1 ms × |from − to|
  // May change the packet. Default: one copy, no extra delay.
  std::function<Copies(Hop hop, int from, int to, std::vector<std::byte>& packet)> wire;
  std::vector<std::uint32_t> weights;  // of islands; default 1
  std::optional<PaperSettings> paper;  // instead of our edges and receivers; rounds apart, kWhole
};

class ProtocolNet {
 public:
  explicit ProtocolNet(NetSettings settings);
  ~ProtocolNet();
  ProtocolNet(const ProtocolNet&) = delete;
  ProtocolNet& operator=(const ProtocolNet&) = delete;

  // Announces a round to everyone: its cliques start at `start` and merge at `end`.
  void open_round(RoundId round, const std::vector<std::vector<int>>& cliques, Instant start,
                  Instant end);
  void run_until(Instant when);
  // Calls `then` in virtual time.
  void at(Instant when, std::function<void()> then);
  // Any bytes, as if they had arrived there.
  void deliver_to_edge(Instant when, int edge, SourceId source, std::vector<std::byte> packet);

  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] std::vector<float>& model(int island);
  [[nodiscard]] Edge& edge(int island);
  [[nodiscard]] const EdgeCounters& edge_counters(int island) const;
  [[nodiscard]] Receiver& receiver(int island);
  [[nodiscard]] const Sender& sender(int island) const;
  [[nodiscard]] const PaperEdge& paper_edge(int island) const;
  [[nodiscard]] const PaperIsland& paper_island(int island) const;
  // The average of a chunk as it would be merged now, under either rule.
  void average(int island, RoundId round, ChunkId chunk, std::span<double> values);
  // What an island signs its stream with: all that it holds.
  [[nodiscard]] Seal sender_seal(int island) const;
  // Loses slots, ledger and store; open rounds are announced to it again.
  void restart_edge(int island);

  struct Account {
    RoundId round;
    Instant when;
    std::vector<Absence> absences;
  };
  [[nodiscard]] const std::vector<Account>& accounts(int island) const;
  // Called before a fragment of an island is merged.
  std::function<void(int island, RoundId round, int fragment)> before_merge;
  // Called at each snapshot of a chunk, before the model is read.
  std::function<void(int island, RoundId round, std::uint64_t first, std::size_t count)>
      on_snapshot;
  // Every sum that an edge puts out, as it left.
  std::function<void(int island, ByteView packet)> on_output;

 private:
  struct Island;
  struct Event {
    Instant when;
    std::uint64_t order;
    std::function<void()> then;
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.when != b.when ? a.when > b.when : a.order > b.order;
    }
  };
  void carry(Hop hop, int from, int to, Duration flight, ByteView packet,
             std::function<void(std::vector<std::byte>)> arrive);
  void wake(int island);
  void reach_edge(Island& self, SourceId source, const std::vector<std::byte>& packet);
  void open_paper_round(int island, RoundId round, std::uint32_t expected, Instant end);
  [[nodiscard]] std::unique_ptr<Edge> make_edge(int island);

  NetSettings settings_;
  Instant now_{0};
  std::uint64_t order_ = 0;
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  std::vector<std::unique_ptr<Island>> islands_;
};

}  // namespace cotillion::testing
