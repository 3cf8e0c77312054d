#include "search/why.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "base/infinity.hpp"
#include "base/text.hpp"
#include "plan/every_round.hpp"
#include "topology/map_edit.hpp"

namespace cotillion {
namespace {

constexpr double kMore = 1.1;              // a little more of a rate
constexpr std::int64_t kMemoryShare = 10;  // a little more memory: this part of the payload
constexpr std::int64_t kLooks = 20'000;    // at neighbours
constexpr std::int64_t kStepsOfReplan = 60'000;
constexpr std::size_t kRelaxedAgain = 6;  // finalists that are planned again with relaxations
constexpr std::int64_t kStepsOfAbsence = 240'000;  // everything may be different

// One question: the map as it would be.
struct Question {
  Worth worth;
  Map map;
  bool reroutes = false;
};

class Asker {
 public:
  Asker(const NetworkModel& network, const SearchSettings& settings, const SearchResult& result,
        WhyCare care)
      : network_(network), settings_(settings), result_(result), care_(care) {
    // What sets T: nothing else can shorten it while the schedule stays. Where rounds have lengths
    // of their own or overlap, every clique may count.
    for (const PlannedRound& round : result.plan.rounds)
      for (const PlannedClique& clique : round.cliques) {
        if (!own_lengths() && clique.price < result.plan.round * (1 - 1e-9)) continue;
        if (clique.binding.lane >= 0) lanes_.insert(clique.binding.lane);
        for (const Wait& wait : clique.binding.chain) edges_.insert(network.edge(wait.receiver));
        if (clique.binding.kind == Binding::Kind::kMemory)
          for (const IslandId island : clique.islands) edges_.insert(network.edge(island));
      }
  }

  std::vector<Question> questions() {
    if (everything()) {
      Map same = network_.map();
      ask(Worth::Kind::kNothing, "nothing", same);
    }
    ask_memory();
    ask_access();
    ask_rates();
    if (everything()) ask_absence();
    return std::move(questions_);
  }

  // The schedule kept, then planned again from there. Seeds of the changed map count too where
  // routes have changed.
  void answer(Question& question) const {
    Worth& worth = question.worth;
    worth.kept = worth.replanned = RealDuration::from_ps(kInfinity);
    if (worth.splits) return;
    const Routes fresh = question.reroutes ? Routes(question.map) : Routes(network_.routes());
    const NetworkModel network(question.map, fresh, network_.settings());
    const Plan kept = make_plan(network, result_.schedule, settings_.plan, &result_.plan.mixing);
    worth.kept = worth.replanned = kept.staleness();
    if (care_ == WhyCare::kBinding) return;
    SearchSettings again = settings_;
    if (settings_.plan.relax.any()) return relax_again(network, question.reroutes, again, worth);
    again.exact = question.reroutes && care_ == WhyCare::kProven && result_.certified;
    // The class of schedules that the answer is in, or longer periods would look like gains.
    const bool small = network_.map().island_count() <= kSmallIslandsMax && settings_.exact;
    if (!again.exact && again.constraints.period_max == 0)
      again.constraints.period_max =
          std::max(small ? kExactPeriod : kAnnealedPeriod, int(result_.schedule.rounds.size()));
    cut_short(again);
    again.steps = question.reroutes ? kStepsOfAbsence : kStepsOfReplan;
    again.starts = {result_.schedule};
    Alone alone;
    const SearchResult found = search(network, again, alone);
    if (found.found) worth.replanned = std::min(worth.replanned, found.plan.staleness());
  }

 private:
  // The finalists of the relaxed search; where a link is missing, also what the core model would
  // do without it.
  void relax_again(const NetworkModel& network, bool reroutes, SearchSettings& again,
                   Worth& worth) const {
    std::vector<Schedule> finalists = result_.finalists;
    finalists.resize(std::min(finalists.size(), kRelaxedAgain));
    if (reroutes) {
      cut_short(again);
      again.plan.relax = {};
      again.exact = false;
      again.steps = kStepsOfReplan;
      again.starts = finalists;
      Alone alone;
      const SearchResult found = search(network, again, alone);
      if (found.found) finalists.push_back(found.schedule);
    }
    for (const Schedule& schedule : finalists) {
      const Plan plan = make_plan(network, schedule, settings_.plan);
      if (plan.feasible) worth.replanned = std::min(worth.replanned, plan.staleness());
    }
  }

  static void cut_short(SearchSettings& again) {
    again.frontier_points = 0;
    again.until_stopped = false;
    again.progress = nullptr;
    again.bounded = again.whole_first = false;
  }

  [[nodiscard]] bool own_lengths() const {
    return settings_.plan.relax.lengths || settings_.plan.relax.overlap;
  }
  [[nodiscard]] bool everything() const { return care_ != WhyCare::kBinding; }

  // By reference, since the words are made from the map in the same call.
  void ask(Worth::Kind kind, std::string what, Map& map, bool reroutes = false) {
    questions_.push_back({{kind, std::move(what), {}, {}, false}, std::move(map), reroutes});
  }

  void ask_memory() {
    if (!network_.technology().aggregation) return;
    const Bytes more = network_.payload() / kMemoryShare;
    for (const AggregatorId a : network_.map().aggregators.ids()) {
      if (!everything() && !edges_.contains(a)) continue;
      Map map = network_.map();
      EdgeSpec& spec = map.aggregators[a].spec;
      if (spec.memory.count > std::numeric_limits<std::int64_t>::max() / 2) continue;
      spec.memory = spec.memory + more;
      ask(Worth::Kind::kMemory,
          fmt::format("{} more memory at {}", to_text(more),
                      place_name(map, map.aggregators[a].place)),
          map);
    }
  }

  void ask_access() {
    for (IslandId i = 0; i < network_.map().island_count(); ++i) {
      Map map = network_.map();
      if (!everything() && !lanes_.contains(lane_up(map, i)) && !lanes_.contains(lane_down(map, i)))
        continue;
      map.islands[i].up = map.islands[i].up * kMore;
      map.islands[i].down = map.islands[i].down * kMore;
      ask(Worth::Kind::kAccess, fmt::format("10 % more access rate at {}", map.islands[i].name),
          map);
    }
  }

  void ask_rates() {
    for (std::size_t k = 0; k < network_.map().links.size(); ++k) {
      if (!everything() && !lanes_.contains(LaneId(2 * k)) && !lanes_.contains(LaneId(2 * k + 1)))
        continue;
      Map map = network_.map();
      for (BitsPerSecond& rate : map.links[k].rate) rate = rate * kMore;
      ask(Worth::Kind::kRate, fmt::format("10 % more rate on {}", link_name(map, map.links[k])),
          map);
    }
  }

  void ask_absence() {
    for (std::size_t k = 0; k < network_.map().links.size(); ++k) {
      const Map& map = network_.map();
      const Link& link = map.links[k];
      auto less = without_link(
          map, fmt::format("{}-{}", place_name(map, link.ends[0]), place_name(map, link.ends[1])));
      Map changed = less ? *less : map;
      ask(Worth::Kind::kAbsence, fmt::format("without {}", link_name(map, link)), changed, true);
      questions_.back().worth.splits = !less;
    }
  }

  const NetworkModel& network_;
  const SearchSettings& settings_;
  const SearchResult& result_;
  WhyCare care_;
  std::set<LaneId> lanes_;
  std::set<AggregatorId> edges_;
  std::vector<Question> questions_;
};

}  // namespace

Why why(const NetworkModel& network, const SearchSettings& settings, const SearchResult& result,
        WhyCare care, Workers& workers) {
  Why answer;
  answer.baseline = result.plan.staleness();
  // Relaxed, neighbours would be priced by the core model, and no round waits for the longest.
  if (!settings.plan.relax.any()) {
    for (const PlannedRound& round : result.plan.rounds)
      answer.spare.push_back(result.plan.round - round.planned);
    const Rules rules(network, settings.constraints);
    const Score score(network, settings.plan);
    CliqueCache cache(network, settings.plan.fragments);
    answer.alternatives =
        neighbours_of(network, score, rules, result.schedule, cache, kLooks, settings.stop);
  }

  Asker asker(network, settings, result, care);
  std::vector<Question> questions = asker.questions();
  workers.run(int(questions.size()), [&](int task, int worker) {
    if (settings.stop && settings.stop()) return;
    if (worker == 0 && settings.progress)
      settings.progress(
          {fmt::format("asking what it would be worth, {} of {}", task + 1, questions.size()),
           result.evaluated, result.plan.staleness(), result.bound});
    asker.answer(questions[std::size_t(task)]);
  });
  if (settings.stop && settings.stop()) return answer;
  answer.asked = true;
  answer.complete = care != WhyCare::kBinding;
  answer.proven = care == WhyCare::kProven && result.certified;
  for (Question& question : questions) {
    if (question.worth.kind == Worth::Kind::kNothing)
      answer.baseline = question.worth.replanned;
    else
      answer.worths.push_back(std::move(question.worth));
  }
  const auto rank = [&](const Worth& worth) {
    const bool absence = worth.kind == Worth::Kind::kAbsence;
    const bool helps = worth.replanned < answer.baseline;
    return std::tuple(absence, absence && !helps,
                      absence && !helps ? -worth.replanned.ps : worth.replanned.ps);
  };
  std::stable_sort(answer.worths.begin(), answer.worths.end(),
                   [&](const Worth& a, const Worth& b) { return rank(a) < rank(b); });
  return answer;
}

}  // namespace cotillion
