// The accumulators beside memcpy in the same run: packets of 1408 bytes of payload, one behind the
// other as GRO lays them down, into slots that stay in the second-level cache and into a table far
// larger than any cache. Memory traffic is what a call reads and writes; the peer is the better of
// memcpy called for each packet and memcpy called once for all. Repetitions of everything are
// interleaved and the best of each counts, because machines are shared. Takes 0.9 GB of memory.
// Nothing here is asserted; docs/performance.md records it.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "protocol/accumulator.hpp"
#include "protocol/job.hpp"
#include "tests/support/base/benchmark_runs.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kPayload = payload_bytes(JobSpec{});
constexpr std::size_t kPacket = packet_bytes(kPayload);
constexpr std::size_t kLanes32 = kPayload / 4, kLanes16 = kPayload / 2;
constexpr int kRepetitions = 9;
constexpr int kBurst = 64;  // packets between two looks at the clock

// Where packets come from, f32 sums, and room for bytes of any meaning: integer sums, copies and
// what is emitted. Sums only ever see ordinary floats, so that no denormal slows a run.
class WorkingSet {
 public:
  explicit WorkingSet(std::size_t table)
      : table_(table),
        packets_(table / kPayload * kPacket / kBeatBytes + 1),
        sums_(packets_.size()),
        bytes_(packets_.size()) {
    const std::uint16_t one = 0x3f80;  // as bf16; a pair of them is 1.0019 as f32
    for (Beat& beat : packets_)
      for (std::size_t i = 0; i < kBeatBytes; i += 2) std::memcpy(&beat.bytes[i], &one, 2);
  }

  [[nodiscard]] std::size_t table_bytes() const { return table_; }
  [[nodiscard]] const std::byte* arrived(std::size_t k) const {
    return reinterpret_cast<const std::byte*>(packets_.data()) + k * kPacket + kHeaderBytes;
  }
  [[nodiscard]] std::byte* leaving(std::size_t k) { return bytes() + k * kPacket + kHeaderBytes; }
  [[nodiscard]] std::byte* sums() { return reinterpret_cast<std::byte*>(sums_.data()); }
  [[nodiscard]] std::byte* bytes() { return reinterpret_cast<std::byte*>(bytes_.data()); }

 private:
  struct alignas(kBeatBytes) Beat {
    std::array<std::byte, kBeatBytes> bytes{};
  };
  std::size_t table_;
  std::vector<Beat> packets_, sums_, bytes_;
};

const Accumulator& f32 = accumulator(Element::kF32);
const Accumulator& bf16 = accumulator(Element::kBf16);
const Accumulator& i32 = accumulator(Element::kI32);

// Memory traffic of one packet, in multiples of its payload. A store to a line that is in no cache
// first fetches it, unless it was read anyway: fills are those lines.
struct Work {
  const char* name;
  std::size_t slot_bytes;
  double read, written, fills;
  void (*run)(WorkingSet&, std::size_t);
};
using Set = WorkingSet;
constexpr std::size_t kWide = 2 * kPayload;
const std::vector<Work> kWorks = {
    {"memcpy each", kPayload, 1, 1, 1,
     [](Set& s, std::size_t k) { std::memcpy(s.bytes() + k * kPayload, s.arrived(k), kPayload); }},
    {"f32 write", kPayload, 1, 1, 1,
     [](Set& s, std::size_t k) { f32.write(s.sums() + k * kPayload, s.arrived(k), kLanes32, 1); }},
    {"f32 add", kPayload, 2, 1, 0,
     [](Set& s, std::size_t k) { f32.add(s.sums() + k * kPayload, s.arrived(k), kLanes32, 1); }},
    {"f32 add ×3", kPayload, 2, 1, 0,
     [](Set& s, std::size_t k) { f32.add(s.sums() + k * kPayload, s.arrived(k), kLanes32, 3); }},
    {"f32 emit", kPayload, 1, 1, 1,
     [](Set& s, std::size_t k) { f32.emit(s.leaving(k), s.sums() + k * kPayload, kLanes32); }},
    {"f32 finite", kPayload, 1, 0, 0,
     [](Set& s, std::size_t k) { benchmark::DoNotOptimize(f32.finite(s.arrived(k), kLanes32)); }},
    {"bf16 write", kWide, 1, 2, 2,
     [](Set& s, std::size_t k) { bf16.write(s.sums() + k * kWide, s.arrived(k), kLanes16, 1); }},
    {"bf16 add", kWide, 3, 2, 0,
     [](Set& s, std::size_t k) { bf16.add(s.sums() + k * kWide, s.arrived(k), kLanes16, 1); }},
    {"bf16 add ×3", kWide, 3, 2, 0,
     [](Set& s, std::size_t k) { bf16.add(s.sums() + k * kWide, s.arrived(k), kLanes16, 3); }},
    {"bf16 emit", kWide, 2, 1, 1,
     [](Set& s, std::size_t k) { bf16.emit(s.leaving(k), s.sums() + k * kWide, kLanes16); }},
    {"bf16 finite", kPayload, 1, 0, 0,
     [](Set& s, std::size_t k) { benchmark::DoNotOptimize(bf16.finite(s.arrived(k), kLanes16)); }},
    {"i32 write", kPayload, 1, 1, 1,
     [](Set& s, std::size_t k) { i32.write(s.bytes() + k * kPayload, s.arrived(k), kLanes32, 1); }},
    {"i32 add", kPayload, 2, 1, 0,
     [](Set& s, std::size_t k) { i32.add(s.bytes() + k * kPayload, s.arrived(k), kLanes32, 1); }},
    {"i32 add ×3", kPayload, 2, 1, 0,
     [](Set& s, std::size_t k) { i32.add(s.bytes() + k * kPayload, s.arrived(k), kLanes32, 3); }},
    {"i32 emit", kPayload, 1, 1, 1,
     [](Set& s, std::size_t k) { i32.emit(s.leaving(k), s.sums() + k * kPayload, kLanes32); }},
};
const char* const kAtOnce = "memcpy once";

void run_packets(benchmark::State& state, WorkingSet& set, const Work& work) {
  const std::size_t slots = set.table_bytes() / work.slot_bytes;
  std::size_t k = 0;
  for (auto _ : state) {
    for (int i = 0; i < kBurst; ++i) {
      work.run(set, k);
      k = k + 1 == slots ? 0 : k + 1;
    }
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * kBurst * std::int64_t(kPayload));
}

void run_at_once(benchmark::State& state, WorkingSet& set) {
  for (auto _ : state) {
    std::memcpy(set.bytes(), set.arrived(0), set.table_bytes());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * std::int64_t(set.table_bytes()));
}

// Out of cache a second ratio counts the fills as well; copied at once, a table is streamed past
// the caches and has none.
void print_table(const std::string& where, bool out_of_cache, const testing::BenchmarkRuns& runs) {
  // In GB of payload per second.
  const auto payload = [&](const char* name) {
    return runs.rate(where + name, "bytes_per_second") / 1e9;
  };
  const double once = 2 * payload(kAtOnce), each = 2 * payload(kWorks[0].name);
  fmt::print("\n{:36} {:>9} {:>9} {:>9}{}\n", where, "payload", "traffic", "÷ memcpy",
             out_of_cache ? "  with fills" : "");
  const auto line = [&](const char* name, double traffic, double fills) {
    const double rate = payload(name);
    if (rate == 0) return;
    fmt::print("  {:34} {:4.1f} GB/s {:4.0f} GB/s {:9.2f}", name, rate, rate * traffic,
               rate * traffic / std::max(once, each));
    if (out_of_cache)
      fmt::print(" {:11.2f}", rate * (traffic + fills) / std::max(once, 1.5 * each));
    fmt::print("\n");
  };
  line(kAtOnce, 2, 0);
  for (const Work& work : kWorks) line(work.name, work.read + work.written, work.fills);
}

}  // namespace
}  // namespace cotillion

int main(int argc, char** argv) {
  using namespace cotillion;
  const bool smoke = cotillion::testing::take_smoke(argc, argv);
  cotillion::testing::initialize_benchmarks(argc, argv, smoke, ".", true);

  const std::string near = "in the second-level cache", far = "in a table of 256 MB";
  WorkingSet small(128 * kPayload), large((smoke ? 1 : 256) << 20);
  for (const auto& [where, set] : {std::pair(near, &small), std::pair(far, &large)}) {
    const auto repeat = [&](benchmark::internal::Benchmark* each) {
      if (!smoke) each->Repetitions(kRepetitions)->MinTime(0.08);
    };
    for (const Work& work : kWorks)
      repeat(benchmark::RegisterBenchmark(
          (where + work.name).c_str(),
          [&work, set = set](benchmark::State& state) { run_packets(state, *set, work); }));
    repeat(benchmark::RegisterBenchmark(
        (where + kAtOnce).c_str(),
        [set = set](benchmark::State& state) { run_at_once(state, *set); }));
  }
  cotillion::testing::BenchmarkRuns runs(cotillion::testing::BenchmarkRuns::Show::kErrors);
  benchmark::RunSpecifiedBenchmarks(&runs);
  fmt::print("kernels for {}, best of {} repetitions\n",
             hwy::TargetName(hwy::SupportedAndGeneratedTargets().front()),
             smoke ? 1 : kRepetitions);
  print_table(near, false, runs);
  print_table(far, true, runs);
  return runs.failed() ? 1 : 0;
}
