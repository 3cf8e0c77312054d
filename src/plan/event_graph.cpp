#include "plan/event_graph.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/infinity.hpp"

namespace cotillion {
namespace {

constexpr int kCutsMax = 100'000;  // every cut is a new cycle; a few suffice

// The least integer not below dividend / divisor.
Ticks quotient_up(Ticks dividend, int divisor) {
  const Ticks quotient = dividend / divisor;
  return dividend % divisor > 0 ? quotient + 1 : quotient;
}

// The delay that a row demands at a period, as a line.
struct DelayLine {
  double height = 0;  // at Λ = 0
  double fall = 0;    // per unit of Λ

  [[nodiscard]] double at(double period) const { return height - fall * period; }
};

// Walks to the right over the upper envelope of lines for as long as that is cheaper.
double cheapest_period(const std::vector<DelayLine>& lines, double least, double cost_period,
                       double cost_delay) {
  double period = least;
  std::size_t ruling = 0;
  for (std::size_t l = 1; l < lines.size(); ++l) {
    const double above = lines[l].at(period) - lines[ruling].at(period);
    if (above > 0 || (above == 0 && lines[l].fall < lines[ruling].fall)) ruling = l;
  }
  while (cost_delay * lines[ruling].fall > cost_period) {
    std::size_t next = ruling;
    double nearest = kInfinity;
    for (std::size_t l = 0; l < lines.size(); ++l) {
      if (lines[l].fall >= lines[ruling].fall) continue;
      const double crossing =
          (lines[ruling].height - lines[l].height) / (lines[ruling].fall - lines[l].fall);
      if (crossing > nearest || (crossing == nearest && lines[l].fall >= lines[next].fall))
        continue;
      nearest = crossing;
      next = l;
    }
    COTILLION_CHECK(next != ruling);  // d = 0 never falls
    period = std::max(period, nearest);
    ruling = next;
  }
  return period;
}

// The arcs by which nodes were last moved, as a forest.
struct Movers {
  std::vector<int> parent;
  std::vector<CycleRow> arc;

  explicit Movers(std::size_t nodes) : parent(nodes, -1), arc(nodes) {}

  // What lies along the way to `node` from `ancestor`, if it is one.
  [[nodiscard]] std::optional<CycleRow> way(int ancestor, int node) const {
    CycleRow sum;
    for (; node != ancestor; node = parent[node]) {
      if (parent[node] < 0) return std::nullopt;
      sum.weight += arc[node].weight;
      sum.periods += arc[node].periods;
      sum.delays += arc[node].delays;
    }
    return sum;
  }
};

}  // namespace

Ticks ticks_up(double ps) {
  COTILLION_CHECK(std::isfinite(ps));
  return Ticks(std::ceil(ps * double(kTicksPerPicosecond)));
}

PeriodAndDelay cheapest_point(const std::vector<CycleRow>& rows, double cost_period,
                              double cost_delay) {
  COTILLION_CHECK(cost_period > 0 && cost_delay > 0);
  PeriodAndDelay point;
  std::vector<DelayLine> lines{{0, 0}};
  for (const CycleRow& row : rows) {
    COTILLION_CHECK(row.periods >= 0 && row.delays >= 0);
    if (row.delays > 0) {
      lines.push_back({double(row.weight) / row.delays, double(row.periods) / row.delays});
    } else if (row.weight > 0) {
      COTILLION_CHECK(row.periods > 0);
      point.period = std::max(point.period, quotient_up(row.weight, row.periods));
    }
  }
  const double cheapest = cheapest_period(lines, double(point.period), cost_period, cost_delay);
  // The walk is in real numbers; what it ends at is mended to satisfy every row exactly.
  point.period = std::max(point.period, Ticks(std::ceil(cheapest)));
  for (const CycleRow& row : rows)
    if (row.delays > 0)
      point.delay =
          std::max(point.delay, quotient_up(row.weight - row.periods * point.period, row.delays));
  return point;
}

void EventGraph::add_arc(int from, int to, Ticks weight, int periods, int delays) {
  COTILLION_CHECK(periods >= 0 && delays >= 0);
  arcs_from_[from].push_back({to, weight, periods, delays});
}

std::optional<EventGraph::Answer> EventGraph::cheapest(double cost_period, double cost_delay,
                                                       std::vector<CycleRow> known) const {
  Answer answer;
  for (;; ++answer.cuts) {
    COTILLION_CHECK(answer.cuts < kCutsMax);
    answer.least = cheapest_point(known, cost_period, cost_delay);
    const std::optional<CycleRow> cycle = settle(answer.least, answer.times);
    if (!cycle) return answer;
    if (cycle->periods == 0 && cycle->delays == 0) return std::nullopt;
    known.push_back(*cycle);
  }
}

// Bellman–Ford from a queue of nodes that have moved. A node that would move one of those that
// moved it closes a cycle, which is positive.
std::optional<CycleRow> EventGraph::settle(PeriodAndDelay at, std::vector<Ticks>& times) const {
  const std::size_t nodes = arcs_from_.size();
  times.assign(nodes, 0);
  Movers movers(nodes);
  std::vector<int> queue(nodes);  // a ring: no node waits twice
  std::vector<bool> waits(nodes, true);
  for (std::size_t node = 0; node < nodes; ++node) queue[node] = int(node);
  std::size_t first = 0, waiting = nodes;
  while (waiting > 0) {
    const int from = queue[first];
    first = (first + 1) % nodes;
    --waiting;
    waits[from] = false;
    for (const Arc& arc : arcs_from_[from]) {
      const Ticks time = times[from] + arc.weight - arc.periods * at.period - arc.delays * at.delay;
      if (time <= times[arc.to]) continue;
      const CycleRow step{arc.weight, arc.periods, arc.delays};
      if (std::optional<CycleRow> cycle = movers.way(arc.to, from)) {
        cycle->weight += step.weight;
        cycle->periods += step.periods;
        cycle->delays += step.delays;
        return cycle;
      }
      times[arc.to] = time;
      movers.parent[arc.to] = from;
      movers.arc[arc.to] = step;
      if (waits[arc.to]) continue;
      waits[arc.to] = true;
      queue[(first + waiting++) % nodes] = arc.to;
    }
  }
  return std::nullopt;
}

}  // namespace cotillion
