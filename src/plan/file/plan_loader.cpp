// Reads in the order of dependence: what made it and the settings, the network, then the rounds.
// Without a sound network the members of cliques are still checked, but not their streams.
#include "plan/file/plan_loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/infinity.hpp"
#include "plan/file/plan_numbers.hpp"
#include "plan/file/plan_provenance.hpp"
#include "plan/file/planned_cliques.hpp"
#include "topology/toml_fields.hpp"

namespace cotillion {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
// Starts of rounds are rounded sums of their lengths.
constexpr double kLoaderRounding = 1e-9;

// Of the fields that a plan may have, those that are read; the search's story is left out, and so
// is what follows from others.
constexpr std::string_view kRead =
    "absolute aggregation aggregators area area_approximate area_squared at bytes certificate "
    "chain chunk_bytes cliques commit constraints coordinates copies cycle cycle_excess_ms "
    "decay_per_round edge exact feasible fragments framing_bytes from headroom ingress ingress_ms "
    "inputs island islands kind label lane lanes last_flight latency_ms leader length_ms limit "
    "links map memory_bytes memory_peak_bytes multicast name network objective objectives "
    "offset_ms overlapped paper paper-streamed payload_bytes planned_ms price_ms rate_gbps "
    "receiver receivers region relax resend_bytes round_ms rounds routers runnable schedule seed "
    "sender senders serialisation_ms serves settles_after_rounds ships_state slack_ms slot_bytes "
    "squared squared-streamed start_ms step_ms streamed_delay_ms streams sum_ms summed_at sums "
    "survival technology throttled to tree unrounded version waiter weights worst_relative_excess";

class PlanLoader {
 public:
  explicit PlanLoader(const PlanField& root) : root_(root), exact_(root.maybe("exact")) {
    file_.made_by = read_provenance(root);
    read_relaxations();
    read_settings();
    PlanNetwork network = read_network(root, plan_.network);
    read_rounds(network);
    read_scores();
    file_.map = std::move(network.map);
    file_.ingress = std::move(network.ingress);
  }

  PlanFile take_file() { return std::move(file_); }

 private:
  [[nodiscard]] RealDuration seconds(const char* key) const {
    return RealDuration::from_ps(read_billionth(root_, key, exact_).value_or(0));
  }

  // Which relaxations the plan was allowed; a plan of the core model does not name any.
  void read_relaxations() {
    const PlanField list = root_.maybe("relax");
    if (!list.is_there()) return;
    const auto size = list.list("relaxation", 0, kRelaxationNames.size());
    for (std::size_t k = 0; k < size.value_or(0); ++k) {
      const auto name = list[k].text();
      if (name && !relax(plan_.settings.relax, *name))
        list[k].problem(fmt::format("unknown relaxation '{}'", shown(*name)),
                        "use lengths, overlap or routes");
    }
    plan_.settings.headroom = root_.at("headroom").number(0, 1).value_or(0);
    plan_.overlapped = root_.at("overlapped").flag().value_or(false);
    if (plan_.overlapped && !plan_.settings.relax.overlap && root_.is_faultless())
      root_.at("overlapped")
          .problem("true, but relax does not name overlap",
                   "a plan overlaps only where that was allowed");
    exact_ = root_.maybe("unrounded").maybe("exact");
  }

  void read_settings() {
    plan_.schedule = root_.at("schedule").text().value_or("");
    const PlanField technology = root_.at("technology");
    if (technology.is_object())
      plan_.network.technology = {technology.at("multicast").flag().value_or(true),
                                  technology.at("aggregation").flag().value_or(true)};
    plan_.network.ships_state = root_.at("ships_state").flag().value_or(false);
    plan_.settings.slack = seconds("slack_ms");
    plan_.settings.step_time = seconds("step_ms");
    plan_.settings.fragments = int(root_.at("fragments").integer(1, INT_MAX).value_or(1));
    const PlanField name = root_.at("objective");
    const auto text = name.text();
    const auto objective = text ? objective_named(*text) : std::nullopt;
    if (objective) plan_.settings.objective = *objective;
    if (text && !objective)
      name.problem(fmt::format("unknown objective '{}'", shown(*text)),
                   "use paper, squared, paper-streamed or squared-streamed");
  }

  void read_rounds(const PlanNetwork& network) {
    // A plan without islands has been refused already.
    if (network.map.islands.empty()) return;
    const PlanField list = root_.at("rounds");
    const auto size = list.list("round", 1, kPlannedRoundsMax);
    if (!size) return;
    plan_.feasible = root_.at("feasible").flag().value_or(true);
    plan_.runnable = root_.at("runnable").flag().value_or(true);
    CliqueReader cliques(network, plan_.network, plan_.overlapped);
    bool feasible = true, runnable = true;
    for (std::size_t k = 0; k < *size && !root_.full(); ++k) {
      if (!list[k].is_object()) continue;
      PlannedRound round = cliques.read_round(list[k]);
      for (const PlannedClique& clique : round.cliques) {
        feasible = feasible && clique.feasible;
        runnable = runnable && clique.runnable;
      }
      plan_.round = std::max(plan_.round, round.planned);
      read_times(list[k], round);
      plan_.rounds.push_back(std::move(round));
    }
    agrees("feasible", plan_.feasible, feasible);
    agrees("runnable", plan_.runnable, runnable);
    check_written(root_.at("round_ms"), plan_.feasible, plan_.round,
                  "T is the largest price of any clique");
  }

  void agrees(const char* key, bool claimed, bool found) const {
    if (claimed != found && root_.is_faultless())
      root_.at(key).problem(fmt::format("{}, but cliques say otherwise", claimed),
                            "it holds when it holds for every clique");
  }

  void read_times(const PlanField& field, PlannedRound& round) const {
    const PlanField start = field.at("start_ms"), length = field.at("length_ms");
    if (!plan_.feasible) {
      (void)start.expect_null("in an infeasible plan");
      (void)length.expect_null("in an infeasible plan");
      return;
    }
    if (!start.is_there() || !length.is_there()) return;
    const auto from = read_billionth(field, "start_ms"), lasts = read_billionth(field, "length_ms");
    if (!from || !lasts) return;
    round.start = RealDuration::from_ps(*from);
    round.length = RealDuration::from_ps(*lasts);
    if (!field.is_faultless()) return;
    const RealDuration due = plan_.rounds.empty()
                                 ? RealDuration()
                                 : plan_.rounds.back().start + plan_.rounds.back().length;
    if (std::fabs(round.start.ps - due.ps) > kLoaderRounding * due.ps)
      start.problem(fmt::format("the round before ends at {} ms", due.ms()),
                    "each round starts where the one before ends, the first at 0");
    if (!plan_.overlapped && round.length.ps < round.planned.ps * (1 - kLoaderRounding))
      length.problem("shorter than planned_ms",
                     "a round lasts until its exchange is done, unless the plan overlaps");
  }

  void read_scores() {
    Mixing& mixing = plan_.mixing;
    const auto area = [&](const char* key) {
      const PlanField field = root_.at(key);
      return field.is_null() ? kInfinity : field.number(0, 1e290).value_or(0);
    };
    mixing.area = area("area");
    mixing.area_squared = area("area_squared");
    mixing.approximate = root_.at("area_approximate").flag().value_or(false);
    const PlanField settles = root_.at("settles_after_rounds");
    if (!settles.is_null())
      if (const auto rounds = settles.integer(0, INT_MAX)) mixing.settles_after = int(*rounds);
    mixing.decay = root_.at("decay_per_round").number(0, 1).value_or(0);
    read_curves();

    const PlanField objectives = root_.at("objectives");
    const bool known = objectives.is_object();
    for (const Objective objective : kObjectives) {
      if (!known) break;
      const char* name = to_name(objective).data();
      const bool never = objectives.maybe(name).is_null();
      const auto value = never ? kInfinity : read_billionth(objectives, name, exact_).value_or(0);
      plan_.objectives.push_back(RealDuration::from_ps(value));
    }
    const PlanField delay = root_.at("streamed_delay_ms");
    if (!plan_.feasible)
      (void)delay.expect_null("in an infeasible plan");
    else if (delay.is_there())
      plan_.streamed_delay = seconds("streamed_delay_ms");
    const PlanField certificate = root_.at("certificate");
    if (!certificate.is_object()) return;
    plan_.constraints_checked = certificate.at("constraints").integer(0, INT64_MAX).value_or(0);
    plan_.worst_excess = certificate.at("worst_relative_excess").number(0, 1).value_or(0);
  }

  void read_curves() {
    Mixing& mixing = plan_.mixing;
    const PlanField list = root_.at("survival");
    const auto size = list.list("phase", 0, kPlannedRoundsMax);
    const bool whole = mixing.settles_after && *mixing.settles_after < int(kCurveValuesMax);
    for (std::size_t p = 0; p < size.value_or(0) && !root_.full(); ++p) {
      if (!list[p].is_object()) continue;
      PhaseCurves phase;
      read_curve(list[p].at("absolute"), phase.absolute);
      read_curve(list[p].at("squared"), phase.squared);
      if (!whole) phase.absolute.tail = phase.squared.tail = phase.decay = kUnknown;
      mixing.phases.push_back(std::move(phase));
    }
    if (root_.is_faultless() && *size != 0 && *size != plan_.rounds.size())
      list.problem(counted(*size, "phase"), "there is one for each round, or none");
  }

  static void read_curve(const PlanField& list, SurvivalCurve& curve) {
    const auto size = list.list("number", 0, kCurveValuesMax);
    for (std::size_t h = 0; h < size.value_or(0); ++h)
      curve.values.push_back(list[h].number(0, 1e290).value_or(0));
  }

  const PlanField& root_;
  PlanField exact_;  // the outermost numbers in full
  PlanFile file_;
  Plan& plan_ = file_.plan;
};

}  // namespace

Expected<PlanFile, Diagnostics> read_plan(std::string_view text, const std::string& file) {
  Problems problems(file);
  PlanFile plan;
  const auto root = parse_plan(text, NamedFields(kRead), problems);
  if (root && root->contains("kind") && !root->contains("network"))
    problems.add({}, "", "an outcome, not a plan", "give the plan that was played");
  else if (root)
    plan = PlanLoader(PlanField(*root, problems)).take_file();
  if (problems.empty()) return plan;
  return Unexpected{problems.take()};
}

Schedule schedule_of(const Plan& plan) {
  Schedule schedule{plan.schedule, {}};
  for (const PlannedRound& round : plan.rounds) {
    std::vector<Clique> cliques;
    int islands = 0;
    for (const PlannedClique& clique : round.cliques) {
      cliques.push_back({clique.islands, clique.weights});
      islands += cliques.back().size();
    }
    schedule.rounds.push_back(completed(std::move(cliques), islands));
  }
  return schedule;
}

}  // namespace cotillion
