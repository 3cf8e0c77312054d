// Any sequence of requests, rounds and instants into a sender and the keeper of its stream: a
// repeat has the bytes of the first time, nothing is said of rounds that are over but that they are
// gone, and requests that nobody sealed are not answered.
#include "protocol/sender.hpp"

#include <map>

#include "protocol/keeper.hpp"
#include "protocol/protocol_fuzz.hpp"
#include "protocol/request.hpp"

namespace {

using namespace cotillion;
using fuzz::Fate;
using fuzz::Input;

JobSpec job_of(Element element) {
  JobSpec job;
  job.element = element;
  job.beats = 1;
  job.elements = elements_per_chunk(job) * 20 - 3;
  job.fragments = 3;
  return job;
}

class FuzzedSender final : public Outbox, public FragmentSource {
 public:
  FuzzedSender(Input& input, Element element, Exchange exchange)
      : input_(input),
        job_(job_of(element)),
        snapshots_(job_, Grid(-3), 2),
        sender_(settings(exchange), snapshots_, *this, seal(1, 5), askers(5)),
        keeper_(job_, {seal(3, 5), seal(1, 0), askers(5)}),
        own_(seal(1, 5)),
        keeper_seal_(seal(3, 5)),
        asker_(seal(2, 5)) {}

  void run() {
    while (!input_.empty()) {
      const std::uint8_t what = input_.byte();
      now_.ps += std::int64_t(what >> 4u) * 1'000'000;
      if ((what & 0xfu) == 0) open_round();
      sender_.on_time(now_, *this);
      COTILLION_CHECK(sender_.next_deadline() > now_);
      request();
    }
  }

  void snapshot(RoundId, std::uint64_t first, std::span<float> values) override {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = first % 3 == 0 ? 0 : float(now_.ps % 1000) + float(i);
  }

  void send(Towards towards, SourceId source, ByteView packet) override {
    ++sends_;
    const auto header = read_header(packet);
    COTILLION_CHECK(header.has_value() && header->job == job_.id);
    if (towards == Towards::kSource) return check_answer(*header, source, packet);
    COTILLION_CHECK(towards == Towards::kGroup && own_.holds(packet));
    COTILLION_CHECK(header->round == stream_.round && header->epoch() == stream_.epoch);
    if (header->type() == PacketType::kData) check_data(*header, packet);
    keeper_.on_stream(packet);
  }

 private:
  static Seal seal(SourceName name, BootId boot) { return fuzz::seal_of(false, 1, name, boot); }
  static std::vector<Seal> askers(BootId boot) {
    std::vector<Seal> seals;
    for (int i = 0; i < 2; ++i) seals.push_back(seal(2, boot));
    return seals;
  }
  static SenderSettings settings(Exchange exchange) {
    SenderSettings settings;
    settings.exchange = exchange;
    settings.heartbeat = {20'000'000};
    settings.catch_up = {2'000'000};
    return settings;
  }

  void open_round() {
    stream_.round += 1 + RoundId(input_.below(2));
    stream_.epoch = input_.below(3);
    stream_.clique = input_.below(2);
    stream_.bit = input_.below(64);
    stream_.start = now_ + Duration{input_.below(4) * 1'000'000};
    stream_.offset = {input_.below(4) * 1'000'000};
    stream_.rate = {1e9};
    sent_.clear();
    sender_.open_round(stream_);
    keeper_.open_round(stream_.round, stream_.epoch, stream_.clique, stream_.bit);
  }

  // The first time it is noted, the next time compared.
  void check_data(const Header& header, ByteView packet) {
    COTILLION_CHECK(header.chunk < chunk_count(job_));
    std::vector<std::byte> bytes(packet.begin(), packet.end());
    bytes[offsetof(Header, flags)] &= ~std::byte(flag::kResent);
    const auto [known, fresh] = sent_.emplace(header.chunk, bytes);
    COTILLION_CHECK(fresh == !header.has(flag::kResent) && known->second == bytes);
  }

  void check_answer(const Header& header, SourceId source, ByteView packet) {
    COTILLION_CHECK(source == from_);
    if (header.type() != PacketType::kData) {
      COTILLION_CHECK(header.type() == PacketType::kGone ||
                      header.type() == PacketType::kHeartbeat);
      COTILLION_CHECK(keeper_seal_.holds(packet));
      return;
    }
    COTILLION_CHECK(header.has(flag::kResent) && header.round == stream_.round);
    std::vector<std::byte> bytes(packet.begin(), packet.end());
    bytes[offsetof(Header, flags)] &= ~std::byte(flag::kResent);
    COTILLION_CHECK(sent_.at(header.chunk) == bytes);
  }

  void request() {
    RoundSpec round;
    round.round = stream_.round;
    round.epoch = stream_.epoch;
    round.clique = stream_.clique;
    round.members = kCliqueMembersMax;
    ByteSpan packet = fuzz::make_packet(input_, job_, round, -3, room_);
    const std::uint8_t how = input_.byte();
    Header header;
    std::memcpy(&header, packet.data(), kHeaderBytes);
    if ((how & 3u) != 0) header.set_type(PacketType::kRepair);
    if ((how & 4u) != 0) header.mask = ContributorMask(1) << unsigned(stream_.bit);
    write_header(header, packet);
    if (header.type() == PacketType::kHeartbeat && !payload_of(packet).empty()) {
      asker_.set_boot(asker_.boot() + (input_.below(8) == 0 ? 1 : 0));
      const Little64 boot = asker_.boot();
      std::memcpy(payload_of(packet).data(), &boot, sizeof boot);
    }
    const bool sealed = fuzz::finish_packet(input_, asker_, packet) == Fate::kSealed;
    from_ = input_.below(4) == 0 ? 2 : input_.below(2);  // the last nobody knows
    const std::uint64_t sends = sends_;
    if ((how & 8u) != 0) {
      sender_.on_packet(now_, std::size_t(from_), packet, *this);
    } else if ((how & 16u) != 0 && !sealed) {
      const std::uint64_t kept = keeper_.counters().kept;
      keeper_.on_stream(packet);
      COTILLION_CHECK(keeper_.counters().kept == kept);
    } else {
      keeper_.on_request(std::size_t(from_), packet, *this);
    }
    if (!sealed || from_ == 2) COTILLION_CHECK(sends_ == sends);
  }

  Input& input_;
  JobSpec job_;
  Snapshots snapshots_;
  Sender sender_;
  Keeper keeper_;
  Seal own_, keeper_seal_, asker_;
  StreamSpec stream_;
  Instant now_{0};
  SourceId from_ = 0;
  std::uint64_t sends_ = 0;
  std::map<ChunkId, std::vector<std::byte>> sent_;
  std::array<std::byte, packet_bytes(4 * kBeatBytes)> room_{};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const std::uint8_t kind = input.byte();
  FuzzedSender(input, Element(1 + kind % 3),
               (kind & 4u) != 0 ? Exchange::kWhole : Exchange::kStreamed)
      .run();
  return 0;
}
