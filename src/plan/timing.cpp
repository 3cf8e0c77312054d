#include "plan/timing.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/infinity.hpp"
#include "plan/event_graph.hpp"

namespace cotillion {
namespace {

// Paces are rounded quotients: memory that suffices by less than this suffices.
constexpr double kMemoryRounding = 1e-12;

// An island's part in a round, and the nodes of its copy and its sum.
struct Participation {
  const TimedClique* clique = nullptr;
  int round = 0;
  int member = 0;
  int copy = 0;
  int sum = 0;
};

class TimingGraph {
 public:
  explicit TimingGraph(const TimingProblem& problem)
      : problem_(problem), graph_(0), by_island_(problem.island_count) {
    for (std::size_t k = 0; k < problem.rounds.size(); ++k)
      for (const TimedClique& clique : problem.rounds[k])
        if (clique.islands.size() > 1) add_clique(clique, int(k));
    if (problem.period_least > 0) rows_.push_back({ticks_up(problem.period_least), 1, 0});
    for (const auto& parts : by_island_) {
      Ticks busy = 0;
      for (std::size_t p = 0; p < parts.size(); ++p) {
        const bool last = p + 1 == parts.size();
        follow(parts[p], last ? parts.front() : parts[p + 1], last ? 1 : 0);
        busy += kept(parts[p]);
      }
      rows_.push_back({busy, 1, 0});
    }
  }

  [[nodiscard]] std::optional<EventGraph::Answer> solve() const {
    // One island disagrees with nobody, A = 0; whatever the cost then is, nothing has to wait.
    const double cost = std::max(problem_.area - 0.5, 0.5) / double(problem_.rounds.size());
    return graph_.cheapest(cost, 1, rows_);
  }

  // In the order of rounds.
  [[nodiscard]] const std::vector<Participation>& parts(IslandId island) const {
    return by_island_[island];
  }
  [[nodiscard]] const Participation& part_in(int round, IslandId island) const {
    return *std::find_if(by_island_[island].begin(), by_island_[island].end(),
                         [&](const Participation& part) { return part.round == round; });
  }
  // The flight to a member of its clique.
  static Ticks latency(const Participation& to, int from) {
    const TimedClique& clique = *to.clique;
    return ticks_of(clique.latency[to.member * clique.islands.size() + from]);
  }
  [[nodiscard]] double serialisation(const Participation& part) const {
    return problem_.payload * part.clique->pace;
  }
  // How long a stream and a sum keep their lanes.
  [[nodiscard]] Ticks kept(const Participation& part) const {
    return ticks_up(serialisation(part) * (1 + problem_.headroom));
  }

 private:
  void add_clique(const TimedClique& clique, int round) {
    const int n = int(clique.islands.size());
    COTILLION_CHECK(int(clique.latency.size()) == n * n && int(clique.memory.size()) == n);
    std::vector<Participation> parts;
    for (int m = 0; m < n; ++m) {
      const int copy = graph_.add_node(), sum = graph_.add_node();
      parts.push_back({&clique, round, m, copy, sum});
      by_island_[clique.islands[m]].push_back(parts.back());
    }
    const Ticks fragment = ticks_up(serialisation(parts.front()) / problem_.fragments);
    const int merged = graph_.add_node();  // everyone has merged the first fragment
    Ticks longest = 0;
    for (const Participation& to : parts) {
      graph_.add_arc(to.copy, to.sum, 0);
      graph_.add_arc(to.sum, merged, fragment);
      graph_.add_arc(merged, to.copy, 0, 0, 1);
      for (int from = 0; from < n; ++from) {
        if (from == to.member) continue;
        const Ticks flight = latency(to, from);
        longest = std::max(longest, flight);
        graph_.add_arc(parts[from].copy, to.sum, flight);
        if (has_edge(to)) graph_.add_arc(to.sum, parts[from].copy, -flight - allowance(to));
      }
    }
    rows_.push_back({longest + fragment, 0, 1});
  }

  // From one round of an island to its next.
  void follow(const Participation& part, const Participation& next, int wraps) {
    graph_.add_arc(part.copy, next.copy, kept(part), wraps);
    graph_.add_arc(part.sum, next.sum, kept(part), wraps);
    const double passes = serialisation(part), passes_next = serialisation(next);
    const int fragments = problem_.fragments;
    for (const int f : {0, fragments - 1}) {
      const double merged = (f + 1) * passes / fragments, copied = f * passes_next / fragments;
      graph_.add_arc(part.sum, next.copy, ticks_up(merged - copied + problem_.slack), wraps);
    }
    if (!has_edge(part) || (has_edge(next) && allowance(part) >= allowance(next))) return;
    const std::vector<IslandId>& islands = next.clique->islands;
    for (int from = 0; from < int(islands.size()); ++from)
      if (from != next.member)
        graph_.add_arc(part.sum, part_in(next.round, islands[from]).copy,
                       ticks_up(passes) - latency(next, from) - allowance(part), wraps);
  }

  static bool has_edge(const Participation& part) {
    return !std::isinf(part.clique->memory[part.member]);
  }
  // How far a stream may run ahead at this member's edge.
  static Ticks allowance(const Participation& part) {
    return ticks_up(part.clique->memory[part.member] * part.clique->pace * (1 + kMemoryRounding));
  }

  const TimingProblem& problem_;
  EventGraph graph_;
  std::vector<std::vector<Participation>> by_island_;
  std::vector<CycleRow> rows_;  // cycles that are known beforehand
};

// Moves copies to where their streams are just in time for the sums and for the island's next copy.
void delay_copies(const TimingProblem& problem, const TimingGraph& graph, EventGraph::Answer& at) {
  const auto just_in_time = [&](const Participation& part) {
    Ticks latest = at.times[part.sum];
    for (const IslandId island : part.clique->islands) {
      const Participation& to = graph.part_in(part.round, island);
      if (to.member == part.member) continue;
      latest = std::min(latest, at.times[to.sum] - TimingGraph::latency(to, part.member));
    }
    return latest;
  };
  std::optional<Ticks> first;
  for (IslandId island = 0; island < problem.island_count; ++island) {
    const std::vector<Participation>& parts = graph.parts(island);
    for (const Participation& part : parts) at.times[part.copy] = just_in_time(part);
    // Backwards twice, as the last one of a period waits for the first one of the next.
    for (std::size_t step = 0; step < 2 * parts.size(); ++step) {
      const std::size_t p = parts.size() - 1 - step % parts.size();
      const bool wraps = p + 1 == parts.size();
      const Ticks next =
          at.times[wraps ? parts.front().copy : parts[p + 1].copy] + (wraps ? at.least.period : 0);
      Ticks& copy = at.times[parts[p].copy];
      copy = std::min(copy, next - graph.kept(parts[p]));
    }
    for (const Participation& part : parts)
      first = std::min(first.value_or(at.times[part.copy]), at.times[part.copy]);
  }
  for (Ticks& time : at.times) time -= first.value_or(0);
}

// What the times of nodes say about rounds and islands.
class TimingReader {
 public:
  TimingReader(const TimingProblem& problem, const TimingGraph& graph,
               const EventGraph::Answer& answer)
      : problem_(problem), graph_(graph), answer_(answer) {}

  Timing read() {
    const std::size_t rounds = problem_.rounds.size();
    timing_.feasible = true;
    timing_.period = ps_of(answer_.least.period);
    read_starts();
    timing_.copy.assign(rounds, std::vector<double>(problem_.island_count));
    timing_.sum = timing_.copy;
    for (IslandId island = 0; island < problem_.island_count; ++island)
      for (std::size_t k = 0; k < rounds; ++k) read_times(island, int(k));
    timing_.delay = longest_delay();
    COTILLION_CHECK(timing_.delay <= ps_of(answer_.least.delay) + 1);
    return std::move(timing_);
  }

 private:
  [[nodiscard]] double copy(const Participation& part) const {
    return ps_of(answer_.times[part.copy]);
  }
  [[nodiscard]] double sum(const Participation& part) const {
    return ps_of(answer_.times[part.sum]);
  }

  // No round starts after a copy of its own or of a later round.
  void read_starts() {
    timing_.start.assign(problem_.rounds.size(), timing_.period);
    for (IslandId island = 0; island < problem_.island_count; ++island)
      for (const Participation& part : graph_.parts(island)) {
        double& start = timing_.start[part.round];
        start = std::min(start, copy(part));
      }
    for (std::size_t k = timing_.start.size() - 1; k > 0; --k)
      timing_.start[k - 1] = std::min(timing_.start[k - 1], timing_.start[k]);
    if (answer_.times.empty()) std::fill(timing_.start.begin(), timing_.start.end(), 0);
    COTILLION_CHECK(timing_.start.front() == 0);
  }

  void read_times(IslandId island, int round) {
    double& copied = timing_.copy[round][island];
    double& summed = timing_.sum[round][island];
    copied = summed = timing_.start[round];
    const std::vector<Participation>& parts = graph_.parts(island);
    if (parts.empty()) return;
    const auto at_or_after = std::find_if(
        parts.begin(), parts.end(), [&](const Participation& part) { return part.round >= round; });
    const bool wraps = at_or_after == parts.end();
    const Participation& next = wraps ? parts.front() : *at_or_after;
    if (!wraps && next.round == round) {
      copied = copy(next);
      summed = sum(next);
      return;
    }
    const bool first = at_or_after == parts.begin();
    const Participation& last = first ? parts.back() : *(at_or_after - 1);
    const double since = first ? timing_.period : 0, until = wraps ? timing_.period : 0;
    const double passes = ps_of(graph_.kept(last));
    const double merged =
        sum(last) + graph_.serialisation(last) / problem_.fragments + problem_.slack;
    copied = std::max({copied, copy(last) + passes - since, merged - since});
    copied = std::min(copied, copy(next) + until);
    summed = std::min(std::max(copied, sum(last) + passes - since), sum(next) + until);
  }

  [[nodiscard]] double longest_delay() const {
    double longest = 0;
    for (std::size_t k = 0; k < problem_.rounds.size(); ++k)
      for (const TimedClique& clique : problem_.rounds[k]) {
        if (clique.islands.size() < 2) continue;
        double first = kInfinity, last = 0;
        for (const IslandId island : clique.islands) {
          first = std::min(first, timing_.copy[k][island]);
          last = std::max(last, timing_.sum[k][island]);
        }
        longest =
            std::max(longest, last - first + problem_.payload * clique.pace / problem_.fragments);
      }
    return longest;
  }

  const TimingProblem& problem_;
  const TimingGraph& graph_;
  const EventGraph::Answer& answer_;
  Timing timing_;
};

}  // namespace

Timing best_timing(const TimingProblem& problem) {
  COTILLION_CHECK(!problem.rounds.empty() && problem.fragments >= 1);
  COTILLION_CHECK(std::isfinite(problem.area));
  const TimingGraph graph(problem);
  std::optional<EventGraph::Answer> answer = graph.solve();
  if (!answer) return {};
  if (problem.late_copies) delay_copies(problem, graph, *answer);
  return TimingReader(problem, graph, *answer).read();
}

}  // namespace cotillion
