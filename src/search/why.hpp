// Sensitivity of the answer, or why this schedule and no other: which rounds set its length, what
// the nearest alternatives cost, and what a little more memory, access or link rate would be worth,
// or what the loss of a link would cost.
#pragma once

#include <string>
#include <vector>

#include "search/neighbours.hpp"
#include "search/search.hpp"

namespace cotillion {

// A change to the network and what becomes of the answer.
struct Worth {
  enum class Kind { kNothing, kMemory, kAccess, kRate, kAbsence };
  Kind kind = Kind::kNothing;
  std::string what;   // "100 MB more memory at HKG", "10 % more on TYO–FRA", "without TYO–FRA"
  RealDuration kept;  // the schedule kept; infinite when it is infeasible then
  RealDuration replanned;  // searched again from there, and never worse than kept
  bool splits = false;     // the map falls apart without it
};

struct Why {
  std::vector<RealDuration> spare;  // by round: how much longer it could take for nothing
  Neighbours alternatives;
  // What helps most first; then absences: those that help, best first, then what hurts most first.
  std::vector<Worth> worths;
  RealDuration
      baseline;         // the same search again with nothing changed: what worths are measured from
  bool proven = false;  // absences were
  bool asked = false;   // otherwise it was stopped before, and nothing is known of worths
  bool complete = false;  // every edge, island and link was asked; else only what binds
};

// How thorough: only what binds the plan, the schedule kept; or everything, planned again by
// annealing; or also proven again without each link, where the answer itself was proven.
enum class WhyCare { kBinding, kEverything, kProven };

[[nodiscard]] Why why(const NetworkModel& network, const SearchSettings& settings,
                      const SearchResult& result, WhyCare care, Workers& workers);

}  // namespace cotillion
