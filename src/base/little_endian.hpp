// Integers as they lie on the wire: little-endian, unaligned, the same bytes on every machine.
// A struct of them is the packet layout itself, and needs no encoder beside it.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace cotillion {

template <std::unsigned_integral T>
class Little {
 public:
  constexpr Little() = default;
  constexpr Little(T value) { *this = value; }

  // Compilers do not always see one load or store in a loop over bytes, and headers are read for
  // every packet.
  constexpr Little& operator=(T value) {
    if constexpr (std::endian::native == std::endian::little)
      bytes_ = std::bit_cast<Bytes>(value);
    else
      for (std::size_t i = 0; i < sizeof(T); ++i) bytes_[i] = std::uint8_t(value >> (8 * i));
    return *this;
  }
  constexpr operator T() const {
    if constexpr (std::endian::native == std::endian::little) return std::bit_cast<T>(bytes_);
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) value = T(value | T(T(bytes_[i]) << (8 * i)));
    return value;
  }

 private:
  using Bytes = std::array<std::uint8_t, sizeof(T)>;
  Bytes bytes_{};
};

using Little16 = Little<std::uint16_t>;
using Little32 = Little<std::uint32_t>;
using Little64 = Little<std::uint64_t>;
static_assert(sizeof(Little16) == 2 && sizeof(Little32) == 4 && sizeof(Little64) == 8);
static_assert(alignof(Little64) == 1);

}  // namespace cotillion
