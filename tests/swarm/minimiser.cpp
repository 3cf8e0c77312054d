#include "tests/swarm/minimiser.hpp"

#include "base/check.hpp"

namespace cotillion::testing {

Minimised minimised(SwarmCase failing, const FailsBy& fails_by) {
  Minimised result;
  result.invariant = fails_by(failing);
  COTILLION_CHECK(!result.invariant.empty());
  result.smallest = std::move(failing);
  const auto step = [&](const Simpler& simpler) {
    for (SwarmCase& candidate : simpler(result.smallest)) {
      ++result.tried;
      if (fails_by(candidate) != result.invariant) continue;
      ++result.kept;
      result.smallest = std::move(candidate);
      return true;
    }
    return false;
  };
  // What one kind of step makes possible another may have refused before.
  for (bool shrunk = true; shrunk;) {
    shrunk = false;
    for (const Simpler& simpler : simpler_cases())
      while (step(simpler)) shrunk = true;
  }
  return result;
}

}  // namespace cotillion::testing
