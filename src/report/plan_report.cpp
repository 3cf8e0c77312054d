#include "report/plan_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/table.hpp"
#include "plan/explain.hpp"
#include "plan/replay.hpp"

namespace cotillion {
namespace {

using Align = Table::Align;
constexpr std::size_t kCliquesShown = 40;

std::string clique_name(const Map& map, const std::vector<IslandId>& islands) {
  std::string name;
  for (std::size_t i = 0; i < islands.size(); ++i) {
    if (i == 12 && islands.size() > 14)
      return name + fmt::format(" … ({} islands)", islands.size());
    name += (i > 0 ? " " : "") + map.islands[islands[i]].name;
  }
  return name;
}

std::string offsets_text(const PlannedClique& clique) {
  std::string text;
  for (std::size_t i = 0; i < clique.streams.size(); ++i) {
    if (i == 12 && clique.streams.size() > 14) return text + " …";
    text += fmt::format("{}{:.1f}", i > 0 ? " " : "", clique.streams[i].offset.ms());
  }
  return text.empty() ? "–" : text;
}

std::string network_memory_text(const NetworkModel& network) {
  const Map& map = network.map();
  if (!network.technology().aggregation) return "no edges";
  const auto& edges = map.aggregators;
  if (edges.empty()) return "no edges";
  const auto [least, most] = std::minmax_element(
      edges.begin(), edges.end(),
      [](const Aggregator& a, const Aggregator& b) { return a.spec.memory < b.spec.memory; });
  if (least->spec.memory == most->spec.memory) return "edge memory " + to_text(least->spec.memory);
  return fmt::format("edge memory {} to {}", to_text(least->spec.memory),
                     to_text(most->spec.memory));
}

std::string technology_text(Technology technology) {
  if (technology.multicast && technology.aggregation) return "multicast + edge aggregation";
  if (technology.multicast) return "multicast only";
  if (technology.aggregation) return "edge aggregation only";
  return "plain unicast";
}

std::string round_text(const NetworkModel& network, const PlannedRound& round, std::size_t index) {
  Table table({{"clique"},
               {"price ms", Align::kRight},
               {"Gbps", Align::kRight},
               {"offsets ms"},
               {"limited by"}});
  std::vector<std::string> alone;
  std::size_t shown = 0;
  for (const PlannedClique& clique : round.cliques) {
    if (clique.islands.size() == 1) {
      alone.push_back(network.map().islands[clique.islands[0]].name);
      continue;
    }
    if (++shown > kCliquesShown) continue;
    table.add({clique_name(network.map(), clique.islands),
               clique.feasible ? fmt::format("{:.1f}", clique.price.ms()) : "infeasible",
               clique.feasible ? fmt::format("{:.4g}", clique.rate.gbps()) : "–",
               offsets_text(clique), binding_phrase(network, clique)});
  }
  std::string text = fmt::format("Round {}\n", index + 1) + table.text(2);
  if (shown > kCliquesShown)
    text += fmt::format("  … and {} cliques more\n", shown - kCliquesShown);
  if (!alone.empty()) text += fmt::format("  sitting out: {}\n", fmt::join(alone, " "));
  return text + "\n";
}

// The clique that sets T, or the first that cannot be done.
const PlannedClique* deciding_clique(const Plan& plan) {
  const PlannedClique* decides = nullptr;
  for (const PlannedRound& round : plan.rounds)
    for (const PlannedClique& clique : round.cliques) {
      if (!clique.feasible) return &clique;
      if (decides == nullptr || clique.price > decides->price) decides = &clique;
    }
  return decides;
}

std::string mixing_text(const Mixing& mixing) {
  if (mixing.settles_after)
    return fmt::format("settles after {} round{}", *mixing.settles_after,
                       *mixing.settles_after == 1 ? "" : "s");
  if (std::isinf(mixing.area)) return "never settles: its cliques do not mix all islands";
  return fmt::format("what is unsettled falls to {:.{}f} % each round{}", 100 * mixing.decay,
                     mixing.decay > 0.999 ? 4 : 1,
                     mixing.approximate ? " (too slowly to follow; A is approximate)" : "");
}

// What the relaxations made of the rounds.
std::string relaxed_text(const NetworkModel& network, const Plan& plan) {
  std::string text = "relaxed:";
  for (const std::string_view name : to_names(plan.settings.relax))
    text += fmt::format(" {}", name);
  text += fmt::format("   a round every {:.1f} ms", plan.mean_length().ms());
  if (plan.rounds.size() > 1) {
    text += " on average (";
    for (std::size_t k = 0; k < plan.rounds.size(); ++k)
      text += fmt::format("{}{:.1f}", k > 0 ? ", " : "", plan.rounds[k].length.ms());
    text += ")";
  }
  text += plan.overlapped ? "; each begins while the one before it flies\n" : "\n";
  text += "exact ms:     ";
  const std::vector<RealDuration> exact = exact_staleness(network, plan);
  for (const Objective objective : kObjectives)
    text +=
        std::isinf(exact[std::size_t(objective)].ps)
            ? fmt::format("  {} –", to_name(objective))
            : fmt::format("  {} {:.1f}", to_name(objective), exact[std::size_t(objective)].ms());
  return text + "  (counted from every copy and merge)\n";
}

std::string verdict_text(const NetworkModel& network, const Plan& plan) {
  std::string text;
  const auto area = [](double a) {
    return std::isinf(a) ? std::string("∞") : fmt::format("{:.4f}", a);
  };
  if (plan.feasible)
    text += fmt::format("T = {:.1f} ms   A = {}   staleness ({}) = {}   {}\n", plan.round.ms(),
                        area(plan.mixing.area), to_name(plan.settings.objective),
                        std::isinf(plan.staleness().ps) ? "∞" : to_text(plan.staleness()),
                        mixing_text(plan.mixing));
  else
    text += fmt::format("Infeasible: no round is long enough.   A = {}   {}\n",
                        area(plan.mixing.area), mixing_text(plan.mixing));
  if (plan.feasible) {
    text += "objectives ms:";
    for (const Objective objective : kObjectives)
      text += fmt::format("  {} {}", to_name(objective),
                          std::isinf(plan.objective(objective).ps)
                              ? "∞"
                              : fmt::format("{:.1f}", plan.objective(objective).ms()));
    text += fmt::format("  (streamed: {} fragments, d = {})\n", plan.settings.fragments,
                        to_text(plan.streamed_delay));
    const RealDuration length = plan.rounds[0].length;
    if (plan.settings.relax.any()) {
      text += relaxed_text(network, plan);
    } else if (length > plan.round) {
      // Without a cap a round would be this long; what is more is its doing.
      const bool capped = length > round_length(plan.round, plan.settings);
      text += fmt::format("rounds start every {:.1f} ms ({}{})\n", length.ms(),
                          capped ? "so that nobody sends more than its egress cap allows"
                                 : to_text(plan.settings.slack) + " of slack",
                          plan.settings.whole_steps ? ", then up to whole steps" : "");
    }
    if (plan.settings.step_time.ps > 0) {
      const double steps = plan.steps_per_round();
      text += fmt::format("H = {:.2f} local steps of {} a round", steps,
                          to_text(plan.settings.step_time));
      if (!plan.settings.whole_steps && !plan.settings.relax.any() && std::ceil(steps) != steps)
        text += fmt::format("; --whole-steps starts rounds every {:.1f} ms, {:.0f} steps",
                            std::ceil(steps) * plan.settings.step_time.ms(), std::ceil(steps));
      text += "\n";
    }
  }
  if (!plan.runnable)
    text += fmt::format(
        "Not runnable: a clique has more than {} members, the width of a packet's "
        "contributor mask.\n",
        kCliqueMembersMax);
  if (const PlannedClique* decides = deciding_clique(plan))
    text += "\n" + wrapped("Why: " + explain_price(network, *decides));
  return text;
}

struct Busy {
  double utilisation;
  std::size_t round;
  LaneUse use;
};

std::string loads_text(const NetworkModel& network, const Plan& plan, bool full) {
  const Map& map = network.map();
  std::vector<Busy> busy;
  for (std::size_t k = 0; k < plan.rounds.size(); ++k)
    for (const LaneUse& use : plan.rounds[k].lanes)
      if (full || !is_access(map, use.lane))
        busy.push_back({use.rate.value / lane_rate(map, use.lane).value, k, use});
  if (!full) {
    std::stable_sort(busy.begin(), busy.end(),
                     [](const Busy& a, const Busy& b) { return a.utilisation > b.utilisation; });
    if (busy.size() > 5) busy.resize(5);
  }
  Table lanes({{full ? "lane" : "busiest links"},
               {"round", Align::kRight},
               {"streams", Align::kRight},
               {"Gbps", Align::kRight},
               {"full", Align::kRight},
               {"GB a round", Align::kRight}});
  for (const Busy& entry : busy)
    lanes.add({lane_name(map, entry.use.lane), fmt::format("{}", entry.round + 1),
               fmt::format("{}", entry.use.streams), fmt::format("{:.4g}", entry.use.rate.gbps()),
               fmt::format("{:.0f} %", 100 * entry.utilisation),
               fmt::format("{:.4g}", double(entry.use.bytes.count) / 1e9)});

  IdVector<AggregatorId, Bytes> peaks(map.aggregators.size());
  for (const PlannedRound& round : plan.rounds)
    for (const EdgeUse& use : round.edges)
      peaks[use.aggregator] = std::max(peaks[use.aggregator], use.memory_peak);
  std::string edges;
  for (const AggregatorId a : peaks.ids())
    if (network.technology().aggregation && (peaks[a].count > 0 || full))
      edges += fmt::format("{}{} {}", edges.empty() ? "" : ", ",
                           place_name(map, map.aggregators[a].place), to_text(peaks[a]));
  return (busy.empty() ? "" : "\n" + lanes.text()) +
         fmt::format("memory used at edges: {}\n", edges.empty() ? "none" : edges);
}

}  // namespace

std::string network_text(const NetworkModel& network, const std::string& what) {
  const std::string& name = network.map().name;
  return fmt::format("{}: {}{}payload {}, {}, {}", name.empty() ? "map" : name, what,
                     what.empty() ? "" : ", ", to_text(network.payload()),
                     network_memory_text(network), technology_text(network.technology()));
}

std::string plan_text(const NetworkModel& network, const Plan& plan, bool full) {
  std::string text = network_text(network, plan.schedule) + "\n\n";
  for (std::size_t k = 0; k < plan.rounds.size(); ++k)
    text += round_text(network, plan.rounds[k], k);
  text += verdict_text(network, plan);
  if (plan.feasible) text += loads_text(network, plan, full);
  if (!plan.feasible) return text;
  return text + fmt::format("certificate: {} constraints re-checked, none broken\n",
                            plan.constraints_checked);
}

void sort_best_first(std::vector<Plan>& plans) {
  const auto rank = [](const Plan& plan) {
    return std::tuple(!plan.feasible, !plan.runnable, plan.staleness().ps);
  };
  std::stable_sort(plans.begin(), plans.end(),
                   [&](const Plan& a, const Plan& b) { return rank(a) < rank(b); });
}

std::string candidates_text(const NetworkModel& network, const std::vector<Plan>& plans) {
  Table table({{"schedule"},
               {"T ms", Align::kRight},
               {"A", Align::kRight},
               {"staleness ms", Align::kRight},
               {"squared", Align::kRight},
               {"streamed", Align::kRight},
               {"limited by"}});
  for (const Plan& plan : plans) {
    const auto ms = [&](double value) {
      if (!plan.feasible) return std::string("–");
      return std::isinf(value) ? std::string("∞") : fmt::format("{:.1f}", value);
    };
    const PlannedClique* decides = deciding_clique(plan);
    table.add({plan.schedule, plan.feasible ? ms(plan.round.ms()) : "infeasible",
               std::isinf(plan.mixing.area) ? "∞" : fmt::format("{:.4f}", plan.mixing.area),
               ms(plan.staleness().ms()), ms(plan.objective(Objective::kSquared).ms()),
               ms(plan.objective(Objective::kPaperStreamed).ms()),
               decides != nullptr ? binding_phrase(network, *decides) : ""});
  }
  return table.text();
}

}  // namespace cotillion
