// An outcome as it is written down: with names in place of numbers, and what it was made from, so
// that whoever reads it needs no other file. Simulated and measured
// outcomes have one form, and stand side by side in reports.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "job/outcome.hpp"
#include "job/realised_mixing.hpp"
#include "plan/file/plan_loader.hpp"

namespace cotillion {

enum class OutcomeKind : std::uint8_t { kSimulated, kMeasured };
inline constexpr OutcomeKind kOutcomeKinds[] = {OutcomeKind::kSimulated, OutcomeKind::kMeasured};
[[nodiscard]] std::string_view to_name(OutcomeKind kind);  // "simulated"

struct LaneEnds {
  std::string from, to;
};

struct OutcomeFile {
  Provenance made_by;  // with the plan's fingerprint, under "plan"
  OutcomeKind kind = OutcomeKind::kSimulated;
  std::string map, schedule;
  std::size_t period = 1;            // rounds of the plan, which are played again and again
  std::vector<std::string> islands;  // names
  std::vector<LaneEnds> lanes;       // those of outcome.lanes, one each
  Outcome outcome;

  [[nodiscard]] const std::string& plan() const;  // its fingerprint; empty when unknown
  // Of the plan's rounds, from 0, the one that was played as this one.
  [[nodiscard]] std::size_t phase_of(RoundId round) const { return (round - 1) % period; }
  // Nothing unless Ŵ of every round is known.
  [[nodiscard]] std::optional<RealisedLoss> loss() const;
};

// Requires a complete outcome (job/complete_outcome); adds nothing to it but names.
[[nodiscard]] OutcomeFile outcome_file(const PlanFile& plan, Outcome outcome, Provenance made_by,
                                       OutcomeKind kind = OutcomeKind::kSimulated);

// "TYO HKG SIN"
[[nodiscard]] std::string names_of(const std::vector<std::string>& names,
                                   const std::vector<IslandId>& islands);

// docs/reference/files.md describes every field; `exact_json` is of the field `exact`.
[[nodiscard]] Json to_json(const OutcomeFile& file);
[[nodiscard]] Json exact_json(const Outcome& outcome);

// Everything came, on time, and nothing was put out early: the plan holds.
[[nodiscard]] bool holds(const Outcome& outcome);

}  // namespace cotillion
