// Simulated annealing: one walk from one schedule. A move changes one round. It is refused at the
// first sign that the result would be worse than this step tolerates: by the sizes of its cliques,
// by a crowded lane, by a dear clique, and only then by how badly it mixes.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "search/area_meter.hpp"
#include "search/constraints.hpp"
#include "search/moves.hpp"
#include "search/round_state.hpp"
#include "search/score.hpp"

namespace cotillion {

// A schedule and its standing.
struct Standing {
  Schedule schedule;
  double value;   // of the objective, picoseconds; infinite when infeasible or never settling
  double length;  // of a round, picoseconds
  double area;    // A, or A₂ under a squared objective
};

struct WalkSettings {
  std::int64_t steps = 0;
  double hot = 0.03, cold = 1e-4;  // how much worse a step may be, relative, first and last
  int period_max = 8;
};

// Schedules that mix more slowly are not worth starting from.
inline constexpr double kSlowestArea = 200;

class Walker {
 public:
  Walker(const Rules& rules, const Score& score, const Neighbourhood& neighbourhood,
         CliqueCache& cache);

  // False when the schedule is infeasible or never settles.
  [[nodiscard]] bool begin(const Schedule& schedule, double area_most = kSlowestArea);

  // `pool`: rounds that may be taken over whole. `stop` is asked now and then.
  void walk(const WalkSettings& settings, const std::vector<Round>& pool, Random& random,
            const std::function<bool()>& stop);

  [[nodiscard]] const Standing& best() const { return best_; }
  // Schedules looked at.
  [[nodiscard]] std::int64_t evaluated() const { return evaluated_; }

 private:
  using Rounds = std::vector<std::unique_ptr<RoundState>>;

  [[nodiscard]] int period() const { return int(rounds_.size()); }
  [[nodiscard]] Schedule schedule() const;
  [[nodiscard]] bool is_pinned(int round) const { return pinned_[round]; }
  [[nodiscard]] int dearest_round() const;
  [[nodiscard]] std::vector<const Grouping*> groupings() const;
  bool try_local(double most, Random& random);
  bool try_rounds(double most, const WalkSettings& settings, const std::vector<Round>& pool,
                  Random& random);
  void settle(double price, double delay, double area);
  void look_up_again();

  const Rules& rules_;
  const Score& score_;
  const Neighbourhood& neighbourhood_;
  CliqueCache& cache_;
  AreaMeter meter_, other_meter_;
  Rounds rounds_;
  std::vector<bool> pinned_;
  std::unique_ptr<RoundState> spare_;
  Move move_;
  double value_ = 0, length_ = 0, area_ = 0;
  double price_ = 0, delay_ = 0;
  Standing best_;
  std::int64_t evaluated_ = 0;
};

}  // namespace cotillion
