#include "plan/plan.hpp"

#include <algorithm>

namespace cotillion {

RealDuration sum_begins(const PlannedClique& clique, std::size_t member) {
  if (!clique.sums.empty()) return clique.sums[member];
  RealDuration last;
  for (const Stream& stream : clique.streams)
    for (const Arrival& arrival : stream.receivers)
      if (arrival.receiver == clique.islands[member])
        last = std::max(last, stream.offset + RealDuration(arrival.latency));
  return last;
}

RealDuration Plan::mean_length() const {
  RealDuration period;
  bool equal = true;
  for (const PlannedRound& each : rounds) {
    period = period + each.length;
    equal = equal && each.length == rounds[0].length;
  }
  return equal ? rounds[0].length : period / double(rounds.size());
}

}  // namespace cotillion
