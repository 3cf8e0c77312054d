// When islands copy and merge under a rotation, counted in steps: the one clock that all ways to
// exchange go by, so that they do the same to the models when nothing is lost. Rounds count from 0.
//
// Copies and merges take effect between steps. A merge waits for the end of the step under which it
// arrives. A copy takes the parameters that are there when its bytes must leave, those of the last
// finished step, and with them a correction that has come and still waits. No second one does:
// rounds leave steps enough between copies.
#pragma once

#include <vector>

#include "policy/rotation_times.hpp"

namespace cotillion {

class RotationClock {
 public:
  // The rotation must outlive it, and lack nothing (rotation_times.hpp).
  RotationClock(const RecipeCommon& common, const RotationRecipe& rotation);
  explicit RotationClock(const Recipe& recipe) : RotationClock(recipe, rotation_of(recipe)) {}

  [[nodiscard]] double time_after(std::int64_t steps) const { return double(steps) * step_time_; }
  [[nodiscard]] double period() const { return times_.period(); }
  [[nodiscard]] const RecipeRound& round(std::int64_t k) const { return times_.round(k); }
  [[nodiscard]] std::int64_t copy_step(std::int64_t k, int island, int fragment) const;
  [[nodiscard]] std::int64_t merge_step(std::int64_t k, int island, int fragment) const;
  // Whether the copy holds the correction of its island's round before, which is merged only later.
  [[nodiscard]] bool copies_ahead(std::int64_t k, int island, int fragment) const;
  // As times have them.
  [[nodiscard]] const std::vector<std::vector<int>>& groups(std::int64_t k) const {
    return times_.groups(k);
  }
  [[nodiscard]] bool meets(std::int64_t k, int island) const { return times_.meets(k, island); }
  [[nodiscard]] std::int64_t before(std::int64_t k, int island) const {
    return times_.before(k, island);
  }
  [[nodiscard]] std::int64_t next(std::int64_t k, int island) const {
    return times_.next(k, island);
  }
  // Whether one place is enough for a fragment's copies. A copy that leaves with a correction that
  // still waits is no second one: until the step ends the parameters are what they were, and both
  // can be told from them.
  [[nodiscard]] bool one_copy() const { return times_.one_copy(); }
  // After which step S of a fragment is in memory.
  [[nodiscard]] std::int64_t kept_from(std::int64_t k, int island, int fragment) const {
    return copy_step(k, island, fragment) + (one_copy() && copies_ahead(k, island, fragment));
  }

  // What an island copies, or merges, after so many steps, in order; rounds in which it meets
  // nobody are left out.
  struct Appointment {
    std::int64_t round = 0;
    int fragment = 0;
  };
  [[nodiscard]] std::vector<Appointment> copies(int island, std::int64_t steps) const;
  [[nodiscard]] std::vector<Appointment> merges(int island, std::int64_t steps) const;
  // Both, fragment by fragment, as they follow each other: round by round, and in each the copy
  // before the merge.
  struct DueExchange {
    int fragment = 0;
    std::int64_t round = 0;
    bool merges = false;
    friend auto operator<=>(const DueExchange&, const DueExchange&) = default;
  };
  [[nodiscard]] std::vector<DueExchange> due_exchanges(int island, std::int64_t steps) const;

  // Rounds of which something may be copied or merged after so many steps.
  struct Rounds {
    std::int64_t first = 0, last = -1;
  };
  [[nodiscard]] Rounds rounds_at(std::int64_t steps) const;

 private:
  [[nodiscard]] std::int64_t merged_by(std::int64_t k, int island, int fragment) const;
  template <class StepOf>
  [[nodiscard]] std::vector<Appointment> due(int island, std::int64_t steps, StepOf step_of) const;

  const RotationRecipe& recipe_;
  const double step_time_;
  const int islands_;
  const RotationTimes times_;
  // Copies leave when they are due. Before the receiver's momentum they wait for the merge before
  // them, a step later than their bytes should have left.
  const bool prompt_;
};

// Why a rotation cannot be trained by; empty: it can.
[[nodiscard]] std::string why_not_by_the_clock(const Recipe& recipe);

// The most models that one island keeps copied and not merged yet, at any step up to the last: what
// an exchange needs beyond model and optimizer.
[[nodiscard]] double copies_in_flight(const Recipe& recipe, std::int64_t last_step);

}  // namespace cotillion
