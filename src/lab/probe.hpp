// The lab without the schedule: real packets over every link alone, and along every stream's tree
// of every round, at the planned rate, with nobody summing. It tells how exact the emulated links
// are as seen from outside, and that multicast is real: each stream crosses each link of its tree
// once, and no other link.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/world.hpp"

namespace cotillion {

struct ProbeSettings {
  int trains = 9;                  // over each link alone
  Duration train{50'000'000'000};  // how long one takes on the wire, about
  int rounds = 0;                  // of the plan; 0: one period
  // How long to wait for what should have come, beyond its time.
  Duration timeout{500'000'000'000};
};

// Errors of values that were measured one by one.
struct ErrorSpread {
  std::size_t count = 0;
  double median = 0, p99 = 0, worst = 0;  // by absolute value, but the median with its sign
};
[[nodiscard]] ErrorSpread error_spread(std::vector<double> errors);

// Trains of packets over one lane alone, from the kernel at its start to the kernel at its end.
struct LaneMeasure {
  LaneId lane = 0;
  std::size_t sent = 0, came = 0;  // packets
  ErrorSpread delay_ms;            // first packets: later than rate and latency say
  ErrorSpread rate;                // whole trains: relative; above zero is too fast
};

// One lane's share of the streams.
struct LaneCrossing {
  LaneId lane = 0;
  std::uint64_t expected = 0, seen = 0;  // packets of streams
  std::uint64_t elsewhere = 0;           // of streams that have no business here
  std::uint64_t others = 0;
};

struct ProbeOutcome {
  std::vector<LaneMeasure> links;
  std::vector<LaneCrossing> crossings;
  int rounds = 0;
  std::size_t streams = 0;               // sent, over all rounds
  std::uint64_t sent = 0;                // packets into trees
  std::uint64_t expected = 0, came = 0;  // copies at listeners
  ErrorSpread delay_ms;                  // of streams from end to end, waiting for others included
  ErrorSpread rate;                      // of streams where they are heard, relative
  ErrorSpread sender_ms;                 // how late the probe itself sent
  std::vector<std::string> problems;     // sentences; empty: multicast is real
  WanCounters trains_counters, streams_counters;  // what the emulator says of itself
  double load = 0;                                // of the machine, before: the mean of a minute
  int cores = 0;
};

// Stops early, with an error, when it is asked to end.
[[nodiscard]] Result<ProbeOutcome> probe(World& world, const ProbeSettings& settings);

}  // namespace cotillion
