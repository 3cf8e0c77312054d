// The plan as JSON; docs/reference/files.md describes every field. Units are in the names, infinite
// and undefined numbers are null, and the file begins with what made it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/file/json.hpp"
#include "plan/plan.hpp"

namespace cotillion {

// Curves of schedules that settle slowly are thousands of rounds long; a figure needs few.
inline constexpr std::size_t kCurveValuesMax = 64;

// What made a file: the program, the seed and the hash of each input.
struct Provenance {
  std::string version;
  std::string commit;
  std::uint64_t seed = 0;
  std::vector<std::pair<std::string, std::string>> inputs;  // what it is, fingerprint
};

// The last part of every stream's way to an island: from where they meet, summed or not.
struct Ingress {
  AggregatorId edge = kNoAggregator;  // what sums them
  PlaceId from = 0;                   // where it stands; the island's own place where nothing sums
  std::vector<LaneId> lanes;          // from there on, the island's down lane last
  Duration latency;                   // of flight; part of every Arrival's
};
[[nodiscard]] Ingress ingress_of(const NetworkModel& network, IslandId island);

[[nodiscard]] Json to_json(const Provenance& provenance);
[[nodiscard]] Json to_json(const NetworkModel& network, const Plan& plan,
                           const Provenance& provenance);

// Adds relax[], period_ms and exact: what a relaxed plan's file has, and what is printed of every
// plan.
void add_relaxed(Json& json, const NetworkModel& network, const Plan& plan);

// [latitude, longitude], or null.
[[nodiscard]] Json coordinates_json(const std::optional<Coordinates>& at);

// null where the number is infinite or undefined.
[[nodiscard]] Json number_or_null(double value);

}  // namespace cotillion
