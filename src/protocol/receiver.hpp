// The island's end of the last hop: places what its edge sends by chunk, merges partial sums by
// the same rule as an edge, asks for what was lost, and hands each fragment's average to the
// running model when it is whole or its time is up. What is missing is reported, never guessed.
#pragma once

#include <optional>
#include <vector>

#include "protocol/absence_account.hpp"
#include "protocol/chunk_average.hpp"
#include "protocol/counters.hpp"
#include "protocol/hop_receiver.hpp"
#include "protocol/merge.hpp"
#include "protocol/outbox.hpp"
#include "protocol/received_rounds.hpp"
#include "protocol/received_sums.hpp"
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
  [[nodiscard]] Instant heard() const { return hop_.heard(); }
  [[nodiscard]] const ReceiverCounters& counters() const { return counters_; }
  [[nodiscard]] std::uint32_t missing_packets() const { return hop_.missing(); }
  // Of sums that wait to be merged and of what is kept for late ones, at most so far.
  [[nodiscard]] std::size_t most_bytes() const { return sums_.most_bytes(); }

 private:
  [[nodiscard]] Instant fragment_deadline(const ReceivedRound& round, int fragment) const;

  // receiver.cpp
  void leave(Instant now, ReceivedRound& round, Outbox& out, ReceiverEvents& events);
  [[nodiscard]] bool expected(const ReceivedRound& round, const Header& header,
                              std::size_t payload) const;
  [[nodiscard]] static bool meets(const ReceivedRound& round, const Header& header);
  void on_heartbeat(const HopTurn& turn, ReceivedRound* round, const Header& header,
                    ByteView packet);
  void place(Instant now, ReceivedRound& round, const Header& header, ByteView payload,
             ReceiverEvents& events);
  void place_late(ReceivedRound& round, const Header& header, ByteView payload,
                  ReceiverEvents& events);
  void make_ready(Instant now, ReceivedRound& round, int fragment, ReceiverEvents& events);
  [[nodiscard]] bool was_copied_since(RoundId round, int fragment) const;
  void close(ReceivedRound& round, Outbox& out, ReceiverEvents& events);

  // receiver_merge.cpp
  void average_of(const ReceivedRound& round, ChunkId chunk, const std::byte* own,
                  const std::byte* sum, const ChunkAverage& into) const;
  [[nodiscard]] LateChunk* next_late(RoundId round, int fragment);
  void apply_late(ReceivedRound& round, LateChunk& late, std::span<float> elements);

  ReceiverSettings settings_;
  JobSpec job_;
  Snapshots& snapshots_;
  Merge& merge_;
  ReceivedRounds rounds_;
  HopReceiver hop_;
  ReceivedSums sums_;
  LateSums late_;
  ChunkBuffers buffers_;
  AbsenceAccount absences_;
  Instant now_{0};  // when it was last called
  ReceiverCounters counters_;
};

}  // namespace cotillion
