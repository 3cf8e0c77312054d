#include "search/gathering.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/check.hpp"

namespace cotillion {
namespace {

// Prices are sums of rounded products; a limit that errs this much on the generous side is safe.
constexpr double kGenerous = 1 + 1e-12;
// Cliques that are listed at one limit; beyond it, size after size, nothing is concluded.
constexpr std::size_t kListedMost = 8000;
constexpr std::size_t kFoundMost = 8;
// Islands of a map on which sizes are looked at for every pair.
constexpr std::size_t kPairsMost = 2000;
// Islands looked at meanwhile, at one limit.
constexpr std::int64_t kPassLooks = 10;  // what it takes to send a mate through two funnels
constexpr std::int64_t kLooksMost = 50'000'000;

int streams_within(double time, double each) {
  return time < 0 ? 0 : int(std::min(1e6, std::floor(time * kGenerous / each)));
}

}  // namespace

double Gathering::streams_most(LaneId lane) const {
  return streams_within(price_ - pairs_.least_flight(lane), time_[lane]);
}

// Whether so many of the mates get through, each lane being held for at most `time`. Only nodes
// between a mate and the root are looked at, the farthest first.
bool Gathering::passes(const Funnel& funnel, int streams, double time, IslandId island) {
  nodes_.clear();
  for (const IslandId mate : mates_) {
    ++count_[funnel.node_of[mate]];
    for (int node = funnel.node_of[mate]; node > 0 && seen_[node] == 0;
         node = funnel.parent[node]) {
      seen_[node] = 1;
      nodes_.push_back(node);
    }
  }
  std::sort(nodes_.begin(), nodes_.end(), std::greater<>());
  LaneId worst = -1;
  int lost = 0;
  for (const int node : nodes_) {
    const int through = std::min(count_[node], streams_within(time, time_[funnel.lane[node]]));
    if (count_[node] - through > lost) {
      lost = count_[node] - through;
      worst = funnel.lane[node];
    }
    count_[funnel.parent[node]] += through;
    count_[node] = 0;
    seen_[node] = 0;
  }
  const bool pass = count_[0] >= streams;
  count_[0] = 0;
  if (!pass) held_by_[island] = worst;
  return pass;
}

bool Gathering::fits(IslandId island, int size) {
  if (size == 1) return true;
  const int others = size - 1;
  mates_.clear();
  for (const IslandId other : near_[island])
    if (size_together(island, other) >= size) mates_.push_back(other);
  if (int(mates_.size()) < others) return false;
  // Whoever they are, one of them is at least as far away as this one.
  const double time = price_ - flight(island, mates_[others - 1]);
  const Map& map = network_.map();
  const LaneId down = lane_down(map, island), up = lane_up(map, island);
  if (!network_.aggregates(island) && streams_within(time, time_[down]) < others) {
    held_by_[island] = down;
    return false;
  }
  if (!network_.technology().multicast) {
    if (streams_within(time, time_[up]) < others) {
      held_by_[island] = up;
      return false;
    }
    if (!passes(away_[island], others, time, island)) return false;
  }
  return passes(towards_[island], others, time, island);
}

// Fewer mates and more of them needed make it harder: what does not fit at a size does not fit
// at a larger one.
void Gathering::lower_by_lanes() {
  for (bool lowered = true; lowered;) {
    lowered = false;
    for (IslandId i = 0; i < IslandId(n_); ++i) {
      if (fits(i, sizes_[i])) continue;
      int low = 1, high = sizes_[i];
      while (high - low > 1) {
        const int middle = (low + high) / 2;
        (fits(i, middle) ? low : high) = middle;
      }
      sizes_[i] = low;
      lowered = true;
      for (IslandId j = 0; j < IslandId(n_) && !together_.empty(); ++j) {
        std::int16_t& shared = together_[std::size_t(i) * n_ + j];
        shared = together_[std::size_t(j) * n_ + i] = std::min(shared, std::int16_t(low));
      }
    }
  }
}

bool Gathering::fit_together(IslandId a, IslandId b, int size) {
  mates_.clear();
  flights_.clear();
  looks_ += std::int64_t(near_[a].size());
  for (const IslandId other : near_[a]) {
    if (other == b || size_together(a, other) < size || size_together(b, other) < size) continue;
    mates_.push_back(other);
    flights_.push_back(std::max(flight(a, other), flight(b, other)));
  }
  const int others = size - 2;
  if (int(mates_.size()) < others) return false;
  looks_ += kPassLooks * std::int64_t(mates_.size());
  std::nth_element(flights_.begin(), flights_.begin() + (others - 1), flights_.end());
  const double time = price_ - std::max(flight(a, b), flights_[std::size_t(others) - 1]);
  mates_.push_back(b);
  if (!passes(towards_[a], size - 1, time, a)) return false;
  mates_.back() = a;
  return passes(towards_[b], size - 1, time, b);
}

// Sizes are sound at any moment, so the work may end early: pairs are looked at again only while
// something about one of the two has changed, and only so often.
void Gathering::lower_by_pairs() {
  if (together_.empty()) {
    std::vector<std::int16_t> together(n_ * n_, 1);
    for (IslandId a = 0; a < IslandId(n_); ++a)
      for (const IslandId b : near_[a])
        together[std::size_t(a) * n_ + b] = std::int16_t(size_together(a, b));
    together_.swap(together);
  }
  looks_ = 0;
  std::vector<bool> changed(n_, true), changes(n_);
  for (bool lowered = true; lowered && looks_ < kLooksMost;) {
    lowered = false;
    changes.assign(n_, false);
    for (IslandId a = 0; a < IslandId(n_) && looks_ < kLooksMost; ++a)
      for (const IslandId b : near_[a]) {
        const int size = size_together(a, b);
        if (b < a || size <= 2 || !(changed[a] || changed[b])) continue;
        if (fit_together(a, b, size)) continue;
        int low = 2, high = size;
        while (high - low > 1) {
          const int middle = (low + high) / 2;
          (fit_together(a, b, middle) ? low : high) = middle;
        }
        together_[std::size_t(a) * n_ + b] = together_[std::size_t(b) * n_ + a] = std::int16_t(low);
        changes[a] = changes[b] = lowered = true;
      }
    if (lowered) lower_by_lanes();
    changed.swap(changes);
  }
}

// Every clique of k that fits extends one of k − 1 that does: list them size by size, each by its
// islands in ascending order, for as long as the list stays short. Pairs are priced already.
void Gathering::lower_by_listing() {
  std::vector<std::vector<IslandId>> cliques, larger;
  for (IslandId a = 0; a < IslandId(n_); ++a)
    for (const IslandId b : near_[a])
      if (a < b) {
        if (cliques.size() == kListedMost) return;
        cliques.push_back({a, b});
      }
  std::size_t listed = cliques.size();
  std::vector<IslandId> clique;
  for (int size = 3; !cliques.empty() && size <= clique_max_; ++size) {
    larger.clear();
    std::vector<bool> met(n_, false);
    for (const auto& start : cliques)
      for (IslandId next{start.back() + 1}; next < IslandId(n_); ++next) {
        if (!std::all_of(start.begin(), start.end(), [&](IslandId member) {
              return sizes_[member] >= size && size_together(member, next) >= size;
            }))
          continue;
        if (++listed > kListedMost) return;
        clique = start;
        clique.push_back(next);
        KnownClique& known = cache_.find(clique);
        double pace = 0;
        for (const LaneLoad& load : known.loads)
          pace = std::max(pace, cache_.pace(load.lane, load.streams));
        if (cache_.cost(known, pace).price > price_) continue;
        for (const IslandId member : clique) met[member] = true;
        larger.push_back(clique);
      }
    for (IslandId i = 0; i < IslandId(n_); ++i)
      if (!met[i]) sizes_[i] = std::min(sizes_[i], size - 1);
    cliques.swap(larger);
  }
}

void Gathering::recall() {
  const Found* nearest = nullptr;
  for (const Found& found : found_)
    if (found.price >= price_ && (nearest == nullptr || found.price < nearest->price))
      nearest = &found;
  if (nearest == nullptr) return;
  held_by_ = nearest->held_by;
  together_.assign(n_ * n_, 1);
  for (IslandId a = 0; a < IslandId(n_); ++a) sizes_[a] = std::min(sizes_[a], nearest->sizes[a]);
  for (IslandId a = 0; a < IslandId(n_); ++a)
    for (const IslandId b : near_[a]) {
      const std::size_t pair = std::size_t(a) * n_ + b;
      together_[pair] =
          std::int16_t(std::min({int(nearest->together[pair]), sizes_[a], sizes_[b]}));
    }
}

void Gathering::remember() {
  Found found{price_, sizes_, together_, held_by_};
  const auto same = std::find_if(found_.begin(), found_.end(),
                                 [&](const Found& known) { return known.price == price_; });
  if (same != found_.end())
    *same = std::move(found);
  else
    found_.push_back(std::move(found));
  if (found_.size() > kFoundMost) found_.erase(found_.begin());
}

void Gathering::limit(double price, Care care) {
  price_ = price * kGenerous;
  if (cache_.full()) cache_.forget();
  held_by_.assign(n_, -1);
  sizes_.assign(n_, clique_max_);
  near_.resize(n_);
  for (IslandId i = 0; i < IslandId(n_); ++i) {
    near_[i].clear();
    for (const IslandId other : by_flight_[i])
      if (may_meet(i, other)) near_[i].push_back(other);
    sizes_[i] = std::min(clique_max_, 1 + int(near_[i].size()));
  }
  together_.clear();
  recall();
  lower_by_lanes();
  lower_by_listing();
  lower_by_lanes();
  for (const int size : sizes_) COTILLION_CHECK(size >= 1 && size <= clique_max_);
  unfinished_ = care == Care::kQuick && n_ <= kPairsMost;
  if (care == Care::kQuick || n_ > kPairsMost) return;
  lower_by_pairs();
  unfinished_ = looks_ >= kLooksMost;
  remember();
}

}  // namespace cotillion
