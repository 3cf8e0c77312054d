#include "job/faults.hpp"

#include <gtest/gtest.h>

#include "job/fault_dice.hpp"
#include "tests/support/plan/plans.hpp"

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

TEST(Faults, WhatALabCannotPlayIsRefusedWithLineAndField) {
  const PlanFile plan = testing::nine_city_plan("triangles", {0}, {1'000'000});
  const std::string text =
      "[[dead]]\nisland = \"TYO\"\nfrom = \"1s\"\n"
      "[[dead]]\nisland = \"HKG\"\nfrom = \"1s\"\nuntil = \"2s\"\n"
      "[[slow]]\nisland = \"SIN\"\nlate = \"3ms\"\n"
      "[[clock]]\nisland = \"LAX\"\nbehind = \"3ms\"\n"
      "[[restart]]\nisland = \"NYC\"\nfrom = \"1s\"\n";
  EXPECT_TRUE(read_faults(text, "f.toml", plan).has_value());
  const auto faults = read_faults(text, "f.toml", plan, FaultPlayer::kLab);
  ASSERT_FALSE(faults.has_value());
  ASSERT_EQ(faults.error().size(), 4u);
  const char* const expected[] = {
      "f.toml:7:9: dead[1].until: an island that dies in a lab does not",
      "f.toml:10:8: slow[0].late: a lab slows no island down",
      "f.toml:13:10: clock[0].behind: all islands of a lab have this",
      "f.toml:16:8: restart[0].from: an edge that ends in a lab does"};
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_TRUE(to_text(faults.error()[i]).starts_with(expected[i])) << to_text(faults.error()[i]);
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
