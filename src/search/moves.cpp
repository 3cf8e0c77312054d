#include "search/moves.hpp"

#include <algorithm>
#include <numeric>

#include "base/check.hpp"

namespace cotillion {
namespace {

constexpr int kKeptMax = 256;  // of the nearest; beyond them everyone is equally far

void remove(std::vector<IslandId>& clique, IslandId island) {
  clique.erase(std::lower_bound(clique.begin(), clique.end(), island));
}

void insert(std::vector<IslandId>& clique, IslandId island) {
  clique.insert(std::lower_bound(clique.begin(), clique.end(), island), island);
}

IslandId any_member(std::span<const IslandId> clique, Random& random) {
  return clique[std::size_t(random.between(0, std::int64_t(clique.size()) - 1))];
}

void copy(std::span<const IslandId> from, std::vector<IslandId>& into) {
  into.assign(from.begin(), from.end());
}

// Round two of its members, the rest by who is nearer; or at random.
bool split(const Grouping& groups, int group, const NetworkModel& network, Random& random,
           Move& move) {
  const auto members = groups.members(group);
  if (members.size() < 2) return false;
  const IslandId a = any_member(members, random), b = any_member(members, random);
  if (a == b) return false;
  const bool by_latency = random.between(0, 1) == 0;
  move.gone.assign(1, group);
  move.fresh.resize(2);
  move.fresh[0].clear();
  move.fresh[1].clear();
  for (const IslandId island : members) {
    bool first = island == a;
    if (island != a && island != b)
      first = by_latency ? network.latency(island, a) < network.latency(island, b)
                         : random.between(0, 1) == 0;
    move.fresh[first ? 0 : 1].push_back(island);
  }
  return true;
}

bool draw(const Grouping& groups, const Neighbourhood& neighbourhood, int around,
          const NetworkModel& network, Random& random, Move& move) {
  const int n = groups.island_count();
  if (n < 2) return false;
  const IslandId island =
      around < 0 ? IslandId(random.between(0, n - 1)) : any_member(groups.members(around), random);
  const int here = groups.group_of(island);
  const std::int64_t kind = random.between(0, 9);
  if (kind == 0) return split(groups, here, network, random, move);
  if (kind == 1 && groups.size(here) > 2) {  // alone
    move.gone.assign(1, here);
    move.fresh.resize(2);
    copy(groups.members(here), move.fresh[0]);
    remove(move.fresh[0], island);
    move.fresh[1].assign(1, island);
    return true;
  }
  const IslandId other = neighbourhood.draw(island, random);
  const int there = groups.group_of(other);
  if (there == here) return false;
  move.gone = {here, there};
  if (kind == 2) {  // merge
    move.fresh.resize(1);
    copy(groups.members(here), move.fresh[0]);
    const auto more = groups.members(there);
    move.fresh[0].insert(move.fresh[0].end(), more.begin(), more.end());
    std::sort(move.fresh[0].begin(), move.fresh[0].end());
    return true;
  }
  move.fresh.resize(2);
  copy(groups.members(here), move.fresh[0]);
  copy(groups.members(there), move.fresh[1]);
  if (kind < 6) {  // join the other's clique
    remove(move.fresh[0], island);
    insert(move.fresh[1], island);
    if (move.fresh[0].empty()) {
      move.fresh[0].swap(move.fresh[1]);
      move.fresh.pop_back();
    }
    return true;
  }
  // Swap, with someone of the other's clique or with the other itself.
  const IslandId back =
      random.between(0, 1) == 0 ? other : any_member(groups.members(there), random);
  remove(move.fresh[0], island);
  insert(move.fresh[0], back);
  remove(move.fresh[1], back);
  insert(move.fresh[1], island);
  return !(groups.size(here) == 1 && groups.size(there) == 1);
}

// Groups are replaced by cliques of as many islands, none of them empty.
void check_move(const Grouping& groups, const Move& move) {
  int before = 0, after = 0;
  for (const int group : move.gone) before += groups.size(group);
  for (const auto& clique : move.fresh) {
    COTILLION_CHECK(!clique.empty());
    after += int(clique.size());
  }
  COTILLION_CHECK(before == after);
}

}  // namespace

Neighbourhood::Neighbourhood(const PairPrices& pairs, int island_count)
    : n_(island_count), kept_(std::min(n_ - 1, kKeptMax)) {
  std::vector<IslandId> others(std::size_t(n_), 0);
  for (IslandId i = 0; i < n_; ++i) {
    std::iota(others.begin(), others.end(), IslandId(0));
    const auto rank = [&](IslandId j) { return std::pair(j == i ? -1.0 : pairs.price(i, j), j); };
    std::partial_sort(others.begin(), others.begin() + kept_ + 1, others.end(),
                      [&](IslandId a, IslandId b) { return rank(a) < rank(b); });
    nearest_.insert(nearest_.end(), others.begin() + 1, others.begin() + kept_ + 1);
  }
}

IslandId Neighbourhood::draw(IslandId island, Random& random) const {
  const std::int64_t kind = random.between(0, 3);
  if (kind == 0) {
    const auto other = int(random.between(0, n_ - 2));
    return IslandId(other < island ? other : other + 1);
  }
  const double unit = random.unit();
  const int rank = std::min(int(unit * unit * kept_), kept_ - 1);
  return nearest_[std::size_t(island) * kept_ + rank];
}

bool draw_move(const RoundState& round, const Neighbourhood& neighbourhood, int around,
               const NetworkModel& network, Random& random, Move& move) {
  if (!draw(round.groups, neighbourhood, around, network, random, move)) return false;
  check_move(round.groups, move);
  return true;
}

}  // namespace cotillion
