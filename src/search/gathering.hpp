// The largest cliques: how many members a clique of each island could have, when a round may cost
// no more than a given price.
//
// A clique that fits in a round would fit alone, so would every part of it, and a price is at
// least D·u + the longest flight (clique_price.hpp). Hence, for an island i in a clique of k:
//  - each mate must be within reach: the pair alone is no dearer than the price;
//  - k − 1 streams, of as many senders, come to the place where they are summed for i, each by
//    its own route. Routes to one place make a funnel, whose lanes take only so many streams;
//  - without edges they all enter by its access lane; without multicast it emits k − 1 copies;
//  - all of this holds for its mates too, with k the same.
//  - the same holds for two of them at once, whose mates must be mates of both (on maps of moderate
//    size only).
// Sizes start from what the rules allow and are lowered until all of this holds everywhere.
// Where cliques are few enough to be listed, their prices alone lower sizes further: that is
// how memory comes in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "search/clique_cache.hpp"
#include "search/constraints.hpp"
#include "search/pair_prices.hpp"

namespace cotillion {

class Gathering {
 public:
  Gathering(const NetworkModel& network, const Rules& rules, int fragments);

  [[nodiscard]] int clique_max() const { return clique_max_; }
  // The least price at which pairs connect all islands, through whatever intermediaries, and the
  // same for the delay of streamed fragments.
  [[nodiscard]] double connecting_price() const { return pairs_.connecting_price(); }
  [[nodiscard]] double connecting_delay() const { return pairs_.connecting_delay(); }

  // Takes a price; what follows is about rounds that cost no more. Looking at pairs takes longer
  // and finds smaller sizes.
  enum class Care { kQuick, kThorough };
  void limit(double price, Care care);
  // Whether being thorough again at this price could find smaller sizes still.
  [[nodiscard]] bool unfinished() const { return unfinished_; }
  [[nodiscard]] double price() const { return price_; }
  [[nodiscard]] int size_most(IslandId island) const { return sizes_[island]; }
  [[nodiscard]] bool may_meet(IslandId a, IslandId b) const { return pairs_.price(a, b) <= price_; }
  // Of cliques with both of them in it.
  [[nodiscard]] int size_together(IslandId a, IslandId b) const {
    if (!together_.empty()) return together_[std::size_t(a) * n_ + b];
    return may_meet(a, b) ? std::min(sizes_[a], sizes_[b]) : 1;
  }
  // Streams that a lane can take at all: none where no route uses it.
  [[nodiscard]] double streams_most(LaneId lane) const;

  // The lane with which sizes of an island were found too large, or −1.
  [[nodiscard]] LaneId held_by(IslandId island) const { return held_by_[island]; }

 private:
  // Routes between one place and everybody: node 0 is the place, parents come before children.
  struct Funnel {
    std::vector<int> parent;
    std::vector<LaneId> lane;  // between a node and its parent
    std::vector<int> node_of;  // by island: where its route joins
  };
  enum class Direction { kTowards, kAway };
  [[nodiscard]] Funnel funnel_of(IslandId island, Direction direction);
  [[nodiscard]] bool fits(IslandId island, int size);
  [[nodiscard]] bool passes(const Funnel& funnel, int streams, double time, IslandId island);
  void lower_by_lanes();
  [[nodiscard]] bool fit_together(IslandId a, IslandId b, int size);
  void lower_by_pairs();
  void recall();
  void remember();
  void lower_by_listing();
  [[nodiscard]] double flight(IslandId a, IslandId b) const { return pairs_.flight(a, b); }

  const NetworkModel& network_;
  std::size_t n_;
  int clique_max_;
  CliqueCache cache_;
  PairPrices pairs_;
  std::vector<double> time_;                      // by lane: of one payload, picoseconds
  std::vector<std::vector<IslandId>> by_flight_;  // by island: the others, nearest first
  std::vector<Funnel> towards_, away_;            // `away_` only without multicast

  double price_ = 0;
  bool unfinished_ = false;
  std::vector<std::vector<IslandId>> near_;  // by island: those it may meet, nearest first
  std::vector<int> sizes_;
  std::vector<std::int16_t> together_;  // by pair; empty until pairs have been looked at
  // What was found at other prices: cliques that fit in cheaper rounds fit in dearer ones.
  struct Found {
    double price = 0;
    std::vector<int> sizes;
    std::vector<std::int16_t> together;
    std::vector<LaneId> held_by;
  };
  std::vector<Found> found_;
  std::vector<LaneId> held_by_;
  std::vector<IslandId> mates_;
  std::vector<double> flights_;
  std::int64_t looks_ = 0;
  std::vector<int> count_, nodes_, node_at_;
  std::vector<char> seen_;
};

}  // namespace cotillion
