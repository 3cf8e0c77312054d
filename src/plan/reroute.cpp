#include "plan/reroute.hpp"

#include <algorithm>
#include <memory>
#include <queue>
#include <set>

#include "base/check.hpp"
#include "base/infinity.hpp"
#include "plan/shortest_tree.hpp"

namespace cotillion {
namespace {

constexpr double kRerouteRounding = 1e-12;
constexpr int kEachPaceSendersMost = 12;  // above, the first pace is found by halving
constexpr int kPacesBeyondFirst = 3;      // slower ones tried after it: shorter flights may pay
constexpr std::int64_t kBranchWork = 500'000;  // branches × senders², in all

using WayList = std::vector<std::shared_ptr<const Way>>;  // by sender

// Trees for everybody, and how many streams they put on each lane.
struct Choice {
  WayList ways;
  IdVector<LaneId, int> streams;
};

class Rerouting {
 public:
  Rerouting(const NetworkModel& network, const Round& round, const PricedRound& shortest,
            const RoundAim& aim)
      : network_(network), round_(round), aim_(aim), finder_(network) {
    const Map& map = network.map();
    best_.value = value_of(network, shortest, aim);
    for (const LaneId lane : all_ids<LaneId>(map.lane_count()))
      pace_.push_back(ps_per_byte(lane_rate(map, lane)) * network.wire_factor());
    shortest_.streams.assign(pace_.size(), 0);
    for (const LaneLoad& load : shortest.rates.lanes) shortest_.streams[load.lane] = load.streams;
    fixed_ = shortest_.streams;
    for (std::size_t c = 0; c < round.cliques.size(); ++c) {
      first_.push_back(int(senders_.size()));
      for (int j = 0; j < int(shortest.ways.cliques[c].size()); ++j) {
        const Way& way = shortest.ways.cliques[c][std::size_t(j)];
        senders_.push_back({int(c), j});
        shortest_.ways.push_back(std::make_shared<const Way>(way));
        for (std::size_t l = 1; l < way.route.tree.size(); ++l)  // the up lane stays
          fixed_[way.route.tree[l]] -= way.route.copies[l];
      }
    }
    find_least_paces(shortest);
    const auto n = std::int64_t(senders_.size());
    branches_left_ = n == 0 ? 0 : kBranchWork / (n * n);
  }

  std::optional<Rerouted> run() {
    const std::vector<double> paces = paces_that_matter();
    std::size_t from = 0, to = paces.size();
    if (int(senders_.size()) > kEachPaceSendersMost) {
      from = first_that_fits(paces);
      to = std::min(to, from + 1 + kPacesBeyondFirst);
    }
    for (std::size_t k = from; k < to; ++k) {
      if (!may_win(least_value(shortest_, paces[k]))) break;
      limit_to(paces[k]);
      if (const auto found = spread()) keep(*found);
      branch(paces[k]);
    }
    if (!found_) return std::nullopt;
    best_.proven = proven_ && from == 0;
    return std::move(best_);
  }

 private:
  struct Sender {
    int clique = 0, member = 0;
  };

  // What stays however streams go: access lanes, and the last part of each way.
  void find_least_paces(const PricedRound& shortest) {
    for (std::size_t c = 0; c < round_.cliques.size(); ++c) {
      double least = 0;
      for (const LaneLoad& load : shortest.rates.cliques[c])
        least = std::max(least, fixed_[load.lane] * pace_[load.lane]);
      least_pace_.push_back(least);
    }
  }

  [[nodiscard]] double flight(const Choice& choice, std::size_t clique) const {
    double longest = 0;
    for (int j = 0; j < round_.cliques[clique].size(); ++j)
      for (const Duration latency :
           choice.ways[std::size_t(first_[clique]) + std::size_t(j)]->latency)
        longest = std::max(longest, double(latency.ps));
    return longest;
  }

  // No ways with flights as long, on which some stream needs this pace, are worth less.
  [[nodiscard]] double least_value(const Choice& choice, double pace) const {
    const double payload = double(network_.payload().count);
    double every = 0, some = kInfinity;
    for (std::size_t c = 0; c < round_.cliques.size(); ++c) {
      if (round_.cliques[c].size() < 2) continue;
      const double flies = flight(choice, c);
      every = std::max(every, aim_.value(payload * least_pace_[c], flies));
      some = std::min(some, aim_.value(payload * std::max(pace, least_pace_[c]), flies));
    }
    return std::max(every, some);
  }
  [[nodiscard]] bool may_win(double least) const {
    return least < best_.value * (1 - kRerouteRounding);
  }

  [[nodiscard]] std::vector<double> paces_that_matter() const {
    double least = 0;
    for (const LaneId lane : fixed_.ids()) least = std::max(least, fixed_[lane] * pace_[lane]);
    std::set<double> paces{least};
    // As many as there are, and without multicast as many as the shortest ways have.
    const int most = std::max(int(senders_.size()), *std::max_element(shortest_.streams.begin(),
                                                                      shortest_.streams.end()));
    for (const LaneId lane : pace_.ids())
      for (int streams = 1; streams <= most; ++streams)
        if (streams * pace_[lane] > least) paces.insert(streams * pace_[lane]);
    return {paces.begin(), paces.end()};
  }
  void limit_to(double pace) {
    room_.clear();
    for (const double lane : pace_)
      room_.push_back(int(std::min(1e9, pace / lane * (1 + kRerouteRounding))));
  }

  // The lane that carries most streams too many, or −1.
  [[nodiscard]] LaneId most_overfull(const Choice& choice) const {
    LaneId worst = -1;
    int most = 0;
    for (const LaneId lane : room_.ids())
      if (const int excess = choice.streams[lane] - room_[lane]; excess > most) {
        most = excess;
        worst = lane;
      }
    return worst;
  }

  [[nodiscard]] static bool uses(const Way& way, LaneId lane) {
    return std::find(way.route.tree.begin() + 1, way.route.tree.end(), lane) !=
           way.route.tree.end();
  }

  // The sender's shortest way over the lanes that it may use, or none.
  template <class May>
  [[nodiscard]] std::shared_ptr<const Way> way_over(std::size_t sender, May may) const {
    const Sender& who = senders_[sender];
    const PlaceTree tree = finder_.find(round_.cliques[std::size_t(who.clique)], who.member, may);
    return tree.reaches_all() ? std::make_shared<const Way>(tree.way()) : nullptr;
  }

  static void move(Choice& choice, std::size_t sender, std::shared_ptr<const Way> way) {
    const auto count = [&](const Way& on, int sign) {
      for (std::size_t l = 1; l < on.route.tree.size(); ++l)
        choice.streams[on.route.tree[l]] += sign * on.route.copies[l];
    };
    count(*choice.ways[sender], -1);
    count(*way, 1);
    choice.ways[sender] = std::move(way);
  }

  // Takes streams off overfull lanes until all keep the pace, or until nobody can give way.
  [[nodiscard]] std::optional<Choice> spread() const {
    Choice choice = shortest_;
    // Each move takes a stream off one lane too full; copies without multicast may crowd others.
    std::size_t moves = senders_.size() * room_.size();
    for (LaneId lane = most_overfull(choice); lane >= 0; lane = most_overfull(choice)) {
      if (moves-- == 0) return std::nullopt;
      std::shared_ptr<const Way> best;
      std::size_t mover = 0;
      std::pair<std::int64_t, std::int64_t> least{INT64_MAX, INT64_MAX};
      for (std::size_t s = 0; s < senders_.size(); ++s) {
        const Way& now = *choice.ways[s];
        if (!uses(now, lane)) continue;
        auto way = way_over(s, [&](LaneId other) {
          return other != lane && (choice.streams[other] < room_[other] || uses(now, other));
        });
        if (!way) continue;
        std::int64_t longest = 0, added = 0;
        for (std::size_t i = 0; i < way->latency.size(); ++i) {
          longest = std::max(longest, way->latency[i].ps);
          added += (way->latency[i] - now.latency[i]).ps;
        }
        if (std::pair(longest, added) >= least) continue;
        least = {longest, added};
        best = std::move(way);
        mover = s;
      }
      if (!best) return std::nullopt;
      move(choice, mover, std::move(best));
    }
    return choice;
  }

  // Every choice of who gives way, those with the least value first.
  void branch(double pace) {
    using Forbidden = std::vector<std::pair<std::size_t, LaneId>>;  // sender, lane; sorted
    struct Branch {
      double least;
      std::int64_t number;  // ties in the order in which they were found
      Forbidden forbidden;
      Choice choice;
    };
    const auto later = [](const Branch& a, const Branch& b) {
      return std::pair(a.least, a.number) > std::pair(b.least, b.number);
    };
    std::priority_queue<Branch, std::vector<Branch>, decltype(later)> open(later);
    std::set<Forbidden> seen;
    std::int64_t number = 0;
    open.push({least_value(shortest_, pace), number, {}, shortest_});
    while (!open.empty() && may_win(open.top().least)) {
      if (branches_left_-- <= 0) {
        proven_ = false;
        return;
      }
      const Branch at = open.top();
      open.pop();
      const LaneId lane = most_overfull(at.choice);
      if (lane < 0) {
        keep(at.choice);
        continue;
      }
      for (std::size_t s = 0; s < senders_.size(); ++s) {
        if (!uses(*at.choice.ways[s], lane)) continue;
        Branch next{0, ++number, at.forbidden, at.choice};
        next.forbidden.insert(
            std::upper_bound(next.forbidden.begin(), next.forbidden.end(), std::pair(s, lane)),
            {s, lane});
        if (!seen.insert(next.forbidden).second) continue;
        auto way = way_over(s, [&](LaneId other) {
          return !std::binary_search(next.forbidden.begin(), next.forbidden.end(),
                                     std::pair(s, other));
        });
        if (!way) continue;
        move(next.choice, s, std::move(way));
        next.least = least_value(next.choice, pace);
        if (may_win(next.least)) open.push(std::move(next));
      }
    }
  }

  // The first pace at which streams can be spread, where there is one.
  [[nodiscard]] std::size_t first_that_fits(const std::vector<double>& paces) {
    std::size_t low = 0, high = paces.size();
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      limit_to(paces[middle]);
      if (spread())
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }

  void keep(const Choice& choice) {
    RoundWays ways;
    for (std::size_t c = 0; c < round_.cliques.size(); ++c) {
      ways.cliques.emplace_back();
      for (int j = 0; j < round_.cliques[c].size() && round_.cliques[c].size() > 1; ++j)
        ways.cliques.back().push_back(*choice.ways[std::size_t(first_[c]) + std::size_t(j)]);
    }
    PricedRound priced = price_round(network_, round_, std::move(ways), scratch_);
    const double value = value_of(network_, priced, aim_);
    if (!may_win(value)) return;
    best_.round = std::move(priced);
    best_.value = value;
    found_ = true;
  }

  const NetworkModel& network_;
  const Round& round_;
  const RoundAim& aim_;
  TreeFinder finder_;
  std::vector<Sender> senders_;
  std::vector<int> first_;          // by clique: the number of its first sender
  IdVector<LaneId, double> pace_;   // of one stream
  std::vector<double> least_pace_;  // by clique: whatever ways it takes
  IdVector<LaneId, int> fixed_;     // streams that no choice moves
  IdVector<LaneId, int> room_;      // streams at the pace in hand
  Choice shortest_;
  PriceScratch scratch_;
  std::int64_t branches_left_ = 0;
  bool found_ = false, proven_ = true;
  Rerouted best_;
};

}  // namespace

std::optional<Rerouted> reroute(const NetworkModel& network, const Round& round,
                                const PricedRound& shortest, const RoundAim& aim) {
  return Rerouting(network, round, shortest, aim).run();
}

}  // namespace cotillion
