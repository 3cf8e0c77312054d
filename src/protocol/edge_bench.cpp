// Packets per second through the whole Edge, seal and NaN scan included, with slots in cache and
// out of it, beside memcpy of the same payloads in the same run; and what the seal costs.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>

#include "protocol/edge.hpp"
#include "tests/support/base/benchmarks.hpp"

namespace cotillion {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kContributors = 4;
constexpr Instant kNow{0};

struct Nowhere final : Outbox {
  void send(Towards, ByteView packet) override { bytes += packet.size(); }
  std::size_t bytes = 0;
};

Key secret_of(int source) {
  Key key{};
  key[0] = std::uint8_t(source + 1);
  return key;
}

Seal seal_of(bool authenticated, JobId job, int source) {
  Seal seal = authenticated ? Seal(secret_of(source), job, SourceName(source)) : Seal();
  seal.set_boot(7);
  return seal;
}

struct Scene {
  Element element;
  int beats;
  ChunkId chunks;     // of a round
  std::size_t slots;  // that the skew between contributors really uses
  bool authenticated;
};

// All packets of a round in arrival order: contributors run `skew` chunks apart, so that
// skew × (kContributors − 1) slots are open at once.
class Stream {
 public:
  explicit Stream(const Scene& scene)
      : scene_(scene),
        job_{.id = 3,
             .element = scene.element,
             .elements =
                 scene.chunks * std::uint64_t(scene.beats) * kBeatBytes / bytes_of(scene.element),
             .beats = scene.beats},
        stride_(packet_bytes(payload_bytes(job_))),
        bytes_(stride_ * scene.chunks * kContributors) {
    const ChunkId skew = ChunkId(scene.slots) / (kContributors - 1);
    for (ChunkId at = 0; at < scene.chunks + skew * (kContributors - 1); ++at)
      for (int source = 0; source < kContributors; ++source)
        if (const ChunkId chunk = at - skew * ChunkId(source); chunk < scene.chunks)
          order_.emplace_back(chunk, source);
    for (int source = 0; source < kContributors; ++source)
      seals_.push_back(seal_of(scene.authenticated, job_.id, source));
    for (std::size_t i = 0; i < bytes_.size() / 4; ++i) {
      const float value = float(i % 1000) * 0.001f;
      std::memcpy(bytes_.data() + i * 4, &value, 4);
    }
    if (scene.element == Element::kBf16)
      for (std::size_t i = 0; i < bytes_.size() / 2; ++i) {
        const std::uint16_t value = std::uint16_t(0x3f80 + i % 64);
        std::memcpy(bytes_.data() + i * 2, &value, 2);
      }
  }

  void seal_round(RoundId round) {
    std::size_t place = 0;
    for (const auto& [chunk, source] : order_) {
      Header header;
      header.set_type(PacketType::kData);
      header.job = job_.id;
      header.round = round;
      header.chunk = chunk;
      header.sequence = round * scene_.chunks + chunk;
      header.mask = ContributorMask(1) << unsigned(source);
      header.weight = 1;
      header.flags = scene_.element == Element::kI32 ? flag::kGrid : 0;
      header.set_content(scene_.element, Operation::kSum, 0);
      const ByteSpan packet = ByteSpan(bytes_).subspan(place++ * stride_, stride_);
      write_header(header, packet);
      seals_[source].close(packet);
    }
  }

  [[nodiscard]] std::size_t size() const { return order_.size(); }
  [[nodiscard]] int source(std::size_t i) const { return order_[i].second; }
  [[nodiscard]] ByteView packet(std::size_t i) const {
    return ByteView(bytes_).subspan(i * stride_, stride_);
  }
  [[nodiscard]] const JobSpec& job() const { return job_; }

 private:
  Scene scene_;
  JobSpec job_;
  std::size_t stride_;
  std::vector<std::pair<ChunkId, int>> order_;
  std::vector<Seal> seals_;
  std::vector<std::byte> bytes_;
};

Edge edge_for(const Scene& scene, const JobSpec& job) {
  AggregationSpec spec;
  spec.job = job;
  spec.slots = scene.slots + 2 * kContributors;
  spec.resend_packets = std::max<std::size_t>(64, scene.slots);
  AggregationSeals seals;
  seals.own = seal_of(scene.authenticated, job.id, 100);
  for (int source = 0; source < kContributors; ++source)
    seals.sources.push_back(seal_of(scene.authenticated, job.id, source));
  std::vector<EdgeJob> jobs;
  jobs.push_back({spec, std::move(seals)});
  const Bytes memory{std::int64_t(footprint(spec).sums)};
  const Bytes resend{std::int64_t(footprint(spec).resend)};
  return std::move(*Edge::build({.memory = memory, .resend = resend}, {0}, std::move(jobs)));
}

double seconds_of(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Best of several rounds each; the two take turns, because the machine is shared.
void measure(const Scene& scene, bool smoke) {
  Stream stream(scene);
  Edge edge = edge_for(scene, stream.job());
  Nowhere out;
  std::vector<std::byte> table(std::max<std::size_t>(1, scene.slots) * payload_bytes(stream.job()));
  double best_edge = 1e9, best_copy = 1e9;
  const int rounds = smoke ? 2 : int(std::clamp<std::size_t>(400'000 / stream.size(), 5, 200));
  for (RoundId round = 1; round <= RoundId(rounds); ++round) {
    stream.seal_round(round);
    RoundSpec spec = equal_round(round, kContributors + 1, kContributors);
    spec.first_deadline = spec.last_deadline = kNever;
    if (!edge.open_round(kNow, 3, spec, out)) std::abort();
    best_edge =
        std::min(best_edge, seconds_of([&] {
                   for (std::size_t i = 0; i < stream.size(); ++i)
                     edge.on_packet(kNow, SourceId(stream.source(i)), stream.packet(i), out);
                 }));
    best_copy = std::min(best_copy, seconds_of([&] {
                           std::size_t at = 0;
                           for (std::size_t i = 0; i < stream.size(); ++i) {
                             const ByteView payload = payload_of(stream.packet(i));
                             std::memcpy(table.data() + at, payload.data(), payload.size());
                             at = at + 2 * payload.size() <= table.size() ? at + payload.size() : 0;
                           }
                         }));
  }
  const EdgeCounters& counters = edge.job(3)->counters();
  if (counters[EdgeCount::kResults] != std::uint64_t(rounds) * scene.chunks) std::abort();
  const double packets = double(stream.size());
  const double ns = best_edge / packets * 1e9;
  const double bits = 8.0 * double(payload_bytes(stream.job()));
  fmt::print("{:>5} {:>6} {:>9} {:>5} {:>9.2f} {:>8.0f} {:>8.1f} {:>10.0f} {:>8.2f}\n",
             name_of(scene.element), payload_bytes(stream.job()),
             to_text(Bytes{std::int64_t(scene.slots * slot_bytes(stream.job()))}),
             scene.authenticated ? "tag" : "crc", 1e3 / ns, ns, bits / ns,
             best_copy / packets * 1e9, best_copy / best_edge);
}

void measure_seal(int beats, int repeats) {
  std::vector<std::byte> packet(packet_bytes(std::size_t(beats) * kBeatBytes));
  Header header;
  header.set_type(PacketType::kData);
  write_header(header, packet);
  double best[2] = {1e9, 1e9};
  for (int repeat = 0; repeat < repeats; ++repeat)
    for (const bool authenticated : {false, true}) {
      Seal seal = seal_of(authenticated, 3, 0);
      seal.close(packet);
      constexpr int kTimes = 2000;
      double& least = best[authenticated ? 1 : 0];
      least = std::min(least, seconds_of([&] {
                                for (int i = 0; i < kTimes; ++i)
                                  if (!seal.holds(packet)) std::abort();
                              }) / kTimes);
    }
  fmt::print(
      "{:>6} bytes: crc {:.0f} ns, tag {:.0f} ns: the tag costs {:.0f} ns more, {:.1f} GB/s\n",
      beats * int(kBeatBytes), best[0] * 1e9, best[1] * 1e9, (best[1] - best[0]) * 1e9,
      double(packet.size()) / best[1] / 1e9);
}

}  // namespace
}  // namespace cotillion

int main(int argc, char** argv) {
  using namespace cotillion;
  const bool smoke = cotillion::testing::take_smoke(argc, argv);
  fmt::print("Whole edge, one core, {} contributors; memcpy of the same payloads in the same run\n",
             kContributors);
  fmt::print("{:>5} {:>6} {:>9} {:>5} {:>9} {:>8} {:>8} {:>10} {:>8}\n", "", "bytes", "slots",
             "seal", "Mpacket/s", "ns", "Gbit/s", "memcpy ns", "ratio");
  for (const bool authenticated : {false, true})
    for (const Element element : {Element::kF32, Element::kBf16, Element::kI32})
      for (const int beats : {22, 138}) {
        measure({element, beats, 512, 96, authenticated}, smoke);
        if (!authenticated && !smoke)
          measure({element, beats, beats == 22 ? 120'000u : 20'000u,
                   beats == 22 ? 90'000u : 15'000u, authenticated},
                  smoke);
      }
  fmt::print("\nChecking a seal\n");
  for (const int beats : {1, 22, 138}) measure_seal(beats, smoke ? 1 : 50);
  return 0;
}
