// What the sender, the receiver and the edge of one island are built from, as an assignment says.
// The simulator and the daemons build theirs from here, so that they differ in nothing but the
// time.
#pragma once

#include "job/job_assignment.hpp"
#include "protocol/aggregation_spec.hpp"

namespace cotillion {

// What is not the plan's business.
struct RoleSettings {
  Payloads payloads = Payloads::kReal;
  int exponent = 0;                        // of i32 jobs
  Duration round_trip_margin{10'000'000};  // beyond the last hop's own, before asking again
};

[[nodiscard]] SenderSettings sender_role(const JobAssignment& assignment);
[[nodiscard]] ReceiverSettings receiver_role(const PlanFile& plan, const JobAssignment& assignment,
                                             const RoleSettings& settings, IslandId island);
[[nodiscard]] AggregationSpec edge_role(const PlanFile& plan, const JobAssignment& assignment,
                                        const RoleSettings& settings, IslandId island);
// What the edge in front of it has.
[[nodiscard]] const EdgeSpec& edge_of(const PlanFile& plan, IslandId island);

// Adds to `row`, this island's row of Ŵ, what one chunk's average holds; `share` is the chunk's
// part of the model.
struct MixedChunk {
  ContributorMask mask = 0;  // whose contributions are in it, own one excluded
  double share = 0;
};
void add_mixing(std::vector<double>& row, const RoundAssignment& part, Missing missing,
                MixedChunk chunk);

}  // namespace cotillion
