// A plan as packets play it, for a model of so many parameters: the network scaled to the model, so
// that every time is the plan's own, and the recipe on the clock of packets. They need a little
// longer than fluid streams do, and rounds are longer by that where the plan has no slack for it.
// Whoever trains by this recipe, ideally, through the simulator or in a lab, copies and merges the
// same elements at the same steps.
#pragma once

#include "job/faults.hpp"
#include "job/job_assignment.hpp"
#include "policy/recipe.hpp"

namespace cotillion {

struct PacketisedPlan {
  PlanFile plan;  // scaled
  JobSettings job_settings;
  Recipe recipe;
  int pace = 1;  // the plan's times are so many times the recipe's
};

// The settings of a job that exchanges by a recipe.
[[nodiscard]] JobSettings job_settings_for(const RotationRecipe& recipe, Exchange exchange,
                                           Duration grace);

// The plan for a payload of so many bytes: rates, memories and sizes in proportion.
[[nodiscard]] PlanFile scaled_to(const PlanFile& plan, Bytes payload);

// The same on links that are so many times longer and slower: everything takes so many times as
// long.
void slow_down(PlanFile& plan, int pace);
// And their faults, at the plan's times.
[[nodiscard]] Faults slowed(Faults faults, int pace);
inline constexpr const char* kFaultsOfLinksOnly =
    "faults of islands, edges and clocks are simulated, not trained under: all islands step "
    "together";
// Why a recipe cannot be trained under these, in words; empty where it can.
[[nodiscard]] std::string why_not_under(const Faults& faults, const Recipe& recipe);

struct PacketSettings {
  Duration grace{1'000'000'000};  // of edges, beyond a packet's latest planned arrival
  int pace = 1;  // seconds in which a second of the plan is played; the recipe has the plan's own
};
// The recipe must be the plan's own rotation. Refuses what cannot be played: unequal weights,
// contributions that are lost by lot, plans that JobAssignment refuses.
[[nodiscard]] Result<PacketisedPlan> packetised(const PlanFile& plan, const Recipe& recipe,
                                                std::int64_t elements,
                                                const PacketSettings& settings = {});

// How many rounds begin within so many steps, and end by then or later.
[[nodiscard]] int rounds_within(const Recipe& recipe, std::int64_t steps);

}  // namespace cotillion
