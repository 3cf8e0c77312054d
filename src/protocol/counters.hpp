// What happened at an edge, a sender or a receiver, by name. The network's misbehaviour is counted
// here and nowhere logged: one word to add to, on a path of nanoseconds. The names are those of
// the metrics.
#pragma once

#include <array>
#include <cstdint>

namespace cotillion {

enum class EdgeCount : std::uint8_t {
  kAccepted,           // contributions that entered a sum
  kResults,            // chunks that went out whole: the paper's completion
  kTimeouts,           // slots put out by their deadline
  kConflicts,          // slots put out by a newer chunk: the window was exceeded
  kCompletedPartials,  // the last part of a chunk of which parts went before
  kLate,               // contributions passed through after their deadline or window
  kDuplicates,         // all of its contributors had been seen
  kOverlaps,           // some of its contributors had been seen
  kForged,             // the seal does not hold
  kUnknownBoot,        // from a source that has not announced itself
  kUnexpected,         // epoch, clique, contributor, weight, element or exponent not expected
  kStaleRound,         // a round that is not live
  kNotFinite,          // a NaN or an infinity in the payload
  kOverRate,           // beyond the job's share of the edge
  kOutputs,            // sums sent in
  kResends,            // sums sent in again
  kResendsSpared,      // asked for while the answer was under way
  kGone,               // asked for and no longer kept
  kRepairsAsked,       // 0: contributions are not asked for (docs/decisions/0045)
  kRepaired,           // contributions that came marked as sent again
  kCount
};
inline constexpr std::size_t kEdgeCounts = std::size_t(EdgeCount::kCount);
[[nodiscard]] const char* name_of(EdgeCount count);  // "not_finite"

enum class ReceiverCount : std::uint8_t {
  kPlaced,       // sums taken in
  kWhole,        // of them, chunks that came in one piece
  kLate,         // came after their fragment was merged
  kTooLate,      // nowhere to keep them any more
  kDuplicates,   // all of its contributors had been seen
  kOverlaps,     // some of its contributors had been seen
  kMalformed,    // no packet of this protocol, or of a length that does not fit
  kForged,       // the seal does not hold
  kUnknownBoot,  // before the edge announced itself
  kUnexpected,   // job, epoch, clique, contributor, weight, element or exponent not expected
  kStaleRound,   // a round that is not live
  kNotFinite,    // a NaN or an infinity in the payload
  kAsked,        // sequences asked for
  kGone,         // answered: no longer kept
  kRestarts,     // of the edge
  kUnmerged,     // fragments whose correction nobody took before its place was needed
  kOvertaken,    // fragments, and late chunks, that came after the next copy of the fragment
  kCount
};
inline constexpr std::size_t kReceiverCounts = std::size_t(ReceiverCount::kCount);
[[nodiscard]] const char* name_of(ReceiverCount count);

template <class Which, std::size_t kSize>
class Counters {
 public:
  void add(Which which, std::uint64_t by = 1) { counts_[std::size_t(which)] += by; }
  void add(const Counters& others) {
    for (std::size_t i = 0; i < kSize; ++i) counts_[i] += others.counts_[i];
  }
  [[nodiscard]] std::uint64_t operator[](Which which) const { return counts_[std::size_t(which)]; }

 private:
  std::array<std::uint64_t, kSize> counts_{};
};
using EdgeCounters = Counters<EdgeCount, kEdgeCounts>;
using ReceiverCounters = Counters<ReceiverCount, kReceiverCounts>;

}  // namespace cotillion
