// Any sequence of packets, rounds and instants into a receiver: contributors only join and only
// those that are expected, each fragment is ready once, each round is accounted for once, integer
// averages are exact, and packets that nobody sealed change nothing at all.
#include "protocol/receiver.hpp"

#include <map>
#include <set>

#include "protocol/protocol_fuzz.hpp"

namespace {

using namespace cotillion;
using fuzz::Fate;
using fuzz::Input;

constexpr int kExponent = 0;
constexpr float kOwn = 3;  // every element of this island's model

JobSpec job_of(Element element) {
  JobSpec job;
  job.element = element;
  job.operation = Operation::kWeightedSum;
  job.beats = 1;
  job.elements = elements_per_chunk(job) * 5 + 3;
  job.fragments = 3;
  return job;
}

class FuzzedReceiver final : public Outbox, public ReceiverEvents {
 public:
  FuzzedReceiver(Input& input, Element element, Exchange exchange)
      : input_(input),
        job_(job_of(element)),
        snapshots_(job_, Grid(kExponent), 2),
        merge_(job_, {}),
        receiver_(settings(exchange), snapshots_, merge_, fuzz::seal_of(false, 1, 101, 5),
                  fuzz::seal_of(false, 1, 100, 0)),
        edge_(fuzz::seal_of(false, 1, 100, 5)),
        island_(fuzz::seal_of(false, 1, 101, 5)) {}

  void run() {
    open_round();
    while (!input_.empty()) {
      const std::uint8_t what = input_.byte();
      now_.ps += std::int64_t(what >> 4u) * 20'000'000;
      if ((what & 0xfu) == 0) open_round();
      receiver_.on_time(now_, *this, *this);
      COTILLION_CHECK(receiver_.next_deadline() > now_);
      take_packet();
    }
    for (const auto& [round, spec] : rounds_) check_averages(round);
  }

  void send(Towards towards, ByteView packet) override {
    ++happened_;
    COTILLION_CHECK(towards == Towards::kOwnEdge && read_header(packet).has_value());
    COTILLION_CHECK(island_.holds(packet));
  }
  void fragment_ready(RoundId round, int fragment) override {
    ++happened_;
    COTILLION_CHECK(ready_.insert({round, fragment}).second);
    std::vector<float> elements = fragment_elements(fragment);
    receiver_.merge(round, fragment, elements);
  }
  void late_ready(RoundId round, int fragment) override {
    ++happened_;
    COTILLION_CHECK(ready_.contains({round, fragment}));
    std::vector<float> elements = fragment_elements(fragment);
    receiver_.merge_late(round, fragment, elements);
  }
  void round_closed(RoundId round, std::span<const Absence> absences) override {
    ++happened_;
    COTILLION_CHECK(closed_.insert(round).second);
    const auto masks = receiver_.contributors(round);
    const bool whole = std::all_of(masks.begin(), masks.end(), [&](ContributorMask mask) {
      return mask == rounds_.at(round).expected;
    });
    COTILLION_CHECK(absences.empty() == whole);
  }

 private:
  static ReceiverSettings settings(Exchange exchange) {
    ReceiverSettings settings;
    settings.exchange = exchange;
    settings.gaps = {16, {1'000'000}, {40'000'000}, 4};
    settings.late_chunks = 2;
    settings.heartbeat = {500'000'000};
    settings.islands = 8;
    return settings;
  }
  std::vector<float> fragment_elements(int fragment) const {
    const std::uint64_t first = first_element(job_, first_chunk(job_, fragment));
    const std::uint64_t last = first_element(job_, first_chunk(job_, fragment + 1));
    return std::vector<float>(std::min(last, job_.elements) - first, kOwn);
  }

  void open_round() {
    const RoundId newest = rounds_.empty() ? 0 : rounds_.rbegin()->first;
    RoundSpec round = equal_round(newest + 1 + RoundId(input_.below(2)), 1 + input_.below(8), 0);
    round.own = input_.below(round.members);
    round.expected = round.everyone() & ~(ContributorMask(1) << unsigned(round.own));
    round.epoch = input_.below(3);
    for (std::size_t bit = 0; bit < 8; ++bit) round.weight[bit] = 1u + input_.byte() % 4;
    round.first_deadline = now_ + Duration{input_.below(64) * 10'000'000};
    round.last_deadline = round.first_deadline + Duration{input_.below(64) * 10'000'000};
    const ReceiverRound mine{round, now_ + Duration{input_.below(64) * 10'000'000}, {20'000'000}};
    rounds_[round.round] = round;  // the account of the one that leaves is still to come
    COTILLION_CHECK(receiver_.open_round(now_, mine, *this, *this).has_value());
    std::erase_if(rounds_, [&](const auto& entry) {
      return entry.first != round.round && (round.round - entry.first) % 2 == 0;
    });
    // The sender copies now, or a little later.
    late_copy_ = input_.below(4) == 0 ? 2 : 0;
    if (late_copy_ == 0) copy(round);
  }
  void copy(const RoundSpec& round) {
    for (ChunkId chunk = 0; chunk < chunk_count(job_); ++chunk) {
      const std::vector<float> values(elements_in(job_, chunk), kOwn);
      snapshots_.take(
          round.round, chunk, values,
          {round.weight[std::size_t(round.own)], grid_limit(weight_of(round, round.everyone()))});
    }
  }

  void take_packet() {
    if (late_copy_ > 0 && --late_copy_ == 0) copy(rounds_.rbegin()->second);
    const RoundSpec& round =
        input_.below(4) == 0 ? rounds_.begin()->second : rounds_.rbegin()->second;
    ByteSpan packet = fuzz::make_packet(input_, job_, round, kExponent, room_);
    Header header;
    std::memcpy(&header, packet.data(), kHeaderBytes);
    if (header.type() == PacketType::kHeartbeat && !payload_of(packet).empty()) {
      edge_.set_boot(edge_.boot() + (input_.below(8) == 0 ? 1 : 0));
      const Little64 boot = edge_.boot();
      std::memcpy(payload_of(packet).data(), &boot, sizeof boot);
    }
    const bool sealed = fuzz::finish_packet(input_, edge_, packet) == Fate::kSealed;
    receiver_.on_time(now_, *this, *this);  // what is due comes first
    std::map<RoundId, std::vector<ContributorMask>> before;
    for (const auto& [number, spec] : rounds_) {
      const auto masks = receiver_.contributors(number);
      before[number].assign(masks.begin(), masks.end());
    }
    const std::uint64_t happened = happened_;
    receiver_.on_packet(now_, packet, *this, *this);
    bool changed = false;
    for (const auto& [number, was] : before) {
      const auto masks = receiver_.contributors(number);
      for (ChunkId chunk = 0; chunk < masks.size(); ++chunk) {
        if (masks[chunk] == was[chunk]) continue;
        changed = true;
        COTILLION_CHECK(number == header.round && chunk == header.chunk);
        COTILLION_CHECK((was[chunk] & header.mask) == 0);
        COTILLION_CHECK(masks[chunk] == (was[chunk] | header.mask));
        COTILLION_CHECK((masks[chunk] & ~rounds_[number].expected) == 0);
        add(header, payload_of(ByteView(packet)));
      }
    }
    if (!sealed) COTILLION_CHECK(!changed && happened_ == happened);
  }

  void add(const Header& header, ByteView payload) {
    auto& sum = sums_[{header.round, header.chunk}];
    sum.resize(elements_per_chunk(job_));
    if (job_.element != Element::kI32) return;
    for (std::size_t i = 0; i < payload.size() / sizeof(Little32); ++i) {
      Little32 value;
      std::memcpy(&value, payload.data() + i * sizeof value, sizeof value);
      sum[i] += value;
    }
  }

  void check_averages(RoundId round) {
    if (job_.element != Element::kI32 || !snapshots_.taken(round, 0)) return;
    const RoundSpec& spec = rounds_[round];
    const auto masks = receiver_.contributors(round);
    for (ChunkId chunk = 0; chunk < masks.size(); ++chunk) {
      if (masks[chunk] == 0) continue;
      std::vector<double> average(elements_in(job_, chunk));
      receiver_.average(round, chunk, average);
      const std::uint32_t own = spec.weight[std::size_t(spec.own)];
      for (std::size_t i = 0; i < average.size(); ++i) {
        const double total = double(std::int32_t(sums_[{round, chunk}][i])) + double(kOwn) * own;
        COTILLION_CHECK(average[i] == total / (weight_of(spec, masks[chunk]) + own));
      }
    }
  }

  Input& input_;
  JobSpec job_;
  Snapshots snapshots_;
  Merge merge_;
  Receiver receiver_;
  Seal edge_, island_;
  Instant now_{0};
  int late_copy_ = 0;
  std::uint64_t happened_ = 0;
  std::map<RoundId, RoundSpec> rounds_;
  std::set<std::pair<RoundId, int>> ready_;
  std::set<RoundId> closed_;
  std::map<std::pair<RoundId, ChunkId>, std::vector<std::uint32_t>> sums_;
  std::array<std::byte, packet_bytes(4 * kBeatBytes)> room_{};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const std::uint8_t kind = input.byte();
  FuzzedReceiver(input, (kind & 1u) != 0 ? Element::kI32 : Element::kBf16,
                 (kind & 2u) != 0 ? Exchange::kWhole : Exchange::kStreamed)
      .run();
  return 0;
}
