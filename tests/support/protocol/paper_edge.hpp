// Section 3 of the paper to the letter, for tests only: what ours departs from, kept so that every
// departure is shown to be needed. A slot belongs to a weight, with no round, and counts
// contributions; a new weight puts out whoever is there; every slot has a timer; sums go out with a
// sequence number and without contributors; a copy is held for t_resend. Nothing is checked.
// PaperSettings (protocol_net.hpp) holds the few numbers that the paper leaves open.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "protocol/accumulator.hpp"
#include "protocol/aligned_bytes.hpp"
#include "tests/support/protocol/protocol_net.hpp"

namespace cotillion::testing {

enum class Rule : std::uint8_t { kPaper, kOurs };

// The accumulator of Figure 3 and the resend buffer of Figure 4, in the verbs of Edge.
class PaperEdge {
 public:
  PaperEdge(const JobSpec& job, const PaperSettings& settings);

  // How many contributions complete a slot from now on.
  void open_round(std::uint32_t expected) { expected_ = expected; }
  void on_packet(Instant now, ByteView packet, Outbox& out);
  void on_time(Instant now, Outbox& out);
  [[nodiscard]] Instant next_deadline() const;

  [[nodiscard]] std::uint64_t completions() const { return completions_; }
  [[nodiscard]] std::uint64_t timeouts() const { return timeouts_; }
  [[nodiscard]] std::uint64_t conflicts() const { return conflicts_; }

 private:
  struct Slot {
    ChunkId weight_id = 0;
    std::uint32_t count = 0;    // of contributions; 0: free
    std::uint64_t opening = 0;  // which timer is its own
    JobId job = 0;              // of the first contribution, for the reader of an output
    std::size_t bytes = 0;
  };
  struct Timer {
    Instant at;
    std::size_t slot;
    std::uint64_t opening;
  };
  struct Copy {
    std::uint32_t sequence;
    Instant sent;
    std::vector<std::byte> packet;
  };
  [[nodiscard]] std::size_t index_of(ChunkId weight_id) const;
  void accumulate(Instant now, const Header& header, ByteView payload, Outbox& out);
  void forward(Instant now, std::size_t index, Outbox& out);
  void resend(const Header& header, ByteView payload, Outbox& out);

  JobSpec job_;
  PaperSettings settings_;
  const Accumulator& accumulator_;
  std::size_t stride_;
  std::vector<Slot> slots_;
  AlignedBytes sums_;
  std::deque<Timer> timers_;  // in order: every slot waits equally long
  std::deque<Copy> copies_;
  std::uint32_t expected_ = 0;
  std::uint32_t sequence_ = 0;
  std::uint64_t openings_ = 0, completions_ = 0, timeouts_ = 0, conflicts_ = 0;
};

// The island that goes with it: adds up what comes by weight, and asks for the packet at the first
// gap in sequence numbers, one request under way at a time.
class PaperIsland {
 public:
  PaperIsland(const JobSpec& job, const PaperSettings& settings);

  void open_round(std::uint32_t expected);
  void on_packet(Instant now, ByteView packet, Outbox& out);
  void on_time(Instant now, Outbox& out);
  [[nodiscard]] Instant next_deadline() const { return ask_again_at_; }

  // (own + all that came) / (1 + how many came), on the grid of exponent 0 for i32.
  void average(ChunkId chunk, ByteView own, std::span<double> values) const;
  [[nodiscard]] std::uint32_t count(ChunkId chunk) const { return counts_[chunk]; }
  [[nodiscard]] std::size_t missing_packets() const { return missing_.size(); }
  [[nodiscard]] Instant whole_at() const { return whole_at_; }  // kNever until everything has come

 private:
  void ask(Instant now, Outbox& out);

  JobSpec job_;
  PaperSettings settings_;
  std::vector<double> sums_;           // by element
  std::vector<std::uint32_t> counts_;  // by chunk
  std::set<std::uint32_t> missing_;    // sequences
  bool asking_ = false;
  std::uint32_t asked_ = 0;
  Instant ask_again_at_ = kNever;
  std::uint32_t next_ = 0;
  std::uint32_t expected_ = 0;
  ChunkId incomplete_ = 0;
  Instant whole_at_ = kNever;
};

// The same islands, senders and wires under either rule. Every island sends values of its own in
// every round, so that an average shows whose contributions it is made of.
class Trial {
 public:
  enum class Verdict : std::uint8_t {
    kWhole,     // the average of the clique
    kReported,  // of the contributors that the receiver names, exactly
    kWrong,     // of anything else, or of nobody knows whom
  };

  Trial(Rule rule, NetSettings settings, const PaperSettings& paper = {});

  void open_round(RoundId round, const std::vector<std::vector<int>>& cliques, Instant start,
                  Instant end);
  // What an island's model holds when a round begins; small whole numbers unless a test says more.
  std::function<float(int island, RoundId round, std::uint64_t element)> value;

  ProtocolNet net;
  [[nodiscard]] std::size_t count(Verdict verdict) const;
  [[nodiscard]] std::size_t count(Verdict verdict, int island, RoundId round) const;
  // By island: the averages of all elements as merged in that round.
  [[nodiscard]] const std::vector<double>& averages(int island, RoundId round) const;

 private:
  [[nodiscard]] Verdict judge(int island, RoundId round, ChunkId chunk,
                              std::span<const double> average);
  [[nodiscard]] double mean(RoundId round, const std::vector<int>& who,
                            std::uint64_t element) const;

  Rule rule_;
  JobSpec job_;
  std::map<std::pair<int, RoundId>, std::vector<int>> cliques_;
  std::map<std::pair<int, RoundId>, std::vector<Verdict>> verdicts_;  // by chunk
  std::map<std::pair<int, RoundId>, std::vector<double>> averages_;
};

// What these trials share: integers in chunks of one beat, 5.12 µs apart, and room for all of them.
[[nodiscard]] NetSettings small_net(int islands, ChunkId chunks);
[[nodiscard]] std::vector<int> everyone(int islands);
[[nodiscard]] Header header_in(ByteView packet);  // all zeros for what is no packet
[[nodiscard]] constexpr Instant ms(double count) {
  return {std::int64_t(count * 1e9)};
}
[[nodiscard]] constexpr Duration for_ms(double count) {
  return {std::int64_t(count * 1e9)};
}
inline const Copies kOnce = {{0}};
inline const Copies kLost = {};

}  // namespace cotillion::testing
