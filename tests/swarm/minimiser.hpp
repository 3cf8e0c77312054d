// Shrinks a case that fails to one that fails by the same invariant and of which nothing more can
// be left out: fewer relaxations, faults, rounds, islands, links, cliques and chunks, plainer
// settings and numbers. Every step makes the case simpler, and the same case shrinks the same way
// every time.
#pragma once

#include <functional>

#include "tests/swarm/swarm_case.hpp"

namespace cotillion::testing {

// The invariant that a case fails by; empty where everything holds or nothing can be played.
using FailsBy = std::function<std::string(const SwarmCase&)>;

struct Minimised {
  SwarmCase smallest;
  std::string invariant;
  int tried = 0;
  int kept = 0;
};
[[nodiscard]] Minimised minimised(SwarmCase failing, const FailsBy& fails_by);

// minimiser_steps.cpp: cases that are one step simpler, the largest steps first, by what they make
// simpler. Not all of them can be played.
using Simpler = std::function<std::vector<SwarmCase>(const SwarmCase&)>;
[[nodiscard]] const std::vector<Simpler>& simpler_cases();

}  // namespace cotillion::testing
