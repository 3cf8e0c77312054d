// The average of one chunk, from one's own copy and the sum of what came, exact in double until it
// is merged.
#pragma once

#include <span>
#include <vector>

#include "protocol/merge_rule.hpp"
#include "protocol/packet.hpp"

namespace cotillion {

// What an average is made of, besides its elements.
struct Mean {
  Element element = Element::kF32;
  double own_weight = 1, own_coefficient = 1;
  MeanCoefficients rule;
  double scale = 1;  // of a grid's units
};

// The average, and one's own copy without its weight.
struct ChunkAverage {
  std::span<double> average, sent;
};

// `own`: as it was sent. `sum`: null where nothing but zeros came.
void average_chunk(const Mean& mean, const std::byte* own, const std::byte* sum,
                   const ChunkAverage& into);

// Room for one chunk at a time.
class ChunkBuffers {
 public:
  explicit ChunkBuffers(std::size_t elements)
      : average_(elements), before_(elements), sent_(elements) {}

  [[nodiscard]] ChunkAverage first(std::size_t elements) {
    return {std::span(average_).first(elements), std::span(sent_).first(elements)};
  }
  // Beside it, for an average of before something came.
  [[nodiscard]] std::span<double> before(std::size_t elements) {
    return std::span(before_).first(elements);
  }

 private:
  std::vector<double> average_, before_, sent_;
};

}  // namespace cotillion
