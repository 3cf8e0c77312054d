// The rounds of a plan, read back from its JSON: cliques with what they cost and why, and what
// lanes and edges carry.
#pragma once

#include "plan/file/plan_members.hpp"
#include "plan/file/plan_network.hpp"
#include "plan/file/planned_streams.hpp"

namespace cotillion {

// Reports unless the field is `time` in milliseconds, or null where `there` is false. `rule` says
// what it follows from.
void check_written(const PlanField& field, bool there, RealDuration time, const char* rule);

class CliqueReader {
 public:
  // Keeps references.
  CliqueReader(const PlanNetwork& network, const NetworkModelSettings& settings, bool overlapped);

  // All but when the round starts and how long it is; requires an object. What is wrong has been
  // reported.
  [[nodiscard]] PlannedRound read_round(const PlanField& field);

 private:
  PlannedClique read_clique(const PlanField& field, Clique members);
  void read_streams(const PlanField& field, PlannedClique& clique);
  void read_sums(const PlanField& field, PlannedClique& clique);
  void read_binding(const PlanField& field, PlannedClique& clique);
  std::vector<Wait> read_waits(const PlanField& list, const PlannedClique& clique);
  std::optional<IslandId> member(const PlanField& field, const PlannedClique& clique);
  void read_lanes(const PlanField& list, PlannedRound& round) const;
  void read_edges(const PlanField& list, PlannedRound& round) const;

  const Map& map_;
  const PlanNetwork& network_;
  const NetworkModelSettings& settings_;
  bool overlapped_;  // rounds begin before the ones before them have ended
  MemberReader members_;
  StreamReader streams_;
};

}  // namespace cotillion
