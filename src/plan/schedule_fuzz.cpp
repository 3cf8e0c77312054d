// Any bytes as a schedule for a small fixed map: reading either refuses with remedies or yields
// rounds that can be planned and mixed.
#include "plan/file/plan_file.hpp"

#include <nlohmann/json.hpp>
#include "plan/file/schedule_file.hpp"
#include "tests/support/plan/fuzz_schedule.hpp"
#include "tests/support/plan/maps.hpp"
#include "topology/map_file.hpp"

namespace {

using namespace cotillion;

// Names of the nine cities, so that the examples are useful seeds; unequal memories, one island
// without an edge and one slow direction, so that every way of pricing is reached.
constexpr const char* kMap = R"(
payload = "1GB"
defaults = { access = "20Gbps", rate = "100Gbps" }
edge = { memory = "32GB" }
islands = [
  { name = "TYO" }, { name = "HKG" }, { name = "SIN" },
  { name = "LAX" }, { name = "NYC" }, { name = "WAS", edge = false },
  { name = "LON" }, { name = "AMS" }, { name = "FRA" },
]
links = [
  { ends = ["TYO", "LAX"], latency = "49.4ms" },
  { ends = ["TYO", "HKG"], latency = ["24.2ms", "31ms"] },
  { ends = ["HKG", "SIN"], latency = "17.9ms" },
  { ends = ["LAX", "NYC"], latency = "27.5ms" },
  { ends = ["NYC", "WAS"], latency = "2.6ms" },
  { ends = ["NYC", "LON"], latency = "32.2ms" },
  { ends = ["LON", "AMS"], latency = "2.9ms" },
  { ends = ["LON", "FRA"], latency = "5.7ms" },
]
aggregators = [{ at = "HKG", memory = "10MB" }, { at = "LON", memory = "0B" }]
)";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const testing::MapFixture fixture(read_map(kMap, "map.toml").value(), {});
  const auto schedule = read_schedule(testing::text_of(data, size), "schedule.toml", fixture.map);
  if (const auto plan = testing::planned(fixture.network, schedule))
    (void)to_json(fixture.network, *plan, {}).dump();
  return 0;
}
