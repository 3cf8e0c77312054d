#include "search/relaxed_search.hpp"

#include <algorithm>
#include <tuple>

#include "base/check.hpp"
#include "base/infinity.hpp"
#include "plan/overlap.hpp"
#include "search/canonical.hpp"
#include "search/relaxed_bound.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kFinalistsOfEach = 8;    // of each search
constexpr std::int64_t kStepsOfFirst = 4;      // of the first search's, for each of the others
constexpr std::int64_t kLooksOfRelaxed = 600;  // at neighbours, planned in full, on small maps
constexpr int kLooksIslandsMost = 16;

class RelaxedSearch {
 public:
  RelaxedSearch(const NetworkModel& network, const SearchSettings& settings, Workers& workers)
      : network_(network),
        settings_(settings),
        workers_(workers),
        rules_(network, settings.constraints),
        ideal_map_(without_full_links(network.map())),
        ideal_routes_(ideal_map_),
        ideal_(ideal_map_, ideal_routes_, network.settings()) {}

  SearchResult run() {
    SearchSettings plain = settings_;
    plain.plan.relax = {};
    result_ = search_once(network_, plain, workers_);
    gather(result_);
    plain.exact = plain.bounded = false;
    plain.frontier_points = 0;
    plain.until_stopped = plain.whole_first = false;
    plain.steps = std::max<std::int64_t>(1, result_.steps / kStepsOfFirst);
    SearchSettings overlapping = plain;
    overlapping.plan.relax.overlap = true;
    overlapping.plan.fragments = overlap_fragments(settings_.plan);
    overlapping.plan.objective = streamed(settings_.plan.objective);
    const bool overlap = settings_.plan.relax.overlap;
    if (overlap) gather(search_once(network_, overlapping, workers_));
    if (settings_.plan.relax.routes)
      gather(search_once(ideal_, overlap ? overlapping : plain, workers_));
    choose();
    descend();
    finish();
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool stopped() const { return settings_.stop && settings_.stop(); }

  static Objective streamed(Objective objective) {
    const bool squared =
        objective == Objective::kSquared || objective == Objective::kSquaredStreamed;
    return squared ? Objective::kSquaredStreamed : Objective::kPaperStreamed;
  }

  void add(const Schedule& schedule) {
    if (!rules_.allows(schedule)) return;
    const auto same = [&](const Schedule& known) { return known.rounds == schedule.rounds; };
    if (std::none_of(finalists_.begin(), finalists_.end(), same)) finalists_.push_back(schedule);
  }

  void gather(const SearchResult& found) {
    if (found.found) add(found.schedule);
    for (std::size_t k = 0; k < std::min(found.finalists.size(), kFinalistsOfEach); ++k)
      add(found.finalists[k]);
    for (const SeedScore& family : found.families) add(family.schedule);
    if (&found != &result_) result_.evaluated += found.evaluated;
  }

  // What it would be worth if no link were ever full and no memory short: never more than it is.
  [[nodiscard]] RealDuration least(const Schedule& schedule) const {
    PlanSettings plan = settings_.plan;
    plan.relax.routes = false;
    return make_plan(ideal_, schedule, plan).staleness();
  }

  // Plans it with the relaxations; true where it is the best so far. A period played backwards
  // mixes alike, and where rounds have lengths of their own it costs something else.
  bool consider(Schedule schedule) {
    bool better = false;
    for (int backwards = 0; backwards < (schedule.rounds.size() > 2 ? 2 : 1); ++backwards) {
      schedule.name = kBestFound;
      if (least(schedule) >= best()) break;
      Plan plan = make_plan(network_, schedule, settings_.plan);
      ++result_.evaluated;
      if (plan.feasible && plan.staleness() < best()) {
        result_.found = better = true;
        result_.schedule = schedule;
        result_.plan = std::move(plan);
      }
      std::reverse(schedule.rounds.begin(), schedule.rounds.end());
    }
    return better;
  }
  [[nodiscard]] RealDuration best() const {
    return result_.found && has_plan_ ? result_.plan.staleness() : RealDuration::from_ps(kInfinity);
  }

  // The most promising first; of those, the shortest.
  void choose() {
    std::vector<std::tuple<RealDuration, std::size_t, std::size_t>> order;  // value, rounds, number
    for (std::size_t k = 0; k < finalists_.size(); ++k)
      order.emplace_back(least(finalists_[k]), finalists_[k].rounds.size(), k);
    std::sort(order.begin(), order.end());
    result_.finalists.clear();
    for (const auto& entry : order) result_.finalists.push_back(finalists_[std::get<2>(entry)]);
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (has_plan_ && (stopped() || std::get<0>(order[k]) >= best())) return;
      tell(k);
      has_plan_ = consider(finalists_[std::get<2>(order[k])]) || has_plan_;
    }
  }
  void tell(std::size_t finalist) {
    if (!settings_.progress) return;
    settings_.progress({"relaxing finalist " + std::to_string(finalist + 1) + " of " +
                            std::to_string(finalists_.size()),
                        result_.evaluated, best(), RealDuration()});
  }

  // Steps to the first neighbour that is better, for as long as there is one.
  void descend() {
    if (!has_plan_ || network_.map().island_count() > kLooksIslandsMost) return;
    std::int64_t looks = kLooksOfRelaxed;
    for (bool better = true; better && looks > 0 && !stopped();) {
      better = false;
      for (const Schedule& neighbour : neighbours(result_.schedule)) {
        if (better || looks-- <= 0 || stopped()) break;
        better = consider(neighbour);
      }
    }
  }

  // One island moves to another clique, or rests, or two swap.
  [[nodiscard]] std::vector<Schedule> neighbours(const Schedule& schedule) const {
    const int islands = network_.map().island_count();
    std::vector<Schedule> list;
    const auto offer = [&](std::size_t round, std::vector<std::vector<IslandId>> groups) {
      std::vector<Clique> cliques;
      for (auto& group : groups)
        if (!group.empty()) cliques.push_back({std::move(group), {}});
      Schedule next = schedule;
      next.rounds[round] = completed(std::move(cliques), islands);
      if (rules_.allows(next)) list.push_back(std::move(next));
    };
    for (std::size_t r = 0; r < schedule.rounds.size(); ++r) {
      std::vector<std::vector<IslandId>> groups;
      for (const Clique& clique : schedule.rounds[r].cliques) groups.push_back(clique.islands);
      for (std::size_t a = 0; a < groups.size(); ++a)
        for (std::size_t i = 0; i < groups[a].size(); ++i) {
          auto taken = groups;
          const IslandId island = groups[a][i];
          taken[a].erase(taken[a].begin() + std::ptrdiff_t(i));
          if (groups[a].size() > 1) offer(r, taken);  // alone
          for (std::size_t b = 0; b < groups.size(); ++b) {
            if (b == a) continue;
            auto moved = taken;
            moved[b].push_back(island);
            offer(r, moved);
            for (std::size_t j = 0; b > a && j < groups[b].size(); ++j) {
              auto swapped = taken;
              swapped[a].push_back(groups[b][j]);
              swapped[b][j] = island;
              offer(r, swapped);
            }
          }
        }
    }
    return list;
  }

  // What the first search has proven is about the core model.
  void finish() {
    result_.stopped = result_.stopped || stopped();
    result_.certified = false;
    result_.proven.reset();
    result_.period_proven = 0;
    result_.class_size = 0;
    result_.bound = {};
    result_.bound_reason.clear();
    if (!settings_.bounded) return;
    const LowerBound bound = relaxed_bound(network_, settings_.plan, settings_.constraints,
                                           [this] { return stopped(); });
    result_.bound = bound.value;
    result_.bound_reason = bound.reason;
    if (!result_.found) return;
    COTILLION_CHECK(result_.bound <= result_.plan.staleness() * (1 + 1e-9));
    result_.bound = std::min(result_.bound, result_.plan.staleness());
    result_.trace.push_back({result_.evaluated, result_.plan.staleness(), result_.bound});
  }

  const NetworkModel& network_;
  const SearchSettings& settings_;
  Workers& workers_;
  Rules rules_;
  const Map ideal_map_;
  const Routes ideal_routes_;
  const NetworkModel ideal_;
  std::vector<Schedule> finalists_;
  bool has_plan_ = false;  // a relaxed one
  SearchResult result_;
};

}  // namespace

SearchResult search_relaxed(const NetworkModel& network, const SearchSettings& settings,
                            Workers& workers) {
  return RelaxedSearch(network, settings, workers).run();
}

}  // namespace cotillion
