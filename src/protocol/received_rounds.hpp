// The rounds that are alive at one receiver: whose contributions have come of every chunk, what
// state every fragment is in, and which sequences of the hop are theirs.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "protocol/block_pool.hpp"
#include "protocol/round_spec.hpp"

namespace cotillion {

struct ReceiverRound {
  RoundSpec spec;     // as the edge has it, own bit included
  Instant merge_at;   // whole: the end of the round. Streamed: not before, usually its start
  Duration grace{0};  // from the edge's deadline of a chunk until it is given up here
};

enum class FragmentState : std::uint8_t { kOpen, kReady, kMerging, kMerged };

struct ReceivedFragment {
  FragmentState state = FragmentState::kOpen;
  ChunkId incomplete = 0;         // chunks
  std::uint32_t sums = kNoBlock;  // of ReceivedSums
  bool alone = false;             // nothing had come when it was merged
};

// What is known of a round's sequences on the hop.
struct RoundSequences {
  bool first_known = false;
  std::uint32_t first = 0;  // once announced
  bool end_known = false;
  std::uint32_t end = 0;  // after its last packet
  bool seen_any = false;
  std::uint32_t seen_to = 0;  // after the last one seen

  void announce(std::uint32_t its_first) {
    first = its_first;
    first_known = true;
  }
  void finish(std::uint32_t its_end) {
    end = its_end;
    end_known = true;
  }
  void see(std::uint32_t sequence) {
    if (!seen_any || std::int32_t(sequence + 1 - seen_to) > 0) seen_to = sequence + 1;
    seen_any = true;
  }
};

struct ReceivedRound {
  bool open = false;
  bool closed = false;  // the account is given
  ReceiverRound plan;
  ChunkId incomplete = 0;
  Instant last_placed;
  int waiting = 0;  // fragments that are whole or due and not ready yet
  int due = 0;      // fragments below are past their deadline
  RoundSequences sequences;
  // By chunk: who has come; nothing but zeros came, and the sum is not written yet; what is kept of
  // one that was merged without some (null where nothing is).
  ContributorMask* masks = nullptr;
  std::uint8_t* blank = nullptr;
  std::uint32_t* owed = nullptr;
  ReceivedFragment* fragments = nullptr;

  [[nodiscard]] const RoundSpec& spec() const { return plan.spec; }
  [[nodiscard]] bool lacks_somebody(ChunkId chunk) const {
    return masks[chunk] != plan.spec.expected;
  }
  // When the account is given at the latest.
  [[nodiscard]] Instant closes_at() const {
    return std::max(plan.merge_at, plan.spec.last_deadline + plan.grace);
  }
  // A fragment's time is up: it is made ready with what has come.
  void pass_deadline() {
    const ReceivedFragment& fragment = fragments[due++];
    if (fragment.state == FragmentState::kOpen && fragment.incomplete > 0) ++waiting;
  }
};

class ReceivedRounds {
 public:
  // `counted`: nothing is kept of chunks that were merged without some.
  ReceivedRounds(const JobSpec& job, int live_rounds, bool counted);

  [[nodiscard]] bool may_follow(RoundId round) const { return !any_ || round > newest_; }
  // The round takes the place of one that was closed.
  void open(Instant now, const ReceiverRound& plan);

  [[nodiscard]] ReceivedRound* find(RoundId round) {
    ReceivedRound& entry = at_place_of(round);
    return entry.open && entry.spec().round == round ? &entry : nullptr;
  }
  [[nodiscard]] const ReceivedRound* find(RoundId round) const {
    return const_cast<ReceivedRounds*>(this)->find(round);
  }
  // Whichever round is there, or was.
  [[nodiscard]] ReceivedRound& at_place_of(RoundId round) { return rounds_[place_of(round)]; }
  [[nodiscard]] bool share_a_place(RoundId a, RoundId b) const {
    return place_of(a) == place_of(b);
  }
  [[nodiscard]] std::vector<ReceivedRound>& all() { return rounds_; }
  [[nodiscard]] const std::vector<ReceivedRound>& all() const { return rounds_; }
  [[nodiscard]] bool any() const { return any_; }
  [[nodiscard]] RoundId newest() const { return newest_; }
  [[nodiscard]] ChunkId chunks() const { return chunks_; }
  [[nodiscard]] bool epoch_is_live(int epoch) const;

 private:
  [[nodiscard]] std::size_t place_of(RoundId round) const { return round % rounds_.size(); }

  JobSpec job_;
  ChunkId chunks_;
  std::vector<ReceivedRound> rounds_;
  std::unique_ptr<ContributorMask[]> masks_;  // these two are filled when a round opens
  std::unique_ptr<std::uint8_t[]> blank_;
  std::vector<ReceivedFragment> fragments_;
  std::vector<std::uint32_t> owed_;
  RoundId newest_ = 0;
  bool any_ = false;
};

}  // namespace cotillion
