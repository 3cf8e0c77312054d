// Whether rounds keep their time while strangers send ten thousand small bad packets a second into
// the edge: how long after its last planned departure a round is whole at the island, with the
// flood and without it, taking turns. Real sockets on loopback; seals are tags.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tests/support/daemon/flood.hpp"

namespace cotillion {
namespace {

int measure() {
  using testing::Flood;
  using testing::LoopbackRig;

  testing::RigSettings settings;
  settings.authenticated = true;
  settings.beats = 1;  // so that replayed packets are small too
  settings.elements = 16'000;
  settings.rate = {10e6};
  LoopbackRig rig(settings);
  constexpr int kRounds = 60;
  std::vector<double> late[2];
  std::vector<std::vector<std::byte>> heard;
  std::optional<Flood> flood;
  std::uint64_t bad = 0;
  for (RoundId round = 1; round <= kRounds + 1; ++round) {
    const bool flooded = round % 2 == 0;
    if (flooded) flood.emplace(rig, heard);
    rig.open_round(round);
    const Instant opened = rig.clock().now();
    if (!rig.pump_until_whole()) {
      fmt::print("round {} never was whole\n", round);
      return 1;
    }
    const JobSpec& job = rig.islands().job();
    const RealDuration length =
        transfer_time({std::int64_t(chunk_count(job) * payload_bytes(job))}, settings.rate);
    if (round > 1)  // the first warms up
      late[flooded ? 1 : 0].push_back((RealDuration(rig.clock().now() - opened) - length).ms());
    rig.islands().expect_exact();
    if (round == 1) heard.assign(rig.islands().sent().begin(), rig.islands().sent().end());
    if (flood) {
      flood->stop();
      bad += flood->sent();
      flood.reset();
    }
  }
  rig.host().stop();
  const EdgeReading reading = rig.host().reading();
  const std::uint64_t chunks = chunk_count(rig.islands().job());
  fmt::print("{} rounds of {} chunks from three islands; every sum exact: {}\n", kRounds, chunks,
             reading[EdgeCount::kAccepted] == 3 * chunks * (kRounds + 1) ? "yes" : "NO");
  fmt::print("{:>9} {:>14} {:>14}\n", "", "median late ms", "worst late ms");
  for (const int flooded : {0, 1}) {
    std::sort(late[flooded].begin(), late[flooded].end());
    fmt::print("{:>9} {:>14.2f} {:>14.2f}\n", flooded == 1 ? "flooded" : "quiet",
               late[flooded][late[flooded].size() / 2], late[flooded].back());
  }
  fmt::print("{} bad packets: {} malformed, {} forged, {} duplicate, {} stale, {} unexpected\n",
             bad, reading[HostCount::kMalformed] + reading[HostCount::kForeign],
             reading[EdgeCount::kForged], reading[EdgeCount::kDuplicates],
             reading[EdgeCount::kStaleRound], reading[EdgeCount::kUnexpected]);
  return 0;
}

}  // namespace
}  // namespace cotillion

int main() {
  return cotillion::measure();
}
