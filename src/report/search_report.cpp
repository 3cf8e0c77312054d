#include "report/search_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/table.hpp"
#include "base/text.hpp"
#include "plan/policies.hpp"
#include "report/plan_report.hpp"

namespace cotillion {
namespace {

using Align = Table::Align;

// "512,000": digits in threes.
std::string group_thousands(double number) {
  std::string digits = fmt::format("{:.0f}", number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

// "9.46e12", as short as a count of schedules can be said; small ones as they are.
std::string count_text(double count) {
  if (count < 1e6) return group_thousands(count);
  const double power = std::floor(std::log10(count));
  return fmt::format("{:.2f}e{:.0f}", count / std::pow(10, power), power);
}

std::string time_text(RealDuration time) {
  return std::isfinite(time.ps) ? fmt::format("{:.1f} ms", time.ms()) : "∞";
}

double gap_of(RealDuration incumbent, RealDuration bound) {
  return incumbent.ps / bound.ps - 1;
}

std::string seeds_text(const SearchResult& result) {
  // A plan that was resumed is no seed: what annealing gained before would not show.
  const auto best =
      std::find_if(result.families.begin(), result.families.end(),
                   [](const SeedScore& seed) { return seed.family != kResumedFamily; });
  if (best == result.families.end()) return "";
  const double gain = 1 - result.plan.staleness() / best->staleness;
  // Less than prints as anything is nothing.
  if (!(gain >= 0.0005)) return fmt::format("no better than the best seed ({})\n", best->family);
  return fmt::format("{:.1f} % better than the best seed ({})\n", 100 * gain, best->family);
}

Json time_json(RealDuration time) {
  return number_or_null(time.ms());
}

// A sentence, for the class has no other name.
Json class_json(const SearchResult& result) {
  if (!result.proven) return nullptr;
  return fmt::format("Given {}, no allowed schedule is better than {} ({}).", proven_class(result),
                     time_text(*result.proven), to_name(result.plan.settings.objective));
}

Json plan_summary(const NetworkModel& network, const Plan* plan) {
  if (plan == nullptr) return nullptr;
  Json rounds = Json::array();
  for (const PlannedRound& round : plan->rounds) {
    Json& cliques = rounds.emplace_back(Json::array());
    for (const PlannedClique& clique : round.cliques) {
      Json& names = cliques.emplace_back(Json::array());
      for (const IslandId island : clique.islands)
        names.push_back(network.map().islands[island].name);
    }
  }
  return {{"feasible", plan->feasible},
          {"round_ms", plan->feasible ? Json(plan->round.ms()) : Json(nullptr)},
          {"area", number_or_null(plan->mixing.area)},
          {"staleness_ms", time_json(plan->staleness())},
          {"binding", policy_of(network, *plan).binding},
          {"rounds", rounds}};
}

const Plan* plan_of(const SearchResult& result) {
  return result.found ? &result.plan : nullptr;
}

const Plan* plan_of(const std::optional<Plan>& plan) {
  return plan ? &*plan : nullptr;
}

// Each line of the text with this before it.
std::string labelled(const std::string& label, const std::string& text) {
  std::string result;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start) + 1;
    result += label + text.substr(start, end - start);
    start = end;
  }
  return result;
}

bool all_proven(const SearchResult& result) {
  return result.proven && result.period_proven == result.period_max;
}

std::string longer_text(const SearchResult& result) {
  if (result.period_annealed <= result.period_max) return "";
  return fmt::format("; annealing found nothing better in periods up to {}",
                     result.period_annealed);
}

}  // namespace

std::string progress_text(const SearchProgress& progress, double moves_per_second) {
  std::string text = progress.doing;
  if (std::isfinite(progress.incumbent.ps)) {
    text += fmt::format(": {}", time_text(progress.incumbent));
    if (progress.bound.ps > 0)
      text += fmt::format(", at least {} (gap {:.1f} %)", time_text(progress.bound),
                          100 * gap_of(progress.incumbent, progress.bound));
  }
  if (moves_per_second >= 1) text += fmt::format(", {} moves/s", group_thousands(moves_per_second));
  return text;
}

std::string verdict_text(const SearchResult& result) {
  if (result.certified)
    return fmt::format("certified optimal ({}) given {}: all {} schedules ruled out or priced{}",
                       to_name(result.plan.settings.objective), proven_class(result),
                       count_text(result.class_size), longer_text(result));
  std::string text;
  if (all_proven(result))
    text = fmt::format(
        "The best of periods up to {} is proven ({}), given shortest trees and rounds of one "
        "length; a longer one was found ({}). ",
        result.period_max, time_text(*result.proven), time_text(result.plan.staleness()));
  else if (result.period_proven > 0)
    text = fmt::format(
        "Nothing is better given {}: that is proven; for {} too much is left to "
        "rule out. ",
        proven_class(result), result.period_max);
  if (result.bound.ps > 0)
    return text + fmt::format("lower bound {}, gap {:.1f} %. {}", time_text(result.bound),
                              100 * result.gap(), result.bound_reason);
  return "no lower bound is known";
}

std::string search_text(const SearchResult& result, const SearchConduct& conduct) {
  std::string text;
  if (conduct.interrupted) text += "stopped early: best so far\n";
  text += wrapped(verdict_text(result));
  text += seeds_text(result);
  if (!conduct.budget.empty())
    text += fmt::format(
        "not reproducible: how far a search comes in {} depends on the machine; --steps does not\n",
        conduct.budget);
  return text;
}

std::string best_rival_text(const Plan& plan, const std::optional<Policy>& rival) {
  if (!rival) return "";
  const Objective objective = plan.settings.objective;
  const RealDuration theirs = rival->objective(objective);
  const double less = 1 - theirs / plan.staleness();
  // Less than prints as anything is nothing.
  if (!(less >= 0.0005)) return "";
  return fmt::format("\nBetter here: {}, {} ({}), {:.1f} % less; see cotillion compare\n",
                     rival->name, time_text(theirs), to_name(objective), 100 * less);
}

Json best_rival_json(const std::optional<Policy>& rival, Objective objective) {
  if (!rival) return nullptr;
  return {{"name", rival->name}, {"staleness_ms", time_json(rival->objective(objective))}};
}

std::string nothing_found_text(const SearchResult& result, const SearchConduct& conduct) {
  if (conduct.interrupted) return "stopped before any plan was found";
  if (result.stopped)
    return fmt::format("no plan was found in {}; give the search more time", conduct.budget);
  return fmt::format(
      "no schedule was found that is allowed, feasible and settles, in periods of up to {}; give "
      "edges more memory, or drop a constraint",
      counted(std::size_t(std::max(0, result.period_annealed)), "round"));
}

Json search_json(const SearchResult& result, const SearchConduct& conduct) {
  Json json{{"found", result.found},
            {"certified", result.certified},
            {"period_proven", result.period_proven},
            {"objective", result.found ? Json(to_name(result.plan.settings.objective)) : nullptr},
            {"period_max", result.period_max},
            {"class", class_json(result)},
            {"proven_ms", result.proven ? time_json(*result.proven) : Json(nullptr)},
            {"period_annealed", result.period_annealed},
            {"class_size", all_proven(result) ? Json(result.class_size) : Json(nullptr)},
            {"bound_ms", result.bound.ps > 0 ? time_json(result.bound) : Json(nullptr)},
            {"gap", result.found && result.bound.ps > 0 ? number_or_null(result.gap()) : nullptr},
            {"bound_reason", result.bound_reason},
            {"evaluated", result.evaluated},
            {"seed", conduct.seed},
            {"steps", result.steps},
            {"budget", conduct.budget.empty() ? Json(nullptr) : Json(conduct.budget)},
            {"reproducible", conduct.reproducible()},
            {"stopped", conduct.interrupted}};
  Json& families = json["families"] = Json::array();
  for (const SeedScore& seed : result.families)
    families.push_back({{"family", seed.family}, {"staleness_ms", time_json(seed.staleness)}});
  Json& trace = json["trace"] = Json::array();
  for (const TracePoint& point : result.trace)
    trace.push_back({{"evaluated", point.evaluated},
                     {"incumbent_ms", time_json(point.incumbent)},
                     {"bound_ms", time_json(point.bound)}});
  Json& frontier = json["frontier"] = Json::array();
  for (const FrontierPoint& point : result.frontier)
    frontier.push_back(
        {{"round_ms", time_json(point.length)}, {"area", number_or_null(point.area)}});
  return json;
}

std::string whatif_text(const NetworkModel& before, const NetworkModel& after, const WhatIf& what) {
  Table table({{""},
               {"T ms", Align::kRight},
               {"A", Align::kRight},
               {"staleness ms", Align::kRight},
               {"difference", Align::kRight},
               {"limited by"}});
  const Plan* base = plan_of(what.before);
  const auto number = [](double value, int digits) {
    return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : std::string("∞");
  };
  const auto row = [&](const std::string& name, const NetworkModel& network, const Plan* plan) {
    if (plan == nullptr) return table.add({name, "–", "–", "–", "", "no plan was found"});
    std::string difference;
    if (base != nullptr && plan != base && plan->feasible && std::isfinite(plan->staleness().ps))
      difference =
          fmt::format("{:+.1f} ms ({:+.1f} %)", (plan->staleness() - base->staleness()).ms(),
                      100 * (plan->staleness() / base->staleness() - 1));
    table.add({name, plan->feasible ? number(plan->round.ms(), 1) : "infeasible",
               number(plan->mixing.area, 4),
               plan->feasible ? number(plan->staleness().ms(), 1) : "–", difference,
               policy_of(network, *plan).binding});
  };
  row("before: the best plan", before, base);
  row("after: the same schedule", after, plan_of(what.kept));
  row("after: the best plan", after, plan_of(what.after));
  std::string text = fmt::format("before  {}\nafter   {}\nchange  {}\n\n", network_text(before),
                                 network_text(after), fmt::join(what.changes, ", ")) +
                     table.text() + "\n";
  if (what.before.found) text += labelled("before: ", search_text(what.before, what.conduct));
  if (what.after.found) text += labelled("after:  ", search_text(what.after, what.conduct));
  return text;
}

Json whatif_json(const NetworkModel& before, const NetworkModel& after, const WhatIf& what) {
  return {{"changes", what.changes},
          {"before", plan_summary(before, plan_of(what.before))},
          {"kept", plan_summary(after, plan_of(what.kept))},
          {"after", plan_summary(after, plan_of(what.after))},
          {"search_before", search_json(what.before, what.conduct)},
          {"search_after", search_json(what.after, what.conduct)}};
}

}  // namespace cotillion
