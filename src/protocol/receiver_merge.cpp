// From sums to corrections: what the receiver hands to the running model.
#include <cmath>
#include <cstring>

#include "base/check.hpp"
#include "protocol/receiver.hpp"

namespace cotillion {
namespace {

// Exact for all three elements: integers and floats of the wire all fit a double.
double wire_value(const std::byte* payload, Element element, std::size_t i) {
  if (element == Element::kBf16) {
    Little16 half;
    std::memcpy(&half, payload + i * 2, 2);
    return std::bit_cast<float>(std::uint32_t(half) << 16u);
  }
  Little32 word;
  std::memcpy(&word, payload + i * 4, 4);
  if (element == Element::kF32) return std::bit_cast<float>(std::uint32_t(word));
  return std::int32_t(std::uint32_t(word));
}

}  // namespace

void Receiver::average_of(const LiveRound& round, ChunkId chunk, std::span<double> average,
                          std::span<double> sent) const {
  const RoundSpec& spec = round.round.spec;
  const ByteView own = snapshots_.chunk(spec.round, chunk);
  const ContributorMask present = round.masks[chunk];
  const std::byte* sum = sum_of(round, chunk);
  const bool blank = round.blank[chunk] != 0;
  const auto bit = std::size_t(spec.own);
  const ContributorMask own_mask = ContributorMask(1) << unsigned(spec.own);
  const double own_weight = spec.weight[bit];
  const double own_coefficient = spec.coefficient[bit];
  const double everyone = weight_of(spec, spec.expected | own_mask);
  const double here = weight_of(spec, present | own_mask);
  const bool fill = merge_.settings().missing == Missing::kOwnForMissing;
  const double scale = job_.element == Element::kI32
                           ? std::ldexp(1.0, snapshots_.grid().exponent(spec.round, chunk))
                           : 1.0;
  const Element lane = job_.element == Element::kI32 ? Element::kI32 : Element::kF32;
  for (std::size_t i = 0; i < average.size(); ++i) {
    const double wire = wire_value(own.data(), job_.element, i);
    const double snapshot = wire / own_weight;
    const double others = blank ? 0 : wire_value(sum, lane, i);
    const double total = others + wire * own_coefficient;
    const double mean = fill ? (total + (everyone - here) * snapshot) / everyone : total / here;
    // With nobody there the average is one's own, exactly: no rounding may move the model.
    average[i] = (present == 0 ? snapshot : mean) * scale;
    sent[i] = snapshot * scale;
  }
}

void Receiver::average(RoundId round, ChunkId chunk, std::span<double> values) {
  const LiveRound* found = live(round);
  COTILLION_CHECK(found != nullptr && values.size() == elements_in(job_, chunk));
  average_of(*found, chunk, values, std::span(sent_).first(values.size()));
}

bool Receiver::merge(RoundId round, int fragment, std::span<float> elements) {
  LiveRound* found = live(round);
  if (found == nullptr || found->fragments[fragment].stage != Stage::kReady ||
      !snapshots_.taken(round, first_chunk(job_, fragment)))
    return false;
  found->fragments[fragment].stage = Stage::kMerged;
  const bool everyone = found->round.spec.members == settings_.islands;
  const std::uint64_t origin = first_element(job_, first_chunk(job_, fragment));
  for (ChunkId chunk = first_chunk(job_, fragment); chunk < first_chunk(job_, fragment + 1);
       ++chunk) {
    const std::size_t count = elements_in(job_, chunk);
    const std::uint64_t first = first_element(job_, chunk);
    const auto average = std::span(average_).first(count);
    const auto sent = std::span(sent_).first(count);
    average_of(*found, chunk, average, sent);
    merge_.apply(first, elements.subspan(first - origin, count), average, sent, everyone);
  }
  return true;
}

void Receiver::merge_late(RoundId round, int fragment, std::span<float> elements) {
  LiveRound* found = live(round);
  if (found == nullptr) return;  // its place was needed; counted when it came
  const std::uint64_t origin = first_element(job_, first_chunk(job_, fragment));
  for (std::size_t i = 0; i < late_.size(); ++i) {
    LateChunk& late = late_[i];
    if (!late.used || late.round != round || fragment_of(job_, late.chunk) != fragment) continue;
    late.used = false;
    if (!snapshots_.taken(round, late.chunk)) continue;  // a later round's copy has its place
    const std::size_t count = elements_in(job_, late.chunk);
    const std::uint64_t first = first_element(job_, late.chunk);
    const auto before = std::span(before_).first(count);
    const auto after = std::span(average_).first(count);
    const auto sent = std::span(sent_).first(count);
    average_of(*found, late.chunk, before, sent);
    if (!fold(*found, late.chunk, late_sums_.at(i * stride_))) continue;
    found->masks[late.chunk] |= late.mask;
    if (found->masks[late.chunk] == found->round.spec.expected) --found->incomplete;
    average_of(*found, late.chunk, after, sent);
    for (std::size_t e = 0; e < count; ++e) after[e] -= before[e];
    merge_.apply_late(first, elements.subspan(first - origin, count), after);
  }
}

// Sums have 4-byte lanes whatever came on the wire: f32 for bf16.
bool Receiver::fold(LiveRound& round, ChunkId chunk, const std::byte* more) {
  const Accumulator& lanes =
      accumulator(job_.element == Element::kI32 ? Element::kI32 : Element::kF32);
  const std::size_t elements = payload_bytes(job_, chunk) / bytes_of(job_.element);
  if (!add_finite(sum_of(round, chunk), round.blank[chunk] != 0, lanes, more, elements)) {
    counters_.add(ReceiverCount::kNotFinite);
    return false;
  }
  round.blank[chunk] = 0;
  return true;
}

void Receiver::skip(RoundId round, int fragment) {
  LiveRound* found = live(round);
  COTILLION_CHECK(found != nullptr && found->fragments[fragment].stage == Stage::kReady);
  found->fragments[fragment].stage = Stage::kMerged;
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
