// Single values that matter to the bit, and what lies beside the elements of a call.
#include "protocol/accumulator_test.hpp"

#include <algorithm>
#include <cmath>

namespace cotillion::testing {
namespace {

class AccumulatorBounds : public ::testing::TestWithParam<Element> {};
TEST_P(AccumulatorBounds, TouchesNothingBesideItsElements) {
  const auto& kernel = accumulator(GetParam());
  const std::size_t n = kBeatBytes / bytes_of(GetParam()), slot_beats = n * 4 / kBeatBytes;
  Beat guard;
  guard.bytes.fill(std::byte{0x11});
  for (const int call : {0, 1, 2, 3}) {
    std::vector<Beat> payload(3, guard), slot(slot_beats + 2, guard);
    std::byte *wire = payload[1].bytes.data(), *sum = slot[1].bytes.data();
    if (call == 0) kernel.write(sum, wire, n, 1);
    if (call == 1) kernel.add(sum, wire, n, 1);
    if (call == 2) kernel.add(sum, wire, n, 7);
    if (call == 3) kernel.emit(wire, sum, n);
    EXPECT_EQ(payload.front().bytes, guard.bytes);
    EXPECT_EQ(payload.back().bytes, guard.bytes);
    EXPECT_EQ(slot.front().bytes, guard.bytes);
    EXPECT_EQ(slot.back().bytes, guard.bytes);
  }
}

TEST_P(AccumulatorBounds, HasNothingToDoWithNothing) {
  const auto& kernel = accumulator(GetParam());
  Beat slot, payload;
  kernel.write(slot.bytes.data(), payload.bytes.data(), 0, 1);
  kernel.add(slot.bytes.data(), payload.bytes.data(), 0, 2);
  kernel.emit(payload.bytes.data(), slot.bytes.data(), 0);
  EXPECT_TRUE(kernel.finite(payload.bytes.data(), 0));
}

using AccumulatorBoundsDeathTest = AccumulatorBounds;

TEST_P(AccumulatorBoundsDeathTest, APartOfABeatEndsTheProgram) {
  Beat slot, payload;
  const std::size_t part = kBeatBytes / bytes_of(GetParam()) / 2;
  const auto& kernel = accumulator(GetParam());
  EXPECT_DEATH(kernel.add(slot.bytes.data(), payload.bytes.data(), part, 1), "internal error");
}

TEST_P(AccumulatorBoundsDeathTest, ASlotOffItsBeatEndsTheProgram) {
  std::vector<Beat> slot(3), payload(1);
  const std::size_t n = kBeatBytes / bytes_of(GetParam());
  const auto& kernel = accumulator(GetParam());
  EXPECT_DEATH(kernel.write(slot.front().bytes.data() + 4, payload.front().bytes.data(), n, 1),
               "internal error");
}

std::string element_name(const ::testing::TestParamInfo<Element>& tested) {
  return name_of(tested.param);
}
INSTANTIATE_TEST_SUITE_P(Every, AccumulatorBounds, ::testing::ValuesIn(kElements), element_name);
INSTANTIATE_TEST_SUITE_P(Every, AccumulatorBoundsDeathTest, ::testing::ValuesIn(kElements),
                         element_name);

// One lane of a beat of zeros.
std::uint32_t sum_of(Element element, std::uint32_t first, std::uint32_t later,
                     std::uint32_t coefficient) {
  WirePayload one(element, kBeatBytes / bytes_of(element)), other = one;
  one.set_bits(3, first);
  other.set_bits(3, later);
  return SumSlot(element, one.elements()).write(one).add(other, coefficient).emit().bits(3);
}

TEST(Accumulator, I32WrapsAround) {
  EXPECT_EQ(sum_of(Element::kI32, 0x7fffffff, 1, 1), 0x80000000u);
  EXPECT_EQ(sum_of(Element::kI32, 0xffffffff, 1, 1), 0u);
  EXPECT_EQ(sum_of(Element::kI32, 5, 0x80000001, 2), 7u);
  EXPECT_EQ(sum_of(Element::kI32, 0, 0xffffffff, 0xffffffff), 1u);
}

// 3 × (1 + 2⁻²³) lies half-way between two floats and goes to the even one; fused, its last bit
// would survive the cancellation.
TEST(Accumulator, AProductIsRoundedBeforeItIsAdded) {
  const auto minus_three = std::bit_cast<std::uint32_t>(-3.0f);
  const auto just_above_one = std::bit_cast<std::uint32_t>(1.0f + 0x1p-23f);
  EXPECT_EQ(sum_of(Element::kF32, minus_three, just_above_one, 3),
            std::bit_cast<std::uint32_t>(0x1p-21f));
}

TEST(Accumulator, MinusZeroIsKeptUntilSomethingIsAdded) {
  WirePayload minus_zero(Element::kF32, 16), zero(Element::kF32, 16);
  minus_zero.set_bits(0, 0x80000000u);
  EXPECT_EQ(SumSlot(Element::kF32, 16).write(minus_zero).bits(0), 0x80000000u);
  EXPECT_EQ(SumSlot(Element::kF32, 16).write(minus_zero).add(minus_zero).bits(0), 0x80000000u);
  EXPECT_EQ(SumSlot(Element::kF32, 16).write(minus_zero).add(zero).bits(0), 0u);
  EXPECT_EQ(SumSlot(Element::kF32, 16).write(zero).add(minus_zero).bits(0), 0u);
}

TEST(Accumulator, WhatOverflowsIsCaughtByTheReceiver) {
  const std::uint32_t largest_f32 = 0x7f7fffff, largest_bf16 = 0x7f7f;
  EXPECT_EQ(sum_of(Element::kF32, largest_f32, largest_f32, 1), 0x7f800000u);
  EXPECT_EQ(sum_of(Element::kF32, largest_f32, largest_f32 | 0x80000000u, 2), 0xff800000u);
  EXPECT_EQ(sum_of(Element::kBf16, largest_bf16, largest_bf16, 1), 0x7f80u);
  for (const Element element : {Element::kF32, Element::kBf16}) {
    WirePayload huge(element, 32), opposite = huge;
    for (std::size_t i = 0; i < 32; ++i) {
      huge.set_bits(i, element == Element::kF32 ? largest_f32 : largest_bf16);
      opposite.set_bits(i, element == Element::kF32 ? 0x80000000u | largest_f32 : 0xff7fu);
    }
    const SumSlot infinite = SumSlot(element, 32).write(huge).add(huge);
    SumSlot nothing = infinite;  // infinity less infinity
    nothing.add(opposite, 2);
    for (const SumSlot& slot : {infinite, nothing}) {
      const WirePayload out = slot.emit();
      EXPECT_FALSE(accumulator(element).finite(out.data(), 32));
    }
    EXPECT_TRUE(std::isnan(nothing.emit().value(0)));
  }
}

// Every bf16, and what lies around it and around the middle to the next one.
TEST(Accumulator, Bf16IsEmittedAsTheNearestAndTiesGoToTheEvenOne) {
  constexpr std::array<std::uint32_t, 6> kBetween = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
  constexpr std::size_t kLanes = 32;
  const auto value = [](std::uint32_t upper) {  // one step above the largest is 2¹²⁸
    if ((upper & 0x7fff) == 0x7f80) return (upper & 0x8000) != 0 ? -0x1p128 : 0x1p128;
    return double(std::bit_cast<float>(upper << 16));
  };
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper) {
    if ((upper & 0x7fff) >= 0x7f80) continue;
    SumSlot slot(Element::kBf16, kLanes, 0);
    for (std::size_t i = 0; i < kBetween.size(); ++i) {
      const std::uint32_t bits = upper << 16 | kBetween[i];
      std::memcpy(slot.data() + 4 * i, &bits, 4);
    }
    const WirePayload out = slot.emit();
    for (std::size_t i = 0; i < kBetween.size(); ++i) {
      const double exact = std::bit_cast<float>(slot.bits(i));
      const double below = std::fabs(exact - value(upper));
      const double above = std::fabs(value(upper + 1) - exact);
      const bool up = above < below || (above == below && (upper & 1) != 0);
      ASSERT_EQ(out.bits(i), upper + (up ? 1 : 0)) << std::hex << slot.bits(i);
    }
  }
}

struct Extremes {
  Element element;
  std::vector<std::uint32_t> finite, others;
};
const std::array<Extremes, 2> kExtremes = {{
    {Element::kF32,
     {0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x7f7fffff, 0xff7fffff},
     {0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001, 0xff800001, 0xffffffff}},
    {Element::kBf16,
     {0, 0x8000, 1, 0x8001, 0x007f, 0x7f7f, 0xff7f},
     {0x7f80, 0xff80, 0x7fc0, 0xffc0, 0x7f81, 0xff81, 0x7fff, 0xffff}},
}};

TEST(Accumulator, OneNanOrInfinityIsFoundWhereverItStands) {
  on_every_target([] {
    for (const auto& [element, finite, others] : kExtremes) {
      const auto scan = accumulator(element).finite;
      WirePayload payload(element, 3 * kBeatBytes / bytes_of(element), 37);
      for (std::size_t i = 0; i < payload.elements(); ++i) {
        payload.set_bits(i, finite[i % finite.size()]);
        ASSERT_TRUE(scan(payload.data(), payload.elements())) << i;
      }
      for (std::size_t i = 0; i < payload.elements(); ++i) {
        for (const std::uint32_t bad : others) {
          payload.set_bits(i, bad);
          ASSERT_FALSE(scan(payload.data(), payload.elements())) << i << std::hex << " " << bad;
        }
        payload.set_bits(i, finite[i % finite.size()]);
      }
    }
  });
}

TEST(Accumulator, EveryBf16IsFiniteOrNotAsTheLibrarySays) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    WirePayload payload(Element::kBf16, 32);
    payload.set_bits(bits % 32, bits);
    ASSERT_EQ(accumulator(Element::kBf16).finite(payload.data(), 32),
              std::isfinite(payload.value(bits % 32)));
  }
}

// A GPU's usual NaN is 0x7fffffff: rounding must not carry it through the sign into a zero.
TEST(Accumulator, NoNanBecomesANumberOnItsWayToBf16) {
  on_every_target([] {
    alignas(64) std::array<std::uint32_t, 32> sum{};
    WirePayload payload(Element::kBf16, 32);
    for (const std::uint32_t nan :
         {0x7f800001u, 0x7f807fffu, 0x7f808000u, 0x7fc00000u, 0x7fff7fffu, 0x7fff8000u, 0x7fffffffu,
          0xff800001u, 0xffff8000u, 0xffffffffu}) {
      sum.fill(0);
      sum[11] = nan;
      accumulator(Element::kBf16)
          .emit(payload.data(), reinterpret_cast<const std::byte*>(sum.data()), 32);
      EXPECT_TRUE(std::isnan(payload.value(11))) << std::hex << nan;
      EXPECT_FALSE(accumulator(Element::kBf16).finite(payload.data(), 32)) << std::hex << nan;
    }
  });
}

TEST(Accumulator, EveryIntegerIsFinite) {
  WirePayload payload(Element::kI32, 16);
  for (std::size_t i = 0; i < 16; ++i) payload.set_bits(i, 0x7fffffff + std::uint32_t(i));
  EXPECT_TRUE(accumulator(Element::kI32).finite(payload.data(), 16));
}

TEST(AllZero, OneBitAnywhereIsNotZero) {
  on_every_target([] {
    for (const std::size_t bytes : {0, 1, 63, 64, 65, 191, 192}) {
      std::vector<std::byte> packet(bytes + 2, std::byte{0xff});  // with strangers on both sides
      const ByteSpan payload = ByteSpan(packet).subspan(1, bytes);
      std::ranges::fill(payload, std::byte{0});
      ASSERT_TRUE(all_zero(payload));
      for (std::size_t bit = 0; bit < 8 * bytes; ++bit) {
        payload[bit / 8] = std::byte(1u << bit % 8);
        ASSERT_FALSE(all_zero(payload)) << bytes << " bytes, bit " << bit;
        payload[bit / 8] = std::byte{0};
      }
    }
  });
}

TEST(AllZero, MinusZeroIsAValue) {
  for (const Element element : {Element::kF32, Element::kBf16}) {
    WirePayload payload(element, 32);
    EXPECT_TRUE(all_zero(payload.view()));
    payload.set_bits(17, element == Element::kF32 ? 0x80000000u : 0x8000u);
    EXPECT_FALSE(all_zero(payload.view()));
  }
}

}  // namespace
}  // namespace cotillion::testing
