#include "search/neighbours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/infinity.hpp"

namespace cotillion {
namespace {

constexpr double kBetter = 1 - 1e-9;
constexpr std::int64_t kLooksBetweenQuestions = 64;

class Looker {
 public:
  Looker(const NetworkModel& network, const Score& score, const Rules& rules,
         const Schedule& schedule, CliqueCache& cache, std::int64_t most,
         const std::function<bool()>& stop, double value_most)
      : stop_(stop),
        network_(network),
        score_(score),
        rules_(rules),
        schedule_(schedule),
        cache_(cache),
        most_(most),
        meter_(network.map().island_count(), score.squared(), AreaMeter::Care::kProof) {
    std::vector<const Grouping*> groups;
    rounds_.reserve(schedule.rounds.size());
    for (const Round& round : schedule.rounds) rounds_.push_back(state_of(round, cache));
    for (const RoundState& round : rounds_) groups.push_back(&round.groups);
    const double area = meter_.start(groups, kInfinity);
    limit_ = value_most * value_of(rounds_, area).value;
  }

  Neighbours look() {
    for (std::size_t r = 0; r < rounds_.size(); ++r)
      if (std::find(rules_.pinned().begin(), rules_.pinned().end(), schedule_.rounds[r]) ==
          rules_.pinned().end())
        look_at(int(r));
    drop_rounds();
    std::vector<Neighbour>& best = found_.best;
    std::stable_sort(best.begin(), best.end(), [](const Neighbour& a, const Neighbour& b) {
      return a.standing.value < b.standing.value;
    });
    return std::move(found_);
  }

 private:
  [[nodiscard]] const std::string& name(IslandId island) const {
    return network_.map().islands[island].name;
  }

  // Dearest cliques first: where there are too many to look at, these matter.
  void look_at(int r) {
    const RoundState& round = rounds_[r];
    std::vector<int> order;
    for (int g = 0; g < round.groups.count(); ++g) order.push_back(g);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return round.costs[a].price > round.costs[b].price; });
    for (std::size_t k = 0; k < order.size(); ++k) {
      const int here = order[k];
      const auto members = round.groups.members(here);
      for (const IslandId island : members) {
        if (members.size() > 1)
          consider(r, {here}, {without(members, island), {island}}, Neighbour::Kind::kRest,
                   [&] { return fmt::format("{} rests in round {}", name(island), r + 1); });
        for (const int there : order) {
          if (there == here || found_.looked_at >= most_) continue;
          const auto others = round.groups.members(there);
          if (members.size() > 1)
            consider(r, {here, there}, {without(members, island), with(others, island)},
                     Neighbour::Kind::kMove, [&] {
                       return fmt::format("{} joins {} in round {}", name(island),
                                          name(others.front()), r + 1);
                     });
        }
      }
      for (std::size_t m = k + 1; m < order.size(); ++m) pair_up(r, here, order[m]);
    }
  }

  void pair_up(int r, int here, int there) {
    const RoundState& round = rounds_[r];
    const auto members = round.groups.members(here), others = round.groups.members(there);
    std::vector<IslandId> merged(members.begin(), members.end());
    merged.insert(merged.end(), others.begin(), others.end());
    std::sort(merged.begin(), merged.end());
    consider(r, {here, there}, {merged}, Neighbour::Kind::kMerge, [&] {
      return fmt::format("the cliques of {} and {} merge in round {}", name(members.front()),
                         name(others.front()), r + 1);
    });
    if (members.size() == 1 && others.size() == 1) return;
    for (const IslandId a : members)
      for (const IslandId b : others)
        consider(r, {here, there}, {with(without(members, a), b), with(without(others, b), a)},
                 Neighbour::Kind::kSwap, [&] {
                   return fmt::format("{} and {} swap cliques in round {}", name(a), name(b),
                                      r + 1);
                 });
  }

  static std::vector<IslandId> without(std::span<const IslandId> clique, IslandId island) {
    std::vector<IslandId> result(clique.begin(), clique.end());
    std::erase(result, island);
    return result;
  }
  static std::vector<IslandId> with(std::span<const IslandId> clique, IslandId island) {
    std::vector<IslandId> result(clique.begin(), clique.end());
    result.insert(std::lower_bound(result.begin(), result.end(), island), island);
    return result;
  }

  template <class Words>
  void consider(int r, const std::vector<int>& gone,
                const std::vector<std::vector<IslandId>>& fresh, Neighbour::Kind kind,
                const Words& words) {
    if (found_.looked_at % kLooksBetweenQuestions == 0 && stop_ && stop_()) most_ = 0;
    if (found_.looked_at >= most_) {
      found_.all = false;
      return;
    }
    ++found_.looked_at;
    for (const auto& clique : fresh)
      if (!rules_.allows(std::span<const IslandId>(clique))) return;
    const double limit = best_of(kind);
    if (!replace(rounds_[r], gone, fresh, score_.length_at(limit, 1), cache_, changed_)) return;
    std::swap(rounds_[r], changed_);
    Standing standing = value_of(rounds_, 0);
    std::swap(rounds_[r], changed_);
    const double area =
        meter_.changed(r, changed_.groups, score_.area_at(limit, standing.length, delay_));
    if (!std::isfinite(area)) return;
    standing.area = area;
    standing.value = score_.value(standing.length, delay_, area);
    if (standing.value >= limit) return;
    standing.schedule = schedule_;
    standing.schedule.rounds[r] = round_of(changed_);
    take({kind, words(), std::move(standing)});
  }

  void drop_rounds() {
    if (schedule_.rounds.size() < 2) return;
    for (std::size_t r = 0; r < rounds_.size(); ++r) {
      Schedule shorter = schedule_;
      shorter.rounds.erase(shorter.rounds.begin() + std::ptrdiff_t(r));
      if (!rules_.allows(shorter)) continue;
      ++found_.looked_at;
      std::vector<RoundState> left;
      std::vector<const Grouping*> groups;
      for (std::size_t k = 0; k < rounds_.size(); ++k)
        if (k != r) left.push_back(rounds_[k]);
      for (const RoundState& round : left) groups.push_back(&round.groups);
      AreaMeter meter(network_.map().island_count(), score_.squared(), AreaMeter::Care::kProof);
      Standing standing = value_of(left, 0);
      standing.area = meter.start(
          groups, score_.area_at(best_of(Neighbour::Kind::kDrop), standing.length, delay_));
      if (!std::isfinite(standing.area)) continue;
      standing.value = score_.value(standing.length, delay_, standing.area);
      standing.schedule = std::move(shorter);
      take({Neighbour::Kind::kDrop, fmt::format("round {} is left out", r + 1),
            std::move(standing)});
    }
  }

  [[nodiscard]] Standing value_of(const std::vector<RoundState>& rounds, double area) {
    double price = 0;
    delay_ = 0;
    std::vector<const Grouping*> groups;
    for (const RoundState& round : rounds) {
      price = std::max(price, round.price);
      delay_ = std::max(delay_, round.delay);
      groups.push_back(&round.groups);
    }
    const double length = score_.length(price, groups);
    return {{}, score_.value(length, delay_, area), length, area};
  }

  [[nodiscard]] double best_of(Neighbour::Kind kind) const {
    for (const Neighbour& known : found_.best)
      if (known.kind == kind) return known.standing.value;
    return limit_;
  }
  void take(Neighbour neighbour) {
    COTILLION_CHECK(neighbour.standing.value <= limit_ && !neighbour.change.empty());
    for (Neighbour& known : found_.best)
      if (known.kind == neighbour.kind) {
        if (neighbour.standing.value < known.standing.value) known = std::move(neighbour);
        return;
      }
    found_.best.push_back(std::move(neighbour));
  }

  const std::function<bool()>& stop_;
  const NetworkModel& network_;
  const Score& score_;
  const Rules& rules_;
  const Schedule& schedule_;
  CliqueCache& cache_;
  std::int64_t most_;
  AreaMeter meter_;
  std::vector<RoundState> rounds_;
  RoundState changed_;
  double delay_ = 0;
  double limit_ = 0;
  Neighbours found_;
};

}  // namespace

Neighbours neighbours_of(const NetworkModel& network, const Score& score, const Rules& rules,
                         const Schedule& schedule, CliqueCache& cache, std::int64_t most,
                         const std::function<bool()>& stop, double value_most) {
  if (network.map().island_count() < 2 || (stop && stop())) return {};
  return Looker(network, score, rules, schedule, cache, most, stop, value_most).look();
}

Standing descended(const NetworkModel& network, const Score& score, const Rules& rules,
                   Standing from, CliqueCache& cache, std::int64_t most,
                   const std::function<bool()>& stop) {
  while (!stop || !stop()) {
    const Neighbours around =
        neighbours_of(network, score, rules, from.schedule, cache, most, stop, kBetter);
    if (around.best.empty() || around.best[0].standing.value >= from.value * kBetter) break;
    const std::string name = from.schedule.name;
    COTILLION_CHECK(around.best[0].standing.value < from.value);
    from = around.best[0].standing;
    from.schedule.name = name;
  }
  return from;
}

}  // namespace cotillion
