#include "search/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.hpp"
#include "base/infinity.hpp"
#include "plan/every_round.hpp"
#include "search/exact.hpp"
#include "search/frontier.hpp"
#include "search/incumbents.hpp"
#include "search/lower_bound.hpp"
#include "search/neighbours.hpp"
#include "search/relaxed_search.hpp"
#include "search/seeds.hpp"
#include "search/walker.hpp"
#include "search/whole_rounds.hpp"

namespace cotillion {
namespace {

constexpr int kLaps = 3;
constexpr int kWalksMax = 8;  // in a lap; one is long before there are two
constexpr int kWalksMin = 2;
constexpr std::int64_t kStepsOfLong =
    500;  // per pair of islands: a walk worth starting beside others
constexpr std::int64_t kStepsToCool = 4'000;  // per island: enough to start hot
constexpr int kSeedsAlways = 5;               // priced even when stopped at once
constexpr int kPoolSeeds = 12;                // whose rounds may be taken over whole
constexpr double kMeasuredTo = 0.01;          // the annealer's areas, at worst
constexpr double kAlike = 1e-9;               // closer than this, relatively: one schedule, twice
constexpr std::int64_t kLooksOfDescent = 20'000;  // at neighbours, for each step down
// How much worse a step may be, relatively, at the start and at the end of a walk: from a seed,
// and from what has been found.
constexpr double kFromSeed[] = {0.012, 1e-3};
constexpr double kFromFound[] = {0.005, 3e-4};
// Where lanes are few, round lengths lie far apart and only a hot walk gets from one to another.
constexpr int kHotOneIn = 4;
constexpr double kHotter = 10;

class Search {
 public:
  Search(const NetworkModel& network, const SearchSettings& settings, Workers& workers)
      : network_(network),
        settings_(settings),
        workers_(workers),
        rules_(network, settings.constraints),
        score_(network, settings.plan),
        pairs_(network, rules_, settings.plan.fragments),
        neighbourhood_(pairs_, network.map().island_count()) {
    const std::size_t held = 2 * CliqueCache::kHeldMost / std::size_t(std::max(2, workers.count()));
    for (int w = 0; w < workers.count(); ++w)
      caches_.push_back(std::make_unique<CliqueCache>(network, settings.plan.fragments, held,
                                                      settings.plan.relax.overlap));
    small_ = network.map().island_count() <= kSmallIslandsMax && settings.exact;
    // What is resumed may be longer than what we would look for.
    int longest = kAnnealedPeriod;
    for (const Schedule& start : settings.starts)
      longest = std::max(longest, int(start.rounds.size()));
    longest_ = rules_.period_max(longest);
    result_.period_max = small_ ? rules_.period_max(kExactPeriod) : longest_;
    result_.period_annealed = result_.period_max;
  }

  SearchResult run() {
    seek_whole();
    price_seeds();
    bound();
    anneal(kLaps);
    prove();
    anneal_longer();
    if (settings_.until_stopped && !result_.certified) anneal(std::numeric_limits<int>::max());
    descend();
    finish();
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool stopped() {
    // Asked by all workers; what they saw is written down between their pieces of work.
    return settings_.stop && settings_.stop();
  }

  // Only one worker speaks, for all: what it has seen of the others is an estimate, and never
  // taken back.
  void tell(const std::string& doing, std::int64_t more, double best) {
    if (!settings_.progress) return;
    told_ = std::max(told_, result_.evaluated + more);
    seen_ = std::min({seen_, best, kept_.best()});
    settings_.progress({doing, told_, RealDuration::from_ps(seen_), result_.bound});
  }

  void trace() {
    if (kept_.empty()) return;
    result_.trace.push_back(
        {result_.evaluated, RealDuration::from_ps(kept_.best()), result_.bound});
  }

  void bound() {
    if (!settings_.bounded) return;
    tell("lower bound", 0, kInfinity);
    const LowerBound bound = lower_bound(network_, score_, rules_, [this] { return stopped(); });
    result_.bound = bound.value;
    result_.bound_reason = bound.reason;
  }

  // The answer is then no worse than what whole rounds would lead to.
  void seek_whole() {
    if (!score_.streamed() || !settings_.whole_first || stopped()) return;
    SearchSettings settings = settings_;
    // Its values are of another objective.
    if (settings.progress)
      settings.progress = [this](const SearchProgress& progress) {
        tell("whole rounds first, " + progress.doing, progress.evaluated, kInfinity);
      };
    const SearchResult whole = search_whole_rounds(network_, std::move(settings), workers_);
    result_.evaluated += whole.evaluated;
    result_.steps += whole.steps;
    if (whole.found) whole_ = whole.schedule;
  }

  // Prices every seed; the best of each family stands for it.
  void price_seeds() {
    tell("seeds", 0, kInfinity);
    Random random(settings_.seed);
    std::vector<Seed> seeds = make_seeds(pairs_, rules_, result_.period_annealed, *caches_[0],
                                         random, [this] { return stopped(); });
    for (const Schedule& start : settings_.starts)
      if (rules_.allows(start) && int(start.rounds.size()) <= result_.period_annealed)
        seeds.push_back({std::string(kResumedFamily), start});
    if (whole_ && int(whole_->rounds.size()) <= result_.period_annealed)
      seeds.insert(seeds.begin(), {std::string(kWholeFamily), *whole_});
    starts_.assign(seeds.size(), Standing{{}, kInfinity, kInfinity, kInfinity});
    workers_.run(int(seeds.size()), [&](int task, int worker) {
      // Named ones are quick, and better than no answer.
      if (task >= kSeedsAlways && stopped()) return;
      Walker walker(rules_, score_, neighbourhood_, *caches_[worker]);
      if (walker.begin(seeds[task].schedule)) starts_[task] = walker.best();
      if (caches_[worker]->full()) caches_[worker]->forget();
      if (worker == 0) tell("seeds", task, kInfinity);
    });
    result_.evaluated += std::int64_t(seeds.size());
    for (std::size_t k = 0; k < seeds.size(); ++k) {
      if (!std::isfinite(starts_[k].value)) continue;
      starts_[k].schedule.name = seeds[k].schedule.name;
      kept_.keep(starts_[k]);
      auto known =
          std::find_if(result_.families.begin(), result_.families.end(),
                       [&](const SeedScore& score) { return score.family == seeds[k].family; });
      const SeedScore score{seeds[k].family, starts_[k].schedule,
                            RealDuration::from_ps(starts_[k].value)};
      if (known == result_.families.end())
        result_.families.push_back(score);
      else if (score.staleness < known->staleness)
        *known = score;
    }
    std::stable_sort(
        result_.families.begin(), result_.families.end(),
        [](const SeedScore& a, const SeedScore& b) { return a.staleness < b.staleness; });
    std::erase_if(starts_, [](const Standing& s) { return !std::isfinite(s.value); });
    std::stable_sort(starts_.begin(), starts_.end(), ahead);
    trace();
  }

  void anneal(int laps) {
    if (starts_.empty() || network_.map().island_count() < 2) return;
    std::int64_t steps =
        settings_.steps > 0 ? settings_.steps : default_steps(network_.map().island_count());
    if (small_ && settings_.steps == 0) steps /= 32;  // the proof does the rest
    if (small_ && settings_.steps > 0 && longest_ > result_.period_max) steps /= 2;  // and after it
    const std::int64_t islands = network_.map().island_count();
    const std::int64_t longest = kStepsOfLong * islands * islands * kLaps;
    walks_ = int(std::clamp<std::int64_t>(steps / longest, kWalksMin, kWalksMax));
    const std::int64_t of_walk = std::max<std::int64_t>(1, steps / (walks_ * kLaps));
    for (; lap_ < laps && !stopped(); ++lap_) {
      run_lap(lap_, of_walk);
      trace();
    }
  }

  // Where walk w of a lap begins: at first at seeds, the best of each family before the second
  // best; later half of the walks go on from what has been found.
  [[nodiscard]] const Schedule& beginning(int lap, int walk) const {
    if (lap > 0 && walk % 2 == 0)
      return kept_[std::size_t(walk / 2) % std::min<std::size_t>(kept_.size(), 1 + lap % 3)]
          .schedule;
    const std::size_t turn =
        lap == 0 ? std::size_t(walk) : std::size_t(walks_ + (lap - 1) * walks_ / 2 + walk / 2);
    if (turn < result_.families.size()) return result_.families[turn].schedule;
    return starts_[(turn - result_.families.size()) % starts_.size()].schedule;
  }

  void run_lap(int lap, std::int64_t steps) {
    const bool longer = result_.period_annealed > result_.period_max;
    std::string doing = fmt::format("annealing{}, lap {}", longer ? " longer periods" : "",
                                    longer ? lap + 1 - kLaps : lap + 1);
    if (!settings_.until_stopped) doing += fmt::format(" of {}", kLaps);
    std::vector<Round> pool;
    const auto lend = [&](const Schedule& schedule) {
      for (const Round& round : schedule.rounds)
        if (rules_.allows(round) && std::find(pool.begin(), pool.end(), round) == pool.end())
          pool.push_back(round);
    };
    for (const Standing& kept : kept_) lend(kept.schedule);
    for (std::size_t k = 0; k < std::min<std::size_t>(starts_.size(), kPoolSeeds); ++k)
      lend(starts_[k].schedule);
    std::vector<Standing> found(std::size_t(walks_), Standing{{}, kInfinity, kInfinity, kInfinity});
    std::vector<std::int64_t> evaluated(std::size_t(walks_), 0);
    std::int64_t spoken = 0;  // by the worker that speaks
    workers_.run(walks_, [&](int walk, int worker) {
      Walker walker(rules_, score_, neighbourhood_, *caches_[worker]);
      if (!walker.begin(beginning(lap, walk))) return;
      WalkSettings walking;
      walking.steps = steps;
      const auto& heat = lap == 0 || walk % 2 == 1 ? kFromSeed : kFromFound;
      // A walk that is short for its map has no time to cool.
      const double islands = double(network_.map().island_count());
      const double calm = std::min(1.0, double(steps) / (double(kStepsToCool) * islands));
      walking.hot = heat[0] * calm * (walk % kHotOneIn == kHotOneIn - 1 ? kHotter : 1);
      walking.cold = heat[1] * calm;
      walking.period_max = result_.period_annealed;
      Random random(settings_.seed * 1'000'003 + std::uint64_t(lap) * kWalksMax +
                    std::uint64_t(walk) + 1);
      walker.walk(walking, pool, random, [&] {
        if (worker == 0)
          tell(doing, workers_.count() * (spoken + walker.evaluated()), walker.best().value);
        return stopped();
      });
      found[walk] = walker.best();
      evaluated[walk] = walker.evaluated();
      if (worker == 0) spoken += walker.evaluated();
    });
    result_.steps += walks_ * steps;
    for (int walk = 0; walk < walks_; ++walk) {
      kept_.keep(found[walk]);
      result_.evaluated += evaluated[walk];
    }
  }

  // The annealer measures roughly; a proof has to beat what the planner itself says.
  void measure_kept() {
    kept_.measure([&](const Schedule& schedule) {
      return make_plan(network_, schedule, settings_.plan).staleness().ps;
    });
  }

  void prove() {
    if (!small_ || stopped()) return;
    tell("proof", 0, kInfinity);
    measure_kept();
    const Standing to_beat =
        kept_.empty() ? Standing{{}, kInfinity, kInfinity, kInfinity} : kept_[0];
    ExactResult exact = search_exactly(
        network_, score_, rules_, {result_.period_max, longest_}, to_beat, workers_,
        [this] { return stopped(); },
        [this](int period, double done) {
          tell(fmt::format("proof for {} rounds, {:.0f} %", period, 100 * done), 0, kInfinity);
        });
    result_.evaluated += exact.evaluated;
    // It is the first in canonical order of all that are as good.
    if (!exact.best.schedule.rounds.empty()) kept_.put_first(exact.best);
    COTILLION_CHECK(kept_.empty() || kept_[0].value <= to_beat.value * (1 + 1e-9));
    result_.period_proven = exact.period_proven;
    result_.period_max = std::max(result_.period_max, exact.period_proven);
    result_.period_annealed = result_.period_max;
    result_.class_size = exact.class_size;
    // What is pinned may fill a longer period: then there is no shorter one to speak of.
    const int rounds = int(exact.proven.schedule.rounds.size());
    if (exact.period_proven > 0 && rounds > 0 && rounds <= result_.period_max)
      proven_ = std::move(exact.proven);
    result_.certified = proven_ && exact.period_proven == result_.period_max;
    trace();
  }

  // A proof speaks of short periods only. Longer ones are annealed beside what it found.
  void anneal_longer() {
    if (longest_ <= result_.period_annealed || stopped()) return;
    result_.period_annealed = longest_;
    lap_ = kLaps;
    price_seeds();
    anneal(2 * kLaps);
  }

  // What no single step improves.
  void descend() {
    if (kept_.empty() || stopped()) return;
    if (result_.certified && kept_[0].schedule.rounds == proven_->schedule.rounds) return;
    tell("last steps", 0, kInfinity);
    kept_.keep(descended(network_, score_, rules_, kept_[0], *caches_[0], kLooksOfDescent,
                         [this] { return stopped(); }));
    trace();
  }

  void finish() {
    result_.stopped = stopped();
    if (settings_.frontier_points > 0 && !kept_.empty() && !result_.stopped) frontier();
    // What the annealer measured roughly is measured again by the planner itself.
    if (proven_) {
      measure(proven_->schedule);
      result_.proven = result_.plan.staleness();
    }
    for (std::size_t k = 0; k < kept_.size(); ++k) {
      if (k > 0 && (result_.stopped || kept_[k].value > kept_[0].value * (1 + kMeasuredTo))) break;
      measure(kept_[k].schedule);
    }
    if (whole_) measure(*whole_);
    if (int(result_.schedule.rounds.size()) > result_.period_max) result_.certified = false;
    if (result_.certified) {
      result_.bound = result_.plan.staleness();
      result_.bound_reason =
          fmt::format("branch and bound over all {:.3g} allowed schedules, given {}",
                      result_.class_size, proven_class(result_));
      trace();
    }
    if (!result_.found) return;
    COTILLION_CHECK(rules_.allows(result_.schedule));
    // A bound above what was found would be no bound; rounding may lift it a little.
    COTILLION_CHECK(result_.bound <= result_.plan.staleness() * (1 + 1e-9));
    result_.bound = std::min(result_.bound, result_.plan.staleness());
    for (const Standing& kept : kept_) result_.finalists.push_back(kept.schedule);
  }

  // By the planner itself. Of two that are alike the first stays.
  void measure(Schedule schedule) {
    schedule.name = kBestFound;
    Plan plan = make_plan(network_, schedule, settings_.plan);
    if (result_.found && plan.staleness().ps >= result_.plan.staleness().ps * (1 - kAlike)) return;
    result_.found = true;
    result_.schedule = std::move(schedule);
    result_.plan = std::move(plan);
  }

  void frontier() {
    std::vector<Schedule> starts;
    for (const Standing& kept : kept_) starts.push_back(kept.schedule);
    for (const SeedScore& family : result_.families) starts.push_back(family.schedule);
    result_.frontier = best_areas(network_, settings_, rules_, neighbourhood_, starts,
                                  result_.period_annealed, caches_, workers_);
  }

  const NetworkModel& network_;
  const SearchSettings& settings_;
  Workers& workers_;
  Rules rules_;
  Score score_;
  PairPrices pairs_;
  Neighbourhood neighbourhood_;
  std::vector<std::unique_ptr<CliqueCache>> caches_;  // by worker
  bool small_ = false;
  int longest_ = 0;                 // period that is looked for at all
  std::optional<Schedule> whole_;   // the best for whole rounds, under a streamed objective
  std::optional<Standing> proven_;  // what a proof has left standing
  std::int64_t told_ = 0;
  double seen_ = kInfinity;
  int lap_ = 0;
  int walks_ = kWalksMin;         // in a lap
  std::vector<Standing> starts_;  // seeds that can be stepped, best first
  Incumbents kept_;
  SearchResult result_;
};

}  // namespace

std::int64_t default_steps(int islands) {
  const double n = std::max(islands, 40);
  return std::int64_t(std::max(30e6 * std::pow(40 / n, 2.7), 250e6 / n));
}

double SearchResult::gap() const {
  return bound.ps > 0 ? plan.staleness().ps / bound.ps - 1 : kInfinity;
}

std::string proven_class(const SearchResult& result) {
  if (result.period_proven == 0) return "";
  return fmt::format("shortest trees, rounds of one length and periods up to {}",
                     result.period_proven);
}

SearchResult search_once(const NetworkModel& network, const SearchSettings& settings,
                         Workers& workers) {
  return Search(network, settings, workers).run();
}

SearchResult search(const NetworkModel& network, const SearchSettings& settings, Workers& workers) {
  return settings.plan.relax.any() ? search_relaxed(network, settings, workers)
                                   : search_once(network, settings, workers);
}

}  // namespace cotillion
