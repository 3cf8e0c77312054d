#include "protocol/edge_rounds.hpp"

#include <algorithm>

namespace cotillion {

DeadlinePointer::DeadlinePointer(const RoundSpec& round, const JobSpec& job, Instant first)
    : chunks_(chunk_count(job)),
      at_(first),
      steps_(std::max<std::int64_t>(1, std::int64_t(chunks_) - 1)) {
  const std::int64_t span = (round.last_deadline - round.first_deadline).ps;
  step_ = span / steps_;
  step_rest_ = span % steps_;
}

EdgeRounds::EdgeRounds(const JobSpec& job, int live_rounds)
    : job_(job),
      chunks_(chunk_count(job)),
      rounds_(std::size_t(live_rounds)),
      ledger_(std::make_unique_for_overwrite<ContributorMask[]>(rounds_.size() * chunks_)) {
  for (std::size_t i = 0; i < rounds_.size(); ++i) rounds_[i].ledger = &ledger_[i * chunks_];
}

EdgeRound& EdgeRounds::open(const RoundSpec& spec, std::size_t slots,
                            std::uint32_t first_sequence) {
  EdgeRound& round = at_place_of(spec.round);
  const bool nobody = spec.expected == 0;  // an island that sits out
  round.open = true;
  round.spec = spec;
  round.slot_of = SlotFinder(key_of(chunks_, spec.round, 0), slots);
  round.complete = nobody ? chunks_ : 0;
  round.ended = round.acknowledged = nobody;
  round.flags = 0;
  round.first_sequence = first_sequence;
  std::fill_n(round.ledger, chunks_, ContributorMask(0));
  for (std::size_t bit = 0; bit < std::size_t(spec.members); ++bit) {
    ContributorMask& together = round.together[bit];
    together = 0;
    for (std::size_t other = 0; other < std::size_t(spec.members); ++other)
      if (spec.source[bit] == spec.source[other]) together |= ContributorMask(1) << other;
    together &= spec.expected;
  }
  round.due = DeadlinePointer(spec, job_, chunk_deadline(spec, job_, 0));
  round.held = DeadlinePointer(spec, job_, spec.held_until);
  if (nobody) round.due.finish();
  if (nobody || spec.held_until == Instant{INT64_MIN}) round.held.finish();
  newest_ = spec.round;
  any_ = true;
  return round;
}

bool EdgeRounds::epoch_is_live(int epoch) const {
  return std::any_of(rounds_.begin(), rounds_.end(), [&](const EdgeRound& round) {
    return round.open && round.spec.epoch == epoch;
  });
}

bool EdgeRounds::all_acknowledged() const {
  return std::all_of(rounds_.begin(), rounds_.end(),
                     [](const EdgeRound& round) { return !round.open || round.acknowledged; });
}

Instant EdgeRounds::next_deadline() const {
  Instant soonest = kNever;
  for (const EdgeRound& round : rounds_) {
    if (round.open && !round.due.is_done()) soonest = std::min(soonest, round.due.at());
    if (round.open && !round.held.is_done()) soonest = std::min(soonest, round.held.at());
  }
  return soonest;
}

}  // namespace cotillion
