#include "report/search_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/search_report.hpp"
#include "search/frontier.hpp"

namespace cotillion {
namespace {

constexpr double kDecadesOnALine = 2;  // a longer search is drawn on a logarithmic axis
constexpr double kAlike = 1e-6;        // relative; closer points are one
// What is drawn of the frontier, relative to the chosen plan.
constexpr double kLengthLeast = 0.75, kLengthMost = 1.55, kAreaMost = 2;
constexpr double kCurveLeast = 0.85, kCurveMost = 1.25;  // at least this much of it
constexpr int kCurvePoints = 60;

bool is_squared(Objective objective) {
  return objective == Objective::kSquared || objective == Objective::kSquaredStreamed;
}

bool is_streamed(Objective objective) {
  return objective == Objective::kPaperStreamed || objective == Objective::kSquaredStreamed;
}

// The words of the objective: "A₂", "T(A₂ + ½)", "−(1 + 1/(2A₂))".
struct Words {
  std::string area, product, condition;

  explicit Words(Objective objective) {
    const char* sign = is_streamed(objective) ? "−" : "+";
    area = is_squared(objective) ? "A₂" : "A";
    product = fmt::format("T({} {} ½)", area, sign);
    condition = fmt::format("−(1 {} 1/(2{}))", sign, area);
  }
};

// "−1.36", with a minus as wide as a plus.
std::string number_text(double number) {
  return fmt::format("{}{:.2f}", number < 0 ? "−" : "", std::fabs(number));
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = char(text[0] - 'a' + 'A');
  return text;
}

std::string sentence(const std::string& text) {
  return capitalised(text) + (text.ends_with('.') ? "" : ".");
}

double secant(const MixingPoint& a, const MixingPoint& b) {
  return std::log(b.area / a.area) / std::log(b.length / a.length);
}

bool is_shorter(const MixingPoint& a, const MixingPoint& b) {
  return a.length.ps < b.length.ps * (1 - kAlike);
}

bool in_window(const Tradeoff& tradeoff, const MixingPoint& point) {
  const MixingPoint& chosen = tradeoff.chosen;
  return point.length >= chosen.length * kLengthLeast &&
         point.length <= chosen.length * kLengthMost && point.area <= chosen.area * kAreaMost;
}

std::pair<double, double> drawn_at(const MixingPoint& point) {
  return {point.length.ms(), point.area};
}

// Where the product is that of the chosen plan.
Series level_curve(const Tradeoff& tradeoff, double from_ms, double to_ms) {
  Series curve{Words(tradeoff.objective).product + " as chosen", {}, Mark::kNone, false, {}, false};
  const double half = is_streamed(tradeoff.objective) ? -0.5 : 0.5;
  for (int i = 0; i < kCurvePoints; ++i) {
    const double length = from_ms + (to_ms - from_ms) * i / (kCurvePoints - 1);
    const double area = tradeoff.product_ms(tradeoff.chosen) / length - half;
    if (area > 0) curve.points.emplace_back(length, area);
  }
  return curve;
}

std::string measured_text(const Tradeoff& tradeoff) {
  const auto shorter = tradeoff.elasticity_towards_shorter();
  const auto longer = tradeoff.elasticity_towards_longer();
  if (!shorter && !longer) return " No shorter and no longer rounds are on it to measure that.";
  std::string text = " Measured from the chosen plan:";
  if (shorter) text += fmt::format(" {} towards shorter rounds", number_text(*shorter));
  if (longer)
    text += fmt::format("{} {} towards longer {}", shorter ? "," : "", number_text(*longer),
                        shorter ? "ones" : "rounds");
  if (!shorter) text += "; nothing shorter is known";
  if (!longer) text += "; nothing longer mixes better, as far as is known";
  return text + ".";
}

std::string frontier_caption(const Tradeoff& tradeoff) {
  const Words words(tradeoff.objective);
  const bool streamed = is_streamed(tradeoff.objective);
  const std::string text = fmt::format(
      "The least {0} for rounds of every length, found by annealing, not proven. Along the dashed "
      "curve {1} is that of the chosen plan{2}. Where a smooth frontier touches it{3}, the "
      "elasticity of {0} in T is {4}, here {5}.",
      words.area, words.product,
      streamed ? fmt::format("; the staleness is {} + d", words.product) : "",
      streamed ? ", and the delay d does not move" : "", words.condition,
      number_text(tradeoff.elasticity_wanted(tradeoff.chosen.area)));
  return text + measured_text(tradeoff);
}

}  // namespace

Chart search_figure(const SearchResult& result) {
  Chart chart;
  chart.title = "How the search went";
  chart.x_label = "schedules looked at";
  chart.y_label = "staleness  (ms)";
  chart.kind = Chart::Kind::kStep;
  chart.x_from_zero = false;
  chart.y_from_zero = false;
  Series incumbent{"best so far", {}, Mark::kAuto, true, {}, false};
  Series bound{"lower bound", {}, Mark::kAuto, false, {}, false};
  for (const TracePoint& point : result.trace) {
    const double x = double(std::max<std::int64_t>(point.evaluated, 1));
    if (std::isfinite(point.incumbent.ps)) incumbent.points.emplace_back(x, point.incumbent.ms());
    if (point.bound.ps > 0) bound.points.emplace_back(x, point.bound.ms());
  }
  if (!result.trace.empty()) {
    const auto [least, most] = std::minmax_element(
        result.trace.begin(), result.trace.end(),
        [](const TracePoint& a, const TracePoint& b) { return a.evaluated < b.evaluated; });
    chart.x_log = double(most->evaluated) > std::pow(10, kDecadesOnALine) *
                                                double(std::max<std::int64_t>(least->evaluated, 1));
  }
  for (Series* series : {&incumbent, &bound})
    if (!series->points.empty()) chart.series.push_back(std::move(*series));
  if (!result.found) {
    chart.caption = "Nothing was found.";
    return chart;
  }
  chart.caption =
      fmt::format("Staleness is the objective '{}'. {}", to_name(result.plan.settings.objective),
                  sentence(verdict_text(result)));
  if (result.stopped) chart.caption += " The search was stopped early.";
  return chart;
}

std::vector<std::vector<std::string>> families_table(const SearchResult& result) {
  std::vector<std::vector<std::string>> table{
      {"family of seeds", "staleness ms", "above the answer"}};
  for (const SeedScore& seed : result.families)
    table.push_back(
        {seed.family, fmt::format("{:.1f}", seed.staleness.ms()),
         fmt::format("{:.1f} %",
                     100 * std::max(0.0, seed.staleness / result.plan.staleness() - 1))});
  return table;
}

std::optional<MixingPoint> mixing_point(const Plan& plan) {
  if (!plan.feasible || plan.rounds.empty() || !std::isfinite(plan.staleness().ps))
    return std::nullopt;
  const double area =
      is_squared(plan.settings.objective) ? plan.mixing.area_squared : plan.mixing.area;
  // Without anybody to exchange with there is nothing to weigh.
  if (!(area > 0) || !(plan.rounds[0].length.ps > 0)) return std::nullopt;
  return MixingPoint{plan.schedule, plan.rounds[0].length, area};
}

Tradeoff::Tradeoff(const SearchResult& result, std::vector<MixingPoint> others)
    : objective(result.plan.settings.objective), named(std::move(others)) {
  chosen = mixing_point(result.plan).value_or(MixingPoint{});
  std::vector<MixingPoint> points = named;
  points.insert(points.begin(), chosen);
  for (const FrontierPoint& point : result.frontier)
    points.push_back({"", point.length, point.area});
  std::stable_sort(points.begin(), points.end(), [](const MixingPoint& a, const MixingPoint& b) {
    return std::pair(a.length, a.area) < std::pair(b.length, b.area);
  });
  for (MixingPoint& point : points) {
    if (frontier.empty()) {
      frontier.push_back(std::move(point));
      continue;
    }
    MixingPoint& last = frontier.back();
    const bool better = point.area < last.area * (1 - kAlike);
    if (better && is_shorter(last, point))
      frontier.push_back(std::move(point));
    else if (better)
      last = std::move(point);
    else if (last.name.empty() && !is_shorter(last, point) && point.area < last.area * (1 + kAlike))
      last.name = point.name;  // annealing found it too
  }
}

double Tradeoff::product_ms(const MixingPoint& point) const {
  return staleness_of_equal_rounds(objective, point.length, point.area, {}).ms();
}

double Tradeoff::elasticity_wanted(double area) const {
  return is_streamed(objective) ? -(1 - 1 / (2 * area)) : elasticity_at_best(area);
}

std::optional<double> Tradeoff::elasticity_towards_shorter() const {
  const auto found =
      std::find_if(frontier.rbegin(), frontier.rend(),
                   [this](const MixingPoint& point) { return is_shorter(point, chosen); });
  if (found == frontier.rend()) return std::nullopt;
  return secant(*found, chosen);
}

std::optional<double> Tradeoff::elasticity_towards_longer() const {
  const auto found =
      std::find_if(frontier.begin(), frontier.end(),
                   [this](const MixingPoint& point) { return is_shorter(chosen, point); });
  if (found == frontier.end()) return std::nullopt;
  return secant(chosen, *found);
}

Chart frontier_figure(const Tradeoff& tradeoff) {
  const Words words(tradeoff.objective);
  Chart chart;
  chart.title = "What longer rounds buy";
  chart.x_label = "round length, T  (ms)";
  chart.y_label = fmt::format("area, {}  (rounds)", words.area);
  chart.x_from_zero = false;
  chart.y_from_zero = false;
  Series best{"least area found", {}, Mark::kNone, true, {}, false, Chart::Kind::kStep};
  Series chosen{"the chosen plan",    {drawn_at(tradeoff.chosen)}, Mark::kDisc, true, {}, false,
                Chart::Kind::kScatter};
  chosen.labels.push_back(fmt::format("{}: {:.1f} ms, {} = {:.3f}", tradeoff.chosen.name,
                                      tradeoff.chosen.length.ms(), words.area,
                                      tradeoff.chosen.area));
  Series named{"named schedules", {}, Mark::kHollowSquare, false, {}, false, Chart::Kind::kScatter};
  std::vector<std::string> outside;
  for (const MixingPoint& point : tradeoff.named) {
    if (!in_window(tradeoff, point)) {
      outside.push_back(
          fmt::format("{} ({:.0f} ms, {:.2f})", point.name, point.length.ms(), point.area));
      continue;
    }
    named.points.push_back(drawn_at(point));
    named.labels.push_back(point.name);
  }
  for (const MixingPoint& point : tradeoff.frontier)
    if (in_window(tradeoff, point)) best.points.push_back(drawn_at(point));
  double from = tradeoff.chosen.length.ms() * kCurveLeast;
  double to = tradeoff.chosen.length.ms() * kCurveMost;
  for (const Series* series : {&best, &named})
    for (const auto& [x, y] : series->points) {
      from = std::min(from, x);
      to = std::max(to, x);
    }
  // Longer rounds can do what shorter ones do.
  if (!best.points.empty() && best.points.back().first < to)
    best.points.emplace_back(to, best.points.back().second);
  chart.series = {std::move(best), level_curve(tradeoff, from, to), std::move(chosen)};
  if (!named.points.empty()) chart.series.push_back(std::move(named));
  chart.caption = frontier_caption(tradeoff);
  if (!outside.empty())
    chart.caption += fmt::format(" Out of range: {}.", fmt::join(outside, "; "));
  return chart;
}

std::vector<std::vector<std::string>> frontier_table(const Tradeoff& tradeoff) {
  const Words words(tradeoff.objective);
  std::vector<std::vector<std::string>> table{
      {"schedule", "T ms", words.area, words.product + " ms", "elasticity", words.condition}};
  std::vector<FrontierPoint> points;
  for (const MixingPoint& point : tradeoff.frontier) points.push_back({point.length, point.area});
  for (std::size_t k = 0; k < points.size(); ++k) {
    const MixingPoint& point = tradeoff.frontier[k];
    const bool inner = k > 0 && k + 1 < points.size();
    table.push_back({point.name.empty() ? "annealed" : point.name,
                     fmt::format("{:.1f}", point.length.ms()), fmt::format("{:.3f}", point.area),
                     fmt::format("{:.1f}", tradeoff.product_ms(point)),
                     inner ? number_text(elasticity(points, k)) : "–",
                     number_text(tradeoff.elasticity_wanted(point.area))});
  }
  return table;
}

}  // namespace cotillion
