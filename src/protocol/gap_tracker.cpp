#include "protocol/gap_tracker.hpp"

#include <algorithm>
#include <bit>

#include "base/check.hpp"

namespace cotillion {
namespace {

constexpr Duration kLongestAnswer{1'000'000'000'000};  // waits double up to half a million times it

}  // namespace

GapTracker::GapTracker(const GapSettings& settings)
    : window_(std::bit_ceil(settings.window)),
      attempts_(std::uint32_t(settings.requests_max)),
      hold_(settings.hold),
      round_trip_(settings.round_trip),
      next_(window_ + attempts_ + 1),
      previous_(window_ + attempts_ + 1),
      number_(window_),
      attempt_(window_),
      since_(window_),
      answer_(settings.round_trip) {
  COTILLION_CHECK(settings.window > 0 && settings.requests_max > 0 &&
                  settings.requests_max <= kRequestsMax);
  COTILLION_CHECK(settings.round_trip.ps > 0);
  reset(0);
}

std::size_t GapTracker::bytes(const GapSettings& settings) {
  const std::size_t window = std::bit_ceil(settings.window);
  const std::size_t links = window + std::size_t(settings.requests_max) + 1;
  return links * 2 * sizeof(std::uint32_t) +
         window * (sizeof(std::uint32_t) + sizeof(std::uint8_t) + sizeof(Instant));
}

void GapTracker::reset(std::uint32_t next) {
  for (std::uint32_t i = 0; i < next_.size(); ++i) next_[i] = previous_[i] = i;
  upcoming_ = next;
  missing_ = 0;
  answered_ = Instant{0};
}

bool GapTracker::is_missing(std::uint32_t number) const {
  const std::uint32_t entry = entry_of(number);
  return next_[entry] != entry && number_[entry] == number;
}

// The serial numbers of RFC 1982: half of all numbers are ahead, half behind.
void GapTracker::expect(Instant now, std::uint32_t next) {
  const std::uint32_t ahead = next - upcoming_;
  if (std::int32_t(ahead) <= 0) return;
  if (ahead > window_) {  // more is missing than anyone keeps
    given_up_ += ahead - window_;
    upcoming_ = next - window_;
  }
  for (; upcoming_ != next; ++upcoming_) open(now, upcoming_);
}

void GapTracker::arrive(Instant now, std::uint32_t number) {
  if (std::int32_t(number - upcoming_) >= 0) {
    expect(now, number);
    const std::uint32_t entry = entry_of(number);
    if (next_[entry] != entry) give_up(number_[entry]);
    ++upcoming_;
  } else if (is_missing(number)) {
    close(entry_of(number));
  }
}

void GapTracker::answer(Instant now, std::uint32_t number) {
  const std::uint32_t entry = entry_of(number);
  if (is_missing(number) && attempt_[entry] == 1) {  // else: an answer to which request?
    learn(now - since_[entry]);
    answered_ = std::max(answered_, since_[entry]);
  }
  arrive(now, number);
}

void GapTracker::learn(Duration answer) {
  answer.ps = std::max<std::int64_t>(answer.ps, 0);
  if (mean_.ps == 0) {
    mean_ = answer;
    deviation_ = {answer.ps / 2};
  } else {
    const std::int64_t off = answer.ps - mean_.ps;
    deviation_.ps += ((off < 0 ? -off : off) - deviation_.ps) / 4;
    mean_.ps += off / 8;
  }
  const std::int64_t longest = std::int64_t(kLongestAnswer.ps);
  answer_.ps =
      std::clamp(mean_.ps + 4 * deviation_.ps, round_trip_.ps, std::max(longest, round_trip_.ps));
}

void GapTracker::open(Instant now, std::uint32_t number) {
  const std::uint32_t entry = entry_of(number);
  if (next_[entry] != entry) give_up(number_[entry]);
  number_[entry] = number;
  since_[entry] = now;
  ++missing_;
  link(entry, 0);
}

void GapTracker::close(std::uint32_t entry) {
  unlink(entry);
  --missing_;
}

void GapTracker::give_up(std::uint32_t number) {
  if (!is_missing(number)) return;
  close(entry_of(number));
  ++given_up_;
}

void GapTracker::give_up_below(std::uint32_t number) {
  for (std::uint32_t entry = 0; missing_ > 0 && entry < window_; ++entry)
    if (next_[entry] != entry && std::int32_t(number_[entry] - number) < 0) give_up(number_[entry]);
  if (std::int32_t(number - upcoming_) > 0) upcoming_ = number;
}

void GapTracker::again(Instant now, std::uint32_t entry, std::uint32_t attempt) {
  unlink(entry);
  since_[entry] = now;
  answered_ = std::min(answered_, now);  // hosts' clocks may step back
  link(entry, attempt);
}

void GapTracker::link(std::uint32_t entry, std::uint32_t attempt) {
  attempt_[entry] = std::uint8_t(attempt);
  const std::uint32_t last = previous_[head(attempt)];
  next_[last] = entry;
  previous_[entry] = last;
  next_[entry] = head(attempt);
  previous_[head(attempt)] = entry;
}

void GapTracker::unlink(std::uint32_t entry) {
  next_[previous_[entry]] = next_[entry];
  previous_[next_[entry]] = previous_[entry];
  next_[entry] = previous_[entry] = entry;
}

std::uint32_t GapTracker::oldest() const {
  std::uint32_t oldest = upcoming_;
  for (std::uint32_t entry = 0; missing_ > 0 && entry < window_; ++entry)
    if (next_[entry] != entry && std::int32_t(number_[entry] - oldest) < 0) oldest = number_[entry];
  return oldest;
}

Instant GapTracker::next_deadline() const {
  if (missing_ == 0) return kNever;
  Instant soonest = kNever;
  for (std::uint32_t attempt = 0; attempt < attempts_; ++attempt)
    if (const std::uint32_t first = next_[head(attempt)]; first != head(attempt))
      soonest = std::min(soonest, due_at(first, attempt));
  return soonest;
}

}  // namespace cotillion
