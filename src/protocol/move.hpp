// Vector moves: what an exchange does to the islands' models, as data. Every policy, the paper's
// and its rivals', is linear in a few vectors that each island keeps: what it trains, what it sent,
// what it remembers. So a policy need not know where the vectors live: tests play its moves on a
// handful of floats, a GPU on all islands at once. (Our own rule's are made by policy/merge_moves.)
#pragma once

#include <cstdint>
#include <vector>

namespace cotillion {

// One vector of as many elements as the model has, for each island. All but the model begin as
// zeros.
enum class Buffer : std::uint8_t {
  kModel,      // x, what the optimizer steps
  kGradient,   // of the step being taken
  kSentEven,   // what was copied to be sent; its correction when all of it has come
  kSentOdd,    // of every other round, where the next may leave before this one has been merged
  kHidden,     // z − x of own weights below one
  kAnchor,     // of momentum: the last average; from copy to merge what was copied
  kVelocity,   // of momentum
  kTheta,      // θ of outer optimizers
  kEarlier,    // what the last exchange was about
  kGlobal,     // the model of a global server
  kMomentOne,  // of the optimizer: m and v of AdamW, where islands share them
  kMomentTwo,
  kSentOne,     // m in flight, as kSentEven,
  kSentOneOdd,  // and of every other round, where one copy is not enough
  kSentTwo,     // v in flight
  kSentTwoOdd,
  kHeld,  // within an AroundStep alone, and kept nowhere: of the model, of m and of v
  kHeldOne,
  kHeldTwo,
};
// How fast AdamW forgets m and v, in every island alike: shared moments are merged by it.
inline constexpr double kAdamBeta1 = 0.9;
inline constexpr double kAdamBeta2 = 0.95;
inline constexpr int kBufferCount = 19;
// The last are those that are kept nowhere.
inline constexpr int kHeldCount = 3;
[[nodiscard]] constexpr bool is_held(Buffer buffer) {
  return buffer >= Buffer::kHeld;
}

// How numbers travel. One definition for all places where vectors live; it is the protocol's, with
// one grid for the whole model.
enum class WireFormat : std::uint8_t {
  kF32,
  kBf16,  // eight bits, rounded to the nearest, ties to even; an edge's sums are rounded once more
  kI32,   // a multiple of 2^kGridExponent; sums are exact
};
inline constexpr int kGridExponent = -24;

// A share of a sum: of the island's own vector, or of everyone's.
struct Term {
  Buffer from = Buffer::kModel;
  double own = 1;
  // A row for each island of the move, a column for each island there is; empty: `own` times the
  // island's own vector.
  std::vector<double> mixing = {};
  // Of everyone's: that they came over, each rounded, and the others' sum of bf16 once more. Of
  // one's own: the term is what this rounds away.
  WireFormat wire = WireFormat::kF32;
  friend bool operator==(const Term&, const Term&) = default;
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
  int count = 1;           // so many parts, from `fragment` on
  std::int64_t grain = 1;  // parts begin at multiples of so many elements, as packets do
};

// What goes with an optimizer's step, element by element: each is moved by `before`, stepped, and
// moved by `after`. So vectors that differ by a step need no place each.
struct AroundStep {
  std::vector<VectorMove> before, after;
  [[nodiscard]] bool empty() const { return before.empty() && after.empty(); }
};

// Whether `next` is the same for the fragments that follow: one move then does for both.
[[nodiscard]] bool follows(const VectorMove& move, const VectorMove& next);

struct Span {
  std::int64_t first = 0;
  std::int64_t count = 0;
};
[[nodiscard]] inline Span span_of(int fragment, int fragments, std::int64_t elements,
                                  std::int64_t grain = 1, int count = 1) {
  const std::int64_t grains = (elements + grain - 1) / grain;
  const std::int64_t first = grains * fragment / fragments * grain;
  const std::int64_t end = grains * (fragment + count) / fragments * grain;
  return {first, (end < elements ? end : elements) - first};
}
[[nodiscard]] inline Span span_of(const VectorMove& move, std::int64_t elements) {
  return span_of(move.fragment, move.fragments, elements, move.grain, move.count);
}

// Where vectors live.
class Vectors {
 public:
  virtual ~Vectors() = default;
  virtual void apply(const VectorMove& move) = 0;
};

}  // namespace cotillion
