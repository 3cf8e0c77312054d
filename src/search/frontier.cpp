#include "search/frontier.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/infinity.hpp"

namespace cotillion {
namespace {

constexpr std::int64_t kStepsOfPoint = 6'000'000;  // divided by the number of islands, and at most
constexpr std::int64_t kStepsOfPointMost = 150'000;

}  // namespace

std::vector<FrontierPoint> best_areas(const NetworkModel& network, const SearchSettings& settings,
                                      const Rules& rules, const Neighbourhood& neighbourhood,
                                      const std::vector<Schedule>& starts, int period_max,
                                      const std::vector<std::unique_ptr<CliqueCache>>& caches,
                                      Workers& workers) {
  COTILLION_CHECK(!starts.empty() && settings.frontier_points > 0);
  // From four fifths to three halves of the length that is best.
  const double middle = make_plan(network, starts.front(), settings.plan).rounds[0].length.ps;
  const int count = settings.frontier_points;
  std::vector<Standing> found(std::size_t(count), Standing{{}, kInfinity, kInfinity, kInfinity});
  std::vector<Round> pool;
  for (const Round& round : starts.front().rounds)
    if (rules.allows(round)) pool.push_back(round);
  workers.run(count, [&](int task, int worker) {
    const double within = middle * (0.8 + 0.7 * task / std::max(1, count - 1));
    const Score score(network, settings.plan, within);
    for (const Schedule& start : starts) {
      if (settings.stop && settings.stop()) return;
      Walker walker(rules, score, neighbourhood, *caches[worker]);
      if (!walker.begin(start)) continue;
      Random random(settings.seed + std::uint64_t(task));
      WalkSettings walking;
      walking.steps = std::min(kStepsOfPointMost, kStepsOfPoint / network.map().island_count()) /
                      std::int64_t(starts.size());
      walking.period_max = period_max;
      walker.walk(walking, pool, random, settings.stop);
      if (walker.best().value < found[task].value) found[task] = walker.best();
    }
  });
  std::vector<FrontierPoint> points;
  for (const Standing& standing : found) {
    if (!std::isfinite(standing.value)) continue;
    const Plan plan = make_plan(network, standing.schedule, settings.plan);
    points.push_back({plan.rounds[0].length, Score(network, settings.plan).squared()
                                                 ? plan.mixing.area_squared
                                                 : plan.mixing.area});
  }
  std::sort(points.begin(), points.end(), [](const FrontierPoint& a, const FrontierPoint& b) {
    return std::pair(a.length, a.area) < std::pair(b.length, b.area);
  });
  std::vector<FrontierPoint> frontier;
  for (const FrontierPoint& point : points)
    if (frontier.empty() || point.area < frontier.back().area) frontier.push_back(point);
  for (std::size_t k = 1; k < frontier.size(); ++k)
    COTILLION_CHECK(frontier[k - 1].length < frontier[k].length &&
                    frontier[k - 1].area > frontier[k].area);
  return frontier;
}

double elasticity(const std::vector<FrontierPoint>& frontier, std::size_t point) {
  COTILLION_CHECK(point < frontier.size());
  if (point == 0 || point + 1 == frontier.size()) return 0;
  const FrontierPoint &before = frontier[point - 1], &after = frontier[point + 1];
  return std::log(after.area / before.area) / std::log(after.length / before.length);
}

double elasticity_at_best(double area) {
  return -(1 + 1 / (2 * area));
}

}  // namespace cotillion
