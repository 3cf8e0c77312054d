// When islands copy and merge under a rotation, in seconds, and who meets whom. Rounds count from
// 0. They may overlap: a fragment may be copied and merged after the next round has begun. Who
// meets nobody in a round neither copies nor merges in it.
#pragma once

#include <algorithm>
#include <vector>

#include "policy/recipe.hpp"

namespace cotillion {

constexpr double kClockRounding =
    1e-9;  // of a step: a merge planned for a step's very end is in time

class RotationTimes {
 public:
  // The rotation must outlive it.
  RotationTimes(const RecipeCommon& common, const RotationRecipe& rotation);

  [[nodiscard]] double period() const { return period_; }
  [[nodiscard]] const RecipeRound& round(std::int64_t k) const {
    return recipe_.rounds[std::size_t(k) % recipe_.rounds.size()];
  }
  // When an island must have copied a fragment, and when all of it has come.
  [[nodiscard]] double leaves(std::int64_t k, int island, int fragment) const {
    return start(k) + round(k).leaves[at(island, fragment)];
  }
  [[nodiscard]] double arrives(std::int64_t k, int island, int fragment) const {
    return start(k) + round(k).arrives[at(island, fragment)];
  }
  // The last round that has begun by then.
  [[nodiscard]] std::int64_t round_at(double time) const;
  // How long after a round's end something of it arrives, at the most.
  [[nodiscard]] double beyond() const { return beyond_; }

  // Islands that are averaged with each other in a round, directly or by way of others.
  [[nodiscard]] const std::vector<std::vector<int>>& groups(std::int64_t k) const {
    return groups_[std::size_t(k) % groups_.size()];
  }
  [[nodiscard]] bool meets(std::int64_t k, int island) const { return back_in(k, island) > 0; }
  // The round in which an island met somebody last, and the one in which it will next, if it meets
  // somebody in round k. Before the first there is −1.
  [[nodiscard]] std::int64_t before(std::int64_t k, int island) const {
    return std::max<std::int64_t>(-1, k - back_in(k, island));
  }
  [[nodiscard]] std::int64_t next(std::int64_t k, int island) const;

  // Whether a fragment's S is over before the next one begins, so that both can lie in the same
  // place: whoever is averaged with each other has copied before the first of them merges. Own
  // weights and the receiver's momentum need S and the average apart from each other.
  [[nodiscard]] bool one_copy() const { return one_copy_; }
  // By how much every round would have to be longer for steps to tell rounds apart; seconds, zero
  // where they do:
  //  - An island copies no more often than it takes steps, and a fragment only when what the last
  //    copy brought has come. When it copies again, no more than that one merge waits for the end
  //    of a step.
  //  - With one place for copies: those who are averaged with each other copy again when what each
  //    of them heard before has been merged. With two: when all of them have merged what lies in
  //    the place that is taken next.
  [[nodiscard]] double lacking() const { return lacking_; }

 private:
  [[nodiscard]] double start(std::int64_t k) const;
  [[nodiscard]] std::size_t at(int island, int fragment) const {
    return std::size_t(island) * std::size_t(recipe_.fragments) + std::size_t(fragment);
  }
  [[nodiscard]] std::int64_t back_in(std::int64_t k, int island) const {
    return back_[std::size_t(k) % back_.size()][std::size_t(island)];
  }
  [[nodiscard]] bool leave_before_any_arrives() const;
  void find_groups();
  void find_meetings();
  void find_what_lacks();
  void expect_steps_between_copies();
  void expect_order_of_own(std::int64_t k, const std::vector<int>& group);
  void expect_one_place(std::int64_t k, const std::vector<int>& group);
  void expect_two_places(std::int64_t k, const std::vector<int>& group);
  // A margin that grows by so many rounds' worth of what they are longer.
  void expect(double margin, std::int64_t rounds);

  const RotationRecipe& recipe_;
  const double step_time_;
  const int islands_;
  std::vector<double> starts_;
  double period_ = 0;
  double beyond_ = 0;
  std::vector<std::vector<std::vector<int>>> groups_;  // by round of a period
  // By round of a period, then island: rounds since it met somebody before; 0 where it meets nobody
  // in this one.
  std::vector<std::vector<std::int64_t>> back_;
  bool one_copy_ = false;
  double lacking_ = 0;
};

}  // namespace cotillion
