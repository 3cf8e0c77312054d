#include "search/round_state.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace cotillion {
namespace {

double crowded_pace(const KnownClique& clique, const std::vector<int>& streams,
                    const CliqueCache& cache) {
  double pace = 0;
  for (const LaneLoad& load : clique.loads)
    pace = std::max(pace, cache.pace(load.lane, streams[load.lane]));
  return pace;
}

// What is kept by group has one entry for each group, and these are the same cliques.
void check_groups(const RoundState& state) {
  const auto count = std::size_t(state.groups.count());
  COTILLION_CHECK(state.cliques.size() == count && state.paces.size() == count &&
                  state.costs.size() == count);
}
void check_members(const RoundState& state, int group) {
  const auto members = state.groups.members(group);
  const std::vector<IslandId>& known = state.cliques[group]->islands;
  COTILLION_CHECK(std::equal(members.begin(), members.end(), known.begin(), known.end()));
}

// The islands of the groups that go are those of the cliques that come.
void check_same_islands(const Grouping& groups, std::span<const int> gone,
                        std::span<const std::vector<IslandId>> fresh) {
  std::size_t before = 0, after = 0;
  for (const int group : gone) before += std::size_t(groups.size(group));
  for (const auto& clique : fresh) {
    COTILLION_CHECK(!clique.empty());
    after += clique.size();
    for (const IslandId island : clique)
      COTILLION_CHECK(std::find(gone.begin(), gone.end(), groups.group_of(island)) != gone.end());
  }
  COTILLION_CHECK(before == after);
}

void total(RoundState& state) {
  state.price = state.delay = 0;
  for (const CliqueCost& cost : state.costs) {
    state.price = std::max(state.price, cost.price);
    state.delay = std::max(state.delay, cost.delay);
  }
}

// Takes away the groups that nothing has replaced; the last ones move to their numbers.
void drop_groups(std::vector<int> empty, RoundState& into, std::vector<int>& which,
                 std::vector<int>& numbers) {
  std::sort(empty.rbegin(), empty.rend());
  for (const int number : empty) {
    const int last = int(into.cliques.size()) - 1;
    if (number != last) {
      for (const IslandId island : into.cliques[last]->islands) which[island] = number;
      into.cliques[number] = into.cliques[last];
      into.paces[number] = into.paces[last];
      into.costs[number] = into.costs[last];
      std::replace(numbers.begin(), numbers.end(), last, number);
    }
    into.cliques.pop_back();
    into.paces.pop_back();
    into.costs.pop_back();
  }
}

}  // namespace

RoundState state_of(const Round& round, CliqueCache& cache) {
  RoundState state;
  state.groups = Grouping(round, cache.network().map().island_count());
  state.streams.assign(std::size_t(cache.network().map().lane_count()), 0);
  for (int c = 0; c < state.groups.count(); ++c) {
    state.cliques.push_back(&cache.find(state.groups.members(c)));
    for (const LaneLoad& load : state.cliques.back()->loads)
      state.streams[load.lane] += load.streams;
  }
  for (KnownClique* clique : state.cliques) {
    state.paces.push_back(crowded_pace(*clique, state.streams, cache));
    state.costs.push_back(cache.cost(*clique, state.paces.back()));
  }
  total(state);
  check_groups(state);
  for (int c = 0; c < state.groups.count(); ++c) check_members(state, c);
  return state;
}

Round round_of(const RoundState& state) {
  std::vector<Clique> cliques;
  for (const KnownClique* clique : state.cliques) cliques.push_back({clique->islands, {}});
  return completed(std::move(cliques), state.groups.island_count());
}

bool replace(const RoundState& from, std::span<const int> gone,
             std::span<const std::vector<IslandId>> fresh, double price_most, CliqueCache& cache,
             RoundState& into) {
  check_groups(from);
  check_same_islands(from.groups, gone, fresh);
  const double payload = double(cache.network().payload().count);
  into.streams = from.streams;
  for (const int group : gone)
    for (const LaneLoad& load : from.cliques[group]->loads) {
      into.streams[load.lane] -= load.streams;
      COTILLION_CHECK(into.streams[load.lane] >= 0);
    }
  // New cliques take the numbers of old ones; what is left over is added, or taken from the end.
  into.cliques = from.cliques;
  into.paces = from.paces;
  into.costs = from.costs;
  std::vector<int> which(std::size_t(from.groups.island_count()));
  for (IslandId i = 0; i < from.groups.island_count(); ++i) which[i] = from.groups.group_of(i);
  std::vector<int> numbers;
  for (std::size_t k = 0; k < fresh.size(); ++k) {
    KnownClique& clique = cache.find(fresh[k]);
    int number = 0;
    if (k < gone.size()) {
      number = gone[k];
      into.cliques[number] = &clique;
    } else {
      number = int(into.cliques.size());
      into.cliques.push_back(&clique);
      into.paces.push_back(0);
      into.costs.emplace_back();
    }
    numbers.push_back(number);
    for (const IslandId island : fresh[k]) which[island] = number;
    for (const LaneLoad& load : clique.loads) {
      into.streams[load.lane] += load.streams;
      if (payload * cache.pace(load.lane, into.streams[load.lane]) > price_most) return false;
    }
  }
  drop_groups({gone.begin() + std::ptrdiff_t(std::min(gone.size(), fresh.size())), gone.end()},
              into, which, numbers);
  for (std::size_t c = 0; c < into.cliques.size(); ++c) {
    const double pace = crowded_pace(*into.cliques[c], into.streams, cache);
    const bool is_new = std::find(numbers.begin(), numbers.end(), int(c)) != numbers.end();
    if (pace == into.paces[c] && !is_new) continue;
    into.paces[c] = pace;
    into.costs[c] = cache.cost(*into.cliques[c], pace);
    if (into.costs[c].price > price_most) return false;
  }
  total(into);
  if (into.price > price_most) return false;
  into.groups = Grouping(std::move(which), int(into.cliques.size()));
  check_groups(into);
  for (const int number : numbers) check_members(into, number);
  return true;
}

}  // namespace cotillion
