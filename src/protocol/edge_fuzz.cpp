// Any sequence of packets, rounds and instants into an edge with two jobs, one sealed by CRC and
// one by tags. Whatever comes: outputs of a chunk are disjoint and weigh what their masks say,
// integer sums are exact, and packets that nobody sealed change nothing at all.
#include "protocol/edge.hpp"

#include <map>
#include <memory>

#include "protocol/protocol_fuzz.hpp"

namespace {

using namespace cotillion;
using fuzz::Fate;
using fuzz::Input;

constexpr int kSources = 4;
constexpr BootId kBoot = 5;
constexpr int kExponent = -7;

struct RoundAssignment {
  ContributorMask mask = 0;
  std::vector<std::uint32_t> values;  // coefficient multiplied in; none for ZERO
};

// One job as the fuzzer knows it: its rounds, and what should have come of every chunk.
struct Job {
  AggregationSpec spec;
  IdVector<SourceId, Seal> sources;
  Seal edge, island;
  std::map<RoundId, RoundSpec> rounds;  // live
  std::vector<std::vector<std::byte>> outputs;
  struct Chunk {
    ContributorMask out = 0;
    std::vector<RoundAssignment> parts;
  };
  std::map<std::pair<RoundId, ChunkId>, Chunk> chunks;
};

AggregationSpec spec_of(JobId id, Element element) {
  AggregationSpec spec;
  spec.job.id = id;
  spec.job.element = element;
  spec.job.operation = element == Element::kI32 ? Operation::kWeightedSum : Operation::kSum;
  spec.job.beats = 2;
  spec.job.elements = elements_per_chunk(spec.job) * 5 + 3;
  spec.grid = Grid(kExponent);
  spec.slots = 3;
  spec.resend_packets = 8;
  spec.members_max = 8;
  spec.linger = {0};
  spec.heartbeat = {1'000'000'000};
  return spec;
}

class FuzzedEdge final : public Outbox {
 public:
  explicit FuzzedEdge(Input& input) : input_(input) {
    jobs_[0].spec = spec_of(1, Element::kI32);
    jobs_[1].spec = spec_of(2, Element::kF32);
    std::vector<EdgeJob> table;
    for (Job& job : jobs_) {
      const auto seal = [&](SourceName name) {
        return fuzz::seal_of(&job == &jobs_[1], job.spec.job.id, name, kBoot);
      };
      AggregationSeals theirs{seal(100), seal(101), {}};
      for (SourceName source = 0; source < kSources; ++source) {
        theirs.sources.push_back(seal(source));
        job.sources.push_back(seal(source));
      }
      job.edge = seal(100);
      job.island = seal(101);
      table.push_back({job.spec, std::move(theirs)});
    }
    edge_ = std::make_unique<Edge>(
        std::move(*Edge::build({.memory = {1 << 20}}, {0}, std::move(table))));
  }

  void run() {
    for (Job& job : jobs_) open_round(job);
    while (!input_.empty()) {
      const std::uint8_t what = input_.byte();
      Job& job = jobs_[what & 1u];
      now_.ps += std::int64_t(what >> 4u) * 20'000'000;
      edge_->on_time(now_, *this);
      check_outputs();
      COTILLION_CHECK(edge_->next_deadline() > now_);
      if ((what & 0xeu) == 0) {
        open_round(job);
      } else if ((what & 0xfeu) == 2) {
        edge_->flush(now_, *this);
        check_outputs();
      } else {
        take_packet(job);
      }
      for (const Job& one : jobs_) COTILLION_CHECK(at(one).open_slots() <= one.spec.slots);
    }
    edge_->flush(now_, *this);
    check_outputs();
    for (const Job& job : jobs_)
      for (const auto& [key, chunk] : job.chunks) {
        ContributorMask accepted = 0;
        for (const RoundAssignment& part : chunk.parts) accepted |= part.mask;
        COTILLION_CHECK(accepted == chunk.out);
      }
  }

  void send(Towards, ByteView packet) override { sent_.emplace_back(packet.begin(), packet.end()); }

 private:
  [[nodiscard]] const Aggregation& at(const Job& job) const { return *edge_->job(job.spec.job.id); }
  [[nodiscard]] std::uint64_t accepted() const {
    return at(jobs_[0]).counters()[EdgeCount::kAccepted] +
           at(jobs_[1]).counters()[EdgeCount::kAccepted];
  }

  void open_round(Job& job) {
    const RoundId newest = job.rounds.empty() ? 0 : job.rounds.rbegin()->first;
    RoundSpec round = equal_round(newest + 1 + RoundId(input_.below(3)), 1 + input_.below(8), -1);
    round.own = input_.below(round.members + 1) - 1;
    round.expected = round.everyone() & ~ContributorMask(input_.byte() & 0x12u);
    if (round.own >= 0) round.expected &= ~(ContributorMask(1) << unsigned(round.own));
    round.epoch = input_.below(3);
    round.clique = input_.below(2);
    for (std::size_t bit = 0; bit < 8; ++bit) {
      round.source[bit] = SourceId(input_.below(kSources));
      if (job.spec.job.operation != Operation::kWeightedSum) continue;
      round.weight[bit] = 1u + input_.byte();
      round.coefficient[bit] = 1u + input_.byte() % 4;
    }
    round.first_deadline = now_ + Duration{input_.below(64) * 10'000'000};
    round.last_deadline = round.first_deadline + Duration{input_.below(64) * 10'000'000};
    COTILLION_CHECK(edge_->open_round(now_, job.spec.job.id, round, *this).has_value());
    check_outputs();  // of the one that leaves
    std::erase_if(job.rounds, [&](const auto& entry) {
      return (round.round - entry.first) % RoundId(job.spec.live_rounds) == 0;
    });
    job.rounds[round.round] = round;
  }

  void take_packet(Job& job) {
    const RoundSpec& round =
        input_.below(4) == 0 ? job.rounds.begin()->second : job.rounds.rbegin()->second;
    ByteSpan packet = fuzz::make_packet(input_, job.spec.job, round, kExponent, room_);
    Header header;
    std::memcpy(&header, packet.data(), kHeaderBytes);
    SourceId source(input_.below(32) - 1);  // the right one, mostly
    if (header.type() == PacketType::kNak || header.type() == PacketType::kAck) source = kOwnIsland;
    if (source >= kSources)
      source = round.source[std::size_t(std::countr_zero(ContributorMask(header.mask))) % 8];
    Seal& seal = source == kOwnIsland ? job.island : job.sources[source];
    if (header.type() == PacketType::kHeartbeat && !payload_of(packet).empty()) {
      seal.set_boot(seal.boot() + (input_.below(8) == 0 ? 1 : 0));  // after a restart
      const Little64 boot = seal.boot();
      std::memcpy(payload_of(packet).data(), &boot, sizeof boot);
    }
    const bool sealed = fuzz::finish_packet(input_, seal, packet) == Fate::kSealed;
    const std::uint64_t before = accepted();
    edge_->on_packet(now_, source, packet, *this);
    if (!sealed) COTILLION_CHECK(sent_.empty() && accepted() == before);
    if (accepted() != before) note_accepted(header, packet);
    check_outputs();
  }

  void note_accepted(const Header& header, ByteView packet) {
    Job& job = jobs_[header.job == jobs_[0].spec.job.id ? 0 : 1];
    COTILLION_CHECK(carries_sum(header.type()) && job.rounds.contains(header.round));
    const RoundSpec& round = job.rounds[header.round];
    COTILLION_CHECK(header.mask != 0 && (header.mask & ~round.expected) == 0);
    COTILLION_CHECK(header.epoch() == round.epoch && header.clique() == round.clique);
    Job::Chunk& chunk = job.chunks[{header.round, header.chunk}];
    for (const RoundAssignment& part : chunk.parts) COTILLION_CHECK((part.mask & header.mask) == 0);
    const auto bit = std::size_t(std::countr_zero(ContributorMask(header.mask)));
    const std::uint32_t coefficient =
        header.type() == PacketType::kData ? round.coefficient[bit] : 1;
    RoundAssignment part{header.mask, {}};
    const ByteView payload = payload_of(packet);
    for (std::size_t i = 0; i < payload.size(); i += sizeof(Little32)) {
      Little32 value;
      std::memcpy(&value, payload.data() + i, sizeof value);
      part.values.push_back(value * coefficient);
    }
    chunk.parts.push_back(std::move(part));
  }

  void check_outputs() {
    for (const auto& packet : sent_) {
      const auto header = read_header(packet);
      COTILLION_CHECK(header.has_value());
      Job& job = jobs_[header->job == jobs_[0].spec.job.id ? 0 : 1];
      COTILLION_CHECK(job.edge.holds(packet));
      if (!carries_sum(header->type())) continue;
      if (header->has(flag::kResent)) {
        std::vector<std::byte> original = job.outputs.at(header->sequence);
        original[offsetof(Header, flags)] |= std::byte(flag::kResent);
        COTILLION_CHECK(original == packet);
        continue;
      }
      COTILLION_CHECK(header->sequence == job.outputs.size());
      job.outputs.push_back(packet);
      check_sum(job, *header, payload_of(ByteView(packet)));
    }
    sent_.clear();
  }

  void check_sum(Job& job, const Header& header, ByteView payload) {
    COTILLION_CHECK(job.rounds.contains(header.round) && header.chunk < chunk_count(job.spec.job));
    const RoundSpec& round = job.rounds[header.round];
    Job::Chunk& chunk = job.chunks[{header.round, header.chunk}];
    const ContributorMask mask = header.mask;
    COTILLION_CHECK(mask != 0 && (mask & chunk.out) == 0 &&
                    header.weight == weight_of(round, mask));
    if (header.type() == PacketType::kResult)
      COTILLION_CHECK(chunk.out == 0 && mask == round.expected);
    chunk.out |= mask;
    ContributorMask joined = 0;
    std::vector<std::uint32_t> sum(payload.size() / sizeof(Little32));
    for (const RoundAssignment& part : chunk.parts) {
      if ((part.mask & mask) == 0) continue;
      joined |= part.mask;
      COTILLION_CHECK(part.values.empty() || part.values.size() == sum.size());
      for (std::size_t i = 0; i < part.values.size(); ++i) sum[i] += part.values[i];
    }
    COTILLION_CHECK(joined == mask);
    if (job.spec.job.element != Element::kI32) return;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      Little32 value;
      std::memcpy(&value, payload.data() + i * sizeof value, sizeof value);
      COTILLION_CHECK(value == sum[i]);
    }
  }

  Input& input_;
  std::array<Job, 2> jobs_;
  std::unique_ptr<Edge> edge_;
  Instant now_{0};
  std::vector<std::vector<std::byte>> sent_;
  std::array<std::byte, packet_bytes(4 * kBeatBytes)> room_{};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  FuzzedEdge(input).run();
  return 0;
}
