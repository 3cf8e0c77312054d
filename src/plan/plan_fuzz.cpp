// Any bytes as a plan to go on from, for a small fixed map: reading either refuses with remedies
// or yields rounds that can be planned, and whose plan reads back as the same rounds.
#include "plan/plan_file.hpp"
#include "plan/plan_reader.hpp"
#include "tests/support/fuzz_schedule.hpp"
#include "tests/support/maps.hpp"
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const testing::Floor floor(read_map(kMap, "map.toml").value(), {});
  const auto schedule = read_planned_schedule(testing::text_of(data, size), "plan.json", floor.map);
  const auto plan = testing::planned(floor.stage, schedule);
  if (!plan) return 0;
  const auto again = read_planned_schedule(to_json(floor.stage, *plan, {}).dump(), "", floor.map);
  COTILLION_CHECK(again.has_value() && again->rounds == schedule->rounds);
  return 0;
}
