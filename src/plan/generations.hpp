// Where generations of updates have got to, while islands copy and merge one fragment.
//
// Legend: φ_i what island i holds of a generation, 1 at its birthplace j and 0 elsewhere at first;
// s_i what it held when it last copied, by round; π what everyone is to hold. A merge replaces the
// island's own copy by the sum of everyone's, φ_i += Σ_l W_il s_l − s_i, so what was born between
// copy and merge stays. e = Σ_i |φ_i − π_j| / (2N−2) is one generation's part of the paper's
// survival, squared: Σ_i (φ_i − π_j)² / (N−1); over one generation of every island they are those
// of plan/mixing. Many generations are followed at once, each in a column of its own.
#pragma once

#include <vector>

#include "topology/map.hpp"

namespace cotillion {

// What an island does with a fragment of its model.
struct LedgerMove {
  enum class Kind { kCopy, kMerge };
  Kind kind = Kind::kCopy;
  IslandId island = 0;
  int round = 0;  // counted through the run; a merge takes the copies of its own round
  int sum = -1;   // of a merge: what it takes in place of the island's own copy
};

// A share of an island's copy in a sum.
struct LedgerTerm {
  IslandId island = 0;
  double weight = 0;
};
using LedgerSum = std::vector<LedgerTerm>;

// How far copies may lie back when they are read: 1 when every merge precedes all copies of later
// rounds. Moves are in the order in which they happen; `latest` is the last round copied before.
[[nodiscard]] int rounds_kept(const std::vector<LedgerMove>& moves, int latest);

class Generations {
 public:
  // Of all moves that will be played no merge reads a copy older than `rounds_kept`. `target` is π;
  // empty: 1/N each. `sums` must outlive this.
  Generations(int island_count, int columns, int rounds_kept, const std::vector<double>& target,
              const std::vector<LedgerSum>& sums);

  // What was born at `island` since its last copy, `weight` of it, is followed from now on.
  void born(int column, IslandId island, double weight);
  // Plays a move of round `move.round + rounds_later`, which is not negative.
  void play(const LedgerMove& move, int rounds_later = 0);

  // Σ weight·e over all that was born.
  [[nodiscard]] double absolute() const { return absolute_ / (2.0 * n_ - 2); }
  [[nodiscard]] double squared() const { return squared_ / (n_ - 1.0); }
  // Computes both anew, without what rounding added up in them.
  void refresh();

 private:
  struct Summed {
    int sum = -1, round = -1;
    std::vector<double> row;
  };

  [[nodiscard]] double* held(IslandId island) { return &held_[std::size_t(island) * columns_]; }
  [[nodiscard]] double* copied(IslandId island, int round) {
    return &copied_[(std::size_t(round % kept_) * n_ + island) * columns_];
  }
  const std::vector<double>& summed(int sum, int round);
  void merge(IslandId island, const std::vector<double>& sum, const double* own);

  int n_, kept_;
  std::size_t columns_;
  std::vector<double> share_;             // π by island
  std::vector<double> weight_, towards_;  // by column: 0 before birth; π of the birthplace
  std::vector<double> held_;              // φ by island, then column
  std::vector<double> copied_;            // s by round, island, then column
  const std::vector<LedgerSum>& sums_;
  std::vector<Summed> recent_;  // members of a clique take the same sum
  double absolute_ = 0, squared_ = 0;
};

}  // namespace cotillion
