// Each kind of step on its own. Steps of one kind never undo those of another, so shrinking ends.
#include <algorithm>
#include <iterator>

#include "tests/swarm/minimiser.hpp"

namespace cotillion::testing {
namespace {

using Cases = std::vector<SwarmCase>;

constexpr BitsPerSecond kPlainRate{1e9};
constexpr Duration kPlainTime{1'000'000'000};

// Adds the case as `change` leaves it.
template <class Change>
void propose(Cases& cases, const SwarmCase& from, Change change) {
  change(cases.emplace_back(from));
}

std::int64_t chunks_of(const SwarmCase& swarm) {
  return (swarm.map.payload.count + swarm.map.edge.chunk.count - 1) / swarm.map.edge.chunk.count;
}

Cases fewer_relaxations(const SwarmCase& from) {
  Cases cases;
  if (from.relax.any() || from.objective != Objective::kPaper)
    propose(cases, from, [](SwarmCase& to) {
      to.relax = {};
      to.headroom = 0;
      to.objective = Objective::kPaper;
    });
  for (const auto one : {&Relaxations::overlap, &Relaxations::routes, &Relaxations::lengths})
    if (from.relax.*one)
      propose(cases, from, [&](SwarmCase& to) {
        to.relax.*one = false;
        if (!to.relax.overlap) to.headroom = 0;
      });
  if (from.headroom > 0) propose(cases, from, [](SwarmCase& to) { to.headroom = 0; });
  for (const Objective simpler : {Objective::kPaper, Objective::kPaperStreamed})
    if (from.objective > simpler)
      propose(cases, from, [&](SwarmCase& to) { to.objective = simpler; });
  return cases;
}

Cases fewer_faults(const SwarmCase& from) {
  Cases cases;
  for (std::size_t f = 0; f < from.faults.size(); ++f)
    propose(cases, from,
            [&](SwarmCase& to) { to.faults.erase(to.faults.begin() + std::ptrdiff_t(f)); });
  return cases;
}

Cases fewer_rounds(const SwarmCase& from) {
  Cases cases;
  for (const int rounds : {1, from.rounds / 2, from.rounds - 1})
    if (rounds >= 1 && rounds < from.rounds)
      propose(cases, from, [&](SwarmCase& to) { to.rounds = rounds; });
  const auto& all = from.schedule.rounds;
  for (std::size_t k = 0; k < all.size() && all.size() > 1; ++k)
    propose(cases, from, [&](SwarmCase& to) { to.schedule.rounds = {all[k]}; });
  for (std::size_t k = 0; k < all.size() && all.size() > 2; ++k)
    propose(cases, from, [&](SwarmCase& to) {
      to.schedule.rounds.erase(to.schedule.rounds.begin() + std::ptrdiff_t(k));
    });
  return cases;
}

enum class Stays : std::uint8_t { kAsItIs, kAsRouter, kNot };

// The case with one place gone, or an island turned into a router.
SwarmCase with_place(const SwarmCase& from, PlaceId place, Stays stays) {
  const Map& map = from.map;
  SwarmCase to = from;
  IdVector<PlaceId, PlaceId> now(map.place_count(), -1);
  const auto moved = [&](IslandId island) { return IslandId(int(now[island])); };
  to.map.islands.clear();
  to.map.routers.clear();
  for (IslandId i = 0; i < map.island_count(); ++i)
    if (i != place) {
      now[i] = to.map.islands.next_id();
      to.map.islands.push_back(map.islands[i]);
    }
  for (PlaceId p(map.island_count()); p < map.place_count(); ++p)
    if (p != place) {
      now[p] = PlaceId(to.map.place_count());
      to.map.routers.push_back(map.routers[p - map.island_count()]);
    }
  const bool island = place < map.island_count();
  if (stays == Stays::kAsRouter) {
    now[place] = PlaceId(to.map.place_count());
    to.map.routers.push_back({place_name(map, place), std::nullopt});
  }

  std::erase_if(to.map.links, [&](Link& link) {
    for (PlaceId& end : link.ends) end = now[end];
    return link.ends[0] < 0 || link.ends[1] < 0;
  });
  std::erase_if(to.map.aggregators.plain(), [&](Aggregator& edge) {
    if (island) std::erase(edge.serves, place);
    for (IslandId& served : edge.serves) served = moved(served);
    edge.place = now[edge.place];
    if (edge.place < 0 && !edge.serves.empty()) edge.place = edge.serves.front();
    return edge.serves.empty();
  });
  for (Round& round : to.schedule.rounds) {
    for (Clique& clique : round.cliques) {
      if (island) std::erase(clique.islands, place);
      for (IslandId& member : clique.islands) member = moved(member);
    }
    std::erase_if(round.cliques, [](const Clique& clique) { return clique.islands.empty(); });
    round = completed(std::move(round.cliques), to.map.island_count());
  }
  const std::string& name = place_name(map, place);
  std::erase_if(to.faults, [&](const SwarmFault& fault) {
    const bool ends = fault.on.starts_with(name + "-") || fault.on.starts_with(name + ">") ||
                      fault.on.ends_with("-" + name) || fault.on.ends_with(">" + name);
    return fault.on == name || (stays == Stays::kNot && ends);
  });
  return to;
}

Cases fewer_places(const SwarmCase& from) {
  Cases cases;
  for (PlaceId p = 0; p < from.map.place_count(); ++p)
    cases.push_back(with_place(from, p, Stays::kNot));
  for (IslandId i = 0; i < from.map.island_count(); ++i)
    cases.push_back(with_place(from, i, Stays::kAsRouter));
  for (std::size_t l = 0; l < from.map.links.size(); ++l)
    propose(cases, from,
            [&](SwarmCase& to) { to.map.links.erase(to.map.links.begin() + std::ptrdiff_t(l)); });
  return cases;
}

Cases smaller_cliques(const SwarmCase& from) {
  Cases cases;
  const int islands = from.map.island_count();
  for (std::size_t k = 0; k < from.schedule.rounds.size(); ++k) {
    const auto& cliques = from.schedule.rounds[k].cliques;
    for (std::size_t c = 0; c < cliques.size(); ++c) {
      if (cliques[c].size() < 2) continue;
      const auto shrink = [&](int members) {
        propose(cases, from, [&](SwarmCase& to) {
          auto fewer = cliques;
          fewer[c].islands.resize(std::size_t(members));
          if (members == 0) fewer.erase(fewer.begin() + std::ptrdiff_t(c));
          to.schedule.rounds[k] = completed(std::move(fewer), islands);
        });
      };
      shrink(0);
      if (cliques[c].size() > 2) shrink(2);
      if (cliques[c].size() > 3) shrink(cliques[c].size() - 1);
    }
  }
  return cases;
}

Cases smaller_payload(const SwarmCase& from) {
  Cases cases;
  const std::int64_t chunks = chunks_of(from), chunk = from.map.edge.chunk.count;
  for (const std::int64_t fewer : {std::int64_t(1), chunks / 2, chunks - 1})
    if (fewer >= 1 && fewer < chunks)
      propose(cases, from, [&](SwarmCase& to) {
        to.map.payload = {fewer * chunk};
        to.fragments = int(std::min<std::int64_t>(to.fragments, fewer));
      });
  if (from.map.payload.count != chunks * chunk)
    propose(cases, from, [&](SwarmCase& to) { to.map.payload = {chunks * chunk}; });
  return cases;
}

// Sets what all edges have in common, and keeps the rest of each.
template <class Change>
void propose_for_edges(Cases& cases, const SwarmCase& from, Change change) {
  propose(cases, from, [&](SwarmCase& to) {
    change(to.map.edge);
    for (Aggregator& edge : to.map.aggregators) change(edge.spec);
  });
}

Cases plainer_edges(const SwarmCase& from) {
  Cases cases;
  const EdgeSpec& edge = from.map.edge;
  if (edge.chunk.count > std::int64_t(kBeatBytes)) {
    propose_for_edges(cases, from, [](EdgeSpec& spec) {
      spec.slot = {spec.slot.count / spec.chunk.count * std::int64_t(kBeatBytes)};
      spec.chunk = {std::int64_t(kBeatBytes)};
    });
    cases.back().map.payload = {chunks_of(from) * std::int64_t(kBeatBytes)};
  }
  if (edge.framing.count > 0)
    propose_for_edges(cases, from, [](EdgeSpec& spec) { spec.framing = {0}; });
  const auto remembers = [](const Aggregator& one) { return one.spec.memory.count > 0; };
  if (std::any_of(from.map.aggregators.begin(), from.map.aggregators.end(), remembers) ||
      edge.memory.count > 0)
    propose_for_edges(cases, from, [](EdgeSpec& spec) { spec.memory = {0}; });
  const auto elsewhere = [](const Aggregator& one) {
    return one.serves.size() != 1 || one.place != one.serves.front();
  };
  if (std::any_of(from.map.aggregators.begin(), from.map.aggregators.end(), elsewhere))
    propose(cases, from, [](SwarmCase& to) {
      to.map.aggregators.clear();
      for (IslandId i = 0; i < to.map.island_count(); ++i)
        to.map.aggregators.push_back({i, to.map.edge, {i}});
    });
  return cases;
}

Cases plainer_settings(const SwarmCase& from) {
  Cases cases;
  if (from.ships_state) propose(cases, from, [](SwarmCase& to) { to.ships_state = false; });
  if (from.memory) propose(cases, from, [](SwarmCase& to) { to.memory.reset(); });
  if (from.step_time.ps > 0) propose(cases, from, [](SwarmCase& to) { to.step_time = {0}; });
  if (from.slack.ps > 0) propose(cases, from, [](SwarmCase& to) { to.slack = {0}; });
  if (from.exchange != Exchange::kWhole)
    propose(cases, from, [](SwarmCase& to) {
      to.exchange = Exchange::kWhole;
      to.fragments = 1;
    });
  if (from.fragments > 1) propose(cases, from, [](SwarmCase& to) { to.fragments = 1; });
  if (from.fragments > 2) propose(cases, from, [](SwarmCase& to) { --to.fragments; });
  if (from.element != Element::kF32)
    propose(cases, from, [](SwarmCase& to) {
      to.element = Element::kF32;
      to.exponent = 0;
    });
  if (from.missing != Missing::kMeanOfPresent)
    propose(cases, from, [](SwarmCase& to) { to.missing = Missing::kMeanOfPresent; });
  return cases;
}

Cases plainer_numbers(const SwarmCase& from) {
  Cases cases;
  if (from.grace != kPlainTime) propose(cases, from, [](SwarmCase& to) { to.grace = kPlainTime; });
  const auto plain_island = [](Island& island) { island.up = island.down = kPlainRate; };
  const auto plain_rate = [](Link& link) { link.rate[0] = link.rate[1] = kPlainRate; };
  const auto plain_time = [](Link& link) { link.latency[0] = link.latency[1] = kPlainTime; };
  const auto each = [&](auto member, auto change, auto is_plain) {
    const auto& all = from.map.*member;
    if (std::all_of(all.begin(), all.end(), is_plain)) return;
    propose(cases, from, [&](SwarmCase& to) {
      std::for_each((to.map.*member).begin(), (to.map.*member).end(), change);
    });
    for (std::ptrdiff_t i = 0; i < std::ptrdiff_t(all.size()); ++i)
      if (!is_plain(all.begin()[i]))
        propose(cases, from, [&](SwarmCase& to) { change((to.map.*member).begin()[i]); });
  };
  each(&Map::islands, plain_island,
       [](const Island& island) { return island.up == kPlainRate && island.down == kPlainRate; });
  each(&Map::links, plain_rate,
       [](const Link& link) { return link.rate[0] == kPlainRate && link.rate[1] == kPlainRate; });
  each(&Map::links, plain_time, [](const Link& link) {
    return link.latency[0] == kPlainTime && link.latency[1] == kPlainTime;
  });
  return cases;
}

Cases plainer_faults(const SwarmCase& from) {
  Cases cases;
  for (std::size_t f = 0; f < from.faults.size(); ++f) {
    const SwarmFault& fault = from.faults[f];
    const auto change = [&](auto apply) {
      propose(cases, from, [&](SwarmCase& to) { apply(to.faults[f]); });
    };
    if (fault.until) change([](SwarmFault& to) { to.until.reset(); });
    if (fault.from.ps > 0) change([](SwarmFault& to) { to.from = {0}; });
    if (fault.burst > 1) change([](SwarmFault& to) { to.burst = 1; });
    if (fault.rate < 1) change([](SwarmFault& to) { to.rate = 1; });
    if (fault.factor > 1) change([](SwarmFault& to) { to.factor = 1; });
    if (fault.drift_ppm != 0) change([](SwarmFault& to) { to.drift_ppm = 0; });
  }
  return cases;
}

}  // namespace

const std::vector<Simpler>& simpler_cases() {
  static const std::vector<Simpler> kSteps = {
      fewer_relaxations, fewer_faults,  fewer_rounds,     fewer_places,   smaller_cliques,
      smaller_payload,   plainer_edges, plainer_settings, plainer_faults, plainer_numbers,
  };
  return kSteps;
}

}  // namespace cotillion::testing
