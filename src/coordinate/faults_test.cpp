#include "coordinate/faults.hpp"

#include <gtest/gtest.h>

#include "coordinate/fault_dice.hpp"
#include "tests/support/plans.hpp"

namespace cotillion {
namespace {

TEST(Faults, AreRefusedWithFieldAndRemedy) {
  const PlanFile plan = testing::nine_city_plan("triangles", {0}, {1'000'000});
  const auto faults =
      read_faults("[[loss]]\non = \"TYO-MOON\"\nrate = 2\n[[dead]]\nisland = \"LUN\"\n[[lose]]\n",
                  "f.toml", plan);
  ASSERT_FALSE(faults.has_value());
  std::string all;
  for (const Diagnostic& diagnostic : faults.error()) all += to_text(diagnostic) + "\n";
  EXPECT_NE(all.find("loss[0].on: no link \"TYO-MOON\""), std::string::npos) << all;
  EXPECT_NE(all.find("loss[0].rate"), std::string::npos) << all;
  EXPECT_NE(all.find("unknown island \"LUN\""), std::string::npos) << all;
  EXPECT_NE(all.find("lose"), std::string::npos) << all;
}

TEST(Faults, BurstsLoseAsManyAsTheirRateSays) {
  const PlanFile plan = testing::nine_city_plan("triangles", {0}, {1'000'000});
  const auto faults =
      read_faults("[[loss]]\non = \"everywhere\"\nrate = 0.02\nburst = 10\n", "f.toml", plan);
  ASSERT_TRUE(faults.has_value());
  FaultDice dice(*faults, plan.map.lane_count(), 3);
  int lost = 0;
  constexpr int kPackets = 500'000;
  for (int i = 0; i < kPackets; ++i) lost += dice.cast(0, {0}).lost ? 1 : 0;
  EXPECT_NEAR(double(lost) / kPackets, 0.02, 0.003);
}

}  // namespace
}  // namespace cotillion
