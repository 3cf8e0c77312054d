#include "exchange/exchange_agent.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "exchange/correction.hpp"

namespace cotillion {

ExchangeAgent::ExchangeAgent(const ExchangeRegion& region, int first, int count)
    : region_(region), first_(first), places_(std::size_t(count)) {
  for (int f = 0; f < count; ++f) of(f).pending = std::uint32_t(first + f);
}

bool ExchangeAgent::take_hold(int fragment) {
  if (in_region(fragment).offers.load(std::memory_order_acquire) == 0) return false;
  if (!of(fragment).held)
    of(fragment).held = region_.try_hold(first_ + fragment, ExchangeRegion::Holder::kAgent);
  return of(fragment).held;
}

void ExchangeAgent::let_go(int fragment) {
  if (merging_ == fragment) return;  // end() will
  of(fragment).held = false;
  region_.let_go(first_ + fragment);
}

void ExchangeAgent::fly(int fragment, RoundId round) {
  of(fragment).flights[round % 2] = {round, in_region(fragment).fresh % 2};
  show_flights(fragment);
}

bool ExchangeAgent::flies(int fragment, RoundId round) const {
  return of(fragment).flights[round % 2].round == round;
}

std::span<const float> ExchangeAgent::flying(int fragment, RoundId round) const {
  const Flight& flight = of(fragment).flights[round % 2];
  COTILLION_CHECK(flight.round == round);
  return region_.place(first_ + fragment, flight.place);
}

void ExchangeAgent::show_flights(int fragment) {
  std::uint32_t places = 0;
  for (const Flight& flight : of(fragment).flights)
    if (flight.round != 0) places |= 1u << flight.place;
  in_region(fragment).flying = places;
}

// The first room of ours that holds no correction: as many are ever written to as hold one at once.
void ExchangeAgent::choose_pending(int fragment) {
  for (std::uint32_t pending = std::uint32_t(first_);; ++pending) {
    const auto holds = [&](std::size_t f) {
      const RegionFragment& other = in_region(int(f));
      return int(f) != fragment && places_[f].pending == pending &&
             other.made.load(std::memory_order_relaxed) !=
                 other.taken.load(std::memory_order_acquire);
    };
    bool free = true;
    for (std::size_t f = 0; f < places_.size() && free; ++f) free = !holds(f);
    if (!free) continue;
    in_region(fragment).pending = of(fragment).pending = pending;
    return;
  }
}

// Finds room for the correction, and a place for the newest copy as it will be: where it is, unless
// another round's copy flies from there.
bool ExchangeAgent::begin(int fragment, RoundId round) {
  COTILLION_CHECK(!merging());
  if (!take_hold(fragment)) return false;
  RegionFragment& region = in_region(fragment);
  std::uint32_t flown = 0;
  for (const Flight& flight : of(fragment).flights)
    if (flight.round != 0 && flight.round != round) flown |= 1u << flight.place;
  const unsigned now = region.fresh % 2;
  const unsigned next = (flown >> now & 1) != 0 ? 1 - now : now;
  if ((flown >> next & 1) != 0) {
    let_go(fragment);
    return false;
  }
  waiting_ = region.made == region.taken ? 0 : region.account.rounds;
  waiting_scale_ = waiting_ == 0 ? 1 : region.account.scale;
  if (waiting_ == 0) choose_pending(fragment);
  pending_ = region_.pending(first_ + fragment, of(fragment).pending);
  base_ = region_.place(first_ + fragment, now);
  copy_ = region_.place(first_ + fragment, next);
  fresh_before_ = now;
  region.fresh = next;
  merging_ = fragment;
  round_ = round;
  scale_ = 1;
  return true;
}

void ExchangeAgent::give_up() {
  const int fragment = std::exchange(merging_, -1);
  in_region(fragment).fresh = fresh_before_;
  let_go(fragment);
}

bool ExchangeAgent::begin_late(int fragment) {
  if (!begin(fragment, 0)) return false;
  if (waiting_ == 0) std::fill(pending_.begin(), pending_.end(), 0.0F);
  if (copy_.data() != base_.data()) std::copy(base_.begin(), base_.end(), copy_.begin());
  base_ = copy_;
  return true;
}

void ExchangeAgent::add(std::uint64_t offset, std::span<const float> correction) {
  const std::size_t count = correction.size();
  const std::span<float> pending = pending_.subspan(offset, count),
                         copy = copy_.subspan(offset, count);
  // Where nothing waits there is an older correction that was taken.
  if (waiting_ == 0 && round_ != 0) std::fill(pending.begin(), pending.end(), 0.0F);
  correct(pending, scale_, pending, correction);
  correct(copy, scale_, base_.subspan(offset, count), correction);
}

void ExchangeAgent::end(const CorrectionAccount& account) {
  const int fragment = std::exchange(merging_, -1);
  RegionFragment& region = in_region(fragment);
  for (Flight& flight : of(fragment).flights)
    if (flight.round == round_) flight.round = 0;
  show_flights(fragment);
  region.account = account;
  region.account.rounds += waiting_;
  region.account.scale = scale_ * waiting_scale_;
  region.made.fetch_add(1, std::memory_order_release);
  let_go(fragment);
  region_.announce();
}

}  // namespace cotillion
