// The last hop and who stands in line for it, whatever comes when: contributions in time and late,
// requests, acknowledgements, new rounds, a clock that steps back.
#include "protocol/last_hop.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "base/random.hpp"
#include "protocol/edge.hpp"
#include "tests/support/base/seeds.hpp"

namespace cotillion {
namespace {

constexpr ChunkId kChunks = 24;
constexpr std::int64_t kPacket = 1000;  // ps on the last hop

// An edge of a clique of four. Two rounds are live.
class Player final : Outbox {
 public:
  explicit Player(std::uint64_t seed) : random_(seed), edge_(make_edge()) { open_round(); }

  void play() {
    for (int event = 0; event < 1500; ++event) {
      now_.ps += pick(0, 3) == 0 ? pick(0, 20 * kPacket) : pick(0, kPacket);
      if (steps_back_ && pick(0, 300) == 0)
        now_.ps = std::max<std::int64_t>(0, now_.ps - pick(0, 100 * kPacket));
      const std::int64_t what = pick(0, 20);
      if (what == 0)
        open_round();
      else if (what < 4)
        ask();
      else if (what == 4)
        on_time();
      else if (what == 5 && pick(0, 5) == 0)
        acknowledge();
      else
        contribute();
    }
    for (int i = 0; i < 1000 && owed() > 0; ++i) {
      now_ = std::max(now_, edge_.next_deadline());
      on_time();
    }
    EXPECT_EQ(owed(), 0u) << "asked for, kept, and not sent again";
  }

 private:
  [[nodiscard]] std::int64_t pick(std::int64_t from, std::int64_t to) {
    return random_.between(from, to);
  }
  Edge make_edge() {
    AggregationSpec spec;
    spec.job = {1, Element::kF32, Operation::kWeightedSum, 16 * kChunks, 1, 1};
    spec.slots = std::size_t(pick(1, 40));
    spec.resend_packets = store_ = std::size_t(pick(1, 60));
    spec.last_hop = {double(kBeatBytes) * 8 * 1e12 / double(kPacket)};
    spec.linger = {0};
    steps_back_ = pick(0, 3) == 0;
    std::vector<EdgeJob> jobs;
    jobs.push_back({spec, {sealed(1), sealed(2), {}}});
    for (BootId boot = 10; boot < 14; ++boot) jobs.back().seals.sources.push_back(sealed(boot));
    return std::move(*Edge::build({.memory = {1 << 20}}, {0}, std::move(jobs)));
  }
  void open_round() {
    RoundSpec spec = equal_round(++round_, 4, 0);
    spec.first_deadline = now_ + Duration{pick(0, 50 * kPacket)};
    spec.last_deadline = spec.first_deadline + Duration{pick(0, 50 * kPacket)};
    ASSERT_TRUE(edge_.open_round(now_, 1, spec, *this).has_value());
  }
  void contribute() {
    const auto bit = int(pick(1, 3));
    Header header = header_of(PacketType::kData, ChunkId(pick(0, kChunks - 1)));
    header.mask = ContributorMask(1) << unsigned(bit);
    if (round_ > 1 && pick(0, 2) == 0) header.round = round_ - 1;
    deliver(SourceId(bit), header, 0x3f80'0000, sealed(10 + BootId(bit)));
    EXPECT_EQ(left_.size(), outputs()) << "a sum waits";
  }
  void ask() {
    if (outputs() == 0) return;
    const auto first = outputs() - pick(1, std::min<std::int64_t>(outputs(), 70));
    const auto bits = std::uint32_t(random_.next());
    for (std::uint32_t i = 0; i < 32 && first + i < outputs(); ++i)
      if ((bits >> i & 1) != 0) asked_[std::uint32_t(first + i)] = true;
    deliver(kOwnIsland, header_of(PacketType::kNak, ChunkId(first)), bits, sealed(2));
  }
  void acknowledge() {
    const std::int64_t below = outputs() - pick(0, 20);
    if (below < 0) return;
    acknowledged_ = std::max(acknowledged_, below);
    Header header = header_of(PacketType::kAck, ChunkId(below));
    header.flags = flag::kZero;
    deliver(kOwnIsland, header, 0, sealed(2));
  }
  void on_time() {
    edge_.on_time(now_, *this);
    EXPECT_GT(edge_.next_deadline(), now_) << "it would be called again at once, for ever";
  }
  Header header_of(PacketType type, ChunkId chunk) const {
    Header header;
    header.set_type(type);
    header.job = 1;
    header.round = round_;
    header.chunk = chunk;
    header.weight = 1;
    header.set_content(Element::kF32, Operation::kWeightedSum, 0);
    return header;
  }
  void deliver(SourceId source, const Header& header, std::uint32_t bits, Seal seal) {
    std::vector<std::byte> packet(packet_bytes(header.has(flag::kZero) ? 0 : kBeatBytes));
    write_header(header, packet);
    if (!header.has(flag::kZero)) std::memcpy(packet.data() + kHeaderBytes, &bits, sizeof bits);
    seal.close(packet);
    edge_.on_packet(now_, source, packet, *this);
  }
  [[nodiscard]] std::int64_t outputs() const {
    return std::int64_t(edge_.job(1)->counters()[EdgeCount::kOutputs]);
  }
  [[nodiscard]] std::size_t owed() const {
    std::size_t count = 0;
    for (const auto& [sequence, waits] : asked_)
      if (waits && sequence + std::int64_t(store_) >= outputs() && sequence >= acknowledged_ &&
          left_.at(sequence) + 1 >= round_)
        ++count;
    return count;
  }

  void send(Towards, ByteView packet) override {
    const Header header = *read_header(packet);
    if (!carries_sum(header.type())) return;
    const std::uint32_t sequence = header.sequence;
    const bool again = header.has(flag::kResent);
    EXPECT_EQ(left_.contains(sequence), again) << "sequence " << sequence;
    left_[sequence] = header.round;
    if (again) asked_[sequence] = false;
    // The hop as anybody would reckon it.
    if (now_ < sent_at_) clear_at_ = now_;
    const bool crowded = clear_at_ - now_ > Duration{8 * kPacket};
    if (!again) share_ = std::min(share_ + 1, 32);
    if (again && crowded) share_ -= 4;
    EXPECT_GE(share_, 0) << "more than one in five";
    clear_at_ = std::max(clear_at_, now_) + Duration{kPacket};
    sent_at_ = now_;
  }

  Random random_;
  std::size_t store_ = 0;
  bool steps_back_ = false;
  Instant now_{0}, sent_at_{0}, clear_at_{0};
  RoundId round_ = 0;
  std::map<std::uint32_t, RoundId> left_;  // sums that have left, by sequence
  std::map<std::uint32_t, bool> asked_;    // whether it still waits
  std::int64_t acknowledged_ = 0;
  int share_ = 0;
  Edge edge_;
};

TEST(LastHop, SumsLeaveAtOnceAndRepeatsInTheirTurn) {
  for (const std::uint64_t seed : testing::seeds_to_try(400)) {
    Player player(seed);
    player.play();
    ASSERT_FALSE(HasFailure()) << testing::replay_command(seed);
  }
}

}  // namespace
}  // namespace cotillion
