// Trust: the last row of "What the paper leaves open" (docs/understand/protocol.md), on NaN,
// overflow, forgery and tenants, under the paper's literal rule and under ours. See
// paper_rules_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/random.hpp"
#include "tests/support/protocol/paper_edge.hpp"

namespace cotillion {
namespace {

using namespace testing;
using Verdict = Trial::Verdict;

// Chunk 5 of island 1's model holds `value` in one element; so does that of `more` islands.
struct Poisoned {
  int islands = 0;        // whose model is no longer finite after the round
  std::size_t wrong = 0;  // averages at islands 0, 2 and 3
  std::size_t whole = 0;
  std::size_t reported = 0;
  std::uint64_t not_finite = 0;  // packets dropped for it, at edges and receivers
};

Poisoned round_with(Rule rule, float value, int more) {
  NetSettings settings = small_net(4, 20);
  settings.job.element = Element::kF32;
  Trial trial(rule, settings);
  const auto plain = trial.value;
  trial.value = [&](int island, RoundId round, std::uint64_t element) {
    return island >= 1 && island <= 1 + more && element == 5 * 16 + 3
               ? value
               : plain(island, round, element);
  };
  trial.open_round(1, {everyone(4)}, ms(1), ms(100));
  trial.net.run_until(ms(150));
  Poisoned poisoned;
  for (int i = 0; i < 4; ++i) {
    const auto& model = trial.net.model(i);
    poisoned.islands +=
        std::all_of(model.begin(), model.end(), [](float x) { return std::isfinite(x); }) ? 0 : 1;
    if (rule == Rule::kOurs)
      poisoned.not_finite += trial.net.edge_counters(i)[EdgeCount::kNotFinite] +
                             trial.net.receiver(i).counters()[ReceiverCount::kNotFinite];
    if (i == 1) continue;
    poisoned.wrong += trial.count(Verdict::kWrong, i, 1);
    poisoned.whole += trial.count(Verdict::kWhole, i, 1);
    poisoned.reported += trial.count(Verdict::kReported, i, 1);
  }
  return poisoned;
}

TEST(PaperRules, ANanReachesNoOtherIsland) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Poisoned ours = round_with(Rule::kOurs, nan, 0);
  EXPECT_EQ(ours.islands, 1);      // its own
  EXPECT_EQ(ours.not_finite, 3u);  // once at each of the other edges
  EXPECT_EQ(ours.whole, 3 * 19u);
  EXPECT_EQ(ours.reported, 3u);  // mask and weight are those of the others
  EXPECT_EQ(ours.wrong, 0u);

  const Poisoned paper = round_with(Rule::kPaper, nan, 0);
  EXPECT_EQ(paper.islands, 4);
  EXPECT_EQ(paper.wrong, 3u);
}

TEST(PaperRules, AnOverflowReachesNoIsland) {
  const Poisoned ours = round_with(Rule::kOurs, 3e38f, 2);
  EXPECT_EQ(ours.islands, 0);
  EXPECT_GE(ours.not_finite, 1u);  // at receivers: each contribution was finite
  EXPECT_EQ(ours.wrong, 0u);

  const Poisoned paper = round_with(Rule::kPaper, 3e38f, 2);
  EXPECT_EQ(paper.islands, 4);
  // On the grid nothing can overflow: senders stop at their share of 31 bits, and say so.
  NetSettings settings = small_net(4, 20);
  Trial grid(Rule::kOurs, settings);
  grid.value = [](int, RoundId, std::uint64_t) { return 2e9f; };
  std::size_t flagged = 0;
  grid.net.on_output = [&](int, ByteView packet) {
    flagged += header_in(packet).has(flag::kClamped) ? 1 : 0;
  };
  grid.open_round(1, {everyone(4)}, ms(1), ms(100));
  grid.net.run_until(ms(150));
  for (const double average : grid.averages(0, 1)) EXPECT_EQ(average, INT32_MAX / 4);
  EXPECT_EQ(flagged, 4 * 20u);
}

// One bit of one in ten contributions flips, and one behind the header of one in ten sums.
struct Flipped {
  std::size_t whole = 0, reported = 0, wrong = 0;  // of 800 averages
  std::uint64_t forged = 0;
};

Flipped flipped_bits(Rule rule) {
  NetSettings settings = small_net(4, 200);
  Random random(5);
  settings.wire = [&random](Hop hop, int, int, std::vector<std::byte>& packet) -> Copies {
    if (!carries_sum(header_in(packet).type()) || random.between(1, 10) != 1) return kOnce;
    const std::size_t first = hop == Hop::kToIsland ? kHeaderBytes * 8 : 0;
    const auto bit =
        std::size_t(random.between(std::int64_t(first), std::int64_t(packet.size()) * 8 - 1));
    packet[bit / 8] ^= std::byte(1u << bit % 8);
    return kOnce;
  };
  Trial trial(rule, settings);
  trial.open_round(1, {everyone(4)}, ms(1), ms(500));
  trial.net.run_until(ms(900));
  Flipped flipped{trial.count(Verdict::kWhole), trial.count(Verdict::kReported),
                  trial.count(Verdict::kWrong), 0};
  for (int i = 0; rule == Rule::kOurs && i < 4; ++i)
    flipped.forged += trial.net.edge_counters(i)[EdgeCount::kForged] +
                      trial.net.receiver(i).counters()[ReceiverCount::kForged];
  return flipped;
}

TEST(PaperRules, FlippedBitsEnterNoSum) {
  const Flipped ours = flipped_bits(Rule::kOurs);
  EXPECT_EQ(ours.wrong, 0u);
  EXPECT_GT(ours.reported, 0u);
  EXPECT_GT(ours.forged, 100u);

  const Flipped paper = flipped_bits(Rule::kPaper);
  EXPECT_GT(paper.wrong, 100u);
  RecordProperty("paper_wrong_of_800", int(paper.wrong));
}

enum class Forgery : std::uint8_t {
  kOnItsStream,  // island 2 makes up a contribution of island 1, under its own key
  kOnOwnStream,  // and sends it among its own packets
  kUnsealed,     // with a checksum instead of a tag
};

std::vector<std::byte> forged_packet(const ProtocolNet& net, ChunkId chunk, Forgery forgery) {
  Header header;
  header.set_type(PacketType::kData);
  header.job = 1;
  header.round = 1;
  header.chunk = chunk;
  header.sequence = chunk;
  header.mask = 0b0010;
  header.weight = 1;
  header.flags = flag::kGrid;
  header.set_content(Element::kI32, Operation::kSum, 0);
  std::vector<std::byte> packet(packet_bytes(kBeatBytes), std::byte(0x11));
  write_header(header, packet);
  Seal seal = net.sender_seal(2);
  if (forgery == Forgery::kUnsealed) {
    seal = Seal();
    seal.set_boot(1);
  }
  seal.close(packet);
  return packet;
}

// Forgeries for all chunks but the first reach edge 0 when island 1 has just begun to send. How
// many of 20 averages at island 0 are as they should be, and how many forgeries were dropped.
struct Beside {
  std::size_t whole = 0;
  std::uint64_t forged = 0, unexpected = 0;

  friend bool operator==(const Beside&, const Beside&) = default;
};

Beside beside(Rule rule, bool authenticated, Forgery forgery) {
  NetSettings settings = small_net(4, 20);
  settings.authenticated = authenticated;
  Trial trial(rule, settings);
  for (ChunkId chunk = 1; chunk < 20; ++chunk)
    trial.net.deliver_to_edge(ms(12.001), 0, SourceId(forgery == Forgery::kOnOwnStream ? 2 : 1),
                              forged_packet(trial.net, chunk, forgery));
  trial.open_round(1, {everyone(4)}, ms(1), ms(100));
  trial.net.run_until(ms(150));
  return {trial.count(Verdict::kWhole, 0, 1), trial.net.edge_counters(0)[EdgeCount::kForged],
          trial.net.edge_counters(0)[EdgeCount::kUnexpected]};
}

TEST(PaperRules, AnIslandCannotSpeakForAnother) {
  EXPECT_EQ(beside(Rule::kOurs, true, Forgery::kOnItsStream), (Beside{20, 19, 0}));
  EXPECT_EQ(beside(Rule::kOurs, true, Forgery::kUnsealed), (Beside{20, 19, 0}));
  EXPECT_EQ(beside(Rule::kOurs, true, Forgery::kOnOwnStream), (Beside{20, 0, 19}));
  for (const Forgery forgery : {Forgery::kOnItsStream, Forgery::kUnsealed, Forgery::kOnOwnStream})
    EXPECT_EQ(beside(Rule::kPaper, true, forgery).whole, 1u) << int(forgery);
  // Without authentication nobody who means harm is kept out, as docs/understand/protocol.md says,
  // except where the network tells streams apart.
  EXPECT_EQ(beside(Rule::kOurs, false, Forgery::kOnItsStream).whole, 1u);
  EXPECT_EQ(beside(Rule::kOurs, false, Forgery::kOnOwnStream).whole, 20u);
}

// Two tenants at one edge, driven by hand: 64 chunks of job 1 come from two contributors, 16 chunks
// apart, and between any two packets job 2 sends 40 of its own, at 100 times its rate.
constexpr JobSpec kTenant{.id = 1, .element = Element::kI32, .elements = 64 * 16, .beats = 1};
constexpr JobSpec kNeighbour{.id = 2, .element = Element::kI32, .elements = 64 * 16, .beats = 1};

struct Tenancy final : Outbox {
  std::size_t right = 0;              // sums of job 1 that hold its two contributions and no more
  std::size_t neighbour_sent = 0;     // bytes
  std::uint64_t neighbour_taken = 0;  // packets
  std::size_t neighbour_slots = 0;

  void send(Towards, ByteView packet) override {
    Little32 first;
    std::memcpy(&first, payload_of(packet).data(), payload_of(packet).empty() ? 0 : sizeof first);
    const Header header = header_in(packet);
    if (!carries_sum(header.type())) return;
    right += header.job == kTenant.id && std::uint32_t(first) == 0x33333333u ? 1 : 0;
    if (header.job == kNeighbour.id) neighbour_taken += header.weight;
  }
};

AggregationSpec share_of(const JobSpec& job, std::size_t slots) {
  AggregationSpec spec;
  spec.job = job;
  spec.slots = slots;
  spec.resend_packets = 128;
  return spec;
}

AggregationSeals seals_of_two() {
  AggregationSeals seals;
  seals.own.set_boot(1);
  seals.sources.resize(2);
  for (Seal& seal : seals.sources) seal.set_boot(1);
  return seals;
}

Result<Edge> edge_for_two(std::size_t slots, std::size_t neighbour_slots) {
  AggregationSpec neighbour = share_of(kNeighbour, neighbour_slots);
  neighbour.rate_max = {8e6};
  neighbour.burst = {10 * std::int64_t(packet_bytes(kBeatBytes))};
  std::vector<EdgeJob> jobs;
  jobs.push_back({share_of(kTenant, slots), seals_of_two()});
  jobs.push_back({neighbour, seals_of_two()});
  return Edge::build({.memory = {32 * std::int64_t(kBeatBytes)}}, {0}, std::move(jobs));
}

Tenancy two_tenants(Rule rule) {
  Tenancy out;
  auto edge = edge_for_two(24, 8);
  EXPECT_TRUE(edge.has_value());
  PaperEdge paper(kTenant, {.slots = 32});
  paper.open_round(2);
  for (const JobSpec& job : {kTenant, kNeighbour}) {
    RoundSpec round = equal_round(1, 3, 2);
    round.first_deadline = round.last_deadline = ms(1000);
    EXPECT_TRUE(edge->open_round(ms(0), job.id, round, out).has_value());
  }
  Seal seal;
  seal.set_boot(1);
  const auto arrive = [&](Instant now, const JobSpec& job, int bit, ChunkId chunk) {
    Header header;
    header.set_type(PacketType::kData);
    header.job = job.id;
    header.round = 1;
    header.chunk = chunk;
    header.mask = ContributorMask(1) << unsigned(bit);
    header.weight = 1;
    header.flags = flag::kGrid;
    header.set_content(Element::kI32, Operation::kSum, 0);
    const int fill = job.id == kNeighbour.id ? 0x05 : bit == 0 ? 0x11 : 0x22;
    std::vector<std::byte> packet(packet_bytes(kBeatBytes), std::byte(fill));
    write_header(header, packet);
    seal.close(packet);
    if (job.id == kNeighbour.id) out.neighbour_sent += packet.size();
    if (rule == Rule::kPaper)
      paper.on_packet(now, packet, out);
    else
      edge->on_packet(now, SourceId(bit), packet, out);
  };
  ChunkId flood = 0;
  for (ChunkId at = 0; at < 64 + 16; ++at)
    for (int bit = 0; bit < 2; ++bit) {
      const ChunkId chunk = at - (bit == 0 ? 0 : 16);
      const Instant now = ms(0.005 * (2 * at + ChunkId(bit)));
      for (int i = 0; i < 40; ++i) arrive(now, kNeighbour, 0, flood++ % 64);
      if (chunk < 64) arrive(now, kTenant, bit, chunk);
    }
  if (rule == Rule::kOurs) {
    const Aggregation& neighbour = *edge->job(kNeighbour.id);
    out.neighbour_slots = neighbour.open_slots_peak();
    out.neighbour_taken =
        neighbour.counters()[EdgeCount::kAccepted] + neighbour.counters()[EdgeCount::kDuplicates];
    EXPECT_GT(neighbour.counters()[EdgeCount::kOverRate], 0u);
    EXPECT_EQ(edge->job(kTenant.id)->counters()[EdgeCount::kConflicts], 0u);
  }
  return out;
}

TEST(PaperRules, AJobTouchesNoOtherJobsSlots) {
  EXPECT_EQ(two_tenants(Rule::kOurs).right, 64u);
  const Tenancy paper = two_tenants(Rule::kPaper);
  EXPECT_LT(paper.right, 6u);
  RecordProperty("paper_right_of_64", int(paper.right));
}

TEST(PaperRules, AJobCannotExceedItsShare) {
  const Tenancy ours = two_tenants(Rule::kOurs);
  EXPECT_LE(ours.neighbour_slots, 8u);
  // 1 MB/s for the 0.8 ms that it lasts, and a burst of ten packets.
  constexpr auto kPacket = double(packet_bytes(kBeatBytes));
  const double most = 0.8e-3 * 1e6 + 10 * kPacket;
  EXPECT_LE(double(ours.neighbour_taken) * kPacket, most);
  EXPECT_GT(double(ours.neighbour_sent), 100 * most);
  EXPECT_GT(double(two_tenants(Rule::kPaper).neighbour_taken) * kPacket, 100 * most);
  EXPECT_FALSE(edge_for_two(24, 9).has_value());  // the card holds 32 slots
  EXPECT_FALSE(edge_for_two(33, 1).has_value());
}

}  // namespace
}  // namespace cotillion
