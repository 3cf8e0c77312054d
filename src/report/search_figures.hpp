// What a search did, drawn: how its answer and its bound came together, and what longer rounds
// would have bought.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/chart.hpp"
#include "search/search.hpp"

namespace cotillion {

// The best schedule so far and the lower bound, by the number of schedules looked at.
[[nodiscard]] Chart search_figure(const SearchResult& result);

// Titles first: the best seed of each family, and how much worse than the answer it is.
[[nodiscard]] std::vector<std::vector<std::string>> families_table(const SearchResult& result);

// How long the rounds of a schedule are, and how it mixes.
struct MixingPoint {
  std::string name;  // empty when annealing passed by and nothing else is known
  RealDuration length;
  double area = 0;  // A, or A₂ under a squared objective
};
// Nothing for what cannot be done or never settles.
[[nodiscard]] std::optional<MixingPoint> mixing_point(const Plan& plan);

// The frontier that a search found, and what lies beside it. Requires a found plan.
struct Tradeoff {
  Objective objective = Objective::kPaper;
  MixingPoint chosen;
  std::vector<MixingPoint> named;
  // The least area known at each length, over all of the above and what annealing found; longer
  // rounds and smaller areas along it.
  std::vector<MixingPoint> frontier;

  Tradeoff(const SearchResult& result, std::vector<MixingPoint> others);

  // T(A + ½); when streamed T(A − ½), to which the delay d comes.
  [[nodiscard]] double product_ms(const MixingPoint& point) const;
  // Of A in T, where the above is least: −(1 + 1/(2A)), or −(1 − 1/(2A)) when streamed.
  [[nodiscard]] double elasticity_wanted(double area) const;
  // Between the chosen plan and the frontier's next point with shorter or longer rounds.
  [[nodiscard]] std::optional<double> elasticity_towards_shorter() const;
  [[nodiscard]] std::optional<double> elasticity_towards_longer() const;
};

// The frontier with the chosen plan on it, the named schedules in range, and the curve along which
// staleness is that of the chosen plan: it touches the frontier where the elasticity is as wanted.
[[nodiscard]] Chart frontier_figure(const Tradeoff& tradeoff);
[[nodiscard]] std::vector<std::vector<std::string>> frontier_table(const Tradeoff& tradeoff);

}  // namespace cotillion
