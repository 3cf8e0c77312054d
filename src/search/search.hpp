// Finds the schedule for a map, and says how good it is.
//
// Up to nine islands every schedule up to a period is covered by branch and bound, and the answer
// is certified, unless annealing then finds a longer one that is better. Above, seeds of every
// family are priced and annealed from many starts; the answer comes with a lower bound that no
// schedule can pass. The result depends on the seed and on the number of steps, never on how many
// workers there are or how fast: walks are independent within a lap, and incumbents cross only
// between laps.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"
#include "search/constraints.hpp"
#include "search/workers.hpp"

namespace cotillion {

// Unless constraints say otherwise. Proofs go further where that is cheap.
inline constexpr int kExactPeriod = 3;
inline constexpr int kAnnealedPeriod = 8;

struct SearchProgress {
  std::string doing;           // "annealing, lap 3 of 12"
  std::int64_t evaluated = 0;  // schedules looked at so far
  RealDuration incumbent;      // infinite before the first
  RealDuration bound;          // zero before it is known
};

struct SearchSettings {
  PlanSettings plan;
  Constraints constraints;
  std::uint64_t seed = 1;
  std::int64_t steps = 0;        // of annealing, in all; 0: as many as the map's size suggests
  bool exact = true;             // prove it where the map is small enough
  bool bounded = true;           // find a lower bound
  bool whole_first = true;       // a streamed search begins from the best for whole rounds
  int frontier_points = 0;       // of the best area against round length, to be found as well
  bool until_stopped = false;    // laps go on until `stop`: the answer depends on the clock
  std::vector<Schedule> starts;  // to begin from, besides the search's own
  std::function<bool()> stop;    // asked now and then, by any worker; true ends the search
  std::function<void(const SearchProgress&)> progress;
};

// The family of what the caller gave to start from.
inline constexpr std::string_view kResumedFamily = "resumed";
// Of what a streamed search begins from.
inline constexpr std::string_view kWholeFamily = "best for whole rounds";

// The best of one family of seeds, before annealing.
struct SeedScore {
  std::string family;
  Schedule schedule;
  RealDuration staleness;
};

struct TracePoint {
  std::int64_t evaluated = 0;
  RealDuration incumbent;
  RealDuration bound;
};

// A schedule with the least area known among those with rounds as short.
struct FrontierPoint {
  RealDuration length;
  double area = 0;  // A, or A₂ under a squared objective
};

// The name of the schedule that a search returns, in tables, plans and figures.
inline constexpr const char* kBestFound = "best found";

struct SearchResult {
  bool found = false;  // otherwise nothing allowed is feasible and settles, or nothing was reached
  Schedule schedule;
  Plan plan;
  RealDuration bound;        // no allowed schedule is better; when certified, none of its class
  std::string bound_reason;  // in words
  bool certified = false;    // the best of its class of periods up to `period_max`, none longer
  int period_proven = 0;     // the best of all periods up to this one, where that was tried
  int period_max = 0;        // of what a proof covers, or else of what was searched
  int period_annealed = 0;   // longer ones are annealed after a proof
  std::optional<RealDuration> proven;  // what nothing in the class that a proof covers beats
  double class_size = 0;               // when certified: schedules ruled out or priced
  bool stopped = false;                // by `stop`, before the steps were done
  std::int64_t steps = 0;              // of annealing, done
  std::int64_t evaluated = 0;          // schedules looked at
  std::vector<SeedScore> families;     // best first
  std::vector<TracePoint> trace;
  std::vector<FrontierPoint> frontier;  // by length
  std::vector<Schedule> finalists;      // the best that were found, best first

  [[nodiscard]] double gap() const;  // relative, of the staleness above the bound
};

// Steps of annealing when nobody asks for a number: about a minute on two cores for forty islands
// or a hundred, a few minutes for a thousand.
[[nodiscard]] std::int64_t default_steps(int islands);

// What a proof takes as given, which names the class of schedules that it covers: "shortest trees,
// rounds of one length and periods up to 3". Empty where nothing is proven.
[[nodiscard]] std::string proven_class(const SearchResult& result);

[[nodiscard]] SearchResult search(const NetworkModel& network, const SearchSettings& settings,
                                  Workers& workers);

}  // namespace cotillion
