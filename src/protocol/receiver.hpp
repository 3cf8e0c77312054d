// The island's end of the last hop: places what its edge sends by chunk, merges partial sums by
// the same rule as an edge, asks for what was lost, and hands each fragment's average to the
// running model when it is whole or its time is up. What is missing is reported, never guessed.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "protocol/accumulator.hpp"
#include "protocol/block_pool.hpp"
#include "protocol/counters.hpp"
#include "protocol/gap_tracker.hpp"
#include "protocol/merge.hpp"
#include "protocol/outbox.hpp"
#include "protocol/request.hpp"
#include "protocol/round_spec.hpp"
#include "protocol/seal.hpp"
#include "protocol/sender.hpp"
#include "protocol/snapshots.hpp"

namespace cotillion {

struct ReceiverSettings {
  int live_rounds = 2;
  Exchange exchange = Exchange::kWhole;
  GapSettings gaps;                     // window: as many packets as the edge keeps
  Duration heartbeat{100'000'000'000};  // between announcements to the edge
  std::size_t late_chunks = 64;         // that may wait for a late correction
  int islands = 0;                      // in the job: who "everyone" is
  bool keep_merged = true;              // sums, until the round's place is needed: for average()
};

struct ReceiverRound {
  RoundSpec spec;     // as the edge has it, own bit included
  Instant merge_at;   // whole: the end of the round. Streamed: not before, usually its start
  Duration grace{0};  // from the edge's deadline of a chunk until it is given up here
};

// One contributor's absence from a round.
struct Absence {
  int member = 0;      // its bit
  ChunkId chunks = 0;  // that lack it
  ChunkId first_chunk = 0;
};

class ReceiverEvents {
 public:
  // merge() may be called for this fragment from now on.
  virtual void fragment_ready(RoundId round, int fragment) = 0;
  // More came for a fragment that was merged: merge_late() adds the difference.
  virtual void late_ready(RoundId round, int fragment) = 0;
  // The final account. No absence: everything came. Details by chunk: contributors().
  virtual void round_closed(RoundId round, std::span<const Absence> absences) = 0;

 protected:
  ~ReceiverEvents() = default;
};

class Receiver {
 public:
  Receiver(const ReceiverSettings& settings, Snapshots& snapshots, Merge& merge, Seal own,
           Seal edge);

  // A round whose place this one takes is closed first; fragments of it that are not merged by the
  // time round_closed returns are lost, and counted.
  [[nodiscard]] Result<RoundSpec> open_round(Instant now, const ReceiverRound& round, Outbox& out,
                                             ReceiverEvents& events);
  void on_packet(Instant now, ByteView packet, Outbox& out, ReceiverEvents& events);
  // At next_deadline, and after the sender copied a fragment: its average may be waiting for that.
  void on_time(Instant now, Outbox& out, ReceiverEvents& events);
  [[nodiscard]] Instant next_deadline() const;

  // Adds the correction to the fragment's elements of the model; between optimizer steps, once for
  // each fragment_ready, while the round is live. Later than that nothing is left to add, which is
  // counted as unmerged, and the answer is false.
  bool merge(RoundId round, int fragment, std::span<float> elements);
  // The same in pieces, for hosts that have other things to do meanwhile: begin, every chunk of the
  // fragment once, end. A chunk's own S is not needed any more after its piece.
  [[nodiscard]] bool begin_merge(RoundId round, int fragment);
  void merge_chunk(RoundId round, ChunkId chunk, std::span<float> elements);
  void end_merge(RoundId round, int fragment);
  void merge_late(RoundId round, int fragment, std::span<float> elements);
  // The same, chunk by chunk: adds the difference that the next one of them makes to `room`, the
  // elements of a chunk, and says which chunk that is. None: there are no more.
  [[nodiscard]] std::optional<ChunkId> take_late(RoundId round, int fragment,
                                                 std::span<float> room);
  // Instead of these in a rehearsal, where there are no values.
  void skip(RoundId round, int fragment);
  void skip_late(RoundId round, int fragment);

  // By chunk: whose contributions are in the average, own one excluded.
  [[nodiscard]] std::span<const ContributorMask> contributors(RoundId round) const;
  // The average of a chunk as it would be merged now, before rounding to float.
  void average(RoundId round, ChunkId chunk, std::span<double> values);
  // When the last sum of a live round was placed; its opening, if nothing came.
  [[nodiscard]] Instant last_placed(RoundId round) const;
  // Which share of progress the merge of that fragment keeps: all of it where nobody's contribution
  // has come, and the model stays as it is.
  [[nodiscard]] double kept(RoundId round, int fragment) const;
  // Nobody's contribution was in what was merged of it.
  [[nodiscard]] bool alone(RoundId round, int fragment) const;
  // When something that its edge has sealed came last.
  [[nodiscard]] Instant heard() const { return heard_; }
  [[nodiscard]] const ReceiverCounters& counters() const { return counters_; }
  [[nodiscard]] std::uint32_t missing_packets() const { return gaps_.missing(); }
  // Of sums that wait to be merged and of what is kept for late ones, at most so far.
  [[nodiscard]] std::size_t most_bytes() const { return sums_.most_bytes() + owed_.most_bytes(); }

 private:
  enum class FragmentState : std::uint8_t { kOpen, kReady, kMerging, kMerged };
  struct Fragment {
    FragmentState state = FragmentState::kOpen;
    ChunkId incomplete = 0;  // chunks
    std::uint32_t sums = kNoBlock;
    bool alone = false;  // nothing had come when it was merged
  };
  struct LiveRound {
    bool open = false;
    bool closed = false;  // the account is given
    ReceiverRound round;
    ChunkId incomplete = 0;
    Instant last_placed;
    int waiting = 0;        // fragments that are whole or due and not ready yet
    int due = 0;            // fragments below are past their deadline
    std::uint32_t end = 0;  // the sequence after its last packet, once known
    bool end_known = false;
    bool first_known = false;
    std::uint32_t first = 0;  // sequence of its outputs, once announced
    bool seen_any = false;
    std::uint32_t seen_to = 0;  // the sequence after the last one seen
    ContributorMask* masks = nullptr;
    std::uint8_t* blank = nullptr;  // by chunk: nothing but zeros came, the sum is not written yet
    std::uint32_t* owed = nullptr;  // by chunk: what is kept of one that was merged without some
    Fragment* fragments = nullptr;
  };
  struct LateChunk {
    bool used = false;
    RoundId round = 0;
    ChunkId chunk = 0;
    ContributorMask mask = 0;
  };

  [[nodiscard]] LiveRound* live(RoundId round);
  [[nodiscard]] const LiveRound* live(RoundId round) const;
  [[nodiscard]] std::byte* sum_of(LiveRound& round, int fragment, ChunkId chunk);
  [[nodiscard]] Instant fragment_deadline(const LiveRound& round, int fragment) const;

  // receiver.cpp
  [[nodiscard]] bool expected(const LiveRound& round, const Header& header,
                              std::size_t payload) const;
  [[nodiscard]] static bool meets(const LiveRound& round, const Header& header);
  void place(Instant now, LiveRound& round, const Header& header, ByteView payload,
             ReceiverEvents& events);
  void place_late(LiveRound& round, const Header& header, ByteView payload, ContributorMask seen,
                  ReceiverEvents& events);
  void make_ready(Instant now, LiveRound& round, int fragment, ReceiverEvents& events);
  [[nodiscard]] bool add_finite(std::byte* sum, bool first, const Accumulator& lanes,
                                const std::byte* more, std::size_t elements);
  [[nodiscard]] std::size_t note_absences(const LiveRound& round);

  // receiver_hop.cpp
  void on_announcement(Instant now, LiveRound* round, const Header& header, ByteView packet);
  void close(LiveRound& round, Outbox& out, ReceiverEvents& events);
  void ask(Instant now, Outbox& out);
  void announce(Outbox& out);
  void begin_hop(std::uint32_t sequence);
  [[nodiscard]] Header header_of(PacketType type);

  // receiver_merge.cpp
  void average_of(const LiveRound& round, ChunkId chunk, const std::byte* own, const std::byte* sum,
                  std::span<double> average, std::span<double> sent) const;
  void give_back(LiveRound& round);
  [[nodiscard]] LateChunk* next_late(RoundId round, int fragment);
  void apply_late(LiveRound& round, LateChunk& late, std::span<float> elements);
  [[nodiscard]] bool fold(LiveRound& round, ChunkId chunk, const std::byte* more);

  ReceiverSettings settings_;
  Snapshots& snapshots_;
  Merge& merge_;
  Seal own_;
  Seal edge_;
  JobSpec job_;
  ChunkId chunks_;
  std::size_t stride_;
  const Accumulator& accumulator_;
  std::vector<LiveRound> rounds_;
  std::unique_ptr<ContributorMask[]> masks_;  // these two are filled when a round opens
  std::unique_ptr<std::uint8_t[]> blank_;
  std::vector<Fragment> fragments_;
  std::vector<std::uint32_t> owed_of_;
  BlockPool sums_;  // a fragment's, from its first arrival until it is merged
  BlockPool owed_;  // a chunk's sum, and S after it
  std::vector<LateChunk> late_;
  AlignedBytes late_sums_;
  AlignedBytes scratch_;                         // one sum
  std::vector<double> average_, before_, sent_;  // one chunk
  std::vector<Absence> absences_;
  GapTracker gaps_;
  bool hop_known_ = false;  // where the edge's sequences begin for us
  RequestWriter request_;
  Instant now_{0};  // when it was last called
  Instant heard_{INT64_MIN};
  RoundId newest_ = 0;
  bool any_round_ = false;
  bool answered_ = false;  // by this boot of the edge
  Instant heartbeat_at_ = kNever;
  std::array<std::uint32_t, 16> control_sequence_{};
  ReceiverCounters counters_;
};

}  // namespace cotillion
