// From sums to corrections: what the receiver hands to the running model.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/check.hpp"
#include "protocol/receiver.hpp"

namespace cotillion {
namespace {

// Exact for all three elements: integers and floats of the wire all fit a double.
template <Element kElement>
double wire_value(const std::byte* payload, std::size_t i) {
  if constexpr (kElement == Element::kBf16) {
    Little16 half;
    std::memcpy(&half, payload + i * 2, 2);
    return std::bit_cast<float>(std::uint32_t(half) << 16u);
  } else {
    Little32 word;
    std::memcpy(&word, payload + i * 4, 4);
    if constexpr (kElement == Element::kF32) return std::bit_cast<float>(std::uint32_t(word));
    return std::int32_t(std::uint32_t(word));
  }
}

// What a chunk's average is made of, besides its elements.
struct Mean {
  double own_weight, own_coefficient;
  MeanCoefficients rule;
  double scale;  // of a grid's units
};

template <Element kElement>
void average_lanes(const Mean& mean, const std::byte* own, const std::byte* sum,
                   std::span<double> average, std::span<double> sent) {
  constexpr Element kLane = kElement == Element::kI32 ? Element::kI32 : Element::kF32;
  const std::size_t count = average.size();
  const auto [own_further, divisor] = mean.rule;
  if (mean.own_weight == 1 && mean.own_coefficient == 1 && own_further == 0 && sum != nullptr) {
    for (std::size_t i = 0; i < count; ++i) {  // nearly always; dividing by one is not free
      const double wire = wire_value<kElement>(own, i);
      average[i] = (wire_value<kLane>(sum, i) + wire) / divisor * mean.scale;
      sent[i] = wire * mean.scale;
    }
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const double wire = wire_value<kElement>(own, i);
    const double snapshot = wire / mean.own_weight;
    const double others = sum == nullptr ? 0 : wire_value<kLane>(sum, i);
    const double total = others + wire * mean.own_coefficient;
    const double all = own_further == 0 ? total : total + own_further * snapshot;
    average[i] = all / divisor * mean.scale;
    sent[i] = snapshot * mean.scale;
  }
}

}  // namespace

// `sum` is null where nothing but zeros came.
void Receiver::average_of(const LiveRound& round, ChunkId chunk, const std::byte* own,
                          const std::byte* sum, std::span<double> average,
                          std::span<double> sent) const {
  const RoundSpec& spec = round.round.spec;
  const ContributorMask present = round.masks[chunk];
  const auto bit = std::size_t(spec.own);
  const ContributorMask own_mask = ContributorMask(1) << unsigned(spec.own);
  const double everyone = weight_of(spec, spec.expected | own_mask);
  const double here = weight_of(spec, present | own_mask);
  const bool grid = job_.element == Element::kI32;
  const Mean mean{double(spec.weight[bit]), double(spec.coefficient[bit]),
                  mean_coefficients(merge_.settings().missing, here, everyone - here),
                  grid ? std::ldexp(1.0, snapshots_.grid().exponent(chunk)) : 1.0};
  const auto lanes = job_.element == Element::kBf16 ? &average_lanes<Element::kBf16>
                     : grid                         ? &average_lanes<Element::kI32>
                                                    : &average_lanes<Element::kF32>;
  lanes(mean, own, sum, average, sent);
  // With nobody there the average is one's own, exactly: no rounding may move the model.
  if (present == 0) std::copy(sent.begin(), sent.end(), average.begin());
}

void Receiver::average(RoundId round, ChunkId chunk, std::span<double> values) {
  LiveRound* found = live(round);
  COTILLION_CHECK(found != nullptr && values.size() == elements_in(job_, chunk));
  const std::span<double> sent = std::span(sent_).first(values.size());
  if (const std::uint32_t owed = found->owed[chunk]; owed != kNoBlock)
    return average_of(*found, chunk, owed_.at(owed) + stride_,
                      found->blank[chunk] != 0 ? nullptr : owed_.at(owed), values, sent);
  const int f = fragment_of(job_, chunk);
  average_of(*found, chunk, snapshots_.chunk(round, chunk).data(),
             found->blank[chunk] != 0 ? nullptr : sum_of(*found, f, chunk), values, sent);
}

bool Receiver::begin_merge(RoundId round, int fragment) {
  LiveRound* found = live(round);
  if (found == nullptr || found->fragments[fragment].state != FragmentState::kReady ||
      !snapshots_.taken(round, first_chunk(job_, fragment)))
    return false;
  Fragment& merging = found->fragments[fragment];
  merging.state = FragmentState::kMerging;
  merging.alone = std::all_of(found->masks + first_chunk(job_, fragment),
                              found->masks + first_chunk(job_, fragment + 1),
                              [](auto mask) { return mask == 0; });
  return true;
}

bool Receiver::alone(RoundId round, int fragment) const {
  const LiveRound* found = live(round);
  return found != nullptr && found->fragments[fragment].alone;
}

double Receiver::kept(RoundId round, int fragment) const {
  return merge_coefficients(merge_.settings(), {.alone = alone(round, fragment)}).model;
}

void Receiver::merge_chunk(RoundId round, ChunkId chunk, std::span<float> elements) {
  LiveRound* found = live(round);
  COTILLION_CHECK(found != nullptr && elements.size() == elements_in(job_, chunk));
  const auto average = std::span(average_).first(elements.size());
  const auto sent = std::span(sent_).first(elements.size());
  const int fragment = fragment_of(job_, chunk);
  const ByteView own = snapshots_.chunk(round, chunk);
  const bool blank = found->blank[chunk] != 0;
  const std::byte* sum = blank ? nullptr : sum_of(*found, fragment, chunk);
  average_of(*found, chunk, own.data(), sum, average, sent);
  const MergeSituation situation{.everyone = found->round.spec.members == settings_.islands,
                                 .alone = found->fragments[fragment].alone};
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
  if (found->masks[chunk] == found->round.spec.expected) return;
  const std::uint32_t owed = found->owed[chunk] = owed_.lend();
  if (!blank) std::memcpy(owed_.at(owed), sum, stride_);
  std::memcpy(owed_.at(owed) + stride_, own.data(), own.size());
}

void Receiver::end_merge(RoundId round, int fragment) {
  LiveRound* found = live(round);
  COTILLION_CHECK(found != nullptr && found->fragments[fragment].state == FragmentState::kMerging);
  Fragment& merged = found->fragments[fragment];
  merged.state = FragmentState::kMerged;
  if (merged.sums != kNoBlock && !settings_.keep_merged)
    sums_.give_back(std::exchange(merged.sums, kNoBlock));
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

void Receiver::give_back(LiveRound& round) {
  for (int f = 0; f < job_.fragments; ++f)
    if (std::uint32_t& block = round.fragments[f].sums; block != kNoBlock)
      sums_.give_back(std::exchange(block, kNoBlock));
  for (ChunkId chunk = 0; round.owed != nullptr && chunk < chunks_; ++chunk)
    if (round.owed[chunk] != kNoBlock) owed_.give_back(std::exchange(round.owed[chunk], kNoBlock));
}

Receiver::LateChunk* Receiver::next_late(RoundId round, int fragment) {
  const auto found = std::find_if(late_.begin(), late_.end(), [&](const LateChunk& late) {
    return late.used && late.round == round && fragment_of(job_, late.chunk) == fragment;
  });
  return found == late_.end() ? nullptr : &*found;
}

void Receiver::apply_late(LiveRound& round, LateChunk& late, std::span<float> elements) {
  const ChunkId chunk = late.chunk;
  const std::uint32_t owed = round.owed[chunk];
  late.used = false;
  if (owed == kNoBlock) return;  // it was skipped
  const auto before = std::span(before_).first(elements.size());
  const auto after = std::span(average_).first(elements.size());
  const auto sent = std::span(sent_).first(elements.size());
  const std::byte* own = owed_.at(owed) + stride_;
  const bool blank = round.blank[chunk] != 0;
  average_of(round, chunk, own, blank ? nullptr : owed_.at(owed), before, sent);
  if (!fold(round, chunk, late_sums_.at(std::size_t(&late - late_.data()) * stride_))) return;
  round.masks[chunk] |= late.mask;
  average_of(round, chunk, own, owed_.at(owed), after, sent);
  for (std::size_t e = 0; e < after.size(); ++e) after[e] -= before[e];
  merge_.apply_late(first_element(job_, chunk), elements, after);
  if (round.masks[chunk] != round.round.spec.expected) return;
  --round.incomplete;
  if (!settings_.keep_merged) owed_.give_back(std::exchange(round.owed[chunk], kNoBlock));
}

void Receiver::merge_late(RoundId round, int fragment, std::span<float> elements) {
  LiveRound* found = live(round);  // or its place was needed, and it was counted when it came
  const std::uint64_t origin = first_element(job_, first_chunk(job_, fragment));
  while (LateChunk* late = found == nullptr ? nullptr : next_late(round, fragment))
    apply_late(*found, *late,
               elements.subspan(first_element(job_, late->chunk) - origin,
                                elements_in(job_, late->chunk)));
}

std::optional<ChunkId> Receiver::take_late(RoundId round, int fragment, std::span<float> room) {
  LiveRound* found = live(round);
  LateChunk* late = found == nullptr ? nullptr : next_late(round, fragment);
  if (late == nullptr) return {};
  const ChunkId chunk = late->chunk;
  apply_late(*found, *late, room.first(elements_in(job_, chunk)));
  return chunk;
}

// Sums have 4-byte lanes whatever came on the wire: f32 for bf16.
bool Receiver::fold(LiveRound& round, ChunkId chunk, const std::byte* more) {
  const Accumulator& lanes =
      accumulator(job_.element == Element::kI32 ? Element::kI32 : Element::kF32);
  const std::size_t elements = payload_bytes(job_, chunk) / bytes_of(job_.element);
  if (!add_finite(owed_.at(round.owed[chunk]), round.blank[chunk] != 0, lanes, more, elements)) {
    counters_.add(ReceiverCount::kNotFinite);
    return false;
  }
  round.blank[chunk] = 0;
  return true;
}

void Receiver::skip(RoundId round, int fragment) {
  LiveRound* found = live(round);
  COTILLION_CHECK(found != nullptr && found->fragments[fragment].state == FragmentState::kReady);
  found->fragments[fragment].state = FragmentState::kMerging;
  end_merge(round, fragment);
}

void Receiver::skip_late(RoundId round, int fragment) {
  LiveRound* found = live(round);
  if (found == nullptr) return;
  for (LateChunk& late : late_) {
    if (!late.used || late.round != round || fragment_of(job_, late.chunk) != fragment) continue;
    found->masks[late.chunk] |= late.mask;
    if (found->masks[late.chunk] == found->round.spec.expected) --found->incomplete;
    late.used = false;
  }
}

}  // namespace cotillion
