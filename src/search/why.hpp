// Why this schedule and no other: which rounds set its length, what the nearest alternatives
// cost, and what a little more memory, access or link rate would be worth, or a link less.
#pragma once

#include <string>
#include <vector>

#include "search/neighbours.hpp"
#include "search/search.hpp"

namespace cotillion {

// A change to the network and what becomes of the answer.
struct Worth {
  enum class Kind { kMemory, kAccess, kRate, kAbsence };
  Kind kind = Kind::kMemory;
  std::string what;   // "100 MB more memory at HKG", "10 % more on TYO–FRA", "without TYO–FRA"
  Seconds kept;       // the schedule kept; infinite when it is infeasible then
  Seconds replanned;  // searched again from there, and never worse than kept
  bool splits = false;  // the map falls apart without it
};

struct Why {
  std::vector<Seconds> spare;  // by round: how much longer it could take for nothing
  Neighbours alternatives;
  std::vector<Worth> worths;  // what helps most first; then absences, what hurts most first
  bool asked = false;         // otherwise it was stopped before, and nothing is known of worths
  bool complete = false;      // every edge, island and link was asked; else only what binds
};

// How thorough: only what binds the plan, the schedule kept; or everything, planned again.
enum class WhyCare { kBinding, kEverything };

[[nodiscard]] Why why(const Stage& stage, const SearchSettings& settings,
                      const SearchResult& result, WhyCare care, Workers& workers);

}  // namespace cotillion
