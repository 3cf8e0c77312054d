// What it costs to end slots in time, per packet: the DeadlinePointer of an edge, which walks the
// chunks in the order in which the plan says they are due, beside a timer for every slot as in the
// paper, in a binary heap with lazy deletion and in a hashed wheel with unlinking.
// All three put out the same slots of the same arrivals, bookkeeping only; a line without any
// deadline shows what they add, and adding 1408 bytes of f32 shows what a packet costs anyway.
// Repetitions are interleaved and the best of each counts, because machines are shared. Takes 0.6
// GB of memory. Nothing here is asserted; docs/performance.md records it.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "protocol/accumulator.hpp"
#include "protocol/aligned_bytes.hpp"
#include "protocol/job.hpp"
#include "tests/support/base/benchmark_runs.hpp"

namespace cotillion {
namespace {

constexpr int kRepetitions = 7;
constexpr std::int64_t kStep = 1000;  // ps between the chunks of one stream
constexpr std::int64_t kSteps = 64;   // between two looks at the clock

struct Slot {
  std::uint64_t key = 0;
  std::uint64_t mask = 0;  // 0: free
  std::uint32_t weight = 0;
};

// How slots are ended. `wait` is from the first arrival, or its plan, to the deadline.
class Nothing {
 public:
  Nothing(std::vector<Slot>&, std::int64_t) {}
  void opened(std::size_t, std::int64_t) {}
  void closed(std::size_t) {}
  template <class Expire>
  void advance(std::int64_t, Expire) {}
};

class Pointer {
 public:
  Pointer(std::vector<Slot>& slots, std::int64_t wait) : slots_(slots), due_at_(wait) {}
  void opened(std::size_t, std::int64_t) {}
  void closed(std::size_t) {}
  template <class Expire>
  void advance(std::int64_t now, Expire expire) {
    for (; due_at_ <= now; ++due_, due_at_ += kStep) {
      const std::size_t slot = due_ % slots_.size();
      if (slots_[slot].mask != 0 && slots_[slot].key == due_) expire(slot);
    }
  }

 private:
  std::vector<Slot>& slots_;
  std::uint64_t due_ = 0;
  std::int64_t due_at_;
};

class Heap {
 public:
  Heap(std::vector<Slot>& slots, std::int64_t wait) : slots_(slots), wait_(wait) {}
  void opened(std::size_t slot, std::int64_t now) {
    timers_.push({now + wait_, slots_[slot].key, std::uint32_t(slot)});
  }
  void closed(std::size_t) {}
  template <class Expire>
  void advance(std::int64_t now, Expire expire) {
    for (; !timers_.empty() && timers_.top().at <= now; timers_.pop()) {
      const Timer& timer = timers_.top();
      if (slots_[timer.slot].mask != 0 && slots_[timer.slot].key == timer.key) expire(timer.slot);
    }
  }

 private:
  struct Timer {
    std::int64_t at;
    std::uint64_t key;
    std::uint32_t slot;
    bool operator>(const Timer& other) const { return at > other.at; }
  };
  std::vector<Slot>& slots_;
  std::int64_t wait_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
};

class Wheel {
 public:
  Wheel(std::vector<Slot>& slots, std::int64_t wait)
      : tick_(wait / (kSpokes / 2)),
        wait_ticks_(std::uint64_t(wait / tick_)),
        slots_(slots.size()),
        links_(slots.size() + kSpokes),
        next_tick_at_(tick_) {
    for (std::size_t i = 0; i < links_.size(); ++i)
      links_[i] = {std::uint32_t(i), std::uint32_t(i)};
  }
  void opened(std::size_t slot, std::int64_t) {
    const std::size_t head = slots_ + (ticks_ + wait_ticks_) % kSpokes;
    const std::uint32_t last = links_[head].previous;
    links_[slot] = {std::uint32_t(head), last};
    links_[last].next = links_[head].previous = std::uint32_t(slot);
  }
  void closed(std::size_t slot) {
    const Link link = links_[slot];
    links_[link.previous].next = link.next;
    links_[link.next].previous = link.previous;
  }
  template <class Expire>
  void advance(std::int64_t now, Expire expire) {
    for (; next_tick_at_ <= now; next_tick_at_ += tick_) {
      const std::size_t head = slots_ + ++ticks_ % kSpokes;
      while (links_[head].next != head) {
        const std::size_t slot = links_[head].next;
        closed(slot);
        expire(slot);
      }
    }
  }

 private:
  static constexpr std::int64_t kSpokes = 1024;
  struct Link {
    std::uint32_t next, previous;
  };
  std::int64_t tick_;
  std::uint64_t wait_ticks_;
  std::size_t slots_;
  std::vector<Link> links_;  // of slots, then of spokes
  std::uint64_t ticks_ = 0;
  std::int64_t next_tick_at_;
};

// Contributors run evenly apart, so that a quarter of the slots are open; one packet in a thousand
// is lost, and its slot waits for the deadline.
template <class Deadlines>
class Arrivals {
 public:
  Arrivals(std::size_t slots, int contributors)
      : slots_(slots),
        contributors_(contributors),
        skew_(std::int64_t(slots) / 4 / (contributors - 1)),
        deadlines_(slots_, kStep * std::int64_t(slots) / 2) {
    for (std::size_t warm = 0; warm < 4 * slots; warm += kSteps) run();
  }

  void run() {
    for (std::int64_t end = step_ + kSteps; step_ < end; ++step_)
      for (int bit = 0; bit < contributors_; ++bit)
        if (const std::int64_t chunk = step_ - bit * skew_; chunk >= 0)
          arrive(step_ * kStep, std::uint64_t(chunk), bit);
  }

  [[nodiscard]] double expired_share() const { return double(expired_) / double(opened_); }

 private:
  void arrive(std::int64_t now, std::uint64_t key, int bit) {
    deadlines_.advance(now, [this](std::size_t slot) {
      slots_[slot].mask = 0;
      ++expired_;
    });
    if (((key * 0x9e3779b97f4a7c15u) >> 40u) % 1000 == std::uint64_t(bit)) return;
    const std::size_t index = key % slots_.size();
    Slot& slot = slots_[index];
    if (slot.mask == 0 || slot.key != key) {
      if (slot.mask != 0) deadlines_.closed(index);
      slot = {key, 0, 0};
      ++opened_;
      deadlines_.opened(index, now);
    }
    slot.mask |= std::uint64_t(1) << unsigned(bit);
    if (++slot.weight < std::uint32_t(contributors_)) return;
    slot.mask = 0;
    deadlines_.closed(index);
  }

  std::vector<Slot> slots_;
  int contributors_;
  std::int64_t skew_;
  Deadlines deadlines_;
  std::int64_t step_ = 0;
  std::uint64_t opened_ = 0, expired_ = 0;
};

struct Scene {
  std::string name;
  std::size_t slots;
  int contributors;
};

// Repetitions that are interleaved; a smoke run needs only one.
using Repeat = void (*)(benchmark::internal::Benchmark*);
void repeat(benchmark::internal::Benchmark* each) {
  each->Repetitions(kRepetitions)->MinTime(0.05);
}
void once(benchmark::internal::Benchmark*) {}

template <class Deadlines>
double add(const Scene& scene, const char* name, Repeat repeated) {
  auto arrivals = std::make_shared<Arrivals<Deadlines>>(scene.slots, scene.contributors);
  const double expired = arrivals->expired_share();
  repeated(benchmark::RegisterBenchmark(
      (scene.name + name).c_str(), [arrivals, scene](benchmark::State& state) {
        for (auto _ : state) arrivals->run();
        state.SetItemsProcessed(state.iterations() * kSteps * scene.contributors);
      }));
  return expired;
}

void add_sums(const std::string& name, std::size_t slots, Repeat repeated) {
  constexpr std::size_t kPayload = payload_bytes(JobSpec{});
  auto sums = std::make_shared<AlignedBytes>(slots * kPayload);
  std::fill_n(sums->at(0), sums->size(), std::byte(0));
  auto packet = std::make_shared<std::vector<float>>(kPayload / 4, 1.0f);
  repeated(
      benchmark::RegisterBenchmark(name.c_str(), [sums, packet, slots](benchmark::State& state) {
        const Accumulator& f32 = accumulator(Element::kF32);
        std::size_t slot = 0;
        for (auto _ : state)
          for (std::int64_t i = 0; i < kSteps; ++i, slot = slot + 1 == slots ? 0 : slot + 1)
            f32.add(sums->at(slot * kPayload), reinterpret_cast<const std::byte*>(packet->data()),
                    kPayload / 4, 1);
        state.SetItemsProcessed(state.iterations() * kSteps);
      }));
}

}  // namespace
}  // namespace cotillion

int main(int argc, char** argv) {
  using namespace cotillion;
  const bool smoke = cotillion::testing::take_smoke(argc, argv);
  cotillion::testing::initialize_benchmarks(argc, argv, smoke, ".", true);
  const Repeat repeated = smoke ? once : repeat;

  std::vector<std::pair<const char*, std::size_t>> sizes = {{"8 Ki slots", std::size_t(1) << 13}};
  if (!smoke) sizes.emplace_back("1 Mi slots", std::size_t(1) << 20);
  std::vector<Scene> scenes;
  for (const auto& [where, slots] : sizes)
    for (const int contributors : {2, 8})
      scenes.push_back(
          {fmt::format("{}, {} contributors", where, contributors), slots, contributors});
  std::map<std::string, double> expired;
  for (const Scene& scene : scenes) {
    add<Nothing>(scene, ", none", repeated);
    expired[scene.name] = add<Pointer>(scene, ", pointer", repeated);
    // The same slots end, give or take those on the brink.
    for (const double other :
         {add<Heap>(scene, ", heap", repeated), add<Wheel>(scene, ", wheel", repeated)})
      COTILLION_CHECK(other > 0.9 * expired[scene.name] && other < 1.1 * expired[scene.name]);
  }
  const std::string near = "f32 add, 128 slots", far = "f32 add, 256 MB";
  add_sums(near, 128, repeated);
  add_sums(far, ((smoke ? 1 : 256) << 20) / payload_bytes(JobSpec{}), repeated);
  cotillion::testing::BenchmarkRuns runs(cotillion::testing::BenchmarkRuns::Show::kErrors);
  benchmark::RunSpecifiedBenchmarks(&runs);
  const auto ns = [&](const std::string& name) {
    const double rate = runs.rate(name, "items_per_second");
    return rate > 0 ? 1e9 / rate : 0;
  };
  if (ns(near) == 0) return runs.failed() ? 1 : 0;  // a filter has left it out

  fmt::print(
      "ns per packet, best of {}; in brackets what deadlines add, and all ÷ with the pointer\n",
      smoke ? 1 : kRepetitions);
  for (const Scene& scene : scenes) {
    const double none = ns(scene.name + ", none"), pointer = ns(scene.name + ", pointer");
    fmt::print("{:27} none {:.2f}", scene.name, none);
    for (const char* name : {", pointer", ", heap", ", wheel"}) {
      const double here = ns(scene.name + name);
      fmt::print("{} {:.2f} (+{:.2f}, ×{:.2f})", name, here, here - none, here / pointer);
    }
    fmt::print(", {:.2f} % of slots end by deadline\n", 100 * expired[scene.name]);
  }
  fmt::print("a packet of 1408 bytes added to its slot: {:.1f} ns in cache, {:.1f} ns out of it\n",
             ns(near), ns(far));
  return runs.failed() ? 1 : 0;
}
