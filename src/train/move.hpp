// What exchanging does to the islands' models, as data. Every policy, the paper's and its rivals',
// is linear in a few vectors that each island keeps: what it trains, what it sent, what it
// remembers. So a policy need not know where the vectors live: tests play its moves on a handful of
// floats, a GPU on all islands at once.
#pragma once

#include <cstdint>
#include <vector>

namespace cotillion {

// One vector of as many elements as the model has, for each island. All but the model begin as
// zeros.
enum class Buffer : std::uint8_t {
  kModel,     // x, what the optimizer steps
  kGradient,  // of the step being taken
  kSentEven,  // S, what was put on the wire, of rounds by turns: the next may leave before this one
  kSentOdd,   // has been merged everywhere
  kHidden,    // z − x of own weights below one
  kAnchor,    // what was sent last, moved by what was merged since
  kVelocity,  // momentum
  kTheta,     // θ of outer optimizers
  kEarlier,   // what the last exchange was about
  kGlobal,    // the model of a global server
};
inline constexpr int kBufferCount = 10;

// A share of a sum: of the island's own vector, or of everyone's.
struct Term {
  Buffer from = Buffer::kModel;
  double own = 1;
  // A row for each island of the move, a column for each island there is; empty: `own` times the
  // island's own vector.
  std::vector<double> mixing = {};
};

// into ← Σ terms, at these islands, in one of `fragments` equal parts of the vector. The sum is
// complete before anything is written.
struct VectorMove {
  Buffer into = Buffer::kModel;
  std::vector<int> islands;
  std::vector<Term> terms;  // none: zero
  int fragment = 0;
  int fragments = 1;
  bool merges = false;     // brings in what others sent: disagreement is measured before it
  std::int64_t grain = 1;  // parts begin at multiples of so many elements, as packets do
};

struct Span {
  std::int64_t first = 0;
  std::int64_t count = 0;
};
[[nodiscard]] inline Span span_of(int fragment, int fragments, std::int64_t elements,
                                  std::int64_t grain = 1) {
  const std::int64_t grains = (elements + grain - 1) / grain;
  const std::int64_t first = grains * fragment / fragments * grain;
  const std::int64_t end = grains * (fragment + 1) / fragments * grain;
  return {first, (end < elements ? end : elements) - first};
}

// Where vectors live.
class Vectors {
 public:
  virtual ~Vectors() = default;
  virtual void apply(const VectorMove& move) = 0;
};

}  // namespace cotillion
