#include "search/walker.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/infinity.hpp"

namespace cotillion {
namespace {

constexpr int kStepsBetweenQuestions = 256;
constexpr int kRoundMoveOneIn = 48;  // moves of whole rounds cost more than they bring

double dearest(const std::vector<std::unique_ptr<RoundState>>& rounds, double RoundState::*what,
               int but = -1) {
  double most = 0;
  for (std::size_t r = 0; r < rounds.size(); ++r)
    if (int(r) != but) most = std::max(most, (*rounds[r]).*what);
  return most;
}

}  // namespace

Walker::Walker(const Rules& rules, const Score& score, const Neighbourhood& neighbourhood,
               CliqueCache& cache)
    : rules_(rules),
      score_(score),
      neighbourhood_(neighbourhood),
      cache_(cache),
      meter_(cache.network().map().island_count(), score.squared(), AreaMeter::Care::kSearch),
      other_meter_(meter_),
      spare_(std::make_unique<RoundState>()),
      best_{{}, kInfinity, kInfinity, kInfinity} {}

Schedule Walker::schedule() const {
  Schedule schedule;
  for (const auto& round : rounds_) schedule.rounds.push_back(round_of(*round));
  return schedule;
}

std::vector<const Grouping*> Walker::groupings() const {
  std::vector<const Grouping*> groups;
  for (const auto& round : rounds_) groups.push_back(&round->groups);
  return groups;
}

bool Walker::begin(const Schedule& schedule, double area_most) {
  rounds_.clear();
  pinned_.clear();
  std::vector<Round> left = rules_.pinned();
  for (const Round& round : schedule.rounds) {
    rounds_.push_back(std::make_unique<RoundState>(state_of(round, cache_)));
    const auto pin = std::find(left.begin(), left.end(), round);
    pinned_.push_back(pin != left.end());
    if (pin != left.end()) left.erase(pin);
  }
  price_ = dearest(rounds_, &RoundState::price);
  delay_ = dearest(rounds_, &RoundState::delay);
  if (!std::isfinite(price_) || !connects_all(schedule, cache_.network().map().island_count()))
    return false;
  area_ = meter_.start(groupings(), area_most);
  if (!std::isfinite(area_)) return false;
  settle(price_, delay_, area_);
  return true;
}

// The move is made: this is where the walk stands now.
void Walker::settle(double price, double delay, double area) {
  price_ = price;
  delay_ = delay;
  area_ = area;
  length_ = score_.length(price, groupings());
  value_ = score_.value(length_, delay, area);
  if (value_ < best_.value * (1 - 1e-12)) best_ = {schedule(), value_, length_, area_};
  COTILLION_CHECK(best_.value <= value_ * (1 + 1e-9));
  COTILLION_CHECK(pinned_.size() == rounds_.size());
}

// A cache that is full is emptied; what is still needed is looked up afresh. Nothing else changes,
// or answers would depend on who had filled the cache.
void Walker::look_up_again() {
  cache_.forget();
  for (const auto& round : rounds_)
    for (int group = 0; group < round->groups.count(); ++group)
      round->cliques[group] = &cache_.find(round->groups.members(group));
}

int Walker::dearest_round() const {
  int dearest = 0;
  for (int r = 1; r < period(); ++r)
    if (rounds_[r]->price > rounds_[dearest]->price) dearest = r;
  return dearest;
}

bool Walker::try_local(double most, Random& random) {
  int r = int(random.between(0, period() - 1));
  int around = -1;
  if (random.between(0, 2) == 0) {
    r = dearest_round();
    const auto& costs = rounds_[r]->costs;
    around = int(std::max_element(
                     costs.begin(), costs.end(),
                     [](const CliqueCost& a, const CliqueCost& b) { return a.price < b.price; }) -
                 costs.begin());
  }
  if (is_pinned(r)) return false;
  const RoundState& round = *rounds_[r];
  if (!draw_move(round, neighbourhood_, around, cache_.network(), random, move_)) return false;
  for (const auto& clique : move_.fresh)
    if (!rules_.allows(std::span<const IslandId>(clique))) return false;
  ++evaluated_;
  const double area_least = meter_.least_area(r, move_.gone, move_.fresh);
  const double price_most = score_.length_at(most, area_least);
  if (dearest(rounds_, &RoundState::price, r) > price_most) return false;
  if (!replace(round, move_.gone, move_.fresh, price_most, cache_, *spare_)) return false;
  const double price = std::max(dearest(rounds_, &RoundState::price, r), spare_->price);
  const double delay = std::max(dearest(rounds_, &RoundState::delay, r), spare_->delay);
  std::vector<const Grouping*> groups = groupings();
  groups[r] = &spare_->groups;
  const double length = score_.length(price, groups);
  const double area = meter_.changed(r, spare_->groups, score_.area_at(most, length, delay));
  if (!std::isfinite(area)) return false;
  COTILLION_CHECK(area_least <= area * (1 + 1e-9));  // or good moves have been refused unseen
  meter_.accept();
  rounds_[r].swap(spare_);
  settle(price, delay, area);
  return true;
}

// Drops, adds, replaces or reorders whole rounds.
bool Walker::try_rounds(double most, const WalkSettings& settings, const std::vector<Round>& pool,
                        Random& random) {
  std::vector<int> order;  // of current rounds; −1 for one from the pool
  for (int r = 0; r < period(); ++r) order.push_back(r);
  const auto position = [&] {
    return std::size_t(random.between(0, std::int64_t(order.size()) - 1));
  };
  const std::int64_t kind = random.between(0, 3);
  if (kind == 0) {
    const std::size_t at = position();
    if (period() < 2 || is_pinned(int(at))) return false;
    order.erase(order.begin() + std::ptrdiff_t(at));
  } else if (kind == 1) {
    if (period() >= settings.period_max || pool.empty()) return false;
    order.insert(order.begin() + std::ptrdiff_t(position()), -1);
  } else if (kind == 2) {
    const std::size_t at = position();
    if (is_pinned(int(at)) || pool.empty()) return false;
    order[at] = -1;
  } else {
    if (period() < 4) return false;  // three rounds mix alike in any order
    std::swap(order[position()], order[position()]);
  }
  ++evaluated_;
  Rounds rounds;
  std::vector<const Grouping*> groups;
  double price = 0, delay = 0;
  for (const int r : order) {
    if (r < 0) {
      const std::size_t pick = std::size_t(random.between(0, std::int64_t(pool.size()) - 1));
      rounds.push_back(std::make_unique<RoundState>(state_of(pool[pick], cache_)));
    } else {
      rounds.push_back(nullptr);
    }
    const RoundState& state = r < 0 ? *rounds.back() : *rounds_[r];
    price = std::max(price, state.price);
    delay = std::max(delay, state.delay);
    groups.push_back(&state.groups);
  }
  if (price > score_.length_at(most, 1)) return false;
  const double length = score_.length(price, groups);
  const double limit = score_.area_at(most, length, delay);
  const double area = other_meter_.start(std::move(groups), limit);
  if (!std::isfinite(area)) return false;
  std::vector<bool> pinned;
  for (std::size_t k = 0; k < order.size(); ++k) {
    pinned.push_back(order[k] >= 0 && is_pinned(order[k]));
    if (order[k] >= 0) rounds[k] = std::move(rounds_[order[k]]);
  }
  // What is pinned stays: it is exempt from every move.
  COTILLION_CHECK(std::count(pinned.begin(), pinned.end(), true) ==
                  std::count(pinned_.begin(), pinned_.end(), true));
  rounds_ = std::move(rounds);
  pinned_ = std::move(pinned);
  std::swap(meter_, other_meter_);
  settle(price, delay, area);
  return true;
}

void Walker::walk(const WalkSettings& settings, const std::vector<Round>& pool, Random& random,
                  const std::function<bool()>& stop) {
  COTILLION_CHECK(period() > 0);  // it has begun somewhere
  double heat = settings.hot;
  for (std::int64_t step = 0; step < settings.steps; ++step) {
    if (step % kStepsBetweenQuestions == 0) {
      if (stop && stop()) return;
      heat = settings.hot *
             std::pow(settings.cold / settings.hot, double(step) / double(settings.steps));
      if (cache_.full()) look_up_again();
    }
    const double most = value_ * (1 - heat * std::log(1 - random.unit()));
    if (random.between(1, kRoundMoveOneIn) == 1)
      try_rounds(most, settings, pool, random);
    else
      try_local(most, random);
  }
}

}  // namespace cotillion
