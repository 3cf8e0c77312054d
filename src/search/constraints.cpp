#include "search/constraints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace cotillion {

Rules::Rules(const NetworkModel& network, const Constraints& constraints)
    : network_(network), constraints_(constraints), n_(network.map().islands.size()) {
  // Only an edge needs to tell contributors apart.
  const int wire = network.technology().aggregation ? kCliqueMembersMax : int(n_);
  clique_max_ = std::min(wire, int(n_));
  if (constraints.clique_max > 0) clique_max_ = std::min(clique_max_, constraints.clique_max);

  std::vector<int> leader(n_);
  std::iota(leader.begin(), leader.end(), 0);
  for (const auto& list : constraints.together)
    for (const IslandId island : list) {
      const int from = leader[island], to = leader[list.front()];
      std::replace(leader.begin(), leader.end(), from, to);
    }
  bound_of_.assign(n_, -1);
  std::vector<int> number(n_, -1);
  for (std::size_t i = 0; i < n_; ++i) {
    int& group = number[leader[i]];
    if (group < 0) {
      group = int(bound_.size());
      bound_.emplace_back();
    }
    bound_[group].push_back(IslandId(i));
    bound_of_[i] = group;
  }
  if (!constraints.apart.empty()) apart_.assign(n_ * n_, false);
  for (const auto& list : constraints.apart)
    for (const IslandId a : list)
      for (const IslandId b : list)
        if (a != b) apart_[std::size_t(a) * n_ + b] = true;
  may_rest_.assign(n_, !constraints.may_rest);
  if (constraints.may_rest)
    for (const IslandId island : *constraints.may_rest) may_rest_[island] = true;
}

bool Rules::allows(std::span<const IslandId> clique) const {
  if (int(clique.size()) > std::max(1, clique_max_)) return false;
  if (clique.size() == 1 && n_ > 1 && !may_rest_[clique[0]]) return false;
  for (const IslandId a : clique) {
    const auto& bound = bound_[bound_of_[a]];
    if (bound.size() == 1) continue;
    for (const IslandId b : bound)
      if (std::find(clique.begin(), clique.end(), b) == clique.end()) return false;
  }
  if (apart_.empty()) return true;
  for (std::size_t i = 0; i < clique.size(); ++i)
    for (std::size_t j = i + 1; j < clique.size(); ++j)
      if (are_apart(clique[i], clique[j])) return false;
  return true;
}

bool Rules::may_meet(IslandId a, IslandId b) const {
  if (!are_apart(a, b)) return true;
  // What is pinned is there whatever the other rules say.
  for (const Round& round : constraints_.pinned)
    for (const Clique& clique : round.cliques)
      if (std::count(clique.islands.begin(), clique.islands.end(), a) +
              std::count(clique.islands.begin(), clique.islands.end(), b) ==
          2)
        return true;
  return false;
}

bool Rules::allows(const Round& round) const {
  return std::all_of(round.cliques.begin(), round.cliques.end(), [&](const Clique& clique) {
    return allows(std::span<const IslandId>(clique.islands));
  });
}

bool Rules::allows(const Schedule& schedule) const {
  const int most = constraints_.period_max;
  if (most > 0 && int(schedule.rounds.size()) > most) return false;
  std::vector<Round> left = schedule.rounds;
  for (const Round& pinned : constraints_.pinned) {
    const auto found = std::find(left.begin(), left.end(), pinned);
    if (found == left.end()) return false;
    left.erase(found);
  }
  return std::all_of(left.begin(), left.end(), [&](const Round& round) { return allows(round); });
}

std::optional<Round> Rules::repaired(const Round& round) const {
  if (allows(round)) return round;
  // Bound groups are placed whole, one after another, where they were or in the first clique
  // that takes them.
  std::vector<std::vector<IslandId>> cliques;
  for (const Clique& clique : round.cliques) {
    std::vector<std::vector<IslandId>> parts;
    for (const IslandId island : clique.islands) {
      const auto& bound = bound_[bound_of_[island]];
      if (bound.front() != island) continue;  // placed with the first of them
      auto fits = [&](const std::vector<IslandId>& part) {
        if (int(part.size() + bound.size()) > clique_max_) return false;
        for (const IslandId a : part)
          for (const IslandId b : bound)
            if (are_apart(a, b)) return false;
        return true;
      };
      auto place = std::find_if(parts.begin(), parts.end(), fits);
      if (place == parts.end()) place = parts.emplace(parts.end());
      place->insert(place->end(), bound.begin(), bound.end());
    }
    for (auto& part : parts) cliques.push_back(std::move(part));
  }
  for (std::size_t c = 0; c < cliques.size(); ++c) {
    if (cliques[c].size() != 1 || may_rest_[cliques[c][0]]) continue;
    const IslandId lonely = cliques[c][0];
    std::size_t nearest = cliques.size();
    for (std::size_t d = 0; d < cliques.size(); ++d) {
      if (d == c || cliques[d].empty() || int(cliques[d].size()) >= clique_max_) continue;
      if (std::any_of(cliques[d].begin(), cliques[d].end(),
                      [&](IslandId other) { return are_apart(lonely, other); }))
        continue;
      const auto flight = [&](std::size_t k) { return network_.latency(lonely, cliques[k][0]); };
      if (nearest == cliques.size() || flight(d) < flight(nearest)) nearest = d;
    }
    if (nearest == cliques.size()) return std::nullopt;
    cliques[nearest].push_back(lonely);
    cliques[c].clear();
  }
  std::vector<Clique> result;
  for (auto& clique : cliques)
    if (!clique.empty()) result.push_back({std::move(clique), {}});
  Round repaired = completed(std::move(result), int(n_));
  if (!allows(repaired)) return std::nullopt;
  return repaired;
}

std::optional<std::string> Rules::contradiction() const {
  const auto name = [&](IslandId island) { return network_.map().islands[island].name; };
  for (const auto& bound : bound_) {
    if (int(bound.size()) > std::max(1, clique_max_))
      return fmt::format(
          "{} islands must be together, with {} and {} among them, but a clique has "
          "at most {}",
          bound.size(), name(bound.front()), name(bound.back()), clique_max_);
    for (const IslandId a : bound)
      for (const IslandId b : bound)
        if (are_apart(a, b))
          return fmt::format("{} and {} must be together and apart", name(a), name(b));
  }
  const int most = constraints_.period_max;
  if (most > 0 && int(constraints_.pinned.size()) > most)
    return fmt::format("{} rounds are pinned, but a period has at most {}",
                       constraints_.pinned.size(), most);
  for (std::size_t i = 0; i < n_ && n_ > 1; ++i) {
    if (may_rest_[i] || bound_[bound_of_[i]].size() > 1) continue;
    bool anyone = clique_max_ >= 2;
    if (anyone) {
      anyone = false;
      for (std::size_t j = 0; j < n_ && !anyone; ++j)
        anyone = j != i && !are_apart(IslandId(i), IslandId(j));
    }
    if (!anyone)
      return fmt::format("{} may not rest, and there is nobody it could meet", name(IslandId(i)));
  }
  return std::nullopt;
}

}  // namespace cotillion
