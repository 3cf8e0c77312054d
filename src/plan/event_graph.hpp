// A periodic event graph: times that repeat every period, bound by differences. It knows nothing of
// cliques; plan/timing builds one of copies and sums.
//
// An arc says  to ≥ from + weight − periods·Λ − delays·d:  Λ is the period, which arcs into the
// next one span, d a delay that some arcs allow. Times exist exactly where no cycle is positive,
// and every cycle says  κΛ + μd ≥ its weight.  So the cheapest Λ and d are a linear program in two
// variables, whose rows are found one by one: solve it over the cycles known so far, look for one
// that is still positive, add it. Times are whole ticks, so there is no tolerance anywhere: an
// answer satisfies every arc, and misses the optimum by less than a few ticks.
#pragma once

#include <optional>
#include <vector>

#include "base/units.hpp"
#include "base/wide.hpp"

namespace cotillion {

using Ticks = Int128;  // 2^-10 ps; sums of any number of them are exact
inline constexpr Ticks kTicksPerPicosecond = 1024;

[[nodiscard]] constexpr Ticks ticks_of(Duration time) {
  return kTicksPerPicosecond * time.ps;
}
// The least number of ticks that last so long.
[[nodiscard]] Ticks ticks_up(double ps);
[[nodiscard]] inline double ps_of(Ticks ticks) {
  return double(ticks) / double(kTicksPerPicosecond);
}

// What a cycle demands: periods·Λ + delays·d ≥ weight.
struct CycleRow {
  Ticks weight = 0;
  int periods = 0;
  int delays = 0;
};

struct PeriodAndDelay {
  Ticks period = 0;
  Ticks delay = 0;
};

// The point of least cost_period·Λ + cost_delay·d that satisfies every row; among equals that of
// the least Λ. Costs are positive, and no row demands a positive weight of neither.
[[nodiscard]] PeriodAndDelay cheapest_point(const std::vector<CycleRow>& rows, double cost_period,
                                            double cost_delay);

class EventGraph {
 public:
  explicit EventGraph(int nodes) : arcs_from_(nodes) {}
  int add_node() {
    arcs_from_.emplace_back();
    return int(arcs_from_.size()) - 1;
  }
  // Requires periods, delays ≥ 0.
  void add_arc(int from, int to, Ticks weight, int periods = 0, int delays = 0);

  // The cheapest Λ and d for which times exist, and the earliest such times, the first of them 0.
  // `known` are rows to begin with, of cycles or of limits from elsewhere. Nothing where a cycle is
  // positive whatever they are.
  struct Answer {
    PeriodAndDelay least;
    std::vector<Ticks> times;  // by node
    int cuts = 0;              // rows that had to be found
  };
  [[nodiscard]] std::optional<Answer> cheapest(double cost_period, double cost_delay,
                                               std::vector<CycleRow> known = {}) const;

 private:
  struct Arc {
    int to = 0;
    Ticks weight = 0;
    int periods = 0, delays = 0;
  };
  // Fills in the earliest times, or returns a positive cycle.
  [[nodiscard]] std::optional<CycleRow> settle(PeriodAndDelay at, std::vector<Ticks>& times) const;

  std::vector<std::vector<Arc>> arcs_from_;
};

}  // namespace cotillion
