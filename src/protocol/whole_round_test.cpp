// Whole rounds through sender, edge and receiver.
#include <gtest/gtest.h>

#include "tests/support/protocol/protocol_net.hpp"

namespace cotillion {
namespace {

using testing::NetSettings;
using testing::ProtocolNet;

constexpr Instant ms(std::int64_t count) {
  return {count * 1'000'000'000};
}

NetSettings small_net(Element element) {
  NetSettings settings;
  settings.job.element = element;
  settings.job.elements = 5000;
  settings.job.beats = 2;
  settings.exponent = element == Element::kI32 ? -10 : 0;
  return settings;
}

void fill(ProtocolNet& net, int islands, std::uint64_t elements) {
  for (int i = 0; i < islands; ++i)
    for (std::uint64_t e = 0; e < elements; ++e)
      net.model(i)[e] = float((i + 1) * 3) + float(e % 7);
}

class WholeRound : public ::testing::TestWithParam<Element> {};

TEST_P(WholeRound, ARoundAveragesTheClique) {
  NetSettings settings = small_net(GetParam());
  ProtocolNet net(settings);
  fill(net, 3, 5000);
  net.open_round(1, {{0, 1, 2}}, ms(1), ms(100));
  net.run_until(ms(150));
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(net.accounts(i).size(), 1u);
    EXPECT_TRUE(net.accounts(i)[0].absences.empty());
    for (std::uint64_t e = 0; e < 5000; ++e) ASSERT_EQ(net.model(i)[e], 6.0f + float(e % 7)) << e;
  }
}

TEST_P(WholeRound, PairsAndAnIslandThatSitsOut) {
  NetSettings settings = small_net(GetParam());
  ProtocolNet net(settings);
  fill(net, 3, 5000);
  net.open_round(1, {{0, 2}, {1}}, ms(1), ms(100));
  net.open_round(2, {{0, 1}, {2}}, ms(101), ms(200));
  net.run_until(ms(250));
  for (std::uint64_t e = 0; e < 5000; ++e) {
    ASSERT_EQ(net.model(0)[e], 6.0f + float(e % 7)) << e;
    ASSERT_EQ(net.model(1)[e], 6.0f + float(e % 7)) << e;
    ASSERT_EQ(net.model(2)[e], 6.0f + float(e % 7)) << e;
  }
}

INSTANTIATE_TEST_SUITE_P(Elements, WholeRound,
                         ::testing::Values(Element::kF32, Element::kBf16, Element::kI32),
                         [](const auto& element) { return name_of(element.param); });

}  // namespace
}  // namespace cotillion
