#include "report/training_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "base/table.hpp"
#include "base/units.hpp"
#include "report/rank_correlation.hpp"
#include "report/training_figures.hpp"
#include "report/training_pairs.hpp"
#include "report/training_runs.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kSchedulesToRank = 5;  // fewer are no ranking

double mean_island_loss(const Training& training) {
  if (training.points.empty() || training.points.back().island_loss.empty()) return INFINITY;
  const std::vector<double>& each = training.points.back().island_loss;
  double sum = 0;
  for (const double loss : each) sum += loss;
  return sum / double(each.size());
}

double predicted(const Training& training, const std::string& objective) {
  for (const auto& [name, value] : training.recipe.staleness)
    if (name == objective) return value;
  return NAN;
}

// How far each run is behind the other policy's run of the same seed: what seeds have in common
// cancels.
std::vector<double> behind(const Runs& runs, const Runs& best) {
  std::vector<double> differences;
  for (const Training* run : runs)
    for (const Training* other : best)
      if (run->settings.seed == other->settings.seed)
        differences.push_back(final_loss(*run) - final_loss(*other));
  return differences;
}

std::string difference_text(const std::vector<double>& differences) {
  double mean = 0, squares = 0;
  for (const double d : differences) mean += d / double(differences.size());
  for (const double d : differences) squares += (d - mean) * (d - mean);
  if (differences.empty() || !std::isfinite(mean)) return "–";
  if (differences.size() < 2) return fmt::format("{:.4f}", mean);
  return fmt::format("{:.4f} ± {:.4f}", mean, std::sqrt(squares / double(differences.size() - 1)));
}

std::string number(double value, const char* form = "{:.4f}") {
  return std::isfinite(value) ? fmt::format(fmt::runtime(form), value) : "–";
}

bool knows_memory(const Training& training) {
  return training.memory.kept > 0;
}

// Nothing where all came to their end.
std::string how_it_ended(const Runs& runs) {
  const auto any = [&](bool Training::*mark, bool value) {
    return std::any_of(runs.begin(), runs.end(),
                       [&](const Training* run) { return run->*mark == value; });
  };
  if (any(&Training::diverged, true)) return " (diverged: lower its rate)";
  return any(&Training::finished, false) ? " (stopped; its last evaluation)" : "";
}

Rows training_rows(const std::vector<Training>& trainings) {
  const bool target = std::any_of(trainings.begin(), trainings.end(),
                                  [](const Training& t) { return t.settings.target > 0; });
  const bool memory = std::any_of(trainings.begin(), trainings.end(), knows_memory);
  Rows rows = {{"policy", "loss", "±", "behind the best", "islands", "distance", "steps", "Mtokens",
                "clock s", "trains", "GB sent"}};
  if (memory) rows[0].emplace_back("B/parameter");
  if (target) rows[0].emplace_back("s to target");
  const std::vector<Runs> policies = by_policy(trainings);
  for (const Runs& runs : policies) {
    const Training& one = *runs[0];
    rows.push_back({one.recipe.name + how_it_ended(runs), number(mean_of(runs, final_loss)),
                    runs.size() > 1 ? number(spread_of(runs, final_loss)) : "–",
                    difference_text(behind(runs, policies[0])),
                    number(mean_of(runs, mean_island_loss)),
                    number(mean_of(runs, late_distance), "{:.5f}"), fmt::format("{}", one.steps),
                    number(one.points.empty() ? 0 : one.points.back().tokens / 1e6, "{:.2f}"),
                    number(one.seconds, "{:.1f}"), fmt::format("{:.0f} %", 100 * one.utilisation),
                    number(one.egress_bytes / 1e9, "{:.1f}")});
    if (memory)
      rows.back().push_back(knows_memory(one) ? fmt::format("{:.1f}", one.memory.kept) : "–");
    if (target)
      rows.back().push_back(
          number(mean_of(runs, [](const Training& t) { return t.target_time.value_or(INFINITY); }),
                 "{:.1f}"));
  }
  return rows;
}

// Predicted under every objective, and with the delays as they were.
Rows staleness_rows(const std::vector<Training>& trainings) {
  Rows rows = {{"policy", "paper ms", "squared ms", "paper-streamed ms", "squared-streamed ms",
                "as stepped: paper ms", "squared ms", "delay ms", "longest ms"}};
  for (const Runs& runs : by_policy(trainings)) {
    const Training& one = *runs[0];
    const auto measured = measured_staleness(one);
    if (!measured) continue;
    rows.push_back({one.recipe.name});
    for (const char* objective : {"paper", "squared", "paper-streamed", "squared-streamed"})
      rows.back().push_back(number(predicted(one, objective), "{:.0f}"));
    for (const double value : {measured->paper, measured->squared, one.account.delay_mean * 1e3,
                               one.account.delay_max * 1e3})
      rows.back().push_back(number(value, "{:.0f}"));
  }
  return rows;
}

// What each forecast says of schedules, against what came of them.
Rows correlation_rows(const std::vector<Training>& trainings) {
  std::vector<std::vector<double>> forecasts(7);
  std::vector<double> losses, distances;
  for (const Runs& runs : by_policy(trainings)) {
    const Training& one = *runs[0];
    const auto measured = measured_staleness(one);
    if (!measured || !std::isfinite(mean_of(runs, final_loss))) continue;
    losses.push_back(mean_of(runs, final_loss));
    distances.push_back(mean_of(runs, late_distance));
    const double round = one.account.cycle * 1e3, squared = predicted(one, "squared");
    const double delays = measured->paper - predicted(one, "paper");
    const std::array<double, 7> all = {predicted(one, "paper"),
                                       squared,
                                       round * std::sqrt(squared / round),
                                       round,
                                       predicted(one, "paper") + delays,
                                       squared + delays,
                                       round * std::sqrt((squared + delays) / round)};
    for (std::size_t f = 0; f < all.size(); ++f) forecasts[f].push_back(all[f]);
  }
  if (losses.size() < kSchedulesToRank) return {};
  const std::array<const char*, 7> names = {"paper: T(A + ½)",
                                            "squared: T(A₂ + ½)",
                                            "T √(A₂ + ½)",
                                            "T alone",
                                            "paper, delays as stepped: T(A − ½) + d",
                                            "squared, delays as stepped",
                                            "T √(A₂ − ½ + d/T)"};
  Rows rows = {{fmt::format("rank correlation over {} policies", losses.size()), "with loss",
                "with distance"}};
  for (std::size_t f = 0; f < names.size(); ++f)
    rows.push_back({names[f], number(rank_correlation(forecasts[f], losses), "{:.2f}"),
                    number(rank_correlation(forecasts[f], distances), "{:.2f}")});
  rows.push_back({"distance", number(rank_correlation(distances, losses), "{:.2f}"), "–"});
  return rows;
}

std::string about(const std::vector<Training>& trainings) {
  const Training& one = trainings[0];
  return fmt::format(
      "{} of {:.2f} M parameters on {} islands; {}; batches of {} windows, learning rate {}; on "
      "{}. A "
      "model that knows only how often bytes come would have {:.3f} nats per byte.",
      one.model, double(one.parameters) / 1e6, one.recipe.islands.size(), one.data,
      one.settings.batch, one.settings.rate, one.device, one.unigram_entropy);
}

// Empty where nobody counted.
std::string memory_notes(const std::vector<Training>& trainings) {
  double moving = 0;
  for (const Training& training : trainings) moving = std::max(moving, training.memory.moving);
  if (std::none_of(trainings.begin(), trainings.end(), knows_memory)) return "";
  return fmt::format(
      "B/parameter is what an island's learner keeps between steps, as its allocator counts it: "
      "model, gradient and AdamW's moments are 16, a copy in flight is 4. While vectors are moved "
      "and stepped it has up to {:.1f} more.",
      moving);
}

std::string lab_text(const Training& training) {
  const LabRecord& lab = *training.lab;
  std::string text = fmt::format("{}: {} copies and {} corrections through real agents and edges; ",
                                 training.recipe.name, lab.copies, lab.corrections);
  text += lab.missing == 0
              ? std::string("nothing was missing")
              : fmt::format("{} contributions were missing, wholly or in part", lab.missing);
  text += lab.late == 0 ? std::string(", and every copy was renewed before it left.")
                        : fmt::format(
                              ", and {} copies were renewed too late, by {:.0f} ms at worst: this "
                              "machine is too slow for this step time; give a --pace.",
                              lab.late, lab.latest_ms);
  text += fmt::format(
      " A training process has {:.0f} MB in memory, its agent {:.0f} MB with the region that they "
      "share: {:.0f} before anything was written there, and {:.1f} bytes per parameter.",
      lab.process_mb, lab.agent_mb, lab.agent_before_mb,
      std::max(0.0, lab.agent_mb - lab.agent_before_mb) * 1e6 / double(training.parameters));
  for (const std::string& problem : lab.problems) text += " " + problem + ".";
  return text;
}

// "steps-of-30.9-ms-text-by-source"
std::string in_a_file_name(const std::string& words) {
  std::string name;
  for (const char c : words) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.';
    if (plain)
      name += c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  return name;
}

// Sections and figures of runs that can be compared. `which` says so where there are others.
void add_setting(IllustratedPage& page, const std::vector<Training>& trainings,
                 const std::string& which) {
  const std::vector<Runs> policies = by_policy(trainings);
  const auto told = [&](const std::string& title) {
    return which.empty() ? title : title + ": " + which;
  };
  const auto drawn = [&](std::string name, Chart chart) {
    if (!which.empty()) name += "-" + in_a_file_name(which);
    const auto taken = [&](const NamedFigure& figure) { return figure.name == name; };
    while (std::any_of(page.figures.begin(), page.figures.end(), taken)) name += "-too";
    chart.title = told(chart.title);
    page.figures.push_back({name, chart_svg(chart)});
    return page.figures.back().svg;
  };
  Section loss{told("Loss"), {about(trainings)}, training_rows(trainings), {}};
  if (const std::string memory = memory_notes(trainings); !memory.empty())
    loss.paragraphs.push_back(memory);
  for (const Training& training : trainings)
    if (training.lab) loss.paragraphs.push_back(lab_text(training));
  loss.figures.push_back(drawn("loss-against-time", loss_chart(policies, false)));
  const Chart late = late_loss_chart(policies);
  if (!late.series.empty()) loss.figures.push_back(drawn("loss-at-the-end", late));
  loss.figures.push_back(drawn("loss-against-tokens", loss_chart(policies, true)));
  const Chart islands = island_chart(*policies[0][0]);
  if (!islands.series.empty()) loss.figures.push_back(drawn("loss-of-islands", islands));
  page.page.sections.push_back(std::move(loss));
  Section disagreement{told("Disagreement and staleness"), {}, {}, {}};
  const Rows staleness = staleness_rows(trainings);
  if (staleness.size() > 1) disagreement.table = staleness;
  const Chart distance = distance_chart(policies);
  if (!distance.series.empty()) disagreement.figures.push_back(drawn("disagreement", distance));
  const Chart prediction = prediction_chart(policies);
  if (!prediction.series.empty())
    disagreement.figures.push_back(drawn("disagreement-against-staleness", prediction));
  if (!disagreement.figures.empty()) page.page.sections.push_back(std::move(disagreement));
  if (Rows correlations = correlation_rows(trainings); !correlations.empty())
    page.page.sections.push_back({told("What predicts it"), {}, std::move(correlations), {}});
}

}  // namespace

std::optional<MeasuredStaleness> measured_staleness(const Training& training) {
  const double paper = predicted(training, "paper"), squared = predicted(training, "squared");
  if (!std::isfinite(paper) || !std::isfinite(squared)) return std::nullopt;
  // T(A + ½) waits a whole round for each exchange: T(A − ½) + d with d = T.
  const double change = (training.account.delay_mean - training.account.cycle) * 1e3;
  return MeasuredStaleness{paper + change, squared + change};
}

std::string training_text(const std::vector<Training>& trainings) {
  if (trainings.empty()) return "no training\n";
  const std::vector<std::vector<Training>> settings = by_setting(trainings);
  if (settings.size() > 1) {
    const std::vector<std::string> words = words_for(settings);
    std::string text;
    for (std::size_t s = 0; s < settings.size(); ++s)
      text += (s > 0 ? "\n" : "") + wrapped("With " + words[s] + ":") + "\n" +
              training_text(settings[s]);
    return text;
  }
  std::string text = wrapped(about(trainings)) + "\n" + table_of(training_rows(trainings)).text();
  if (const Rows pairs = pair_rows(by_policy(trainings)); pairs.size() > 1)
    text += "\n" + table_of(pairs).text();
  const std::string memory = memory_notes(trainings);
  if (!memory.empty()) text += "\n" + wrapped(memory);
  const Rows staleness = staleness_rows(trainings);
  if (staleness.size() > 1) text += "\n" + table_of(staleness).text();
  for (const Training& training : trainings)
    if (training.lab) text += "\n" + wrapped(lab_text(training));
  const Rows correlations = correlation_rows(trainings);
  if (!correlations.empty()) text += "\n" + table_of(correlations).text();
  return text;
}

IllustratedPage training_page(const std::vector<Training>& trainings, const std::string& made_by) {
  IllustratedPage page;
  page.page.title = "Training under a plan";
  page.page.subtitle = made_by;
  const std::vector<std::vector<Training>> settings = by_setting(trainings);
  const std::vector<std::string> words = words_for(settings);
  for (std::size_t s = 0; s < settings.size(); ++s) add_setting(page, settings[s], words[s]);
  return page;
}

}  // namespace cotillion
