#include "protocol/snapshots.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.hpp"
#include "protocol/accumulator.hpp"

namespace cotillion {
namespace {

// To the nearest integer, ties to even. No integer says "not a number": a chunk with a NaN in it is
// flagged and never sent, so that others miss it rather than believe a guess.
std::uint8_t to_grid(std::span<const float> values, int exponent, const Snapshots::Terms& terms,
                     std::byte* wire) {
  const double scale = std::ldexp(1.0, -exponent);
  const double limit = terms.limit;
  std::uint8_t flags = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double units = std::nearbyint(double(values[i]) * scale);
    const bool fits = units >= -limit && units <= limit;  // false for NaN
    if (!fits) flags |= std::isnan(units) ? flag::kNanDropped : flag::kClamped;
    const double kept = fits ? units : (std::isnan(units) ? 0 : std::copysign(limit, units));
    const auto scaled = std::uint32_t(std::int32_t(kept)) * terms.weight;
    const Little32 little = scaled;
    std::memcpy(wire + i * sizeof little, &little, sizeof little);
  }
  return flags;
}

}  // namespace

bool FragmentSource::keep(RoundId, int) {
  return false;
}

Snapshots::Snapshots(const JobSpec& job, Grid grid, int live_rounds, Payloads payloads,
                     FragmentSource* keeper)
    : job_(job),
      grid_(std::move(grid)),
      live_rounds_(live_rounds),
      payloads_(payloads),
      keeper_(keeper),
      chunks_(chunk_count(job)),
      stride_(payload_bytes(job)),
      records_(std::size_t(live_rounds) * chunks_),
      terms_(std::size_t(live_rounds)),
      scaled_(elements_per_chunk(job) * sizeof(float)),
      bytes_(counted()            ? 0
             : keeper_ != nullptr ? stride_
                                  : std::size_t(live_rounds) * chunks_ * stride_),
      values_(keeper_ != nullptr ? elements_per_chunk(job) : 0) {
  COTILLION_CHECK(live_rounds > 0);
}

void Snapshots::take(RoundId round, ChunkId chunk, std::span<const float> values,
                     const Terms& terms) {
  const std::size_t at = place(round, chunk);
  records_[at] = {round, true, flag::kZero, true};
  if (counted()) return;
  COTILLION_CHECK(keeper_ == nullptr);
  records_[at].flags = to_wire(chunk, values, terms, bytes_.at(at * stride_));
}

void Snapshots::take_kept(RoundId round, ChunkId from, ChunkId to, const Terms& terms) {
  COTILLION_CHECK(keeper_ != nullptr && !counted());
  terms_[round % terms_.size()] = terms;
  for (ChunkId chunk = from; chunk < to; ++chunk)
    records_[place(round, chunk)] = {round, true, 0, false};
  read_ = SIZE_MAX;
}

void Snapshots::forget(RoundId round, ChunkId from, ChunkId to) {
  for (ChunkId chunk = from; chunk < to; ++chunk)
    if (Record& record = records_[place(round, chunk)]; record.round == round) record.taken = false;
}

std::uint8_t Snapshots::to_wire(ChunkId chunk, std::span<const float> values, const Terms& terms,
                                std::byte* wire) {
  COTILLION_CHECK(values.size() == elements_in(job_, chunk));
  const std::size_t length = payload_bytes(job_, chunk);
  const std::size_t elements = length / bytes_of(job_.element);
  std::uint8_t flags = 0;
  if (job_.element == Element::kI32) {
    std::memset(wire, 0, length);
    flags = to_grid(values, grid_.exponent(chunk), terms, wire);
  } else {
    auto* scaled = reinterpret_cast<float*>(scaled_.at(0));
    for (std::size_t i = 0; i < elements; ++i)
      scaled[i] = i < values.size() ? values[i] * float(terms.weight) : 0.0f;
    accumulator(job_.element).emit(wire, scaled_.at(0), elements);
  }
  return std::uint8_t(flags | (all_zero({wire, length}) ? flag::kZero : 0));
}

void Snapshots::read(RoundId round, ChunkId chunk) {
  const std::size_t at = place(round, chunk);
  COTILLION_CHECK(records_[at].taken && records_[at].round == round);
  if (read_ == at) return;
  const std::span<float> values(values_.data(), elements_in(job_, chunk));
  keeper_->snapshot(round, first_element(job_, chunk), values);
  records_[at].flags = to_wire(chunk, values, terms_[round % terms_.size()], bytes_.at(0));
  records_[at].flags_known = true;
  read_ = at;
}

bool Snapshots::taken(RoundId round, ChunkId chunk) const {
  const Record& record = records_[place(round, chunk)];
  return record.taken && record.round == round;
}

ByteView Snapshots::chunk(RoundId round, ChunkId chunk) {
  COTILLION_CHECK(taken(round, chunk) && !counted());
  if (keeper_ != nullptr) read(round, chunk);
  const std::size_t at = keeper_ != nullptr ? 0 : place(round, chunk);
  return {bytes_.at(at * stride_), payload_bytes(job_, chunk)};
}

std::span<const float> Snapshots::exact(RoundId round, ChunkId chunk) {
  COTILLION_CHECK(taken(round, chunk) && !counted());
  if (keeper_ == nullptr) return {};
  read(round, chunk);
  return std::span(values_).first(elements_in(job_, chunk));
}

std::uint8_t Snapshots::flags(RoundId round, ChunkId chunk) {
  const Record& record = records_[place(round, chunk)];
  if (!record.flags_known) read(round, chunk);
  return record.flags;
}

}  // namespace cotillion
