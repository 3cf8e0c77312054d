#include "report/training_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/training_report.hpp"

namespace cotillion {
namespace {

// Short enough to stand beside a plot with a long legend below it.
constexpr const char* kTimeLabel = "time on the planned clock (s)";
constexpr const char* kLossLabel = "loss of the averaged model (nats per byte)";
constexpr const char* kDistanceLabel = "distance from the mean, by its norm";
constexpr std::size_t kRowsWithin = 5, kLongName = 48;  // of a legend; bytes
constexpr double kTrainingLegendRow = 22;               // pixels
constexpr double kNear = 0.1;  // of what the best policy learned: so far behind it is still near

// The mean over seeds, point by point.
Series curve(const Runs& runs, const auto& x, const auto& y) {
  Series series;
  series.name = runs[0]->recipe.name;
  std::size_t points = runs[0]->points.size();
  for (const Training* run : runs) points = std::min(points, run->points.size());
  for (std::size_t p = 1; p < points; ++p) {
    double mean = 0;
    for (const Training* run : runs) mean += y(run->points[p]) / double(runs.size());
    series.points.emplace_back(x(runs[0]->points[p]), mean);
  }
  return series;
}

std::string training_caption(const std::vector<Runs>& policies) {
  const bool seeds = std::any_of(policies.begin(), policies.end(),
                                 [](const Runs& runs) { return runs.size() > 1; });
  return seeds ? "Held-out text, mean over seeds; best at the end first."
               : "Held-out text; best at the end first.";
}

// A legend of many policies is given its room beside the plot's own.
void make_room(Chart& chart) {
  std::size_t longest = 0;
  for (const Series& series : chart.series) longest = std::max(longest, series.name.size());
  const std::size_t columns = longest > kLongName ? 1 : 2;
  const std::size_t rows = (chart.series.size() + columns - 1) / columns;
  if (rows > kRowsWithin) chart.height += double(rows - kRowsWithin) * kTrainingLegendRow;
}

}  // namespace

Chart loss_chart(const std::vector<Runs>& policies, bool against_tokens) {
  Chart chart;
  chart.title = against_tokens ? "Loss against tokens" : "Loss against time";
  chart.x_label = against_tokens ? "tokens, all islands together (millions)" : kTimeLabel;
  chart.y_label = kLossLabel;
  chart.caption = training_caption(policies);
  chart.y_from_zero = false;
  for (const Runs& runs : policies)
    chart.series.push_back(curve(
        runs, [&](const TrainingPoint& p) { return against_tokens ? p.tokens / 1e6 : p.seconds; },
        [](const TrainingPoint& p) { return p.loss_of_mean; }));
  make_room(chart);
  return chart;
}

Chart late_loss_chart(const std::vector<Runs>& policies) {
  Chart chart;
  chart.title = "Loss against time, closely";
  chart.x_label = kTimeLabel;
  chart.y_label = kLossLabel;
  chart.x_from_zero = chart.y_from_zero = false;
  const double best = policies.empty() ? INFINITY : mean_of(policies[0], final_loss);
  if (!std::isfinite(best)) return chart;
  double end = 0;
  for (const Runs& runs : policies) end = std::max(end, runs[0]->seconds);
  const double first = policies[0][0]->points.front().loss_of_mean;
  std::size_t left_out = 0;
  for (const Runs& runs : policies) {
    if (!(mean_of(runs, final_loss) <= best + kNear * (first - best))) {
      ++left_out;
      continue;
    }
    Series series = curve(
        runs, [](const TrainingPoint& p) { return p.seconds; },
        [](const TrainingPoint& p) { return p.loss_of_mean; });
    std::erase_if(series.points, [&](const auto& point) { return point.first < end / 2; });
    chart.series.push_back(std::move(series));
  }
  chart.caption = training_caption(policies) + " The second half of the clock";
  chart.caption +=
      left_out == 0
          ? std::string(".")
          : fmt::format("; {} that end far above are left out.",
                        left_out == 1 ? "one policy" : fmt::format("{} policies", left_out));
  if (chart.series.size() < 2) chart.series.clear();
  make_room(chart);
  return chart;
}

Chart distance_chart(const std::vector<Runs>& policies) {
  Chart chart;
  chart.title = "Disagreement before merges";
  chart.x_label = kTimeLabel;
  chart.y_label = kDistanceLabel;
  chart.caption = "Best at the end first.";
  for (const Runs& runs : policies)
    if (late_distance(*runs[0]) > 0)
      chart.series.push_back(curve(
          runs, [](const TrainingPoint& p) { return p.seconds; },
          [](const TrainingPoint& p) { return p.norm > 0 ? p.distance / p.norm : 0; }));
  // Nobody looked where nothing was merged.
  for (Series& series : chart.series)
    std::erase_if(series.points, [](const auto& point) { return point.second == 0; });
  if (chart.series.size() == 1) chart.caption = chart.series[0].name + ".";  // it has no legend
  make_room(chart);
  return chart;
}

Chart island_chart(const Training& training) {
  Chart chart;
  chart.title = "Loss of each island";
  chart.x_label = kTimeLabel;
  chart.y_label = "loss (nats per byte)";
  chart.caption =
      fmt::format("{}, seed {}. Held-out text.", training.recipe.name, training.settings.seed);
  chart.y_from_zero = false;
  for (std::size_t i = 0; i < training.recipe.islands.size(); ++i) {
    Series series;
    series.name = training.recipe.islands[i];
    for (const TrainingPoint& point : training.points)
      if (point.step > 0 && !point.island_loss.empty())
        series.points.emplace_back(point.seconds, point.island_loss[i]);
    chart.series.push_back(std::move(series));
  }
  Series mean;
  mean.name = "the averaged model";
  mean.emphasised = true;
  for (const TrainingPoint& point : training.points)
    if (point.step > 0) mean.points.emplace_back(point.seconds, point.loss_of_mean);
  chart.series.push_back(std::move(mean));
  if (chart.series.front().points.size() < 2) chart.series.clear();
  make_room(chart);
  return chart;
}

Chart prediction_chart(const std::vector<Runs>& policies) {
  Chart chart;
  chart.title = "Disagreement against predicted staleness";
  chart.x_label = "squared staleness, with delays as stepped (ms)";
  chart.y_label = kDistanceLabel;
  chart.caption = "A point for each policy, the second half of its runs.";
  chart.kind = Chart::Kind::kScatter;
  Series series;
  series.name = "policies that train while they exchange";
  for (const Runs& runs : policies) {
    const auto measured = measured_staleness(*runs[0]);
    const double distance = mean_of(runs, late_distance);
    if (!measured || !std::isfinite(distance)) continue;
    series.points.emplace_back(measured->squared, distance);
    series.labels.push_back(runs[0]->recipe.name);
  }
  const bool differ =
      std::any_of(series.points.begin(), series.points.end(),
                  [&](const auto& point) { return point.first != series.points[0].first; });
  if (differ) chart.series.push_back(std::move(series));
  return chart;
}

}  // namespace cotillion
