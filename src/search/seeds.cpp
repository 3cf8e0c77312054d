#include "search/seeds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "plan/named_schedule.hpp"
#include "search/packing.hpp"
#include "search/round_state.hpp"

namespace cotillion {
namespace {

constexpr int kSidesMax = 5;
constexpr int kNearCompleteMax = 12;  // islands that are left out in turn, at most

using Groups = std::vector<std::vector<IslandId>>;

// Products of sides that make `product`, sides ascending, each between 2 and `side_max`.
void factorise(int product, int least, int side_max, std::vector<int>& sides,
               std::vector<std::vector<int>>& into) {
  if (product == 1 && sides.size() >= 2) into.push_back(sides);
  if (int(sides.size()) == kSidesMax) return;
  for (int side = least; side <= std::min(product, side_max); ++side) {
    if (product % side != 0) continue;
    sides.push_back(side);
    factorise(product / side, side, side_max, sides, into);
    sides.pop_back();
  }
}

class SeedMaker {
 public:
  SeedMaker(const PairPrices& pairs, const Rules& rules, int period_max, CliqueCache& cache,
            Random& random, const std::function<bool()>& stop)
      : stop_(stop),
        network_(cache.network()),
        pairs_(pairs),
        rules_(rules),
        period_max_(period_max),
        cache_(cache),
        random_(random),
        n_(network_.map().island_count()),
        line_(line_of_islands(network_.map(), network_.routes())) {}

  std::vector<Seed> all() {
    named();
    for (const auto more : {&SeedMaker::grids, &SeedMaker::orthogonal, &SeedMaker::near_complete,
                            &SeedMaker::rarely_all, &SeedMaker::packed})
      if (!stopped()) (this->*more)();
    return std::move(seeds_);
  }

 private:
  [[nodiscard]] bool stopped() const { return stop_ && stop_(); }

  // Repairs a seed until it obeys the rules and is feasible, and keeps it unless that fails.
  void keep(const std::string& family, Schedule schedule) {
    std::vector<Round> rounds = rules_.pinned();
    for (const Round& round : schedule.rounds) {
      if (int(rounds.size()) >= period_max_) break;
      if (auto repaired = feasible(round)) rounds.push_back(std::move(*repaired));
    }
    if (rounds.empty()) return;
    schedule.rounds = std::move(rounds);
    if (!connects_all(schedule, n_)) return;
    COTILLION_CHECK(int(schedule.rounds.size()) <=
                    std::max(period_max_, int(rules_.pinned().size())));
    seeds_.push_back({family, std::move(schedule)});
  }

  // Cliques that cannot meet are halved along the line until they can.
  [[nodiscard]] std::optional<Round> feasible(Round round) {
    for (int tries = 0; tries < 2 * n_; ++tries) {
      auto repaired = rules_.repaired(round);
      if (!repaired) return std::nullopt;
      const RoundState state = state_of(*repaired, cache_);
      if (std::isfinite(state.price)) return repaired;
      std::vector<Clique> cliques;
      for (std::size_t c = 0; c < state.cliques.size(); ++c) {
        std::vector<IslandId> members = state.cliques[c]->islands;
        if (std::isfinite(state.costs[c].price) || members.size() < 3) {
          cliques.push_back({members, {}});
          continue;
        }
        std::vector<IslandId> ordered;
        for (const IslandId island : line_)
          if (std::find(members.begin(), members.end(), island) != members.end())
            ordered.push_back(island);
        const auto middle = ordered.begin() + std::ptrdiff_t(ordered.size() / 2);
        cliques.push_back({{ordered.begin(), middle}, {}});
        cliques.push_back({{middle, ordered.end()}, {}});
      }
      round = completed(std::move(cliques), n_);
    }
    return std::nullopt;
  }

  Round round_of(const Groups& groups) const {
    std::vector<Clique> cliques;
    for (const auto& group : groups)
      if (!group.empty()) cliques.push_back({group, {}});
    return completed(std::move(cliques), n_);
  }

  void named() {
    for (const ScheduleName& name : schedule_names()) {
      auto schedule = named_schedule(name.name, network_.map(), network_.routes());
      if (schedule) keep(std::string(name.name), std::move(*schedule));
    }
  }

  // Round k groups places that differ only in digit k. Places beyond the islands stay empty;
  // islands beyond the places rest, each round another one.
  void grid(const std::vector<int>& sides, int places) {
    Schedule schedule{fmt::format("grid:{}", fmt::join(sides, "x")), {}};
    int stride = 1;
    for (std::size_t digit = sides.size(); digit-- > 0;) {
      std::vector<IslandId> line = line_;
      if (places < n_)
        line.erase(line.begin() +
                   std::ptrdiff_t(schedule.rounds.size() * std::size_t(n_ / 3) % std::size_t(n_)));
      Groups groups;
      for (int start = 0; start < places; ++start) {
        if (start / stride % sides[digit] != 0) continue;
        groups.emplace_back();
        for (int step = 0; step < sides[digit]; ++step) {
          const int place = start + step * stride;
          if (place < int(line.size())) groups.back().push_back(line[place]);
        }
      }
      schedule.rounds.push_back(round_of(groups));
      stride *= sides[digit];
    }
    keep(places == n_  ? "grid"
         : places > n_ ? "grid with a gap"
                       : "grid with a rest",
         std::move(schedule));
  }

  void grids() {
    for (const int places : {n_, n_ + 1, n_ - 1}) {
      if (places < 4) continue;
      std::vector<std::vector<int>> all;
      std::vector<int> sides;
      factorise(places, 2, std::max(2, rules_.clique_max()), sides, all);
      for (auto& found : all) {
        grid(found, places);
        if (found.front() == found.back()) continue;
        std::reverse(found.begin(), found.end());
        grid(found, places);
      }
    }
  }

  // Lines of every slope through a k × k square: any two rounds meet in one place at most.
  void orthogonal() {
    const int k = int(std::ceil(std::sqrt(double(n_))));
    if (k < 3 || k > rules_.clique_max()) return;
    for (const int rounds : {3, 4, 6}) {
      if (rounds > std::min(period_max_, k)) break;
      Schedule schedule{fmt::format("orthogonal:{}", rounds), {}};
      for (int slope = 0; slope < rounds; ++slope) {
        Groups groups(std::size_t(k), std::vector<IslandId>{});
        for (int place = 0; place < n_; ++place) {
          const int row = place / k, column = place % k;
          groups[slope == 0 ? row : (column + (slope - 1) * row) % k].push_back(line_[place]);
        }
        schedule.rounds.push_back(round_of(groups));
      }
      keep("orthogonal", std::move(schedule));
    }
  }

  // All but a few, then all but a few others.
  void near_complete() {
    if (n_ < 3 || n_ > rules_.clique_max() + 1) return;
    std::vector<Round> rounds;
    const auto without = [&](const std::vector<IslandId>& out) {
      Groups groups(2, std::vector<IslandId>{});
      for (const IslandId island : line_)
        groups[std::find(out.begin(), out.end(), island) == out.end() ? 0 : 1].push_back(island);
      return round_of(groups);
    };
    const int count = std::min(n_, kNearCompleteMax);
    const auto at = [&](int k) { return line_[std::size_t(k) * n_ / count]; };
    for (int a = 0; a < count; ++a) {
      const int b = (a + count / 2) % count;
      keep("near-complete",
           {fmt::format("near-complete:{}", a), {without({at(a)}), without({at(b)})}});
    }
  }

  // Everybody meets, but only every few rounds; regions or neighbours in between.
  void rarely_all() {
    if (n_ > rules_.clique_max()) return;
    const auto all = named_schedule("all-to-all", network_.map(), network_.routes());
    for (const char* between : {"regional", "triangles", "pairs"}) {
      const auto often = named_schedule(between, network_.map(), network_.routes());
      if (!all || !often) continue;
      for (std::size_t every = 2; every <= 4; ++every) {
        Schedule schedule{fmt::format("{} and all every {}", between, every), {}};
        for (std::size_t k = 0; k + 1 < every; ++k)
          schedule.rounds.push_back(often->rounds[k % often->rounds.size()]);
        schedule.rounds.push_back(all->rounds[0]);
        keep("all-to-all every few rounds", std::move(schedule));
      }
    }
  }

  // For maps whose core is thin: rounds that fit into a given time by construction.
  void packed() {
    if (n_ < 4) return;
    for (const double factor : {1.05, 1.15, 1.3, 1.6, 2.2})
      for (const int size : {2, 3, 4, 6, 9, 14, 24}) {
        if (size > std::min(rules_.clique_max(), n_) || stopped()) break;
        const int digits = int(std::ceil(std::log(double(n_)) / std::log(double(size)) - 0.01));
        Schedule schedule{fmt::format("packed:{}", size), {}};
        Packer packer(pairs_, cache_);
        for (int r = 0; r < std::min(std::max(digits + 1, 2), period_max_); ++r)
          schedule.rounds.push_back(packer.pack(size, factor * pairs_.connecting_price(), random_));
        keep(fmt::format("packed by {}", size), std::move(schedule));
      }
  }

  const std::function<bool()>& stop_;
  const NetworkModel& network_;
  const PairPrices& pairs_;
  const Rules& rules_;
  int period_max_;
  CliqueCache& cache_;
  Random& random_;
  int n_;
  std::vector<IslandId> line_;
  std::vector<Seed> seeds_;
};

}  // namespace

std::vector<Seed> make_seeds(const PairPrices& pairs, const Rules& rules, int period_max,
                             CliqueCache& cache, Random& random,
                             const std::function<bool()>& stop) {
  return SeedMaker(pairs, rules, period_max, cache, random, stop).all();
}

}  // namespace cotillion
