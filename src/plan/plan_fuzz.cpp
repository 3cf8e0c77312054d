// Any bytes as a plan to go on from, for a small fixed map: reading either refuses with remedies
// or yields rounds that can be planned, and whose plan reads back as the same rounds.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.hpp"
#include "plan/plan.hpp"
#include "plan/plan_file.hpp"
#include "plan/plan_reader.hpp"
#include "topology/map_file.hpp"

namespace {

using namespace cotillion;

// Few islands with short names: the fuzzer has to spell them.
constexpr const char* kMap = R"(
payload = "1GB"
defaults = { access = "20Gbps", rate = "100Gbps" }
islands = [{ name = "A" }, { name = "B" }, { name = "C" }, { name = "D", edge = false }]
links = [
  { ends = ["A", "B"], latency = "5ms" },
  { ends = ["B", "C"], latency = ["24ms", "31ms"] },
  { ends = ["C", "D"], latency = "17ms" },
]
)";

constexpr std::size_t kRoundsMax = 64;  // mixing takes time for each phase of a period

struct World {
  Map map = read_map(kMap, "map.toml").value();
  Routes routes{map};
  Stage stage{map, routes};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const World world;
  const auto schedule =
      read_planned_schedule({reinterpret_cast<const char*>(data), size}, "plan.json", world.map);
  if (!schedule) {
    COTILLION_CHECK(!schedule.error().empty());
    for (const Diagnostic& diagnostic : schedule.error()) {
      COTILLION_CHECK(!diagnostic.message.empty() && !diagnostic.remedy.empty());
      (void)Json(to_text(diagnostic)).dump();  // throws on broken UTF-8
    }
    return 0;
  }
  if (schedule->rounds.size() > kRoundsMax) return 0;
  PlanSettings settings;
  settings.step_time = Duration{169'000'000'000};
  const Plan plan = make_plan(world.stage, *schedule, settings);
  const auto again = read_planned_schedule(to_json(world.stage, plan, {}).dump(), "", world.map);
  COTILLION_CHECK(again.has_value() && again->rounds == schedule->rounds);
  return 0;
}
