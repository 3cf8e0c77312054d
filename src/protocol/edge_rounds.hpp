// The rounds that are alive at one edge: what the plan says of each, its ledger, and how far its
// deadlines have come.
#pragma once

#include <memory>
#include <vector>

#include "protocol/round_spec.hpp"

namespace cotillion {

// One pointer walks the chunks of a round in the order in which they are due, or have their turn,
// those that nobody opened included: no timer is set for a packet. Steps are span / (chunks − 1),
// with the remainder carried along, so that no step divides.
class DeadlinePointer {
 public:
  DeadlinePointer() = default;
  DeadlinePointer(const RoundSpec& round, const JobSpec& job, Instant first);

  [[nodiscard]] ChunkId chunk() const { return chunk_; }  // the next one that will be due
  [[nodiscard]] Instant at() const { return at_; }
  [[nodiscard]] bool has_passed(ChunkId chunk) const { return chunk < chunk_; }
  [[nodiscard]] bool is_done() const { return chunk_ >= chunks_; }

  void step() {
    ++chunk_;
    at_.ps += step_;
    rest_ += step_rest_;
    if (rest_ >= steps_) {
      rest_ -= steps_;
      ++at_.ps;
    }
  }
  // All that are left are due at that instant.
  void hurry(Instant now) {
    at_ = now;
    step_ = step_rest_ = 0;
  }
  void finish() { chunk_ = chunks_; }

 private:
  ChunkId chunks_ = 0;
  ChunkId chunk_ = 0;
  Instant at_;
  std::int64_t steps_ = 1, step_ = 0, step_rest_ = 0, rest_ = 0;
};

struct EdgeRound {
  bool open = false;
  RoundSpec spec;
  // By bit: all bits that come on the same stream.
  std::array<ContributorMask, kCliqueMembersMax> together{};
  ContributorMask* ledger = nullptr;  // by chunk: whose contributions have gone out
  SlotFinder slot_of;
  ChunkId complete = 0;  // chunks
  DeadlinePointer due;
  DeadlinePointer held;  // whole sums of the chunks from there on wait for their turn
  bool ended = false;
  bool acknowledged = false;
  std::uint8_t flags = 0;            // NAN_DROPPED, for END
  std::uint32_t first_sequence = 0;  // of its outputs
};

class EdgeRounds {
 public:
  EdgeRounds(const JobSpec& job, int live_rounds);

  // Rounds come in order.
  [[nodiscard]] bool may_follow(RoundId round) const { return !any_ || round > newest_; }
  // The round takes the place of an older one, which has ended. `slots`: of the job.
  EdgeRound& open(const RoundSpec& spec, std::size_t slots, std::uint32_t first_sequence);

  [[nodiscard]] EdgeRound* find(RoundId round) {
    EdgeRound& entry = at_place_of(round);
    return entry.open && entry.spec.round == round ? &entry : nullptr;
  }
  [[nodiscard]] const EdgeRound* find(RoundId round) const {
    return const_cast<EdgeRounds*>(this)->find(round);
  }
  [[nodiscard]] const EdgeRound& newest() const { return *find(newest_); }
  // Whichever round is there, or was.
  [[nodiscard]] EdgeRound& at_place_of(RoundId round) { return rounds_[place_of(round)]; }
  [[nodiscard]] const EdgeRound& at_place_of(RoundId round) const {
    return rounds_[place_of(round)];
  }
  [[nodiscard]] std::vector<EdgeRound>& all() { return rounds_; }
  [[nodiscard]] ChunkId chunks() const { return chunks_; }

  [[nodiscard]] bool epoch_is_live(int epoch) const;
  [[nodiscard]] bool all_acknowledged() const;
  [[nodiscard]] Instant next_deadline() const;

 private:
  // Two rounds are alive, nearly always, and every packet asks: no division then.
  [[nodiscard]] std::size_t place_of(RoundId round) const {
    return rounds_.size() == 2 ? round & 1 : round % rounds_.size();
  }

  JobSpec job_;
  ChunkId chunks_;
  std::vector<EdgeRound> rounds_;
  std::unique_ptr<ContributorMask[]> ledger_;  // cleared when a round opens
  RoundId newest_ = 0;
  bool any_ = false;
};

}  // namespace cotillion
