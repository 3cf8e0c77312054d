#include "report/relaxation_figures.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "report/chart.hpp"
#include "report/chart_axis.hpp"

namespace cotillion {
namespace {

constexpr int kOverlapRowsMost = 16;
constexpr double kOverlapBarHeight = 11, kOverlapRowHeight = 34, kOverlapAbove = kTitleHeight + 48,
                 kOverlapBelow = 74;
constexpr double kOverlapNameSize = 13;
// A round's colours: of what is sent, and of what is summed.
struct RoundColours {
  std::string_view sent, summed;
};
constexpr RoundColours kRoundColours[] = {{"#0072b2", "#e69f00"}, {"#56b4e9", "#f0e442"}};

// A round of the plan, played from some time on.
struct PlayedRound {
  const PlannedRound* round = nullptr;
  double start = 0;  // ms from the left
};

std::vector<PlayedRound> played_rounds(const Plan& plan, std::size_t index) {
  std::vector<PlayedRound> played;
  double start = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const PlannedRound& round = plan.rounds[(index + k) % plan.rounds.size()];
    played.push_back({&round, start});
    start += round.length.ms();
  }
  return played;
}

const PlannedClique* clique_of(const PlannedRound& round, IslandId island) {
  for (const PlannedClique& clique : round.cliques)
    if (std::find(clique.islands.begin(), clique.islands.end(), island) != clique.islands.end())
      return &clique;
  return nullptr;
}

class OverlapDrawing {
 public:
  OverlapDrawing(Svg& svg, const Axis& axis, double bottom)
      : svg_(svg), axis_(axis), bottom_(bottom) {}

  void round_begins(double at, const std::string& text) {
    const double x = axis_.pixel(at);
    svg_.line({x, kOverlapAbove - 4}, {x, bottom_}, {.stroke = kInk, .dash = "4 2"});
    svg_.text({x + 3, kOverlapAbove - 8}, text, {.size = 11.5});
  }

  void island(const std::vector<PlayedRound>& played, IslandId island, double top) {
    for (std::size_t k = 0; k + 1 < played.size(); ++k) {
      const PlannedClique* clique = clique_of(*played[k].round, island);
      if (clique == nullptr || clique->streams.empty()) continue;
      const double lasts = clique->serialisation.ms();
      for (std::size_t i = 0; i < clique->islands.size(); ++i) {
        if (clique->islands[i] != island) continue;
        bar(played[k].start + clique->streams[i].offset.ms(), lasts, top, kRoundColours[k].sent);
        bar(played[k].start + sum_begins(*clique, i).ms(), lasts, top + kOverlapBarHeight + 2,
            kRoundColours[k].summed);
      }
    }
  }

 private:
  void bar(double from, double lasts, double top, std::string_view colour) {
    const double left = axis_.pixel(std::min(from, axis_.most()));
    const double right = axis_.pixel(std::min(from + lasts, axis_.most()));
    svg_.rect({left, top, std::max(0.5, right - left), kOverlapBarHeight}, {.fill = colour});
  }

  Svg& svg_;
  const Axis& axis_;
  double bottom_;
};

void draw_overlap_legend(Svg& svg) {
  double x = kMargin;
  for (int k = 0; k < 2; ++k)
    for (const bool sent : {true, false}) {
      svg.rect({x, kTitleHeight, 20, kOverlapBarHeight},
               {.fill = sent ? kRoundColours[k].sent : kRoundColours[k].summed});
      const std::string words = k == 0 ? (sent ? "leaves in this round" : "its sums come in")
                                       : (sent ? "leaves in the next" : "its sums come in");
      svg.text({x + 26, kTitleHeight + 10}, words, {.size = 12});
      x += 190;
    }
}

}  // namespace

BarChart relaxation_bars(const NetworkModel& network, const std::vector<Schedule>& schedules,
                         const PlanSettings& settings) {
  BarChart chart;
  chart.title = "What each relaxation is worth";
  chart.y_label = "staleness  (ms)";
  chart.bars = {"core model"};
  for (const std::string_view name : kRelaxationNames) chart.bars.emplace_back(name);
  chart.bars.emplace_back("all");
  for (const Schedule& schedule : schedules) {
    BarGroup group{schedule.name, {}};
    for (std::size_t bar = 0; bar < chart.bars.size(); ++bar) {
      PlanSettings relaxed = settings;
      relaxed.relax = bar == 0 ? Relaxations{} : *relaxations_named(chart.bars[bar]);
      group.values.push_back(make_plan(network, schedule, relaxed).staleness().ms());
    }
    chart.groups.push_back(std::move(group));
  }
  chart.caption = fmt::format(
      "By the objective '{}'; lower is better. No relaxation needs other "
      "hardware.",
      to_name(settings.objective));
  return chart;
}

std::string bound_words(const SearchResult& found) {
  return fmt::format("The best plan found has {:.1f} ms; no relaxed plan is below {:.1f} ms. {}",
                     found.plan.staleness().ms(), found.bound.ms(), found.bound_reason);
}

std::string overlap_timeline_svg(const NetworkModel& network, const Plan& plan,
                                 std::size_t round_index) {
  COTILLION_CHECK(plan.overlapped && round_index < plan.rounds.size());
  const std::vector<PlayedRound> played = played_rounds(plan, round_index);
  const Map& map = network.map();
  const int islands = std::min(map.island_count(), kOverlapRowsMost);
  double end = played.back().start;
  for (std::size_t k = 0; k + 1 < played.size(); ++k)
    end = std::max(end, played[k].start + played[k].round->planned.ms());
  const double bottom = kOverlapAbove + islands * kOverlapRowHeight;
  const double left = kMargin + 96, right = kCanvasWidth - kMargin;
  Axis axis({0, end}, true, false);
  axis.place(left, right);
  const std::size_t rounds = plan.rounds.size();
  const std::string which = rounds == 1 ? "Two rounds in a row"
                                        : fmt::format("Rounds {} and {}", round_index + 1,
                                                      (round_index + 1) % rounds + 1);
  const std::string title = fmt::format("{} of {}, which overlap", which, plan.schedule);
  Svg svg(kCanvasWidth, bottom + kOverlapBelow, title);
  draw_title(svg, title, kCanvasWidth);
  draw_overlap_legend(svg);
  for (const Tick& tick : axis.ticks(8)) {
    const double x = axis.pixel(tick.value);
    svg.line({x, kOverlapAbove}, {x, bottom}, {.stroke = kGrid});
    svg.text({x, bottom + 18}, tick.label, {.anchor = Anchor::kMiddle, .colour = kFaded});
  }
  svg.text({(left + right) / 2, bottom + 38}, "time since the round began  (ms)",
           {.anchor = Anchor::kMiddle});
  OverlapDrawing drawing(svg, axis, bottom);
  for (int i = 0; i < islands; ++i) {
    const double top = kOverlapAbove + i * kOverlapRowHeight + 4;
    svg.text({left - 10, top + kOverlapBarHeight + 3},
             fitted(map.islands[IslandId(i)].name, kOverlapNameSize, 78),
             {.size = kOverlapNameSize, .anchor = Anchor::kEnd, .bold = true});
    drawing.island(played, IslandId(i), top);
  }
  drawing.round_begins(0, "this round");
  drawing.round_begins(played[1].start, "the next");
  if (played[2].start < end) drawing.round_begins(played[2].start, "the one after");
  draw_caption(
      svg,
      caption_lines(islands < map.island_count()
                        ? fmt::format("The first {} of {} islands.", islands, map.island_count())
                        : "Above, what an island sends; below, the sum into it.",
                    kCanvasWidth),
      bottom + kOverlapBelow);
  return svg.finish();
}

}  // namespace cotillion
