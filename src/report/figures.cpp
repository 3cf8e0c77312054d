#include "report/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.hpp"

namespace cotillion {
namespace {

constexpr int kFigureRoundsShown = 12;
constexpr double kSettledEnough = 0.01;
constexpr std::size_t kCurvesShown = 6;

double mean_survival(const Mixing& mixing, int h) {
  const int period = int(mixing.phases.size());
  double sum = 0;
  for (const PhaseCurves& phase : mixing.phases) sum += survival_at(phase.absolute, h, period);
  return sum / period;
}

// Rounds until all curves are below a hundredth, and one more to show that they stay there.
int rounds_to_show(const std::vector<const Mixing*>& all) {
  int h = 1;
  const auto settled = [&](const Mixing* mixing) {
    return mixing->phases.empty() || mean_survival(*mixing, h) < kSettledEnough;
  };
  while (h < kFigureRoundsShown && !std::all_of(all.begin(), all.end(), settled)) ++h;
  return std::min(h + 1, kFigureRoundsShown);
}

Chart survival_chart(const std::string& title, Chart::Kind kind) {
  Chart chart;
  chart.title = title;
  chart.x_label = "rounds since birth, h";
  chart.y_label = "unresolved state, e(h)  (share of 1)";
  chart.kind = kind;
  chart.x_whole = true;
  return chart;
}

std::string sentences(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + " " + b;
}

// "a; b; c": names of policies have commas in them.
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : "; ") + name;
  return text;
}

// Phases of birth whose curves cannot be told apart.
struct Alike {
  std::vector<std::string> phases;  // numbered from one
  std::vector<std::pair<double, double>> points;
};

std::vector<Alike> alike_phases(const Mixing& mixing, int last) {
  std::vector<Alike> groups;
  for (std::size_t p = 0; p < mixing.phases.size(); ++p) {
    Alike own{{fmt::format("{}", p + 1)}, {}};
    for (int h = 0; h <= last; ++h)
      own.points.emplace_back(h,
                              survival_at(mixing.phases[p].absolute, h, int(mixing.phases.size())));
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Alike& other) {
      return std::equal(own.points.begin(), own.points.end(), other.points.begin(),
                        [](auto a, auto b) { return std::fabs(a.second - b.second) < 1e-9; });
    });
    if (same == groups.end())
      groups.push_back(std::move(own));
    else
      same->phases.push_back(own.phases[0]);
  }
  return groups;
}

std::string born_in(const std::vector<std::string>& rounds) {
  if (rounds.size() == 1) return "born in round " + rounds[0];
  if (rounds.size() == 2) return "born in rounds " + rounds[0] + " and " + rounds[1];
  return fmt::format("born in round {} and {} others", rounds[0], rounds.size() - 1);
}

// Schedules first and emphasised, so that they read apart from rivals in grey too.
struct Sides {
  Series schedules{"schedules", {}, Mark::kDisc, true, {}, false};
  Series rivals{"rivals", {}, Mark::kHollowSquare, false, {}, false};
  std::vector<std::string> absent;

  void add(const Policy& policy, double x, double y) {
    if (!policy.feasible || !std::isfinite(x) || !std::isfinite(y)) {
      absent.push_back(policy.name);
      return;
    }
    Series& side = policy.kind == Policy::Kind::kSchedule ? schedules : rivals;
    side.points.emplace_back(x, y);
    side.labels.push_back(policy.name);
  }

  void into(Chart& chart) {
    if (!absent.empty())
      chart.caption = sentences(
          chart.caption, "Infeasible or never settled, and not drawn: " + listed(absent) + ".");
    for (Series* side : {&schedules, &rivals})
      if (!side->points.empty()) chart.series.push_back(std::move(*side));
  }
};

}  // namespace

Chart survival_figure(const std::string& title, const Mixing& mixing) {
  Chart chart = survival_chart(title, Chart::Kind::kStep);
  if (mixing.phases.empty()) {
    chart.caption = "Some islands never meet, through whatever intermediaries: nothing decays.";
    return chart;
  }
  const int last = rounds_to_show({&mixing});
  Series mean{"mean over phases", {}, Mark::kNone, true, {}, true};
  for (int h = 0; h <= last; ++h) mean.points.emplace_back(h, mean_survival(mixing, h));
  std::vector<Alike> groups = alike_phases(mixing, last);
  if (groups.size() > 1) chart.series.push_back(std::move(mean));
  const std::size_t shown = std::min(groups.size(), kCurvesShown);
  for (std::size_t g = 0; g < shown; ++g) {
    Series series;
    series.name = groups.size() == 1 ? "born in any round" : born_in(groups[g].phases);
    series.points = std::move(groups[g].points);
    series.filled = groups.size() == 1;
    chart.series.push_back(std::move(series));
  }
  chart.caption = fmt::format(
      "The share of a generation's disagreement that is left after h rounds. The tinted area is "
      "A = {:.3f} rounds{}.",
      mixing.area, last < kFigureRoundsShown ? "" : ", part of it beyond the figure");
  if (groups.size() == 1 && mixing.phases.size() > 1)
    chart.caption += " All phases of birth decay alike.";
  if (shown < groups.size())
    chart.caption += fmt::format(" {} of {} different curves are drawn.", shown, groups.size());
  return chart;
}

Chart survival_comparison(const std::vector<std::pair<std::string, Mixing>>& schedules) {
  Chart chart = survival_chart("Decay of unresolved state, all schedules", Chart::Kind::kLine);
  std::vector<const Mixing*> all;
  for (const auto& [name, mixing] : schedules) all.push_back(&mixing);
  const int last = rounds_to_show(all);
  std::vector<std::string> never;
  for (const auto& [name, mixing] : schedules) {
    if (mixing.phases.empty()) {
      never.push_back(name);
      continue;
    }
    Series series;
    series.name = fmt::format("{}  (A = {:.2f})", name, mixing.area);
    for (int h = 0; h <= last; ++h) series.points.emplace_back(h, mean_survival(mixing, h));
    chart.series.push_back(std::move(series));
  }
  chart.caption =
      "The share of a generation's disagreement that is left after h rounds, as the mean over "
      "phases. A is the mean lifetime of a unit of disagreement, in rounds.";
  if (!never.empty())
    chart.caption += " Islands never all meet, and no curve falls, in " + listed(never) + ".";
  return chart;
}

Chart staleness_against_round_time(const std::vector<Policy>& policies, Objective objective) {
  Chart chart;
  chart.title = "Staleness against round time";
  chart.x_label = "round time, T  (ms)";
  chart.y_label = "staleness  (ms)";
  chart.kind = Chart::Kind::kScatter;
  chart.x_from_zero = false;
  Sides sides;
  std::vector<std::string> blocking;
  for (const Policy& policy : policies) {
    if (policy.blocking)
      blocking.push_back(policy.name);
    else
      sides.add(policy, policy.exchange.ms(), policy.objective(objective).ms());
  }
  chart.caption = fmt::format(
      "Left is a short round, low is fresh parameters. Staleness is the objective '{}'.",
      to_name(objective));
  if (!blocking.empty())
    chart.caption = sentences(chart.caption,
                              "Not drawn, because they stop the GPUs while they "
                              "exchange: " +
                                  listed(blocking) + ".");
  sides.into(chart);
  return chart;
}

Chart utilisation_against_staleness(const std::vector<Policy>& policies, const std::string& title,
                                    Objective objective) {
  Chart chart;
  chart.title = title;
  chart.x_label = "staleness  (ms)";
  chart.y_label = "GPU utilisation  (%)";
  chart.kind = Chart::Kind::kScatter;
  Sides sides;
  for (const Policy& policy : policies)
    sides.add(policy, policy.objective(objective).ms(), 100 * policy.utilisation);
  chart.caption = fmt::format(
      "Left is fresh parameters, high is busy GPUs. Blocking policies stop for every exchange; "
      "what they do between two of them waits, which is their staleness. The others train on "
      "while updates fly, and theirs is the objective '{}'.",
      to_name(objective));
  sides.into(chart);
  return chart;
}

Chart sweep_figure(const std::string& title, const std::string& x_label,
                   const std::vector<double>& xs, const std::string& y_label,
                   const std::vector<std::pair<std::string, std::vector<double>>>& ys) {
  Chart chart;
  chart.title = title;
  chart.x_label = x_label;
  chart.y_label = y_label;
  chart.x_from_zero = false;
  std::vector<std::string> never;
  for (const auto& [name, values] : ys) {
    COTILLION_CHECK(values.size() == xs.size());
    if (std::none_of(values.begin(), values.end(), [](double y) { return std::isfinite(y); })) {
      never.push_back(name);
      continue;
    }
    Series series;
    series.name = name;
    for (std::size_t i = 0; i < xs.size(); ++i) series.points.emplace_back(xs[i], values[i]);
    chart.series.push_back(std::move(series));
  }
  if (!never.empty()) chart.caption = "Feasible nowhere, and not drawn: " + listed(never) + ".";
  return chart;
}

BarChart ladder_figure(
    const std::string& title, const std::vector<std::string>& technologies,
    const std::vector<std::pair<std::string, std::vector<RealDuration>>>& staleness) {
  BarChart chart;
  chart.title = title;
  chart.y_label = "staleness  (ms)";
  chart.bars = technologies;
  for (const auto& [name, values] : staleness) {
    BarGroup group{name, {}};
    for (const RealDuration value : values) group.values.push_back(value.ms());
    chart.groups.push_back(std::move(group));
  }
  chart.caption =
      "What the network's technologies buy, each on its own and together; lower is better.";
  return chart;
}

}  // namespace cotillion
