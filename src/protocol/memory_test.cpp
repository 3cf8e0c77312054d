// Memory is allocated when an object of the protocol is built and never again: an edge takes what
// footprint() says, and a million packets take nothing. The operators that are replaced here serve
// the whole test program; they count only while a test asks them to.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <new>
#include <numeric>

#include "base/random.hpp"
#include "protocol/edge.hpp"
#include "protocol/receiver.hpp"
#include "protocol/sender.hpp"

namespace {

// What was allocated and not given back while it counted. Fixed tables: it must not allocate.
struct Allocations {
  bool counting = false;
  std::size_t calls = 0;
  std::size_t blocks = 0;
  std::array<void*, 4096> at{};
  std::array<std::size_t, 4096> size{};

  void start() {
    calls = blocks = 0;
    counting = true;
  }
  void stop() { counting = false; }
  [[nodiscard]] std::size_t bytes() const {
    return std::accumulate(size.begin(), size.begin() + std::ptrdiff_t(blocks), std::size_t(0));
  }
  void note(void* block, std::size_t bytes) {
    ++calls;
    if (blocks == at.size()) std::abort();
    at[blocks] = block;
    size[blocks++] = bytes;
  }
  void forget(void* block) {
    const auto found = std::size_t(std::find(at.begin(), at.begin() + blocks, block) - at.begin());
    if (found == blocks) return;
    at[found] = at[--blocks];
    size[found] = size[blocks];
  }
};
Allocations allocations;

void* allocate(std::size_t size, std::size_t alignment) {
  const std::size_t whole =
      (std::max<std::size_t>(size, 1) + alignment - 1) / alignment * alignment;
  void* block = std::aligned_alloc(alignment, whole);
  if (block == nullptr) throw std::bad_alloc();
  if (allocations.counting) allocations.note(block, size);
  return block;
}

void release(void* block) {
  if (allocations.counting && block != nullptr) allocations.forget(block);
  std::free(block);
}

}  // namespace

// Nothrow forms come down to these. Those of arrays do in the library, not in a sanitizer's.
void* operator new(std::size_t size) {
  return allocate(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, std::size_t(alignment));
}
void* operator new[](std::size_t size) {
  return allocate(size, alignof(std::max_align_t));
}
void operator delete[](void* block) noexcept {
  release(block);
}
void operator delete[](void* block, std::size_t) noexcept {
  release(block);
}
void operator delete(void* block) noexcept {
  release(block);
}
void operator delete(void* block, std::size_t) noexcept {
  release(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
  release(block);
}
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  release(block);
}

namespace cotillion {
namespace {

constexpr Duration us(std::int64_t count) {
  return {count * 1'000'000};
}

Seal boot(BootId id) {
  Seal seal;
  seal.set_boot(id);
  return seal;
}

AggregationSeals seals_of(std::size_t sources) {
  AggregationSeals seals{boot(1), boot(0), {}};
  seals.sources.resize(sources);
  return seals;
}

TEST(Memory, AnEdgeTakesWhatItsFootprintSays) {
  Random random(1);
  for (int i = 0; i < 100; ++i) {
    AggregationSpec spec;
    spec.job.element = Element(random.between(1, 3));
    spec.job.beats = int(random.between(1, 30));
    spec.job.elements = std::uint64_t(random.between(1, 200'000));
    spec.slots = std::size_t(random.between(1, 500));
    spec.resend_packets = std::size_t(random.between(1, 300));
    spec.live_rounds = int(random.between(1, 4));
    spec.members_max = int(random.between(1, 64));
    std::vector<EdgeJob> jobs;
    jobs.push_back({spec, seals_of(4)});

    allocations.start();
    const auto edge = Edge::build({.memory = {1 << 30}}, {0}, std::move(jobs));
    allocations.stop();
    ASSERT_TRUE(edge.has_value());
    // Besides, there is the table of jobs itself and the one range of the job's grid.
    const std::size_t table = sizeof(Aggregation) + sizeof(GridRange);
    EXPECT_EQ(allocations.bytes(), footprint(spec).total() + table) << i;
  }
}

constexpr int kIslands = 3;

// Three islands, everything real, on wires that lose, double and swap. What is under way lies in a
// ring that was allocated before.
class Loop {
 public:
  Loop(Element element, Exchange exchange);
  void run(std::uint64_t packets);

  [[nodiscard]] std::uint64_t carried() const { return carried_; }
  struct Site;
  std::vector<std::unique_ptr<Site>> sites;

 private:
  enum class To : std::uint8_t { kEdge, kReceiver };
  struct Flying {
    To to = To::kEdge;
    int site = 0;
    SourceId source = 0;
    std::size_t size = 0;
    std::array<std::byte, packet_bytes(2 * kBeatBytes)> bytes{};
  };
  void carry(To to, int site, SourceId source, ByteView packet);
  void deliver(const Flying& flying);
  void open(RoundId round);

  JobSpec job_;
  std::vector<Flying> ring_ = std::vector<Flying>(1 << 13);
  std::size_t first_ = 0, count_ = 0;
  std::uint64_t carried_ = 0;
  Instant now_{0};
  std::uint64_t loss_ = 3;  // of a hundred
  Random random_{7};
};

struct Loop::Site final : Outbox, FragmentSource, ReceiverEvents {
  Site(Loop& in, int number, const JobSpec& job, Exchange exchange)
      : loop(in),
        self(number),
        x(job.elements, float(number)),
        snapshots(job, Grid(-10), 2),
        merge(job, {}),
        sender(sending(exchange), snapshots, *this, boot(1)),
        receiver(receiving(exchange), snapshots, merge, boot(1), boot(0)) {
    AggregationSpec spec;
    spec.job = job;
    spec.grid = Grid(-10);
    spec.slots = self == 0 ? 16 : 256;
    spec.resend_packets = 200;
    spec.heartbeat = us(2000);
    spec.linger = us(50);
    spec.rate_max = {20e9};
    std::vector<EdgeJob> jobs;
    jobs.push_back({spec, seals_of(kIslands)});
    edge = std::make_unique<Edge>(
        std::move(*Edge::build({.memory = {1 << 30}}, {0}, std::move(jobs))));
  }
  static SenderSettings sending(Exchange exchange) {
    SenderSettings settings;
    settings.exchange = exchange;
    settings.heartbeat = us(2000);
    return settings;
  }
  static ReceiverSettings receiving(Exchange exchange) {
    ReceiverSettings settings;
    settings.exchange = exchange;
    settings.heartbeat = us(2000);
    settings.gaps = {256, us(50), us(200), 8};
    return settings;
  }
  void snapshot(RoundId, std::uint64_t first, std::span<float> values) override {
    std::copy_n(x.begin() + std::ptrdiff_t(first), values.size(), values.begin());
  }
  std::span<float> elements(int fragment) {
    const JobSpec& job = snapshots.job();
    const std::uint64_t first = first_element(job, first_chunk(job, fragment));
    const std::uint64_t last = first_element(job, first_chunk(job, fragment + 1));
    return std::span(x).subspan(first, std::min(last, job.elements) - first);
  }
  void fragment_ready(RoundId round, int fragment) override {
    receiver.merge(round, fragment, elements(fragment));
  }
  void late_ready(RoundId round, int fragment) override {
    ++late;
    receiver.merge_late(round, fragment, elements(fragment));
  }
  void round_closed(RoundId, std::span<const Absence> absences) override {
    ++closed;
    absent += absences.size();
  }
  void send(Towards towards, ByteView packet) override {
    if (towards == Towards::kIsland) loop.carry(To::kReceiver, self, 0, packet);
    if (towards == Towards::kOwnEdge) loop.carry(To::kEdge, self, kOwnIsland, packet);
    if (towards != Towards::kGroup) return;
    for (int other = 0; other < kIslands; ++other)
      if (other != self) loop.carry(To::kEdge, other, SourceId(self), packet);
  }

  Loop& loop;
  int self;
  std::vector<float> x;
  Snapshots snapshots;
  Merge merge;
  Sender sender;
  Receiver receiver;
  std::unique_ptr<Edge> edge;
  std::uint64_t late = 0, closed = 0, absent = 0;
};

Loop::Loop(Element element, Exchange exchange) {
  job_.element = element;
  job_.beats = 2;
  job_.elements = elements_per_chunk(job_) * 100 - 5;
  job_.fragments = 4;
  for (int i = 0; i < kIslands; ++i)
    sites.push_back(std::make_unique<Site>(*this, i, job_, exchange));
}

void Loop::carry(To to, int site, SourceId source, ByteView packet) {
  ++carried_;
  const std::uint64_t luck = random_.next() % 100;
  for (std::uint64_t copies = luck < loss_ ? 0 : luck > 94 ? 2 : 1; copies > 0; --copies) {
    if (count_ == ring_.size()) return;
    Flying& flying = ring_[(first_ + count_++) % ring_.size()];
    flying.to = to;
    flying.site = site;
    flying.source = source;
    flying.size = packet.size();
    std::copy(packet.begin(), packet.end(), flying.bytes.begin());
    if (luck == 99) flying.bytes[packet.size() / 2] ^= std::byte(1);
    if (luck > 90)  // overtakes some
      std::swap(flying, ring_[(first_ + random_.next() % count_) % ring_.size()]);
  }
}

void Loop::deliver(const Flying& flying) {
  Site& site = *sites[std::size_t(flying.site)];
  const ByteView packet = ByteView(flying.bytes).first(flying.size);
  if (flying.to == To::kReceiver) site.receiver.on_packet(now_, packet, site, site);
  if (flying.to == To::kEdge) site.edge->on_packet(now_, flying.source, packet, site);
}

void Loop::open(RoundId round) {
  for (int i = 0; i < kIslands; ++i) {
    Site& site = *sites[std::size_t(i)];
    RoundSpec spec = equal_round(round, kIslands, i);
    spec.epoch = int(round / 8 % kEpochs);
    spec.first_deadline = now_ + us(1000);
    spec.last_deadline = now_ + us(4000);
    ASSERT_TRUE(site.edge->open_round(now_, job_.id, spec, site).has_value());
    const ReceiverRound mine{spec, round % 2 == 0 ? now_ + us(4500) : now_, us(500)};
    ASSERT_TRUE(site.receiver.open_round(now_, mine, site, site).has_value());
    StreamSpec stream;
    stream.round = round;
    stream.epoch = spec.epoch;
    stream.bit = i;
    stream.weight_sum = kIslands;
    stream.start = now_;
    stream.offset = us(round % 5 == 0 ? 1200 : 0);  // its first chunks are late
    stream.rate = {400e6};
    site.sender.open_round(stream);
  }
}

void Loop::run(std::uint64_t packets) {
  RoundId round = 0;
  for (std::int64_t step = 0; carried_ < packets; ++step) {
    if (step % 100 == 0) open(++round);
    loss_ = round % 4 == 0 ? 60 : 3;
    now_ = now_ + us(50);
    for (const auto& site : sites) {
      site->edge->on_time(now_, *site);
      site->receiver.on_time(now_, *site, *site);
      site->sender.on_time(now_, *site);
      site->receiver.on_time(now_, *site, *site);
    }
    for (std::size_t left = count_; left > 0; --left) {
      const Flying flying = ring_[first_];
      first_ = (first_ + 1) % ring_.size();
      --count_;
      deliver(flying);
    }
  }
}

constexpr std::uint64_t kPackets = 500'000;  // fewer, and rare events do not happen

class MillionPackets : public ::testing::TestWithParam<Exchange> {};

TEST_P(MillionPackets, AllocateNothing) {
  std::uint64_t late = 0, absent = 0;
  for (const Element element : {Element::kF32, Element::kBf16, Element::kI32}) {
    Loop loop(element, GetParam());
    allocations.start();
    loop.run(kPackets);
    allocations.stop();
    EXPECT_EQ(allocations.calls, 0u) << name_of(element);
    // Everything there is has happened.
    for (const auto& site : loop.sites) {
      const EdgeCounters& edge = site->edge->job(1)->counters();
      for (const EdgeCount count :
           {EdgeCount::kAccepted, EdgeCount::kResults, EdgeCount::kTimeouts, EdgeCount::kDuplicates,
            EdgeCount::kForged, EdgeCount::kOutputs, EdgeCount::kResends, EdgeCount::kLate})
        EXPECT_GT(edge[count], 0u) << name_of(count);
      EXPECT_GT(site->receiver.counters()[ReceiverCount::kPlaced], 0u);
      EXPECT_GT(site->receiver.counters()[ReceiverCount::kAsked], 0u);
      EXPECT_GT(site->closed, 8u);
      late += site->late;
      absent += site->absent;
    }
  }
  EXPECT_GT(late, 0u);
  EXPECT_GT(absent, 0u);
}

INSTANTIATE_TEST_SUITE_P(Memory, MillionPackets,
                         ::testing::Values(Exchange::kWhole, Exchange::kStreamed),
                         [](const auto& exchange) {
                           return exchange.param == Exchange::kWhole ? "whole" : "streamed";
                         });

}  // namespace
}  // namespace cotillion
