// The area under the survival curves, fast: what mix() computes, for uniform cliques, over and
// over while a search changes one round at a time.
//
// Three observations make it cheap. After a round all members of a clique hold the same row of
// Φ, and its columns agree inside every clique of the first round, so Φ is a small matrix of
// cliques by cliques. A window of rounds that does not contain the changed one keeps its e. And
// the search knows in advance above which area it would refuse: sums are taken over all phases
// at once, shortest windows first, and broken off as soon as they pass that limit.
#pragma once

#include <vector>

#include "search/grouping.hpp"
#include "search/survival_tail.hpp"

namespace cotillion {

class AreaMeter {
 public:
  // For a proof areas are right to SurvivalTail::kProofError, and infinite only when they are known
  // to pass the limit. For a search they are right to SurvivalTail::search_error, and refusals rest
  // on good grounds rather than proof.
  using Care = TailCare;
  AreaMeter(int island_count, bool squared, Care care)
      : n_(island_count), squared_(squared), care_(care) {}

  // Takes these rounds as the current ones; they must stay where they are for as long. Infinite
  // as soon as the area is known to pass `limit`.
  double start(std::vector<const Grouping*> rounds, double limit);

  // The area if one of the current rounds were another; infinite as soon as it is known to pass
  // `limit`. `accept` makes that change, with `with` valid as long as it is current.
  double changed(int round, const Grouping& with, double limit);
  void accept();

  // A lower bound for a change of some groups of a round into others, in a few operations: what
  // is known of windows it does not touch, and the sizes of cliques in the one it does.
  [[nodiscard]] double least_area(int round, std::span<const int> gone,
                                  std::span<const std::vector<IslandId>> fresh) const;

 private:
  // Of each clique of a round, the shares that come from the cliques of the round before.
  struct Transfer {
    std::vector<int> start;
    std::vector<int> from;
    std::vector<double> share;
  };
  // Consecutive rounds, fewer than a period, and what is left of a generation after them.
  struct Window {
    double e = 0;
    std::vector<double> gaps;  // Φ − J: cliques of the last round × padded cliques of the first
  };
  // What is kept about rounds; the proposed one holds only what the change touches.
  struct Store {
    std::vector<const Grouping*> rounds;
    std::vector<Transfer> transfers;           // into each round
    std::vector<std::vector<Window>> windows;  // by first round, then by length − 1
    void resize(int period);
  };

  [[nodiscard]] int period() const { return int(current_.rounds.size()); }
  // Whether a window contains the changed round; every window does when all are new.
  [[nodiscard]] bool touched(int first, int length) const {
    return changed_ < 0 || (changed_ - first + period()) % period() < length;
  }
  [[nodiscard]] const Grouping& round(int r) const {
    return r == changed_ ? *proposed_.rounds[r] : *current_.rounds[r];
  }
  [[nodiscard]] Transfer& transfer_into(int r) {
    return (touched((r - 1 + period()) % period(), 2) ? proposed_ : current_).transfers[r];
  }
  [[nodiscard]] Window& window(int first, int length) {
    return (touched(first, length) ? proposed_ : current_).windows[first][length - 1];
  }
  void keep_change();

  [[nodiscard]] double e_of_two(const Grouping& first, const Grouping& second,
                                const Transfer& transfer) const;
  void find_transfer(const Grouping& from, const Grouping& to, Transfer& into);
  void gaps_of_two(const Grouping& first, const Transfer& transfer,
                   std::vector<double>& into) const;
  double advance(const std::vector<double>& gaps, const Grouping& first, const Grouping& last,
                 const Transfer& transfer, std::vector<double>& into);
  bool add(double sum, double& total, double limit);
  double measure(double limit);
  double measure_long(double total, double limit);

  int n_;
  bool squared_;
  Care care_;
  Store current_, proposed_;
  int changed_ = -1;
  std::vector<int> count_, met_, sizes_;
  std::vector<double> inverse_sizes_;
  std::vector<std::vector<double>> gaps_, next_;  // of windows of a period and longer
  std::vector<double> sums_;                      // of e over all phases, by length
  double tail_ = 0;                               // of what follows the longest
  std::vector<double> profile_, rest_;            // sums of the current rounds, and what follows
};

}  // namespace cotillion
