// For rounds that cost between a and b, the objective is at least what rounds of length a would
// have with the best mixing that price b allows. Such spans are split, the most promising first,
// until it is narrow: its value is the bound, because no other span has a lower one.
#include "search/lower_bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <queue>

#include "base/check.hpp"
#include "base/infinity.hpp"
#include "search/cut_bound.hpp"
#include "search/gathering.hpp"
#include "search/reach_bound.hpp"
#include "search/round_state.hpp"
#include "search/small_rounds.hpp"

namespace cotillion {
namespace {

// A span is looked at closely below the first ratio of its ends, and not split below the second;
// nor is more done than so many looks and splits. The last one, without end, is cut off bit by bit.
constexpr double kClose = 1.02, kCloseLarge = 1.02;
constexpr double kNarrow = 1.0005, kNarrowLarge = 1.005;
constexpr int kWorkMost = 300, kWorkMostLarge = 19;
constexpr double kStep = 1.1, kStepLarge = 1.05;
constexpr int kLarge = 300;            // islands
constexpr double kWorthSaying = 0.05;  // of the area

struct Span {
  double from = 0, to = 0;  // prices of a round
  double area = 1;          // at least, up to `to`
  double value = 0;
  bool unfinished = false;  // a closer look could raise it
};
struct Later {
  bool operator()(const Span& a, const Span& b) const { return a.value > b.value; }
};

double at(const std::vector<double>& curve, std::size_t h) {
  return h < curve.size() ? curve[h] : 0;
}

// What is left of a generation is part of it, and never grows again.
bool is_survival(const std::vector<double>& curve) {
  const auto part = [](double e) { return e >= 0 && e <= 1 + 1e-9; };
  return std::all_of(curve.begin(), curve.end(), part) &&
         std::is_sorted(curve.begin(), curve.end(), std::greater<>());
}

class Bounder {
 public:
  Bounder(const NetworkModel& network, const Score& score, const Rules& rules)
      : network_(network),
        score_(score),
        gathering_(network, rules, score.settings().fragments),
        cuts_(network, rules),
        small_(network, rules, score.settings().fragments),
        n_(network.map().island_count()) {
    least_ = gathering_.connecting_price();
    delay_ = gathering_.connecting_delay();
    // A period holds what is pinned, so it is as long and as slow as that.
    CliqueCache cache(network, score.settings().fragments);
    for (const Round& round : rules.pinned()) {
      const RoundState state = state_of(round, cache);
      least_ = std::max(least_, state.price);
      delay_ = std::max(delay_, state.delay);
    }
  }

  LowerBound find(const std::function<bool()>& stop);

 private:
  void measure(double price, Gathering::Care care);
  [[nodiscard]] double area_by_size() const;
  [[nodiscard]] double area() const;
  // A cap on egress only makes rounds longer.
  [[nodiscard]] RealDuration length(double price) const {
    return round_length(RealDuration::from_ps(price), score_.settings());
  }
  [[nodiscard]] double value(double price, double area) const {
    return score_.value(length(price).ps, delay_, area);
  }
  [[nodiscard]] Span span(double from, double to, Gathering::Care care);
  [[nodiscard]] std::string reason() const;

  const NetworkModel& network_;
  const Score& score_;
  Gathering gathering_;
  Cuts cuts_;
  SmallRounds small_;
  int n_;
  double least_ = 0, delay_ = 0;
  ReachBound reach_;
  CutBound cut_;
  double first_ = 0;  // at least e(1), where every round is known
};

void Bounder::measure(double price, Gathering::Care care) {
  gathering_.limit(price, care);
  reach_ = reach_bound(gathering_, n_, score_.squared());
  cut_ = cuts_.bound(gathering_, score_.squared());
  first_ = small_.survival(price, score_.squared());
  COTILLION_CHECK(is_survival(reach_.survival) && is_survival(cut_.survival));
}

// However long rounds are, an update reaches c times as many islands with each of them at most.
double Bounder::area_by_size() const {
  const double n = n_, most = gathering_.clique_max();
  double area = 0;
  for (double reached = 1; reached < n; reached *= most) {
    area += score_.squared() ? (n / reached - 1) / (n - 1) : (n - reached) / (n - 1);
    if (most < 2) return kInfinity;
  }
  return area;
}

double Bounder::area() const {
  double area = 1;  // e(0)
  const std::size_t rounds =
      std::max({std::size_t{1}, reach_.survival.size(), cut_.survival.size()});
  for (std::size_t h = 0; h < rounds; ++h)
    area += std::max({at(reach_.survival, h), at(cut_.survival, h), h == 0 ? first_ : 0});
  return area;
}

Span Bounder::span(double from, double to, Gathering::Care care) {
  measure(to, care);
  const double least = area();
  return {from, to, least, value(from, least), gathering_.unfinished()};
}

std::string Bounder::reason() const {
  const Map& map = network_.map();
  IslandId tightest = 0;
  int largest = 1;
  double sum = 0;
  for (IslandId i = 0; i < n_; ++i) {
    if (gathering_.size_most(i) < gathering_.size_most(tightest)) tightest = i;
    largest = std::max(largest, gathering_.size_most(i));
    sum += gathering_.size_most(i);
  }
  std::string text =
      fmt::format("Rounds of {} allow cliques of at most {} islands, {:.1f} on average",
                  to_text(RealDuration::from_ps(gathering_.price())), largest, sum / n_);
  if (gathering_.size_most(tightest) < largest) {
    const LaneId lane = gathering_.held_by(tightest);
    text +=
        fmt::format(" ({} with {}{})", gathering_.size_most(tightest), map.islands[tightest].name,
                    lane >= 0 ? ", held by " + lane_name(map, lane) : "");
  }
  if (!reach_.reached.empty()) {
    text += "; an update has reached at most";
    for (std::size_t h = 0; h < std::min<std::size_t>(3, reach_.reached.size()); ++h)
      text += fmt::format("{} {:.0f} % of them after {} round{}", h == 0 ? "" : ",",
                          100 * reach_.reached[h], h + 1, h == 0 ? "" : "s");
  }
  text += ".";
  if (first_ > at(reach_.survival, 0) + kWorthSaying / 10)
    text += fmt::format(
        " Cliques of a round share lanes: no round that fits leaves less than {:.0f} % of the "
        "disagreement.",
        100 * first_);
  double by_cut = 0;
  for (std::size_t h = 0; h < cut_.survival.size(); ++h)
    by_cut += std::max(0.0, at(cut_.survival, h) - at(reach_.survival, h));
  if (by_cut > kWorthSaying)
    text += fmt::format(
        " The {} islands around {} exchange at most {:.0f} streams a round with the others.",
        cut_.inside, map.islands[cut_.first].name, cut_.crossing);
  return text;
}

LowerBound Bounder::find(const std::function<bool()>& stop) {
  const bool large = n_ > kLarge;
  const double narrow = large ? kNarrowLarge : kNarrow;
  std::priority_queue<Span, std::vector<Span>, Later> spans;
  const double area_least = area_by_size();
  if (std::isinf(area_least) || std::isinf(least_))
    return {RealDuration::from_ps(kInfinity), length(least_), kInfinity,
            "The rules keep islands apart for ever."};
  spans.push({least_, kInfinity, area_least, value(least_, area_least), false});
  double step = large ? kStepLarge : kStep;
  for (int work = 0; work < (large ? kWorkMostLarge : kWorkMost); ++work) {
    if (stop && stop()) break;
    const Span best = spans.top();
    const double ratio = best.to / best.from;
    if (ratio <= narrow && !best.unfinished) break;
    spans.pop();
    if (best.unfinished && ratio <= (large ? kCloseLarge : kClose)) {
      Span closer = span(best.from, best.to, Gathering::Care::kThorough);
      closer.area = std::max(closer.area, best.area);
      closer.value = std::max(closer.value, best.value);
      spans.push(closer);
      continue;
    }
    double middle = std::sqrt(best.from * best.to);
    if (best.to == kInfinity) {
      middle = best.from * step;
      step *= step;
    }
    // What is known up to the end holds for both parts.
    Span first = span(best.from, middle, Gathering::Care::kQuick);
    first.area = std::max(first.area, best.area);
    first.value = std::max(first.value, best.value);
    spans.push(first);
    spans.push({middle, best.to, best.area, value(middle, best.area), best.unfinished});
  }
  const Span best = spans.top();
  if (best.to == kInfinity || (stop && stop()))
    return {RealDuration::from_ps(best.value), length(best.from), best.area,
            "A better bound was not looked for: stopped."};
  measure(best.to, Gathering::Care::kThorough);
  return {RealDuration::from_ps(best.value), length(best.from), best.area, reason()};
}

}  // namespace

LowerBound lower_bound(const NetworkModel& network, const Score& score, const Rules& rules,
                       const std::function<bool()>& stop) {
  if (network.map().island_count() < 2)
    return {{}, {}, 0, "One island has nobody to disagree with."};
  return Bounder(network, score, rules).find(stop);
}

}  // namespace cotillion
