// What it costs to end slots in time, per packet: the deadline pointer of Aggregation::expire,
// which walks the chunks in the order in which the plan says they are due, beside a timer for every
// slot as in the paper, in a binary heap with lazy deletion and in a hashed wheel with unlinking.
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

// Remembers the best time of a packet of each name, in ns.
class Remember : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      const auto rate = run.counters.find("items_per_second");
      if (run.run_type != Run::RT_Iteration || rate == run.counters.end()) continue;
      auto [best, first] = ns.try_emplace(run.run_name.function_name, 1e9 / rate->second);
      if (!first) best->second = std::min(best->second, 1e9 / rate->second);
    }
  }
  std::map<std::string, double> ns;
};

void repeat(benchmark::internal::Benchmark* each) {
  each->Repetitions(kRepetitions)->MinTime(0.05);
}

struct Scene {
  std::string name;
  std::size_t slots;
  int contributors;
};

template <class Deadlines>
double add(const Scene& scene, const char* name) {
  auto arrivals = std::make_shared<Arrivals<Deadlines>>(scene.slots, scene.contributors);
  const double expired = arrivals->expired_share();
  repeat(benchmark::RegisterBenchmark(
      (scene.name + name).c_str(), [arrivals, scene](benchmark::State& state) {
        for (auto _ : state) arrivals->run();
        state.SetItemsProcessed(state.iterations() * kSteps * scene.contributors);
      }));
  return expired;
}

void add_sums(const std::string& name, std::size_t slots) {
  constexpr std::size_t kPayload = payload_bytes(JobSpec{});
  auto sums = std::make_shared<AlignedBytes>(slots * kPayload);
  std::fill_n(sums->at(0), sums->size(), std::byte(0));
  auto packet = std::make_shared<std::vector<float>>(kPayload / 4, 1.0f);
  repeat(benchmark::RegisterBenchmark(name.c_str(), [sums, packet, slots](benchmark::State& state) {
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
  std::vector<char*> arguments(argv, argv + argc);
  char interleave[] = "--benchmark_enable_random_interleaving=true";
  arguments.insert(arguments.begin() + 1, interleave);
  int count = int(arguments.size());
  benchmark::Initialize(&count, arguments.data());

  std::vector<Scene> scenes;
  for (const auto& [where, slots] : {std::pair("8 Ki slots", std::size_t(1) << 13),
                                     std::pair("1 Mi slots", std::size_t(1) << 20)})
    for (const int contributors : {2, 8})
      scenes.push_back(
          {fmt::format("{}, {} contributors", where, contributors), slots, contributors});
  std::map<std::string, double> expired;
  for (const Scene& scene : scenes) {
    add<Nothing>(scene, ", none");
    expired[scene.name] = add<Pointer>(scene, ", pointer");
    // The same slots end, give or take those on the brink.
    for (const double other : {add<Heap>(scene, ", heap"), add<Wheel>(scene, ", wheel")})
      COTILLION_CHECK(other > 0.9 * expired[scene.name] && other < 1.1 * expired[scene.name]);
  }
  const std::string near = "f32 add, 128 slots", far = "f32 add, 256 MB";
  add_sums(near, 128);
  add_sums(far, (256 << 20) / payload_bytes(JobSpec{}));
  Remember best;
  benchmark::RunSpecifiedBenchmarks(&best);
  if (best.ns.empty()) return 0;

  fmt::print(
      "ns per packet, best of {}; in brackets what deadlines add, and all ÷ with the pointer\n",
      kRepetitions);
  for (const Scene& scene : scenes) {
    const auto ns = [&](const char* name) { return best.ns[scene.name + name]; };
    fmt::print("{:27} none {:.2f}", scene.name, ns(", none"));
    for (const char* name : {", pointer", ", heap", ", wheel"})
      fmt::print("{} {:.2f} (+{:.2f}, ×{:.2f})", name, ns(name), ns(name) - ns(", none"),
                 ns(name) / ns(", pointer"));
    fmt::print(", {:.2f} % of slots end by deadline\n", 100 * expired[scene.name]);
  }
  fmt::print("a packet of 1408 bytes added to its slot: {:.1f} ns in cache, {:.1f} ns out of it\n",
             best.ns[near], best.ns[far]);
  return 0;
}
