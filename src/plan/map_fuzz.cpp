// Any bytes as a map: reading either refuses with remedies or yields a map on which the planner
// keeps its promises, its certificate included. It lives here and not beside the reader because
// it plans: topology/ knows nothing of plans.
#include "plan/explain.hpp"

#include <nlohmann/json.hpp>
#include "plan/file/plan_file.hpp"
#include "plan/named_schedule.hpp"
#include "plan/plan.hpp"
#include "tests/support/base/fuzz.hpp"
#include "topology/map_file.hpp"

namespace {

using namespace cotillion;

constexpr int kIslandsMax = 12;  // more are slow to plan and reach no other code

// All eight settings come up without spending bytes of the input on them.
NetworkModelSettings settings_for(std::size_t size) {
  return {{size % 2 == 0, size / 2 % 2 == 0}, size / 4 % 2 == 1};
}

void plan_named(const NetworkModel& network, const char* name) {
  const auto schedule = named_schedule(name, network.map(), network.routes());
  COTILLION_CHECK(schedule.has_value());
  PlanSettings settings;
  settings.step_time = Duration{169'000'000'000};
  const Plan plan = make_plan(network, *schedule, settings);
  for (const PlannedRound& round : plan.rounds)
    for (const PlannedClique& clique : round.cliques) {
      (void)binding_phrase(network, clique);
      (void)explain_price(network, clique);
    }
  (void)to_json(network, plan, {}).dump();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto map = read_map(testing::text_of(data, size), "map.toml");
  if (!map) {
    testing::check_refusal(map.error());
    return 0;
  }
  if (map->island_count() > kIslandsMax) return 0;
  const Routes routes(*map);
  const NetworkModel network(*map, routes, settings_for(size));
  plan_named(network, "all-to-all");
  plan_named(network, "pairs");
  return 0;
}
