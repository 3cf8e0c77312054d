// Constraints on a search: what users refuse and what they insist on. The search proposes nothing
// else.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/network_model.hpp"

namespace cotillion {

struct Constraints {
  int clique_max = 0;                             // members of a clique; 0: what the wire allows
  int period_max = 0;                             // rounds of a period; 0: the search's own limit
  std::vector<std::vector<IslandId>> together;    // in one clique in every round
  std::vector<std::vector<IslandId>> apart;       // no two of a list ever in one clique
  std::optional<std::vector<IslandId>> may_rest;  // who may sit a round out; nothing: everybody
  std::vector<Round> pinned;                      // each is one of the rounds of the period
};

// Answers quickly whether a clique is allowed.
class Rules {
 public:
  Rules(const NetworkModel& network, const Constraints& constraints);

  [[nodiscard]] bool allows(std::span<const IslandId> clique) const;
  [[nodiscard]] bool allows(const Round& round) const;
  // Every round is allowed, the period is short enough, and it contains what is pinned.
  [[nodiscard]] bool allows(const Schedule& schedule) const;

  // Whether any round of an allowed schedule can have both in one clique.
  [[nodiscard]] bool may_meet(IslandId a, IslandId b) const;
  [[nodiscard]] int clique_max() const { return clique_max_; }
  [[nodiscard]] int period_max(int otherwise) const {
    return constraints_.period_max > 0 ? constraints_.period_max : otherwise;
  }
  [[nodiscard]] const std::vector<Round>& pinned() const { return constraints_.pinned; }

  // A round that obeys: oversized cliques are cut, islands that must not meet are parted, those
  // who must meet are joined, those who may not rest join a neighbour. Nothing when that fails.
  [[nodiscard]] std::optional<Round> repaired(const Round& round) const;

  // Why nothing can obey all of them, if that is plain to see.
  [[nodiscard]] std::optional<std::string> contradiction() const;

 private:
  [[nodiscard]] bool are_apart(IslandId a, IslandId b) const {
    return !apart_.empty() && apart_[std::size_t(a) * n_ + b];
  }

  const NetworkModel& network_;
  Constraints constraints_;
  std::size_t n_;
  int clique_max_;
  std::vector<std::vector<IslandId>> bound_;  // islands that go together; everybody is in one
  std::vector<int> bound_of_;                 // by island
  std::vector<bool> apart_;                   // by pair; empty when nobody is
  std::vector<bool> may_rest_;                // by island
};

}  // namespace cotillion
