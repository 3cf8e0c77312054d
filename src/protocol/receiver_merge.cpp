// From sums to corrections: what the receiver hands to the running model.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.hpp"
#include "protocol/receiver.hpp"

namespace cotillion {

// `sum` is null where nothing but zeros came.
void Receiver::average_of(const ReceivedRound& round, ChunkId chunk, const std::byte* own,
                          const std::byte* sum, const ChunkAverage& into) const {
  const RoundSpec& spec = round.spec();
  const ContributorMask present = round.masks[chunk];
  const auto bit = std::size_t(spec.own);
  const ContributorMask own_mask = ContributorMask(1) << unsigned(spec.own);
  const double everyone = weight_of(spec, spec.expected | own_mask);
  const double here = weight_of(spec, present | own_mask);
  const bool grid = job_.element == Element::kI32;
  const Mean mean{job_.element, double(spec.weight[bit]), double(spec.coefficient[bit]),
                  mean_coefficients(merge_.settings().missing, here, everyone - here),
                  grid ? std::ldexp(1.0, snapshots_.grid().exponent(chunk)) : 1.0};
  average_chunk(mean, own, sum, into);
  // With nobody there the average is one's own, exactly: no rounding may move the model.
  if (present == 0) std::copy(into.sent.begin(), into.sent.end(), into.average.begin());
}

void Receiver::average(RoundId round, ChunkId chunk, std::span<double> values) {
  ReceivedRound* found = rounds_.find(round);
  COTILLION_CHECK(found != nullptr && values.size() == elements_in(job_, chunk));
  const ChunkAverage into{values, buffers_.first(values.size()).sent};
  if (found->owed[chunk] != kNoBlock)
    return average_of(*found, chunk, sums_.kept_own(*found, chunk), sums_.kept_sum(*found, chunk),
                      into);
  average_of(*found, chunk, snapshots_.chunk(round, chunk).data(), sums_.values_of(*found, chunk),
             into);
}

bool Receiver::begin_merge(RoundId round, int fragment) {
  ReceivedRound* found = rounds_.find(round);
  if (found == nullptr || found->fragments[fragment].state != FragmentState::kReady ||
      !snapshots_.taken(round, first_chunk(job_, fragment)))
    return false;
  ReceivedFragment& merging = found->fragments[fragment];
  merging.state = FragmentState::kMerging;
  merging.alone = std::all_of(found->masks + first_chunk(job_, fragment),
                              found->masks + first_chunk(job_, fragment + 1),
                              [](auto mask) { return mask == 0; });
  return true;
}

bool Receiver::alone(RoundId round, int fragment) const {
  const ReceivedRound* found = rounds_.find(round);
  return found != nullptr && found->fragments[fragment].alone;
}

double Receiver::kept(RoundId round, int fragment) const {
  return merge_coefficients(merge_.settings(), {.alone = alone(round, fragment)}).model;
}

void Receiver::merge_chunk(RoundId round, ChunkId chunk, std::span<float> elements) {
  ReceivedRound* found = rounds_.find(round);
  COTILLION_CHECK(found != nullptr && elements.size() == elements_in(job_, chunk));
  const auto [average, sent] = buffers_.first(elements.size());
  const ByteView own = snapshots_.chunk(round, chunk);
  average_of(*found, chunk, own.data(), sums_.values_of(*found, chunk), {average, sent});
  const MergeSituation situation{.everyone = found->spec().members == settings_.islands,
                                 .alone = found->fragments[fragment_of(job_, chunk)].alone};
  // What was rounded away is not progress: merges that give progress up leave it here.
  if (merge_coefficients(merge_.settings(), situation).of_copy_beside_difference() != 0 &&
      job_.element != Element::kF32) {
    const std::span<const float> exact = snapshots_.exact(round, chunk);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      average[i] += double(exact[i]) - sent[i];
      sent[i] = double(exact[i]);
    }
  }
  merge_.apply(first_element(job_, chunk), elements, average, sent, situation);
  if (found->lacks_somebody(chunk)) sums_.keep(*found, chunk, own);
}

void Receiver::end_merge(RoundId round, int fragment) {
  ReceivedRound* found = rounds_.find(round);
  COTILLION_CHECK(found != nullptr && found->fragments[fragment].state == FragmentState::kMerging);
  ReceivedFragment& merged = found->fragments[fragment];
  merged.state = FragmentState::kMerged;
  if (!settings_.keep_merged) sums_.give_back(merged);
}

bool Receiver::merge(RoundId round, int fragment, std::span<float> elements) {
  if (!begin_merge(round, fragment)) return false;
  const std::uint64_t origin = first_element(job_, first_chunk(job_, fragment));
  for (ChunkId chunk = first_chunk(job_, fragment); chunk < first_chunk(job_, fragment + 1);
       ++chunk)
    merge_chunk(round, chunk,
                elements.subspan(first_element(job_, chunk) - origin, elements_in(job_, chunk)));
  end_merge(round, fragment);
  return true;
}

LateChunk* Receiver::next_late(RoundId round, int fragment) {
  std::vector<LateChunk>& all = late_.all();
  const auto found = std::find_if(all.begin(), all.end(), [&](const LateChunk& late) {
    return late.used && late.round == round && fragment_of(job_, late.chunk) == fragment;
  });
  return found == all.end() ? nullptr : &*found;
}

void Receiver::apply_late(ReceivedRound& round, LateChunk& late, std::span<float> elements) {
  const ChunkId chunk = late.chunk;
  late.used = false;
  if (round.owed[chunk] == kNoBlock) return;  // it was skipped
  const auto [after, sent] = buffers_.first(elements.size());
  const auto before = buffers_.before(elements.size());
  const std::byte* own = sums_.kept_own(round, chunk);
  average_of(round, chunk, own, sums_.kept_sum(round, chunk), {before, sent});
  if (!sums_.add_to_kept(round, chunk, late_.sum_of(late)))
    return counters_.add(ReceiverCount::kNotFinite);
  round.masks[chunk] |= late.mask;
  average_of(round, chunk, own, sums_.kept_sum(round, chunk), {after, sent});
  for (std::size_t e = 0; e < after.size(); ++e) after[e] -= before[e];
  merge_.apply_late(first_element(job_, chunk), elements, after);
  if (round.lacks_somebody(chunk)) return;
  --round.incomplete;
  if (!settings_.keep_merged) sums_.give_back_kept(round, chunk);
}

void Receiver::merge_late(RoundId round, int fragment, std::span<float> elements) {
  ReceivedRound* found = rounds_.find(round);  // or its place was needed, and it was counted
  const std::uint64_t origin = first_element(job_, first_chunk(job_, fragment));
  while (LateChunk* late = found == nullptr ? nullptr : next_late(round, fragment))
    apply_late(*found, *late,
               elements.subspan(first_element(job_, late->chunk) - origin,
                                elements_in(job_, late->chunk)));
}

std::optional<ChunkId> Receiver::take_late(RoundId round, int fragment, std::span<float> room) {
  ReceivedRound* found = rounds_.find(round);
  LateChunk* late = found == nullptr ? nullptr : next_late(round, fragment);
  if (late == nullptr) return {};
  const ChunkId chunk = late->chunk;
  apply_late(*found, *late, room.first(elements_in(job_, chunk)));
  return chunk;
}

void Receiver::skip(RoundId round, int fragment) {
  ReceivedRound* found = rounds_.find(round);
  COTILLION_CHECK(found != nullptr && found->fragments[fragment].state == FragmentState::kReady);
  found->fragments[fragment].state = FragmentState::kMerging;
  end_merge(round, fragment);
}

void Receiver::skip_late(RoundId round, int fragment) {
  ReceivedRound* found = rounds_.find(round);
  if (found == nullptr) return;
  for (LateChunk& late : late_.all()) {
    if (!late.used || late.round != round || fragment_of(job_, late.chunk) != fragment) continue;
    found->masks[late.chunk] |= late.mask;
    if (!found->lacks_somebody(late.chunk)) --found->incomplete;
    late.used = false;
  }
}

}  // namespace cotillion
