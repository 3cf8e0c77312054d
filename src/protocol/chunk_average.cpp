#include "protocol/chunk_average.hpp"

#include <cstring>

namespace cotillion {
namespace {

// Exact for all three elements: integers and floats of the wire all fit a double.
template <Element kElement>
double wire_value(const std::byte* payload, std::size_t i) {
  if constexpr (kElement == Element::kBf16) {
    Little16 half;
    std::memcpy(&half, payload + i * 2, 2);
    return std::bit_cast<float>(std::uint32_t(half) << 16u);
  } else {
    Little32 word;
    std::memcpy(&word, payload + i * 4, 4);
    if constexpr (kElement == Element::kF32) return std::bit_cast<float>(std::uint32_t(word));
    return std::int32_t(std::uint32_t(word));
  }
}

template <Element kElement>
void average_lanes(const Mean& mean, const std::byte* own, const std::byte* sum,
                   std::span<double> average, std::span<double> sent) {
  constexpr Element kLane = kElement == Element::kI32 ? Element::kI32 : Element::kF32;
  const std::size_t count = average.size();
  const auto [own_further, divisor] = mean.rule;
  if (mean.own_weight == 1 && mean.own_coefficient == 1 && own_further == 0 && sum != nullptr) {
    for (std::size_t i = 0; i < count; ++i) {  // nearly always; dividing by one is not free
      const double wire = wire_value<kElement>(own, i);
      average[i] = (wire_value<kLane>(sum, i) + wire) / divisor * mean.scale;
      sent[i] = wire * mean.scale;
    }
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const double wire = wire_value<kElement>(own, i);
    const double snapshot = wire / mean.own_weight;
    const double others = sum == nullptr ? 0 : wire_value<kLane>(sum, i);
    const double total = others + wire * mean.own_coefficient;
    const double all = own_further == 0 ? total : total + own_further * snapshot;
    average[i] = all / divisor * mean.scale;
    sent[i] = snapshot * mean.scale;
  }
}

}  // namespace

void average_chunk(const Mean& mean, const std::byte* own, const std::byte* sum,
                   const ChunkAverage& into) {
  const auto lanes = mean.element == Element::kBf16  ? &average_lanes<Element::kBf16>
                     : mean.element == Element::kI32 ? &average_lanes<Element::kI32>
                                                     : &average_lanes<Element::kF32>;
  lanes(mean, own, sum, into.average, into.sent);
}

}  // namespace cotillion
