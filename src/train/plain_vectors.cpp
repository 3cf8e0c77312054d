#include "train/plain_vectors.hpp"

#include "base/check.hpp"

namespace cotillion {

PlainVectors::PlainVectors(int islands, std::int64_t elements)
    : islands_(islands), elements_(elements) {
  for (auto& buffer : buffers_) buffer.assign(std::size_t(islands) * std::size_t(elements), 0);
}

float& PlainVectors::at(Buffer buffer, int island, std::int64_t element) {
  return buffers_[std::size_t(buffer)][std::size_t(island * elements_ + element)];
}

void PlainVectors::apply(const VectorMove& move) {
  const Span span = span_of(move.fragment, move.fragments, elements_, move.grain);
  std::vector<float> sums;
  for (std::size_t row = 0; row < move.islands.size(); ++row)
    for (std::int64_t e = span.first; e < span.first + span.count; ++e) {
      double sum = 0;
      for (const Term& term : move.terms) {
        if (term.mixing.empty()) {
          sum += term.own * at(term.from, move.islands[row], e);
          continue;
        }
        COTILLION_CHECK(term.mixing.size() == move.islands.size() * std::size_t(islands_));
        for (int j = 0; j < islands_; ++j)
          sum += term.mixing[row * std::size_t(islands_) + std::size_t(j)] * at(term.from, j, e);
      }
      sums.push_back(float(sum));
    }
  std::size_t next = 0;
  for (const int island : move.islands)
    for (std::int64_t e = span.first; e < span.first + span.count; ++e)
      at(move.into, island, e) = sums[next++];
}

}  // namespace cotillion
