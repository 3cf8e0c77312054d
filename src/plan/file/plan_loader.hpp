// A plan file, read back whole: the map, the plan and what made them are those that were written,
// to the last picosecond and bit. Whoever plays a plan starts from here, with nothing else in hand.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/result.hpp"
#include "plan/file/plan_file.hpp"
#include "plan/plan.hpp"

namespace cotillion {

struct PlanFile {
  Provenance made_by;
  Map map;  // without its source
  // Without settings.whole_steps and egress_most, whose effect is in the lengths of rounds. Of the
  // survival curves the file has the first 64 values, to draw them: unless everything has settled
  // by then, `tail` and a phase's `decay` are not a number. mix(schedule_of(plan), …) has all of
  // them. Of an infeasible plan round lengths and the streamed delay are zero.
  Plan plan;
  IdVector<IslandId, Ingress> ingress;
};

// A plan that is read is sound in structure: rounds are partitions, trees lead from senders to
// where their streams meet, latencies are those of the lanes, cliques that claim to be runnable fit
// a contributor mask. What it claims of time is for the player to find out. Fields in messages are
// paths into the JSON: "rounds[1].cliques[0].streams[2].tree[3]". Unknown fields are ignored.
[[nodiscard]] Expected<PlanFile, Diagnostics> read_plan(std::string_view text,
                                                        const std::string& file);

// Who meets whom in a plan.
[[nodiscard]] Schedule schedule_of(const Plan& plan);

}  // namespace cotillion
