// Any bytes as a plan: to go on from, for a small fixed map, and to play. Reading either refuses
// with remedies or yields what can be planned, or written again, and reads back as the same. Few
// inputs spell a whole plan, so the bytes are also taken as edits of plans that were made here.
#include <array>
#include <nlohmann/json.hpp>

#include "plan/file/plan_file.hpp"
#include "plan/file/plan_loader.hpp"
#include "plan/file/plan_reader.hpp"
#include "tests/support/plan/fuzz_json.hpp"
#include "tests/support/plan/fuzz_schedule.hpp"
#include "tests/support/plan/maps.hpp"
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

Map map_of(Bytes memory) {
  Map map = read_map(kMap, "map.toml").value();
  map.edge.memory = memory;
  for (Aggregator& edge : map.aggregators) edge.spec.memory = memory;
  map.aggregators[0].place = 1;  // A's edge stands beside B
  return map;
}

testing::JsonPlot plot_of(Bytes memory, NetworkModelSettings settings) {
  const testing::MapFixture fixture(map_of(memory), settings);
  const Schedule schedule{
      "", {completed({{{0, 1, 2}, {}}}, 4), completed({{{0, 3}, {0.5, 0.5, 0.5, 0.5}}}, 4)}};
  return testing::JsonPlot(to_json(fixture.network, make_plan(fixture.network, schedule),
                                   {"v", "c", 1, {{"map", "f"}}}));
}

// Reads the bytes as edits: which plan, then where and what, again and again.
std::string edited(const std::uint8_t* data, std::size_t size) {
  static const std::array kPlots = {plot_of({0}, {}), plot_of({3'000'000}, {}),
                                    plot_of({0}, {{false, true}}),
                                    plot_of({1}, {{true, false}, true})};
  if (size == 0) return kPlots[0].edited(data, size);
  return kPlots[data[0] % kPlots.size()].edited(data + 1, size - 1);
}

bool is_routed(const testing::MapFixture& fixture, const PlanFile& file) {
  for (IslandId i = 0; i < fixture.map.island_count(); ++i)
    if (ingress_of(fixture.network, i).lanes != file.ingress[i].lanes) return false;
  return true;
}

void load(std::string_view text) {
  const auto file = read_plan(text, "plan.json");
  if (!file) return testing::check_refusal(file.error());
  const testing::MapFixture fixture(file->map, file->plan.network);
  // Whoever writes a plan routes the way into islands; a plan that was made up may know another.
  if (!is_routed(fixture, *file)) return;
  const std::string written = to_json(fixture.network, file->plan, file->made_by).dump();
  const auto again = read_plan(written, "again.json");
  COTILLION_CHECK(again.has_value());
  COTILLION_CHECK(to_json(fixture.network, again->plan, again->made_by).dump() == written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const testing::MapFixture fixture(read_map(kMap, "map.toml").value(), {});
  load(testing::text_of(data, size));
  if (size < 256) load(edited(data, size));
  const auto schedule =
      read_planned_schedule(testing::text_of(data, size), "plan.json", fixture.map);
  const auto plan = testing::planned(fixture.network, schedule);
  if (!plan) return 0;
  const auto again =
      read_planned_schedule(to_json(fixture.network, *plan, {}).dump(), "", fixture.map);
  COTILLION_CHECK(again.has_value() && again->rounds == schedule->rounds);
  return 0;
}
