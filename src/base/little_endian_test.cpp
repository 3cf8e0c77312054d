#include "base/little_endian.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cstring>
#include <type_traits>

namespace cotillion {
namespace {

template <class Wire>
std::array<std::uint8_t, sizeof(Wire)> bytes_of(Wire wire) {
  return std::bit_cast<std::array<std::uint8_t, sizeof(Wire)>>(wire);
}

TEST(LittleEndian, TheLowestByteComesFirst) {
  EXPECT_EQ(bytes_of(Little16(0x0102)), (std::array<std::uint8_t, 2>{2, 1}));
  EXPECT_EQ(bytes_of(Little32(0x01020304)), (std::array<std::uint8_t, 4>{4, 3, 2, 1}));
  EXPECT_EQ(bytes_of(Little64(0x0102030405060708)),
            (std::array<std::uint8_t, 8>{8, 7, 6, 5, 4, 3, 2, 1}));
}

TEST(LittleEndian, ABeginningIsZero) {
  EXPECT_EQ(Little16(), 0u);
  EXPECT_EQ(Little64(), 0u);
}

TEST(LittleEndian, TheHighestBitSurvives) {
  EXPECT_EQ(Little16(0x8000), 0x8000u);
  EXPECT_EQ(Little32(0x80000000u), 0x80000000u);
  EXPECT_EQ(Little64(0x8000000000000000u), 0x8000000000000000u);
}

TEST(LittleEndian, IsAvailableToTheCompiler) {
  constexpr Little32 value = 0xdeadbeefu;
  static_assert(value == 0xdeadbeefu);
}

// So that a struct of them is the layout itself, at any address.
TEST(LittleEndian, LiesUnalignedAndCopiesAsBytes) {
  struct Odd {
    std::uint8_t first = 0;
    Little64 second;
  };
  static_assert(sizeof(Odd) == 9 && alignof(Odd) == 1 && std::is_trivially_copyable_v<Odd>);
  Odd odd;
  odd.second = 7;
  std::array<std::uint8_t, 10> bytes{};
  std::memcpy(bytes.data() + 1, &odd, sizeof odd);
  EXPECT_EQ(bytes[2], 7);
}

RC_GTEST_PROP(LittleEndian, WhatIsWrittenIsRead,
              (std::uint16_t small, std::uint32_t middle, std::uint64_t large)) {
  RC_ASSERT(Little16(small) == small);
  RC_ASSERT(Little32(middle) == middle);
  RC_ASSERT(Little64(large) == large);
  Little64 changed = large;
  changed = ~large;
  RC_ASSERT(changed == ~large);
}

}  // namespace
}  // namespace cotillion
