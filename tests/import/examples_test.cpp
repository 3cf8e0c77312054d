// The examples that importers made of public facts are sound, say where they come from, and plan.
// The files they were made of are not ours to ship; the head of each example has the command.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "plan/named_schedule.hpp"
#include "plan/plan.hpp"
#include "tests/support/plan/maps.hpp"
#include "topology/generate_map.hpp"
#include "topology/map_file.hpp"
#include "topology/map_writer.hpp"

namespace cotillion {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Example {
  const char* name;
  int islands;
  std::size_t links;
  const char* source;  // part of it
};

void PrintTo(const Example& example, std::ostream* out) {
  *out << example.name;
}

std::string test_name(const ::testing::TestParamInfo<Example>& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

Plan pairs_plan(const Map& map) {
  const auto fixture = testing::fixture_of(map);
  const auto schedule = named_schedule("pairs", fixture->map, fixture->routes);
  EXPECT_TRUE(schedule.has_value());
  PlanSettings settings;
  settings.step_time = Duration{169'000'000'000};
  return make_plan(fixture->network, *schedule, settings);
}

class ImportedExample : public ::testing::TestWithParam<Example> {};

TEST_P(ImportedExample, IsSoundAndSaysWhereItComesFrom) {
  const Map map = testing::example_map(GetParam().name);
  EXPECT_EQ(map.island_count(), GetParam().islands);
  EXPECT_EQ(map.links.size(), GetParam().links);
  EXPECT_THAT(map.source, HasSubstr(GetParam().source));
  EXPECT_THAT(testing::example_text(std::string(GetParam().name) + ".toml"),
              StartsWith("# Made by: cotillion topology import "));
}

TEST_P(ImportedExample, Plans) {
  const Plan plan = pairs_plan(testing::example_map(GetParam().name));
  EXPECT_TRUE(plan.feasible);
  EXPECT_GT(plan.round.ms(), 0);
}

TEST_P(ImportedExample, IsWrittenAsItIsShipped) {
  // Behind the remarks: a change of the writer shows here, and asks for the examples anew.
  std::string text = testing::example_text(std::string(GetParam().name) + ".toml");
  text.erase(0, text.find("name  "));
  EXPECT_EQ(write_map(testing::example_map(GetParam().name)), text);
}

INSTANTIATE_TEST_SUITE_P(
    Examples, ImportedExample,
    ::testing::Values(Example{"geant", 40, 61, "Internet Topology Zoo"},
                      Example{"gaia", 11, 55, "omarfoq/communication-in-cross-silo-fl"},
                      Example{"amazon-us", 22, 231, "omarfoq/communication-in-cross-silo-fl"},
                      Example{"doublezero-simulated", 20, 34, "network-shapley-rs"},
                      Example{"doublezero-private", 9, 11, "network-shapley-rs"}),
    test_name);

TEST(GeneratedMap, Plans) {
  EXPECT_TRUE(pairs_plan(generate_map(40, 1)).feasible);
}

}  // namespace
}  // namespace cotillion
