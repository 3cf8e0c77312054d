#include "protocol/received_rounds.hpp"

#include <algorithm>

namespace cotillion {

ReceivedRounds::ReceivedRounds(const JobSpec& job, int live_rounds, bool counted)
    : job_(job),
      chunks_(chunk_count(job)),
      rounds_(std::size_t(live_rounds)),
      masks_(std::make_unique_for_overwrite<ContributorMask[]>(rounds_.size() * chunks_)),
      blank_(std::make_unique_for_overwrite<std::uint8_t[]>(rounds_.size() * chunks_)),
      fragments_(rounds_.size() * std::size_t(job.fragments)),
      owed_(counted ? 0 : rounds_.size() * chunks_, kNoBlock) {
  for (std::size_t i = 0; i < rounds_.size(); ++i) {
    rounds_[i].masks = &masks_[i * chunks_];
    rounds_[i].blank = &blank_[i * chunks_];
    if (!counted) rounds_[i].owed = &owed_[i * chunks_];
    rounds_[i].fragments = &fragments_[i * std::size_t(job.fragments)];
  }
}

void ReceivedRounds::open(Instant now, const ReceiverRound& plan) {
  ReceivedRound& round = at_place_of(plan.spec.round);
  const bool alone = plan.spec.expected == 0;
  round.open = true;
  round.closed = false;
  round.plan = plan;
  round.incomplete = alone ? 0 : chunks_;
  round.last_placed = now;
  round.waiting = alone ? job_.fragments : 0;
  round.due = 0;
  round.sequences = {};
  std::fill_n(round.masks, chunks_, ContributorMask(0));
  std::fill_n(round.blank, chunks_, std::uint8_t(1));
  for (int f = 0; f < job_.fragments; ++f)
    round.fragments[f] = {FragmentState::kOpen,
                          alone ? 0 : first_chunk(job_, f + 1) - first_chunk(job_, f), kNoBlock};
  newest_ = plan.spec.round;
  any_ = true;
}

bool ReceivedRounds::epoch_is_live(int epoch) const {
  return std::any_of(rounds_.begin(), rounds_.end(), [&](const ReceivedRound& round) {
    return round.open && round.spec().epoch == epoch;
  });
}

}  // namespace cotillion
