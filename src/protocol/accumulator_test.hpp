// What the tests of the accumulators share: payloads at any address, slots that begin as garbage,
// and a loop over the instruction sets of this machine.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <array>
#include <bit>
#include <cstring>
#include <set>
#include <vector>

#include "base/random.hpp"
#include "protocol/accumulator.hpp"
#include "protocol/job.hpp"

namespace cotillion::testing {

constexpr std::array kElements = {Element::kF32, Element::kBf16, Element::kI32};

struct alignas(kBeatBytes) Beat {
  std::array<std::byte, kBeatBytes> bytes{};
};

inline std::byte* bytes_at(std::vector<Beat>& beats) {
  return reinterpret_cast<std::byte*>(beats.data());
}
inline const std::byte* bytes_at(const std::vector<Beat>& beats) {
  return reinterpret_cast<const std::byte*>(beats.data());
}

// Elements as they came in a packet, at an address of any alignment.
class WirePayload {
 public:
  WirePayload(Element element, std::size_t elements, std::size_t offset = 0)
      : element_(element),
        elements_(elements),
        offset_(offset),
        beats_(elements * bytes_of(element) / kBeatBytes + 1) {}

  [[nodiscard]] std::byte* data() { return bytes_at(beats_) + offset_; }
  [[nodiscard]] const std::byte* data() const { return bytes_at(beats_) + offset_; }
  [[nodiscard]] std::size_t elements() const { return elements_; }
  [[nodiscard]] ByteView view() const { return {data(), elements_ * bytes_of(element_)}; }

  [[nodiscard]] std::uint32_t bits(std::size_t i) const {
    std::uint32_t bits = 0;
    std::memcpy(&bits, data() + i * bytes_of(element_), bytes_of(element_));
    return bits;
  }
  void set_bits(std::size_t i, std::uint32_t bits) {
    std::memcpy(data() + i * bytes_of(element_), &bits, bytes_of(element_));
  }
  [[nodiscard]] double value(std::size_t i) const {
    if (element_ == Element::kI32) return std::int32_t(bits(i));
    return std::bit_cast<float>(element_ == Element::kBf16 ? bits(i) << 16 : bits(i));
  }

 private:
  Element element_;
  std::size_t elements_;
  std::size_t offset_;
  std::vector<Beat> beats_;
};

// A slot that holds garbage until it is written.
class SumSlot {
 public:
  SumSlot(Element element, std::size_t elements, std::uint32_t garbage = 0x7fc00001)
      : element_(element),
        elements_(elements),
        beats_(elements * slot_bytes_of(element) / kBeatBytes) {
    for (std::size_t i = 0; i < elements; ++i) std::memcpy(data() + 4 * i, &garbage, 4);
  }

  SumSlot& write(const WirePayload& payload, std::uint32_t coefficient = 1) {
    accumulator(element_).write(data(), payload.data(), elements_, coefficient);
    return *this;
  }
  SumSlot& add(const WirePayload& payload, std::uint32_t coefficient = 1) {
    accumulator(element_).add(data(), payload.data(), elements_, coefficient);
    return *this;
  }
  [[nodiscard]] WirePayload emit(std::size_t offset = 0) const {
    WirePayload payload(element_, elements_, offset);
    accumulator(element_).emit(payload.data(), data(), elements_);
    return payload;
  }

  [[nodiscard]] std::byte* data() { return bytes_at(beats_); }
  [[nodiscard]] const std::byte* data() const { return bytes_at(beats_); }
  [[nodiscard]] std::uint32_t bits(std::size_t i) const {
    std::uint32_t bits = 0;
    std::memcpy(&bits, data() + 4 * i, 4);
    return bits;
  }
  [[nodiscard]] std::vector<std::uint32_t> lanes() const {
    std::vector<std::uint32_t> lanes(elements_);
    std::memcpy(lanes.data(), data(), 4 * elements_);
    return lanes;
  }

 private:
  Element element_;
  std::size_t elements_;
  std::vector<Beat> beats_;
};

// Any integer; floats of either sign from the denormals to 2⁸⁰, so that 64 of them with any weight
// stay far from infinity, often of like size, so that they cancel and round.
inline std::uint32_t random_bits(Element element, Random& random) {
  if (element == Element::kI32) return std::uint32_t(random.next());
  const bool alike = random.between(0, 1) == 0;
  const auto exponent = std::uint32_t(alike ? random.between(120, 130) : random.between(0, 207));
  const std::uint32_t bits = std::uint32_t(random.next()) & 0x807fffffu;
  return (bits | exponent << 23) >> (element == Element::kBf16 ? 16 : 0);
}

inline WirePayload random_payload(Element element, std::size_t elements, Random& random) {
  WirePayload payload(element, elements, std::size_t(random.between(0, 63)));
  for (std::size_t i = 0; i < elements; ++i) payload.set_bits(i, random_bits(element, random));
  return payload;
}

// Runs for each instruction set that this machine has and the build knows, plain C++ included.
template <class Body>
void on_every_target(Body body) {
  std::set<std::int64_t> targets = {HWY_STATIC_TARGET};
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) targets.insert(target);
  for (const std::int64_t target : targets) {
    hwy::SetSupportedTargetsForTest(target);
    SCOPED_TRACE(hwy::TargetName(target));
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace cotillion::testing
