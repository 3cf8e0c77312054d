// The exact price of a clique: the paper's linear program (Equation cliquelp) without a solver.
//
// Legend: n members, D payload, M edge memory, u = 1/b pace of the streams, ℓ_ij latency to i
// from j, t_j send offset, L_j = max_i ℓ_ij, G_m the longest walk of m steps plus the last
// flight after it, λ* the worst cycle mean (walks.hpp). With equal memories
//
//   z(u) = D·u + max over m of (G_m − m·M·u),   u ≥ max(1/b_max, λ*/M),
//
// an upper envelope of n lines, whose least point is the price T_c; offsets follow as
// t_k = max_m (d_m(k) − m·M·u). With unequal memories the steps themselves depend on u; z is
// still convex and piecewise linear and is minimised by cutting planes (unequal_memory.cpp).
// (λ*, G) depends on latencies alone: a CliqueShape is computed once, then priced in O(n) for
// any D, M and b_max.
#pragma once

#include <limits>
#include <vector>

#include "base/units.hpp"
#include "plan/walks.hpp"

namespace cotillion {

inline constexpr double kUnlimited = std::numeric_limits<double>::infinity();

struct CliqueShape {
  int size = 0;
  CycleMean cycle;            // λ*
  std::vector<double> reach;  // G_0 … G_{n−1}, picoseconds; kNoWalk where no walk is that long
};

// What is asked of the network for one clique.
struct Demand {
  double payload = 0;          // D, bytes
  double pace_least = 0;       // 1/b_max, picoseconds per byte of payload
  std::vector<double> memory;  // M_i, bytes, of each member's edge; kUnlimited without an edge
};

// One step of the chain that sets the price: at `receiver`, the stream of `waiter` must not
// run ahead of the stream of `leader` by more than the memory there holds.
struct ChainStep {
  int leader = 0;
  int waiter = 0;
  int receiver = 0;
};

struct CliquePrice {
  bool feasible = false;
  double pace = 0;                    // u, picoseconds per byte
  RealDuration price;                 // T_c
  std::vector<RealDuration> offsets;  // t_j by member
  bool throttled = false;             // the pace is slower than the network allows, to spare memory
  std::vector<ChainStep> chain;       // offsets add up along it; empty: the price is flight alone
  int last_sender = -1;               // whose flight ends the round,
  int last_receiver = -1;             // and where
  std::vector<ChainStep> cycle;       // when infeasible: steps that chase each other round
  Duration cycle_excess;              // and by how much in one turn
};

// Reusable buffers, so that pricing many cliques allocates once.
struct PriceScratch {
  std::vector<double> weights;
  WalkTable walks;
};

// The latency part, for edges of equal memory; members whose `counts` is false have no edge
// and hold nothing back. An empty list means everyone has one.
[[nodiscard]] CliqueShape shape_of(const CliqueLatencies& latencies,
                                   const std::vector<bool>& counts, PriceScratch& scratch);

// The least point of the envelope. Allocates nothing.
struct Pace {
  bool feasible = false;
  double pace = 0;      // u
  double price_ps = 0;  // z(u)
  int steps = 0;        // m of a line that is active there
};
[[nodiscard]] Pace best_pace(const CliqueShape& shape, double payload, double memory,
                             double pace_least);

// Everything about one clique: price, offsets and the reason. Exact for any mix of memories.
[[nodiscard]] CliquePrice price_clique(const CliqueLatencies& latencies, const Demand& demand,
                                       PriceScratch& scratch);

}  // namespace cotillion
