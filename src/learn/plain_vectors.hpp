// Islands' vectors as plain floats: slow, clear, and what every other place for them must agree
// with.
#pragma once

#include <array>

#include "protocol/move.hpp"

namespace cotillion {

// What becomes of a finite number there.
[[nodiscard]] float on_wire(float value, WireFormat wire);

class PlainVectors final : public Vectors {
 public:
  PlainVectors(int islands, std::int64_t elements);

  void apply(const VectorMove& move) override;

  [[nodiscard]] float& at(Buffer buffer, int island, std::int64_t element = 0);
  [[nodiscard]] int islands() const { return islands_; }

 private:
  int islands_;
  std::int64_t elements_;
  std::array<std::vector<float>, kBufferCount> buffers_;
};

}  // namespace cotillion
