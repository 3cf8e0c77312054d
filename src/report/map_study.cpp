#include "report/map_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/table.hpp"
#include "plan/named_schedule.hpp"
#include "report/bars.hpp"
#include "report/chart_axis.hpp"
#include "report/compare_report.hpp"
#include "report/figures.hpp"
#include "report/map_drawing.hpp"
#include "report/plan_report.hpp"
#include "report/relaxation_figures.hpp"
#include "report/search_figures.hpp"
#include "report/timeline.hpp"

namespace cotillion {
namespace {

constexpr int kMemorySteps = 41;

struct Stepped {
  Schedule schedule;
  Plan plan;
};

class MapStudyMaker {
 public:
  MapStudyMaker(const Map& map, const NetworkModelSettings& network_settings,
                const CompareSettings& compare, const SearchStory* search)
      : map_(map),
        settings_(network_settings),
        compare_(compare),
        search_(search),
        routes_(map),
        network_(map, routes_, network_settings) {}

  MapStudy run(const std::string& made_by) {
    say("schedules");
    plan_schedules();
    policies_ = score_policies(network_, compare_, memory_);
    if (found() != nullptr) {
      policies_.insert(policies_.begin(), policy_of(network_, found()->plan));
      sort_best_first(policies_, compare_.plan.objective);
    }
    study_.page.title = map_.name.empty() ? "A map" : map_.name;
    study_.page.subtitle = network_text(network_) + ". " + made_by;
    draw_map();
    if (search_ != nullptr) tell_search();
    compare_policies();
    draw_cliques();
    draw_survival();
    draw_utilisation();
    sweep_memory();
    draw_ladder();
    draw_timelines();
    if (compare_.plan.relax.any()) draw_relaxations();
    return std::move(study_);
  }

 private:
  void say(const std::string& what) const {
    if (compare_.progress) compare_.progress(what);
  }

  Section& section(const std::string& heading, std::vector<std::string> paragraphs) {
    study_.page.sections.push_back({heading, std::move(paragraphs), {}, {}});
    return study_.page.sections.back();
  }

  void add(Section& to, const std::string& name, std::string svg) {
    to.figures.push_back(svg);
    study_.figures.push_back({name, std::move(svg)});
  }

  [[nodiscard]] const SearchResult* found() const {
    return search_ != nullptr && search_->result.found ? &search_->result : nullptr;
  }

  void plan_schedules() {
    if (found() != nullptr) stepped_.push_back({found()->schedule, found()->plan});
    for (const ScheduleName& name : schedule_names()) {
      auto schedule = named_schedule(name.name, map_, routes_);
      if (!schedule) continue;
      const Mixing& mixing = memory_.recall(schedule->name, *schedule, map_.island_count());
      Plan plan = make_plan(network_, *schedule, compare_.plan, &mixing);
      stepped_.push_back({std::move(*schedule), std::move(plan)});
    }
    std::stable_sort(stepped_.begin(), stepped_.end(), [](const Stepped& a, const Stepped& b) {
      return std::pair(!a.plan.feasible, a.plan.staleness().ps) <
             std::pair(!b.plan.feasible, b.plan.staleness().ps);
    });
  }

  [[nodiscard]] const Stepped* find(const std::string& name) const {
    for (const Stepped& stepped : stepped_)
      if (stepped.schedule.name == name) return &stepped;
    return nullptr;
  }

  void draw_map() {
    say("the map");
    std::vector<std::string> words;
    if (!map_.source.empty()) words.push_back("Source: " + map_.source + ".");
    add(section("The map", words), "map", map_svg(map_, routes_));
  }

  void tell_search() {
    say("the search");
    const SearchConduct& conduct = search_->conduct;
    Section& to = section("How the search went", {});
    if (found() == nullptr) {
      to.paragraphs.push_back("Nothing is shown beside the named schedules: " +
                              nothing_found_text(search_->result, conduct) + ".");
      return;
    }
    to.paragraphs.push_back(fmt::format(
        "'{}' was found from seed {} by looking at {} schedules: {:.1f} ms by the objective '{}', "
        "{}. The table has the best seed of each family, before annealing.",
        found()->schedule.name, conduct.seed, tick_label(double(found()->evaluated), 1),
        found()->plan.staleness().ms(), to_name(compare_.plan.objective), how_good()));
    if (conduct.interrupted)
      to.paragraphs.push_back("The search was stopped early: this is the best so far.");
    if (!conduct.budget.empty())
      to.paragraphs.push_back(
          fmt::format("It ran for {}: how far that goes depends on the machine, and another run "
                      "may end elsewhere.",
                      conduct.budget));
    to.table = families_table(*found());
    if (found()->stopped && found()->frontier.empty())
      to.paragraphs.push_back("What longer rounds would buy was not sought, for want of time.");
    add(to, "search", chart_svg(search_figure(*found())));
    draw_frontier();
  }

  [[nodiscard]] std::string how_good() const {
    if (found()->certified) return "certified as the best of all given " + proven_class(*found());
    if (found()->bound.ps > 0)
      return fmt::format("{:.1f} % above what nothing can pass", 100 * found()->gap());
    return "with no bound below it";
  }

  void draw_frontier() {
    if (found()->frontier.empty() || !mixing_point(found()->plan)) return;
    const Rules rules(network_, search_->constraints);
    std::vector<MixingPoint> named;
    std::vector<std::string> forbidden;
    for (const Stepped& stepped : stepped_) {
      if (stepped.schedule.name == found()->schedule.name) continue;
      if (!rules.allows(stepped.schedule))
        forbidden.push_back(stepped.schedule.name);
      else if (auto point = mixing_point(stepped.plan))
        named.push_back(std::move(*point));
    }
    const Tradeoff tradeoff(*found(), std::move(named));
    Section& to = section(
        "What longer rounds buy",
        {"Longer rounds allow larger cliques, which mix better. The least area known for each "
         "length was found by annealing and is not proven; the elasticity is measured between a "
         "row's neighbours."});
    if (!forbidden.empty())
      to.paragraphs.push_back(
          fmt::format("Not allowed here, and left out: {}.", fmt::join(forbidden, "; ")));
    to.table = frontier_table(tradeoff);
    add(to, "frontier", chart_svg(frontier_figure(tradeoff)));
  }

  void compare_policies() {
    const std::string claim = idle_claim(compare_, policies_);
    Section& to = section("Every policy", {});
    if (!claim.empty()) to.paragraphs.push_back(claim);
    to.table.push_back({"policy", "kind", "T ms", "A", "staleness ms", "squared ms", "streamed ms",
                        "GPUs busy", "limited by"});
    for (const Policy& policy : policies_) {
      const auto ms = [&](RealDuration time) {
        return !policy.feasible || std::isinf(time.ps) ? std::string("–")
                                                       : fmt::format("{:.1f}", time.ms());
      };
      to.table.push_back(
          {policy.name, policy.kind == Policy::Kind::kRival ? "rival" : "schedule",
           policy.feasible ? ms(policy.exchange) : "infeasible",
           policy.area && std::isfinite(*policy.area) ? fmt::format("{:.3f}", *policy.area) : "–",
           ms(policy.objective(compare_.plan.objective)), ms(policy.objective(Objective::kSquared)),
           ms(policy.objective(Objective::kPaperStreamed)),
           policy.feasible ? fmt::format("{:.0f} %", 100 * policy.utilisation) : "–",
           policy.binding});
    }
    std::vector<Policy> schedules;
    std::copy_if(policies_.begin(), policies_.end(), std::back_inserter(schedules),
                 [](const Policy& policy) { return policy.kind == Policy::Kind::kSchedule; });
    const Objective objective = compare_.plan.objective;
    add(to, "staleness-schedules", chart_svg(staleness_against_round_time(schedules, objective)));
    add(to, "staleness-all", chart_svg(staleness_against_round_time(policies_, objective)));
  }

  void draw_cliques() {
    say("cliques");
    Section& to = section("Who meets whom", {});
    for (const Stepped& stepped : stepped_)
      add(to, "cliques-" + file_name(stepped.schedule.name),
          cliques_svg(map_, routes_, stepped.schedule));
  }

  void draw_survival() {
    say("survival curves");
    Section& to = section(
        "How long disagreement survives",
        {"The share of a generation's disagreement that is left after so many rounds. The area "
         "under the mean curve is A."});
    const Stepped* one = find("triangles") != nullptr ? find("triangles") : &stepped_.front();
    std::vector<const Stepped*> shown{one};
    if (found() != nullptr && one->schedule.name != found()->schedule.name)
      shown.insert(shown.begin(), find(found()->schedule.name));
    for (const Stepped* stepped : shown)
      add(to, "survival-" + file_name(stepped->schedule.name),
          chart_svg(survival_figure("Decay of unresolved state: " + stepped->schedule.name,
                                    stepped->plan.mixing)));
    std::vector<std::pair<std::string, Mixing>> all;
    for (const Stepped& stepped : stepped_)
      if (!stepped.plan.mixing.phases.empty())
        all.emplace_back(stepped.schedule.name, stepped.plan.mixing);
    add(to, "survival-all", chart_svg(survival_comparison(all)));
  }

  void draw_utilisation() {
    Section& to = section("What GPUs do meanwhile", {});
    std::vector<Policy> four;
    std::vector<std::string> missing;
    for (const char* name : {"synchronous SGD, ring", "synchronous SGD, multicast + edges",
                             "all-to-all", "triangles"}) {
      const auto found = std::find_if(
          policies_.begin(), policies_.end(),
          [&](const Policy& policy) { return policy.name == name && policy.feasible; });
      if (found == policies_.end())
        missing.emplace_back(name);
      else
        four.push_back(*found);
    }
    const Objective objective = compare_.plan.objective;
    Chart paper = utilisation_against_staleness(
        four, "Utilisation and staleness: two that block, two that do not", objective);
    paper.caption +=
        fmt::format(" {}, steps of {}.", network_text(network_), to_text(compare_.plan.step_time));
    if (!missing.empty())
      paper.caption +=
          fmt::format(" Infeasible or not defined here: {}.", fmt::join(missing, "; "));
    add(to, "utilisation-paper", chart_svg(paper));
    add(to, "utilisation-all",
        chart_svg(utilisation_against_staleness(
            policies_, "Utilisation and staleness: every policy", objective)));
  }

  // Up to a quarter of the payload, where the nine cities have long stopped to care.
  void sweep_memory() {
    if (!settings_.technology.aggregation) return;
    std::vector<KnobSetting> settings;
    std::vector<double> megabytes;
    for (int i = 0; i < kMemorySteps; ++i) {
      const double bytes = std::floor(double(map_.payload.count) / 4 * i / (kMemorySteps - 1));
      settings.push_back({to_text(Bytes{std::int64_t(bytes)}), bytes, {}});
      megabytes.push_back(bytes / 1e6);
    }
    CompareSettings compare = compare_;
    if (compare.progress)
      compare.progress = [this](const std::string& what) { say("memory sweep, " + what); };
    const Sweep result = sweep(map_, settings_, compare, Knob::kMemory, settings);
    std::vector<std::pair<std::string, std::vector<double>>> lines;
    for (const Policy& wanted : result.points.back().policies) {
      if (wanted.blocking) continue;
      lines.emplace_back(wanted.name, std::vector<double>{});
      for (const SweepPoint& point : result.points)
        for (const Policy& policy : point.policies)
          if (policy.name == wanted.name)
            lines.back().second.push_back(policy.objective(compare_.plan.objective).ms());
    }
    if (found() != nullptr)
      lines.insert(lines.begin(), {found()->schedule.name, found_at(settings)});
    if (lines.size() > 8) lines.resize(8);  // the best eight, with all the memory there is
    std::vector<std::string> words;
    for (const WinnerChange& change : result.winners)
      words.push_back(fmt::format("From {}: {} leads{}.", result.points[change.point].setting.text,
                                  change.winner, found() != nullptr ? " what has a name" : ""));
    Chart chart = sweep_figure("Staleness against memory at the edge", "memory of every edge (MB)",
                               megabytes, "staleness (ms)", lines);
    const std::size_t best = found() != nullptr ? 1 : 0;  // of those that are drawn anyway
    if (found() != nullptr)
      chart.caption = fmt::format(
          "'{}' was found for the memory that there is; with another, another would be found. Of "
          "the others, the {} best with the most memory are drawn.",
          found()->schedule.name, lines.size() - best);
    else
      chart.caption = fmt::format("The {} best with the most memory are drawn.", lines.size());
    leave_out_above(chart, 3 * lines[best].second.back());
    add(section("How memory moves the answer", words), "sweep-memory", chart_svg(chart));
  }

  // What the found schedule costs with every memory, in milliseconds.
  [[nodiscard]] std::vector<double> found_at(const std::vector<KnobSetting>& settings) const {
    std::vector<double> costs;
    for (const KnobSetting& setting : settings) {
      Map map = map_;
      NetworkModelSettings turned = settings_;
      PlanSettings plan = compare_.plan;
      turn(Knob::kMemory, setting, map, turned, plan);
      const NetworkModel network(map, routes_, turned);
      costs.push_back(
          make_plan(network, found()->schedule, plan, &found()->plan.mixing).staleness().ms());
    }
    return costs;
  }

  // A schedule throttled a hundredfold would hide where the others cross.
  static void leave_out_above(Chart& chart, double most) {
    if (!(most > 0)) return;
    for (Series& series : chart.series)
      std::erase_if(series.points, [&](const auto& point) { return !(point.second <= most); });
    chart.caption += fmt::format(" What is infeasible or above {:.0f} ms is left out.", most);
  }

  void draw_ladder() {
    say("technologies");
    const std::vector<std::string> names{"neither", "multicast", "aggregation", "both"};
    std::vector<std::pair<std::string, std::vector<RealDuration>>> ladder;
    for (const Stepped& stepped : stepped_) {
      ladder.emplace_back(stepped.schedule.name, std::vector<RealDuration>{});
      for (const std::string& name : names) {
        const NetworkModel network(map_, routes_, {*technology_named(name), settings_.ships_state});
        ladder.back().second.push_back(
            make_plan(network, stepped.schedule, compare_.plan, &stepped.plan.mixing).staleness());
      }
    }
    std::vector<std::string> words{
        "Multicast copies at the branches; aggregation sums at the edge."};
    if (found() != nullptr)
      words.push_back(fmt::format("'{}' was found for {}, and is the same schedule in all four.",
                                  found()->schedule.name, to_name(settings_.technology)));
    add(section("What each technology buys", words), "technology-ladder",
        bars_svg(ladder_figure("Staleness by technology", names, ladder)));
  }

  void draw_timelines() {
    say("timelines");
    Section& to = section("One round in time", {});
    for (const char* name : {stepped_.front().schedule.name.c_str(), "triangles"}) {
      const Stepped* stepped = find(name);
      const bool drawn =
          !study_.figures.empty() && study_.figures.back().name == "timeline-" + file_name(name);
      if (stepped == nullptr || !stepped->plan.feasible || drawn) continue;
      std::size_t longest = 0;
      for (std::size_t k = 0; k < stepped->plan.rounds.size(); ++k)
        if (stepped->plan.rounds[k].planned > stepped->plan.rounds[longest].planned) longest = k;
      to.paragraphs.push_back(fmt::format("{}, round {}.", name, longest + 1));
      add(to, "timeline-" + file_name(name), timeline_svg(network_, stepped->plan, longest));
    }
  }

  void draw_relaxations() {
    say("relaxations");
    Section& to = section("Beyond the core model", {});
    if (found() != nullptr) to.paragraphs.push_back(bound_words(*found()));
    std::vector<Schedule> schedules;
    for (const Stepped& stepped : stepped_) schedules.push_back(stepped.schedule);
    add(to, "relaxations", bars_svg(relaxation_bars(network_, schedules, compare_.plan)));
    for (const Stepped& each : stepped_)
      if (each.plan.overlapped)
        return add(to, "overlap", overlap_timeline_svg(network_, each.plan, 0));
  }

  static std::string file_name(std::string name) {
    std::replace_if(
        name.begin(), name.end(),
        [](char c) { return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')); }, '-');
    return name;
  }

  const Map& map_;
  const NetworkModelSettings& settings_;
  const CompareSettings& compare_;
  const SearchStory* search_;  // or nothing
  Routes routes_;
  NetworkModel network_;
  MixingMemory memory_;
  std::vector<Stepped> stepped_;
  std::vector<Policy> policies_;
  MapStudy study_;
};

}  // namespace

MapStudy study_map(const Map& map, const NetworkModelSettings& network,
                   const CompareSettings& compare, const std::string& made_by,
                   const SearchStory* search) {
  return MapStudyMaker(map, network, compare, search).run(made_by);
}

}  // namespace cotillion
