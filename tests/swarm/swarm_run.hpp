// Plays a case of the swarm and says what does not hold.
#pragma once

#include <functional>

#include "tests/swarm/swarm_checks.hpp"

namespace cotillion::testing {

struct Verdict {
  bool playable = true;  // false: some room refused it, `wrong.what` says why
  Wrong wrong;
  Tally tally;

  [[nodiscard]] bool holds() const { return wrong.invariant.empty(); }
};

// A play, for tests that compare two of them.
struct Played {
  Verdict verdict;
  Outcome outcome;
  std::vector<std::vector<double>> averages;  // by round, island and chunk; empty: not merged
};
[[nodiscard]] Played played(const SwarmCase& swarm);

[[nodiscard]] Verdict examined(const SwarmCase& swarm);
// Plays it twice, and compares all bytes of the outcomes; then without observers and faults of
// lanes, in partitions and all together.
[[nodiscard]] Verdict examined_twice(const SwarmCase& swarm);
// The seed's own case; some seeds are played twice.
[[nodiscard]] Verdict examined(std::uint64_t seed);

// The same in a process of its own, so that a play which ends its process, or never ends, is a
// verdict like any other.
[[nodiscard]] Verdict in_a_child(const std::function<Verdict()>& examine);

// Why a seed fails, how to play it again, and the smallest case that fails by the same; empty
// where it holds.
[[nodiscard]] std::string failure_text(std::uint64_t seed);
// The smallest case that fails as this one does.
[[nodiscard]] std::string smallest_text(const SwarmCase& failing, bool twice = false);

// Until the next call, a process that aborts says this first: how to come here again.
void announce_on_abort(const std::string& command);
[[nodiscard]] std::string replay_command_of(std::uint64_t seed);

}  // namespace cotillion::testing
