#include "learn/plain_vectors.hpp"

#include <bit>
#include <cmath>

#include "base/check.hpp"

namespace cotillion {

float on_wire(float value, WireFormat wire) {
  if (wire == WireFormat::kBf16) {
    auto bits = std::bit_cast<std::uint32_t>(value);
    bits += 0x7fffu + (bits >> 16 & 1u);
    return std::bit_cast<float>(bits & 0xffff0000u);
  }
  if (wire == WireFormat::kI32)
    return std::ldexp(std::nearbyint(std::ldexp(value, -kGridExponent)), kGridExponent);
  return value;
}

PlainVectors::PlainVectors(int islands, std::int64_t elements)
    : islands_(islands), elements_(elements) {
  for (auto& buffer : buffers_) buffer.assign(std::size_t(islands) * std::size_t(elements), 0);
}

float& PlainVectors::at(Buffer buffer, int island, std::int64_t element) {
  return buffers_[std::size_t(buffer)][std::size_t(island * elements_ + element)];
}

void PlainVectors::apply(const VectorMove& move) {
  const Span span = span_of(move, elements_);
  std::vector<float> sums;
  for (std::size_t row = 0; row < move.islands.size(); ++row)
    for (std::int64_t e = span.first; e < span.first + span.count; ++e) {
      double sum = 0;
      for (const Term& term : move.terms) {
        if (term.mixing.empty()) {
          const float own = at(term.from, move.islands[row], e);
          const bool rest = term.wire != WireFormat::kF32;
          sum += term.own * (rest ? double(own) - double(on_wire(own, term.wire)) : double(own));
          continue;
        }
        COTILLION_CHECK(term.mixing.size() == move.islands.size() * std::size_t(islands_));
        double own = 0, others = 0, contributors = 0;
        for (int j = 0; j < islands_; ++j) {
          const double weight = term.mixing[row * std::size_t(islands_) + std::size_t(j)];
          (j == move.islands[row] ? own : others) +=
              weight * on_wire(at(term.from, j, e), term.wire);
          contributors += weight != 0;
        }
        if (term.wire == WireFormat::kBf16 && contributors > 0)
          others = double(on_wire(float(others * contributors), term.wire)) / contributors;
        sum += own + others;
      }
      sums.push_back(float(sum));
    }
  std::size_t next = 0;
  for (const int island : move.islands)
    for (std::int64_t e = span.first; e < span.first + span.count; ++e)
      at(move.into, island, e) = sums[next++];
}

}  // namespace cotillion
