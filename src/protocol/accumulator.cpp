// The kernels are written once and compiled once per instruction set: Highway includes this file
// again for each, and the best one for the processor is chosen at run time. Every lane is treated
// alike and nothing is reduced across lanes but a test, so the width of a vector cannot show in
// the bytes.
#include "protocol/accumulator.hpp"

#include <bit>
#include <cstring>
#include <limits>

#include "base/check.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "protocol/accumulator.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cotillion::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

static_assert(std::endian::native == std::endian::little, "lanes are loaded as they lie");

// At most one beat, so that whole beats are whole vectors.
template <class T>
using Beat = hn::CappedTag<T, kBeatBytes / sizeof(T)>;

// Packets lie at any address. A vector of one lane is loaded by dereference, which needs alignment.
template <class D>
HWY_INLINE hn::Vec<D> load_wire(D d, const std::byte* at) {
#if HWY_TARGET == HWY_SCALAR
  hn::TFromD<D> value;
  std::memcpy(&value, at, sizeof value);
  return hn::Set(d, value);
#else
  return hn::LoadU(d, reinterpret_cast<const hn::TFromD<D>*>(at));
#endif
}

template <class D>
HWY_INLINE void store_wire(hn::Vec<D> values, D d, std::byte* at) {
#if HWY_TARGET == HWY_SCALAR
  const hn::TFromD<D> value = hn::GetLane(values);
  (void)d;
  std::memcpy(at, &value, sizeof value);
#else
  hn::StoreU(values, d, reinterpret_cast<hn::TFromD<D>*>(at));
#endif
}

// An element mode: the lane it is summed in, and how it gets from the wire there and back.
template <class T>
struct SameOnTheWire {
  using Lane = T;
  static constexpr std::size_t kBytes = sizeof(T);
  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const std::byte* at) {
    return load_wire(d, at);
  }
  template <class D>
  static HWY_INLINE void store(hn::Vec<D> lanes, D d, std::byte* at) {
    store_wire(lanes, d, at);
  }
};
struct F32 : SameOnTheWire<float> {
  using Magnitude = std::int32_t;  // of the bits without the sign
  static constexpr Magnitude kInfinity = 0x7f800000;
};
struct I32 : SameOnTheWire<std::uint32_t> {};

// The upper half of an f32.
struct Bf16 {
  using Lane = float;
  using Magnitude = std::int16_t;
  static constexpr Magnitude kInfinity = 0x7f80;
  static constexpr std::size_t kBytes = 2;
  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const std::byte* at) {
    const hn::RebindToUnsigned<D> bits;
    const hn::Rebind<std::uint16_t, D> wire;
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(bits, load_wire(wire, at))));
  }
  // To nearest: half of the last place less one is added, and that one when the last place is odd.
  // In a NaN the carry could run through the sign and leave a zero, so it is only made quiet.
  template <class D>
  static HWY_INLINE void store(hn::Vec<D> lanes, D, std::byte* at) {
    const hn::RebindToUnsigned<D> bits;
    const hn::Rebind<std::uint16_t, D> wire;
    const auto exact = hn::BitCast(bits, lanes);
    const auto odd = hn::And(hn::ShiftRight<16>(exact), hn::Set(bits, 1u));
    const auto rounded = hn::Add(hn::Add(exact, hn::Set(bits, 0x7fffu)), odd);
    const auto magnitude = hn::And(exact, hn::Set(bits, 0x7fffffffu));
    const auto nan = hn::Gt(magnitude, hn::Set(bits, 0x7f800000u));
    const auto kept = hn::IfThenElse(nan, hn::Or(exact, hn::Set(bits, 0x00400000u)), rounded);
    store_wire(hn::TruncateTo(wire, hn::ShiftRight<16>(kept)), wire, at);
  }
};

enum class Arrival { kFirst, kLater };
enum class Weight { kOne, kAny };

template <class Mode, Arrival arrival, Weight weight>
void accumulate(std::byte* HWY_RESTRICT sum, const std::byte* HWY_RESTRICT payload,
                std::size_t elements, std::uint32_t coefficient) {
  using Lane = typename Mode::Lane;
  const Beat<Lane> d;
  Lane* HWY_RESTRICT lanes = reinterpret_cast<Lane*>(sum);
  const auto scale = hn::Set(d, Lane(coefficient));
  for (std::size_t i = 0; i < elements; i += hn::Lanes(d)) {
    auto values = Mode::load(d, payload + i * Mode::kBytes);
    if constexpr (weight == Weight::kAny) values = hn::Mul(scale, values);
    if constexpr (arrival == Arrival::kLater) values = hn::Add(hn::Load(d, lanes + i), values);
    hn::Store(values, d, lanes + i);
  }
}

template <class Mode>
void check_shape(const std::byte* sum, std::size_t elements) {
  COTILLION_CHECK(reinterpret_cast<std::uintptr_t>(sum) % kBeatBytes == 0);
  COTILLION_CHECK(elements * Mode::kBytes % kBeatBytes == 0);
}

template <class Mode, Arrival arrival>
void accumulate_checked(std::byte* sum, const std::byte* payload, std::size_t elements,
                        std::uint32_t coefficient) {
  check_shape<Mode>(sum, elements);
  if (coefficient == 1)
    accumulate<Mode, arrival, Weight::kOne>(sum, payload, elements, coefficient);
  else
    accumulate<Mode, arrival, Weight::kAny>(sum, payload, elements, coefficient);
}

template <class Mode>
void emit(std::byte* HWY_RESTRICT payload, const std::byte* HWY_RESTRICT sum,
          std::size_t elements) {
  check_shape<Mode>(sum, elements);
  using Lane = typename Mode::Lane;
  const Beat<Lane> d;
  const Lane* HWY_RESTRICT lanes = reinterpret_cast<const Lane*>(sum);
  for (std::size_t i = 0; i < elements; i += hn::Lanes(d))
    Mode::store(hn::Load(d, lanes + i), d, payload + i * Mode::kBytes);
}

// Without their signs, floats are ordered as the integers of their bits: infinity and every NaN
// come last.
template <class Mode>
bool finite(const std::byte* payload, std::size_t elements) {
  using Magnitude = typename Mode::Magnitude;
  const Beat<Magnitude> d;
  const std::size_t step = hn::Lanes(d) * sizeof(Magnitude), bytes = elements * Mode::kBytes;
  const auto unsign = hn::Set(d, std::numeric_limits<Magnitude>::max());
  auto largest = hn::Zero(d);
  for (std::size_t at = 0; at < bytes; at += step)
    largest = hn::Max(largest, hn::And(load_wire(d, payload + at), unsign));
  return hn::AllTrue(d, hn::Lt(largest, hn::Set(d, Mode::kInfinity)));
}

bool always_finite(const std::byte*, std::size_t) {
  return true;
}

template <class Mode>
constexpr Accumulator kAccumulator = {accumulate_checked<Mode, Arrival::kFirst>,
                                      accumulate_checked<Mode, Arrival::kLater>, emit<Mode>,
                                      finite<Mode>};
template <>
constexpr Accumulator kAccumulator<I32> = {accumulate_checked<I32, Arrival::kFirst>,
                                           accumulate_checked<I32, Arrival::kLater>, emit<I32>,
                                           always_finite};

const Accumulator& choose(Element element) {
  if (element == Element::kF32) return kAccumulator<F32>;
  if (element == Element::kBf16) return kAccumulator<Bf16>;
  COTILLION_CHECK(element == Element::kI32);
  return kAccumulator<I32>;
}

bool zero(ByteView payload) {
  const Beat<std::uint32_t> d;
  const std::size_t step = hn::Lanes(d) * sizeof(std::uint32_t);
  std::size_t at = 0;
  for (; at + step <= payload.size(); at += step)
    if (!hn::AllTrue(d, hn::Eq(load_wire(d, payload.data() + at), hn::Zero(d)))) return false;
  for (; at < payload.size(); ++at)
    if (payload[at] != std::byte{0}) return false;
  return true;
}

}  // namespace
}  // namespace cotillion::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cotillion {
namespace {

HWY_EXPORT(choose);
HWY_EXPORT(zero);

}  // namespace

const Accumulator& accumulator(Element element) {
  return HWY_DYNAMIC_DISPATCH(choose)(element);
}

bool all_zero(ByteView payload) {
  return HWY_DYNAMIC_DISPATCH(zero)(payload);
}

}  // namespace cotillion
#endif  // HWY_ONCE
