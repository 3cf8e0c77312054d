// Generations are followed a few at a time, from their first copy until they have settled or the
// horizon is reached: a long run costs no more per generation than a short one.
#include <algorithm>

#include "base/check.hpp"
#include "plan/ledger.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kTogether = 128;  // generations followed at once
constexpr int kMovesUntilRefreshed = 256;
constexpr double kRunSettled = 1e-13;
constexpr double kRunLoud = 1e-10;  // what is below it for a while has settled

// What an island computed between two copies, of which [from, to) counts.
struct Birth {
  std::size_t event = 0;  // the copy that takes it
  double interval = 0;    // how much of it counts
  double age = 0;         // on average, when it is copied
};

bool happens_before(const LedgerEvent& a, const LedgerEvent& b) {
  if (a.at != b.at) return a.at < b.at;
  if (a.move.round != b.move.round) return a.move.round < b.move.round;
  if (a.move.kind != b.move.kind) return a.move.kind == LedgerMove::Kind::kCopy;
  return a.move.island < b.move.island;  // whatever order they were recorded in
}

std::vector<LedgerEvent> in_order(std::vector<LedgerEvent> events) {
  std::stable_sort(events.begin(), events.end(), happens_before);
  return events;
}

class RunReplay {
 public:
  RunReplay(const LedgerRun& run, Instant from, Instant to, Instant horizon)
      : run_(run), from_(from), to_(to), horizon_(horizon), events_(in_order(run.events)) {
    find_births();
    std::vector<LedgerMove> moves;
    for (const LedgerEvent& event : events_) moves.push_back(event.move);
    kept_ = rounds_kept(moves, moves.empty() ? 0 : moves.front().round);
  }

  ExactStaleness play() {
    for (std::size_t first = 0; first < births_.size(); first += kTogether)
      follow(first, std::min(first + kTogether, births_.size()));
    const double window = double((to_ - from_).ps);
    ExactStaleness exact;
    exact.absolute = RealDuration::from_ps(absolute_ / window);
    exact.squared = RealDuration::from_ps(squared_ / window);
    return exact;
  }

 private:
  void find_births() {
    std::vector<Instant> since(run_.island_count, from_);
    for (std::size_t e = 0; e < events_.size(); ++e) {
      const auto& [at, move] = events_[e];
      if (move.kind != LedgerMove::Kind::kCopy || at <= from_ || at >= horizon_) continue;
      const Instant first = since[move.island], last = std::min(at, to_);
      if (first < last)
        births_.push_back(
            {e, double((last - first).ps), double((at - last).ps) + double((last - first).ps) / 2});
      since[move.island] = last;
    }
    // What no copy took stays where it was born.
    for (IslandId island = 0; island < run_.island_count; ++island)
      if (since[island] < to_) {
        Generations alone(run_.island_count, 1, 1, run_.target, run_.sums);
        const auto interval = double((to_ - since[island]).ps);
        alone.born(0, island, interval);
        const double age = double((horizon_ - to_).ps) + interval / 2;
        absolute_ += alone.absolute() * age;
        squared_ += alone.squared() * age;
      }
  }

  void follow(std::size_t first, std::size_t last) {
    Generations generations(run_.island_count, int(last - first), kept_, run_.target, run_.sums);
    std::size_t next = first;
    double born = 0;
    int loud = 0;
    Instant now = events_[births_[first].event].at;
    for (std::size_t e = births_[first].event; e < events_.size(); ++e) {
      const auto& [at, move] = events_[e];
      if (at >= horizon_) break;
      wait(generations, now, at);
      now = at;
      if (next < last && births_[next].event == e) {
        born += births_[next].interval;
        bear(generations, int(next - first), births_[next]);
        ++next;
      }
      generations.play(move);
      if (generations.absolute() >= kRunLoud * born) loud = std::max(loud, move.round);
      if (e % kMovesUntilRefreshed != 0) continue;
      generations.refresh();
      const bool quiet = move.round > loud + kept_;  // no copy from before then is read any more
      if (next == last && quiet && generations.absolute() < kRunSettled * born) return;
    }
    wait(generations, now, horizon_);
  }

  void bear(Generations& generations, int column, const Birth& birth) {
    const double before = generations.absolute(), before_squared = generations.squared();
    generations.born(column, events_[birth.event].move.island, birth.interval);
    absolute_ += (generations.absolute() - before) * birth.age;
    squared_ += (generations.squared() - before_squared) * birth.age;
  }

  void wait(const Generations& generations, Instant from, Instant to) {
    absolute_ += generations.absolute() * double((to - from).ps);
    squared_ += generations.squared() * double((to - from).ps);
  }

  const LedgerRun& run_;
  const Instant from_, to_, horizon_;
  std::vector<LedgerEvent> events_;
  std::vector<Birth> births_;
  int kept_ = 1;
  double absolute_ = 0, squared_ = 0;
};

}  // namespace

bool is_sound(const LedgerRun& run) {
  IdVector<IslandId, std::vector<int>> copied(std::size_t(run.island_count));
  const auto has = [&](IslandId island, int round) {
    return std::binary_search(copied[island].begin(), copied[island].end(), round);
  };
  for (const LedgerEvent& event : in_order(run.events)) {
    std::vector<int>& own = copied[event.move.island];
    if (event.move.kind == LedgerMove::Kind::kCopy) {
      if (!own.empty() && own.back() >= event.move.round) return false;
      own.push_back(event.move.round);
      continue;
    }
    const LedgerSum& sum = run.sums[std::size_t(event.move.sum)];
    if (!has(event.move.island, event.move.round) ||
        !std::all_of(sum.begin(), sum.end(),
                     [&](const LedgerTerm& term) { return has(term.island, event.move.round); }))
      return false;
  }
  return true;
}

ExactStaleness exact_staleness(const LedgerRun& run, Instant from, Instant to, Instant horizon) {
  COTILLION_CHECK(run.island_count >= 1 && from < to && to <= horizon && is_sound(run));
  if (run.island_count == 1) return {};
  return RunReplay(run, from, to, horizon).play();
}

}  // namespace cotillion
