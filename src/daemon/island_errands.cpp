// The errands of an island's shard: corrections that are laid on the desk, or checked in a
// rehearsal, a slice at a time between packets.
#include <algorithm>
#include <bit>
#include <utility>

#include "daemon/island_shard.hpp"
#include "daemon/rehearsal.hpp"

namespace cotillion {
namespace {

constexpr Duration kLastPatience{500'000'000'000};
// Of an errand, between looks at the clock and the socket: a tenth of a millisecond, about.
constexpr std::size_t kSliceElements = 32 << 10;
// Nobody waits for a rehearsal's check, and where many islands rehearse on one machine they all
// begin at once, when streams do: short slices, and so many times as long a rest.
constexpr std::size_t kCheckElements = 4 << 10;
constexpr std::int64_t kRests = 20;

}  // namespace

void IslandShard::fragment_ready(RoundId round, int fragment) {
  errands_.push_back({round, fragment});
  if (retiring_) finish(round);
}

// What comes late goes along with the fragment's next correction. Laying it down by itself would
// take a pass over the whole fragment for a few of its chunks, which makes more of them late.
void IslandShard::late_ready(RoundId round, int fragment) {
  if (errand_ && errand_->round == round && errand_->fragment == fragment) return;  // come_back()
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

// The first errand that can be begun: own chunks must have left, as their place may be written to,
// and training code must not hold it.
bool IslandShard::set_out() {
  desk_is_held_ = false;
  for (std::size_t i = 0; i < errands_.size(); ++i) {
    const Errand errand = errands_[i];
    if (agent_) {
      if (!sender_.is_past(errand.round, first_chunk(job_, errand.fragment + 1) - 1)) continue;
      if (!agent_->begin(errand.fragment, errand.round)) {
        desk_is_held_ = true;
        continue;
      }
    }
    errands_.erase(errands_.begin() + std::ptrdiff_t(i));
    if (receiver_.begin_merge(errand.round, errand.fragment)) {
      errand_ = errand;
      next_ = first_chunk(job_, errand.fragment);
      heard_ = 0;
      if (agent_) agent_->scale(float(receiver_.kept(errand.round, errand.fragment)));
    } else if (agent_) {
      agent_->give_up();
    }
    return true;
  }
  return false;
}

bool IslandShard::run_errands() {
  if (!agent_ && clock_.now() < rest_until_) return false;
  if (!errand_ && !set_out()) return false;
  if (!errand_) return true;
  const Instant began = clock_.now();
  const ChunkId end = first_chunk(job_, errand_->fragment + 1);
  const std::uint64_t origin = first_element(job_, first_chunk(job_, errand_->fragment));
  // At least as fast as more comes in.
  const std::size_t slice =
      (agent_ ? kSliceElements : kCheckElements) + std::exchange(heard_, 0) / 2;
  for (std::size_t done = 0; next_ < end && done < slice; ++next_) {
    const std::span<float> correction(correction_.data(), elements_in(job_, next_));
    done += correction.size();
    if (!agent_) {
      check(errand_->round, next_);
      continue;
    }
    std::fill(correction.begin(), correction.end(), 0.0F);
    receiver_.merge_chunk(errand_->round, next_, correction);
    add_late(next_, correction);
    agent_->add(first_element(job_, next_) - origin, correction);
  }
  if (next_ == end) come_back();
  if (!agent_) rest_until_ = clock_.now() + Duration{kRests * (clock_.now() - began).ps};
  return agent_.has_value();
}

void IslandShard::check(RoundId round, ChunkId chunk) {
  const Part* part = part_of(round);
  const auto masks = receiver_.contributors(round);
  if (part == nullptr) return;
  const std::span<double> values(average_.data(), elements_in(job_, chunk));
  receiver_.average(round, chunk, values);
  const std::span<float> sum(correction_.data(), values.size());
  const std::uint64_t first = first_element_ + first_element(job_, chunk);
  std::fill(sum.begin(), sum.end(), 0.0F);
  const auto add = [&](IslandId island) {
    const Rehearsed theirs(island, round);
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
  const Errand errand = *errand_;
  errand_.reset();
  receiver_.end_merge(errand.round, errand.fragment);
  late_ready(errand.round, errand.fragment);  // what came meanwhile
  ++counted_.corrections;
  if (!agent_) return;
  snapshots_.forget(errand.round, first_chunk(job_, errand.fragment),
                    first_chunk(job_, errand.fragment + 1));
  agent_->end(account_of(errand));
  merged_round_ = errand.round;
}

DeskAccount IslandShard::account_of(const Errand& errand) const {
  const ChunkId from = first_chunk(job_, errand.fragment);
  const ChunkId to = first_chunk(job_, errand.fragment + 1);
  DeskAccount account;
  account.round = errand.round;
  account.rounds = 1;
  account.chunks = to - from;
  const Part* part = part_of(errand.round);
  if (part == nullptr) return account;
  account.members = std::uint32_t(part->spec.members);
  for (const ReportedAbsence& absence : absences(*part, from, to))
    if (account.absent < kDeskAbsences)
      account.absences[account.absent++] = {absence.contributor, absence.chunks,
                                            absence.first_chunk};
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
  const auto its = [&](const Errand& errand) { return errand.round <= round; };
  while ((errand_ && its(*errand_)) || std::any_of(errands_.begin(), errands_.end(), its))
    if (rest_until_ = {}; !run_errands() && agent_) return;
}

// What is due by now. Training code that holds its fragment lets go soon, or has died over it.
void IslandShard::run_the_last() {
  const Instant began = clock_.now();
  receiver_.on_time(began, *this, *this);
  while (errand_ || (!errands_.empty() && clock_.now() - began < kLastPatience))
    if (rest_until_ = {}; !run_errands() && agent_) clock_.wait_until(clock_.now() + kDeskRetry);
  if (agent_) lay_late();
}

}  // namespace cotillion
