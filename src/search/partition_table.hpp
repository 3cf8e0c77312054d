// All partitions of a small map, priced, and what one, two or three of them in a row leave of a
// generation. A proof asks for billions of pairs, so cliques are sets of bits here, and what a pair
// of cliques adds stands in a table.
//
// Legend: x, y, z partitions; e₁(x), e₂(x, y), e₃(x, y, z) what one, two and three rounds leave
// (mixing.hpp); f(x, y) = (e₁(x) + e₁(y))/2 + e₂(x, y).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "plan/every_round.hpp"
#include "search/constraints.hpp"
#include "search/round_state.hpp"
#include "search/score.hpp"

namespace cotillion {

struct Partition {
  Round round;
  Grouping groups;
  std::array<std::uint16_t, kSmallIslandsMax> cliques{};  // as sets of bits
  int count = 0;
  double price = 0, delay = 0;
  double length = 0;  // without egress caps; these only lengthen it
  double e1 = 0;
};

// What rounds have connected so far: disjoint sets of islands that have met, through whomever.
class Connected {
 public:
  explicit Connected(const Partition& round) : parts_(round.cliques), count_(round.count) {}
  [[nodiscard]] Connected joined(const Partition& round) const;
  [[nodiscard]] int parts() const { return count_; }

 private:
  std::array<std::uint16_t, kSmallIslandsMax> parts_{};
  int count_ = 0;
};

class PartitionTable {
 public:
  // Requires at most kSmallIslandsMax islands. Pinned rounds are there whatever else rules say.
  PartitionTable(const NetworkModel& network, const Score& score, const Rules& rules);

  // Those that have a finite price, shortest first.
  [[nodiscard]] int count() const { return int(partitions_.size()); }
  [[nodiscard]] const Partition& operator[](int x) const { return partitions_[x]; }
  // All that rules allow, whatever they cost.
  [[nodiscard]] std::int64_t allowed() const { return allowed_; }

  [[nodiscard]] double f(const Partition& x, const Partition& y) const {
    double e2 = squared_ ? -1 / (n_ - 1.0) : 0;
    for (int c = 0; c < x.count; ++c)
      for (int a = 0; a < y.count; ++a)
        e2 +=
            term_[sizes_[x.cliques[c] & y.cliques[a]]][sizes_[x.cliques[c]]][sizes_[y.cliques[a]]];
    return (x.e1 + y.e1) / 2 + e2;
  }
  [[nodiscard]] double e3(const Partition& x, const Partition& y, const Partition& z) const;

 private:
  void add(const Round& round, const PlanSettings& settings, CliqueCache& cache);
  void tabulate();

  int n_;
  bool squared_;
  std::int64_t allowed_ = 0;
  std::vector<Partition> partitions_;
  std::array<std::uint8_t, 1 << kSmallIslandsMax> sizes_{};  // of a set of bits
  // What a pair of cliques adds to e₂: by how many islands they share, and by their sizes.
  double term_[kSmallIslandsMax + 1][kSmallIslandsMax + 1][kSmallIslandsMax + 1] = {};
};

}  // namespace cotillion
