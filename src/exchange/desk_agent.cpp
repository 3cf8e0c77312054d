#include "exchange/desk_agent.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace cotillion {

DeskAgent::DeskAgent(const Desk& desk, int first, int count)
    : desk_(desk), first_(first), places_(std::size_t(count)) {
  for (int f = 0; f < count; ++f) of(f).tray = std::uint32_t(first + f);
}

bool DeskAgent::take_hold(int fragment) {
  if (on_desk(fragment).offers.load(std::memory_order_acquire) == 0) return false;
  if (!of(fragment).held)
    of(fragment).held = desk_.try_hold(first_ + fragment, Desk::Holder::kAgent);
  return of(fragment).held;
}

void DeskAgent::let_go(int fragment) {
  if (merging_ == fragment) return;  // end() will
  of(fragment).held = false;
  desk_.let_go(first_ + fragment);
}

void DeskAgent::fly(int fragment, RoundId round) {
  of(fragment).flights[round % 2] = {round, on_desk(fragment).fresh % 2};
  show_flights(fragment);
}

bool DeskAgent::flies(int fragment, RoundId round) const {
  return of(fragment).flights[round % 2].round == round;
}

std::span<const float> DeskAgent::flying(int fragment, RoundId round) const {
  const Flight& flight = of(fragment).flights[round % 2];
  COTILLION_CHECK(flight.round == round);
  return desk_.place(first_ + fragment, flight.place);
}

void DeskAgent::show_flights(int fragment) {
  std::uint32_t places = 0;
  for (const Flight& flight : of(fragment).flights)
    if (flight.round != 0) places |= 1u << flight.place;
  on_desk(fragment).flying = places;
}

// The first of ours that holds nothing: as many are ever written to as hold something at once.
void DeskAgent::choose_tray(int fragment) {
  for (std::uint32_t tray = std::uint32_t(first_);; ++tray) {
    const auto holds = [&](std::size_t f) {
      const DeskFragment& other = on_desk(int(f));
      return int(f) != fragment && places_[f].tray == tray &&
             other.made.load(std::memory_order_relaxed) !=
                 other.taken.load(std::memory_order_acquire);
    };
    bool free = true;
    for (std::size_t f = 0; f < places_.size() && free; ++f) free = !holds(f);
    if (!free) continue;
    on_desk(fragment).tray = of(fragment).tray = tray;
    return;
  }
}

// Finds a tray, and a place for the newest copy as it will be: where it is, unless another round's
// copy flies from there.
bool DeskAgent::begin(int fragment, RoundId round) {
  COTILLION_CHECK(!merging());
  if (!take_hold(fragment)) return false;
  DeskFragment& desk = on_desk(fragment);
  std::uint32_t flown = 0;
  for (const Flight& flight : of(fragment).flights)
    if (flight.round != 0 && flight.round != round) flown |= 1u << flight.place;
  const unsigned now = desk.fresh % 2;
  const unsigned next = (flown >> now & 1) != 0 ? 1 - now : now;
  if ((flown >> next & 1) != 0) {
    let_go(fragment);
    return false;
  }
  waiting_ = desk.made == desk.taken ? 0 : desk.account.rounds;
  waiting_scale_ = waiting_ == 0 ? 1 : desk.account.scale;
  if (waiting_ == 0) choose_tray(fragment);
  tray_ = desk_.tray(first_ + fragment, of(fragment).tray);
  base_ = desk_.place(first_ + fragment, now);
  copy_ = desk_.place(first_ + fragment, next);
  fresh_before_ = now;
  desk.fresh = next;
  merging_ = fragment;
  round_ = round;
  scale_ = 1;
  return true;
}

void DeskAgent::give_up() {
  const int fragment = std::exchange(merging_, -1);
  on_desk(fragment).fresh = fresh_before_;
  let_go(fragment);
}

bool DeskAgent::begin_late(int fragment) {
  if (!begin(fragment, 0)) return false;
  if (waiting_ == 0) std::fill(tray_.begin(), tray_.end(), 0.0F);
  if (copy_.data() != base_.data()) std::copy(base_.begin(), base_.end(), copy_.begin());
  base_ = copy_;
  return true;
}

void DeskAgent::add(std::uint64_t offset, std::span<const float> correction) {
  const std::size_t count = correction.size();
  const std::span<float> tray = tray_.subspan(offset, count), copy = copy_.subspan(offset, count);
  const std::span<const float> base = base_.subspan(offset, count);
  const bool first = waiting_ == 0 && round_ != 0;  // else there is something in the tray
  for (std::size_t i = 0; i < count; ++i) tray[i] = (first ? 0 : scale_ * tray[i]) + correction[i];
  for (std::size_t i = 0; i < count; ++i) copy[i] = scale_ * base[i] + correction[i];
}

void DeskAgent::end(const DeskAccount& account) {
  const int fragment = std::exchange(merging_, -1);
  DeskFragment& desk = on_desk(fragment);
  for (Flight& flight : of(fragment).flights)
    if (flight.round == round_) flight.round = 0;
  show_flights(fragment);
  desk.account = account;
  desk.account.rounds += waiting_;
  desk.account.scale = scale_ * waiting_scale_;
  desk.made.fetch_add(1, std::memory_order_release);
  let_go(fragment);
  desk_.announce();
}

}  // namespace cotillion
