#include "policy/payload_plan.hpp"

#include <algorithm>
#include <cmath>

#include "plan/file/plan_file.hpp"

namespace cotillion {
namespace {

constexpr double kNothing = 1e-9;  // of a payload or a step

}  // namespace

bool is_full_payload(double payload) {
  return std::abs(payload - 1) <= kNothing;
}

PlanFile with_payload(const PlanFile& given, double payload) {
  PlanFile plan = given;
  if (is_full_payload(payload)) return plan;
  plan.map.payload = {std::llround(double(given.map.payload.count) * payload)};
  const Routes routes(plan.map);
  const NetworkModel network(plan.map, routes, given.plan.network);
  plan.plan = make_plan(network, schedule_of(given.plan), given.plan.settings);
  return plan;
}

Plan stretched_to_steps(const NetworkModel& network, Plan plan, double step_time) {
  const auto lacks = [&] {
    double shortest = step_time;
    for (const PlannedRound& round : plan.rounds)
      shortest = std::min(shortest, round.length.seconds());
    return step_time - shortest;
  };
  // A plan may have been read whose rounds are longer than its settings tell: then once is not
  // enough.
  for (int again = 0;
       plan.feasible && !plan.overlapped && lacks() > step_time * kNothing && again < 3; ++again) {
    PlanSettings longer = plan.settings;
    longer.relax.overlap = false;
    longer.slack = longer.slack + RealDuration::from_ps(lacks() * kPicosecondsPerSecond);
    plan = make_plan(network, schedule_of(plan), longer);
  }
  return plan;
}

Plan lengthened(Plan plan, RealDuration each) {
  RealDuration start;
  for (PlannedRound& round : plan.rounds) {
    round.start = start;
    round.length = round.length + each;
    start = start + round.length;
  }
  for (const Objective objective : kObjectives) {
    const bool squared =
        objective == Objective::kSquared || objective == Objective::kSquaredStreamed;
    RealDuration& score = plan.objectives[std::size_t(objective)];
    score = score + each * ((squared ? plan.mixing.area_squared : plan.mixing.area) - 0.5);
  }
  return plan;
}

PlanFile with_payload_and_steps(const PlanFile& given, double payload, double step_time) {
  PlanFile plan = with_payload(given, payload);
  const Routes routes(plan.map);
  const NetworkModel network(plan.map, routes, plan.plan.network);
  plan.plan = stretched_to_steps(network, std::move(plan.plan), step_time);
  return plan;
}

}  // namespace cotillion
