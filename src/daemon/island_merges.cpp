// The pending merges of an island's shard: corrections are put into the exchange region, or
// checked against a synthetic model, a slice at a time between packets.
#include <algorithm>
#include <bit>
#include <utility>

#include "daemon/island_shard.hpp"
#include "daemon/synthetic_model.hpp"

namespace cotillion {
namespace {

constexpr Duration kLastGrace{500'000'000'000};
// A slice, between looks at the clock and the socket, takes a tenth of a millisecond, about.
constexpr std::size_t kSliceElements = 32 << 10;
// Nobody waits for the check of a synthetic model, and where many islands rehearse on one machine
// they all begin at once, when streams do: short slices, and so many times as long a rest.
constexpr std::size_t kCheckElements = 4 << 10;
constexpr std::int64_t kRests = 20;

}  // namespace

void IslandShard::fragment_ready(RoundId round, int fragment) {
  pending_merges_.push_back({round, fragment});
  if (!agent_) note_move(round, fragment, true);  // whose check comes when there is time for it
  if (retiring_) finish(round);
}

// What comes late goes along with the fragment's next correction. Laying it down by itself would
// take a pass over the whole fragment for a few of its chunks, which makes more of them late.
void IslandShard::late_ready(RoundId round, int fragment) {
  if (current_merge_ && current_merge_->round == round && current_merge_->fragment == fragment)
    return;  // come_back()
  if (!agent_) return receiver_.skip_late(round, fragment);
  for (;;) {
    std::fill(correction_.begin(), correction_.end(), 0.0F);
    const auto chunk = receiver_.take_late(round, fragment, correction_);
    if (!chunk) return;
    add_late(*chunk, std::span(correction_).first(elements_in(job_, *chunk)));
    late_.emplace(*chunk, std::vector<float>(
                              correction_.begin(),
                              correction_.begin() + std::ptrdiff_t(elements_in(job_, *chunk))));
  }
}

// The first merge that can be begun: own chunks must have left, as their place may be written to,
// and training code must not hold it.
bool IslandShard::set_out() {
  region_is_held_ = false;
  for (std::size_t i = 0; i < pending_merges_.size(); ++i) {
    const PendingMerge pending = pending_merges_[i];
    if (agent_) {
      if (!sender_.is_past(pending.round, first_chunk(job_, pending.fragment + 1) - 1)) continue;
      if (!agent_->begin(pending.fragment, pending.round)) {
        region_is_held_ = true;
        continue;
      }
    }
    pending_merges_.erase(pending_merges_.begin() + std::ptrdiff_t(i));
    if (receiver_.begin_merge(pending.round, pending.fragment)) {
      current_merge_ = pending;
      next_ = first_chunk(job_, pending.fragment);
      heard_ = 0;
      if (agent_) agent_->scale(float(receiver_.kept(pending.round, pending.fragment)));
    } else if (agent_) {
      agent_->give_up();
    }
    return true;
  }
  return false;
}

bool IslandShard::run_merges() {
  if (!agent_ && clock_.now() < rest_until_) return false;
  if (!current_merge_ && !set_out()) return false;
  if (!current_merge_) return true;
  const Instant began = clock_.now();
  const ChunkId end = first_chunk(job_, current_merge_->fragment + 1);
  const std::uint64_t origin = first_element(job_, first_chunk(job_, current_merge_->fragment));
  // At least as fast as more comes in.
  const std::size_t slice =
      (agent_ ? kSliceElements : kCheckElements) + std::exchange(heard_, 0) / 2;
  for (std::size_t done = 0; next_ < end && done < slice; ++next_) {
    const std::span<float> correction(correction_.data(), elements_in(job_, next_));
    done += correction.size();
    if (!agent_) {
      check(current_merge_->round, next_);
      continue;
    }
    std::fill(correction.begin(), correction.end(), 0.0F);
    receiver_.merge_chunk(current_merge_->round, next_, correction);
    add_late(next_, correction);
    agent_->add(first_element(job_, next_) - origin, correction);
  }
  if (next_ == end) come_back();
  if (!agent_) rest_until_ = clock_.now() + Duration{kRests * (clock_.now() - began).ps};
  return agent_.has_value();
}

void IslandShard::check(RoundId round, ChunkId chunk) {
  const RoundAssignment* part = part_of(round);
  const auto masks = receiver_.contributors(round);
  if (part == nullptr) return;
  const std::span<double> values(average_.data(), elements_in(job_, chunk));
  receiver_.average(round, chunk, values);
  const std::span<float> sum(correction_.data(), values.size());
  const std::uint64_t first = first_element_ + first_element(job_, chunk);
  std::fill(sum.begin(), sum.end(), 0.0F);
  const auto add = [&](IslandId island) {
    const SyntheticModel theirs(island, round);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += theirs.at(first + i);
  };
  add(self_);
  for (ContributorMask left = masks[chunk]; left != 0; left &= left - 1)
    add(part->clique[std::size_t(std::countr_zero(left))]);
  const double members = 1 + std::popcount(masks[chunk]);
  for (std::size_t i = 0; i < values.size(); ++i)
    counted_.wrong += values[i] != double(sum[i]) / members ? 1 : 0;
}

void IslandShard::come_back() {
  const PendingMerge pending = *current_merge_;
  current_merge_.reset();
  receiver_.end_merge(pending.round, pending.fragment);
  late_ready(pending.round, pending.fragment);  // what came meanwhile
  ++counted_.corrections;
  if (!agent_) return;
  note_move(pending.round, pending.fragment, true);
  snapshots_.forget(pending.round, first_chunk(job_, pending.fragment),
                    first_chunk(job_, pending.fragment + 1));
  agent_->end(account_of(pending));
  merged_round_ = pending.round;
}

CorrectionAccount IslandShard::account_of(const PendingMerge& pending) const {
  const ChunkId from = first_chunk(job_, pending.fragment);
  const ChunkId to = first_chunk(job_, pending.fragment + 1);
  CorrectionAccount account;
  account.round = pending.round;
  account.rounds = 1;
  account.chunks = to - from;
  const RoundAssignment* part = part_of(pending.round);
  if (part == nullptr) return account;
  account.members = std::uint32_t(part->spec.members);
  for (const Absence& absence : absences(*part, from, to))
    if (account.absent < kCorrectionAbsences) account.absences[account.absent++] = absence;
  return account;
}

void IslandShard::add_late(ChunkId chunk, std::span<float> correction) {
  const auto late = late_.find(chunk);
  if (late == late_.end()) return;
  for (std::size_t i = 0; i < correction.size(); ++i) correction[i] += late->second[i];
  late_.erase(late);
}

// There is no merge to come that would take them along.
void IslandShard::lay_late() {
  while (!late_.empty()) {
    const int fragment = fragment_of(job_, late_.begin()->first);
    if (!agent_->begin_late(fragment)) return;
    const std::uint64_t origin = first_element(job_, first_chunk(job_, fragment));
    while (!late_.empty() && fragment_of(job_, late_.begin()->first) == fragment) {
      agent_->add(first_element(job_, late_.begin()->first) - origin, late_.begin()->second);
      late_.erase(late_.begin());
    }
    agent_->end(account_of({merged_round_, fragment}));
  }
}

// Its place is needed for a round to come.
void IslandShard::finish(RoundId round) {
  const auto its = [&](const PendingMerge& pending) { return pending.round <= round; };
  while ((current_merge_ && its(*current_merge_)) ||
         std::any_of(pending_merges_.begin(), pending_merges_.end(), its))
    if (rest_until_ = {}; !run_merges() && agent_) return;
}

// What is due by now. Training code that holds its fragment lets go soon, or has died over it.
void IslandShard::run_the_last() {
  const Instant began = clock_.now();
  receiver_.on_time(began, *this, *this);
  while (current_merge_ || (!pending_merges_.empty() && clock_.now() - began < kLastGrace))
    if (rest_until_ = {}; !run_merges() && agent_) clock_.wait_until(clock_.now() + kRegionRetry);
  if (agent_) lay_late();
}

}  // namespace cotillion
