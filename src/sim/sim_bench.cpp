// The packet simulator beside ns-3: the nine cities' rounds of one gigabyte, larger and larger
// generated maps, and one round that both play in the same run, on the same trees with the same
// packets leaving at the same picoseconds. The bench stops if the two disagree about what was
// delivered. Processor time of one core; repetitions are interleaved and the best of each counts,
// because machines are shared. Nothing here is asserted; docs/performance.md records it.
#include <fmt/format.h>
#include <malloc.h>

#include <array>
#include <ctime>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "sim/simulation.hpp"
#include "tests/peers/ns3_peer.hpp"
#include "tests/support/base/benchmarks.hpp"
#include "tests/support/plan/plans.hpp"
#include "topology/generate_map.hpp"

namespace cotillion {
namespace {

constexpr Bytes kPlenty{32'000'000'000};
constexpr Bytes kChunk{8192};
constexpr Duration kAgree{1'000'000};  // 1 µs, less than the time of one packet on an access lane

// How much is played.
struct Sizes {
  int repetitions = 3;
  Bytes round{1'000'000'000};
  Bytes beside_ns3{100'000'000};
  std::int64_t hops_of_growth = 8'000'000;
  int islands_most = 100;
};

double processor_seconds() {
  return double(std::clock()) / CLOCKS_PER_SEC;
}

// What earlier runs left behind is given back, and the kernel starts its peak anew.
void forget_peak() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
}

double peak_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:") {
      double kilobytes = 0;
      status >> kilobytes;
      return kilobytes / 1e3;
    }
  return 0;
}

struct Run {
  Outcome outcome;
  double seconds = 0;
  double megabytes = 0;

  [[nodiscard]] double rate() const { return double(outcome.hops) / seconds / 1e6; }
};

// Set-up included.
Run played(const PlanFile& plan, int rounds) {
  SimulationSettings settings;
  settings.rounds = rounds;
  forget_peak();
  const double begin = processor_seconds();
  auto outcome = simulate(plan, settings);
  const double seconds = processor_seconds() - begin;
  COTILLION_CHECK(outcome.has_value());
  for (const RoundOutcome& round : outcome->rounds) COTILLION_CHECK(round.absences.empty());
  return {std::move(*outcome), seconds, peak_megabytes()};
}

Run best_of(const PlanFile& plan, int rounds, int repetitions) {
  Run best = played(plan, rounds);
  for (int k = 1; k < repetitions; ++k)
    if (Run again = played(plan, rounds); again.seconds < best.seconds) best = std::move(again);
  return best;
}

// Lanes that one chunk of everybody passes: trees, then what edges send on.
std::int64_t lanes_of_a_chunk(const PlanFile& plan, std::size_t round) {
  std::int64_t lanes = 0;
  for (const PlannedClique& clique : plan.plan.rounds[round].cliques)
    for (const Stream& stream : clique.streams)
      lanes += std::int64_t(stream.tree.size() + plan.ingress[stream.sender].lanes.size());
  return lanes;
}

void nine_cities(const Sizes& sizes) {
  fmt::print("nine cities, one round of {} in chunks of {} bytes, best of {}\n",
             to_text(sizes.round), kChunk.count, sizes.repetitions);
  fmt::print("{:24}{:>12}{:>12}{:>9}{:>16}{:>9}\n", "schedule, memory", "hops", "events", "s",
             "million hops/s", "peak MB");
  const std::array<std::pair<const char*, Bytes>, 3> scenes = {
      {{"all-to-all", kPlenty}, {"triangles", {0}}, {"pairs", {0}}}};
  for (const auto& [schedule, memory] : scenes) {
    const Run run =
        best_of(testing::nine_city_plan(schedule, memory, sizes.round), 1, sizes.repetitions);
    fmt::print("{:24}{:12}{:12}{:9.2f}{:16.2f}{:9.0f}\n",
               fmt::format("{}, {}", schedule, to_text(memory)), run.outcome.hops,
               run.outcome.events, run.seconds, run.rate(), run.megabytes);
  }
}

void growth(const Sizes& sizes) {
  fmt::print("\ngenerated maps, one period, payloads for about {} million hops\n",
             sizes.hops_of_growth / 1'000'000);
  fmt::print("{:8}{:>7}  {:12}{:>7}{:>12}{:>12}{:>9}{:>16}{:>9}\n", "islands", "lanes", "schedule",
             "rounds", "payload", "hops", "s", "million hops/s", "peak MB");
  const std::vector<std::pair<const char*, std::vector<int>>> scenes = {
      {"grid", {10, 25, 50, 100}}, {"pairs", {10, 25, 50, 100}}, {"all-to-all", {10, 25, 50, 64}}};
  for (const auto& [schedule, counts] : scenes)
    for (const int islands : counts) {
      if (islands > sizes.islands_most) continue;
      Map map = testing::with_memory(generate_map(islands, 1), kPlenty);
      map.payload = kChunk;
      const PlanFile draft = testing::plan_file(map, schedule);
      std::int64_t lanes = 0;
      for (std::size_t k = 0; k < draft.plan.rounds.size(); ++k)
        lanes += lanes_of_a_chunk(draft, k);
      map.payload = std::max<std::int64_t>(1, sizes.hops_of_growth / lanes) * kChunk;
      const PlanFile plan = testing::plan_file(map, schedule);
      const Run run = played(plan, int(plan.plan.rounds.size()));
      fmt::print("{:<8}{:7}  {:12}{:7}{:>12}{:12}{:9.2f}{:16.2f}{:9.0f}\n", islands,
                 map.lane_count(), schedule, plan.plan.rounds.size(), to_text(map.payload),
                 run.outcome.hops, run.seconds, run.rate(), run.megabytes);
    }
}

// Both must have carried everything, and agree on when the last of it arrived.
void beside_ns3(const Sizes& sizes) {
  using testing::Ns3Run;
  using testing::Ns3Way;
  constexpr std::array kWays = {Ns3Way::kIp, Ns3Way::kFrames, Ns3Way::kEvents};
  const PlanFile plan = testing::nine_city_plan("all-to-all", kPlenty, sizes.beside_ns3);
  const std::int64_t chunks = (sizes.beside_ns3.count + kChunk.count - 1) / kChunk.count;
  const std::int64_t islands = plan.map.island_count();
  const auto hops = double(chunks * lanes_of_a_chunk(plan, 0));
  fmt::print("\nnine cities, all-to-all, one round of {}, best of {}, in the same run\n",
             to_text(sizes.beside_ns3), sizes.repetitions);

  std::optional<Run> ours;
  std::array<std::optional<Ns3Run>, kWays.size()> theirs;
  for (int k = 0; k < sizes.repetitions; ++k) {
    Run run = played(plan, 1);
    if (!ours || run.seconds < ours->seconds) ours = std::move(run);
    for (std::size_t way = 0; way < kWays.size(); ++way) {
      const auto other = testing::play_in_ns3(plan, kWays[way]);
      if (!other) return fmt::print("ns-3 is not installed: apt install libns3-dev\n");
      COTILLION_CHECK(double(other->hops) == hops);
      COTILLION_CHECK(std::int64_t(other->heard) == islands * (islands - 1) * chunks);
      COTILLION_CHECK(std::int64_t(other->sums) == islands * chunks);
      if (!theirs[way] || other->seconds < theirs[way]->seconds) theirs[way] = other;
    }
  }

  const Duration measured = ours->outcome.rounds.front().measured;
  fmt::print("{:24}{:>12}{:>12}{:>9}{:>16}{:>16}{:>8}\n", "", "hops", "events", "s",
             "million hops/s", "last arrival ms", "ours ÷");
  fmt::print("{:24}{:12.0f}{:12}{:9.3f}{:16.2f}{:16.6f}\n", "Cotillion", hops, ours->outcome.events,
             ours->seconds, hops / ours->seconds / 1e6, measured.ms());
  for (std::size_t way = 0; way < kWays.size(); ++way) {
    const Ns3Run& run = *theirs[way];
    fmt::print("{:24}{:12}{:12}{:9.3f}{:16.2f}{:16.6f}{:8.1f}\n",
               fmt::format("ns-3, {}", name_of(kWays[way])), run.hops, run.events, run.seconds,
               hops / run.seconds / 1e6, run.measured.ms(), run.seconds / ours->seconds);
    const Duration apart = std::max(run.measured - measured, measured - run.measured);
    COTILLION_CHECK(apart <= kAgree);
  }
  fmt::print("ours counts {} more hops: announcements, which take no time on the wire\n",
             std::int64_t(ours->outcome.hops) - std::int64_t(hops));
}

}  // namespace
}  // namespace cotillion

// --quick: only the nine cities.
int main(int argc, char** argv) {
  using namespace cotillion;
  Sizes sizes;
  if (cotillion::testing::take_smoke(argc, argv))
    sizes = {1, {10'000'000}, {1'000'000}, 20'000, 25};
  nine_cities(sizes);
  if (argc > 1 && std::string(argv[1]) == "--quick") return 0;
  beside_ns3(sizes);
  growth(sizes);
  return 0;
}
