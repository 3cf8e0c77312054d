// The arithmetic of an edge. An accumulator is admissible (paper, Section 3.2.1) when it keeps
// this contract; accumulator_test.cpp holds every one of them to it:
//
//   commutative   contributions may come in any order
//   associative   and be grouped into partial sums in any way. Neither shows at all in i32. In f32
//                 and bf16 they show in rounding only: the sum of n contributions is within
//                 (n + 2)·2⁻²⁴ of the sum of their magnitudes, and each emitting of bf16 rounds
//                 once more, to 8 bits. Two contributions commute to the bit in every mode
//   memoryless    `write` starts from nothing: no value of an earlier round or chunk remains
//   scaled        a coefficient multiplies one contribution and needs no state per weight
//
// Sums are kept as f32 for f32 and bf16, and as 32-bit integers modulo 2³² for i32. Products are
// rounded before they are added, never fused: the same bytes on every machine, whichever vector
// width it has. The same contributions in the same order give the same bytes in every mode.
#pragma once

#include <cstdint>

#include "protocol/packet.hpp"

namespace cotillion {

// `sum` points at 4-byte lanes aligned to 64 bytes, `payload` at `elements` wire elements that
// fill whole beats, at any address. The two do not overlap. Floats are finite on their way in;
// a sum beyond the largest float is emitted as infinity or NaN, which the receiver's scan catches.
struct Accumulator {
  // First arrival: sum = coefficient × payload.
  void (*write)(std::byte* sum, const std::byte* payload, std::size_t elements,
                std::uint32_t coefficient);
  // Later ones: sum += coefficient × payload.
  void (*add)(std::byte* sum, const std::byte* payload, std::size_t elements,
              std::uint32_t coefficient);
  // Back onto the wire, rounded to the nearest (ties to even) for bf16.
  void (*emit)(std::byte* payload, const std::byte* sum, std::size_t elements);
  // No NaN and no infinity; always true of integers.
  bool (*finite)(const std::byte* payload, std::size_t elements);
};

// For the processor it runs on. Stays valid; ask once and keep it.
[[nodiscard]] const Accumulator& accumulator(Element element);

// Whether a payload may be left out of its packet (flag ZERO). −0 counts as a value.
[[nodiscard]] bool all_zero(ByteView payload);

}  // namespace cotillion
