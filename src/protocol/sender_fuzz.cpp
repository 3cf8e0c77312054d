// Any sequence of rounds and instants into a sender: every chunk leaves once at most, in order and
// sealed, and nothing is said of rounds that are over.
#include "protocol/sender.hpp"

#include "protocol/protocol_fuzz.hpp"

namespace {

using namespace cotillion;
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
        sender_(settings(exchange), snapshots_, *this, seal(1, 5)),
        own_(seal(1, 5)) {}

  void run() {
    while (!input_.empty()) {
      const std::uint8_t what = input_.byte();
      now_.ps += std::int64_t(what >> 4u) * 1'000'000;
      if ((what & 0xfu) == 0) open_round();
      sender_.on_time(now_, *this);
      COTILLION_CHECK(sender_.next_deadline() > now_);
    }
  }

  void snapshot(RoundId, std::uint64_t first, std::span<float> values) override {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = first % 3 == 0 ? 0 : float(now_.ps % 1000) + float(i);
  }

  void send(Towards towards, ByteView packet) override {
    const auto header = read_header(packet);
    COTILLION_CHECK(header.has_value() && header->job == job_.id);
    COTILLION_CHECK(towards == Towards::kGroup && own_.holds(packet));
    COTILLION_CHECK(header->round == stream_.round && header->epoch() == stream_.epoch);
    if (header->type() != PacketType::kData) return;
    COTILLION_CHECK(header->chunk >= next_ && header->chunk < chunk_count(job_));
    COTILLION_CHECK(!header->has(flag::kResent));
    next_ = header->chunk + 1;
  }

 private:
  static Seal seal(SourceName name, BootId boot) { return fuzz::seal_of(false, 1, name, boot); }
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
    next_ = 0;
    sender_.open_round(stream_);
  }

  Input& input_;
  JobSpec job_;
  Snapshots snapshots_;
  Sender sender_;
  Seal own_;
  StreamSpec stream_;
  Instant now_{0};
  ChunkId next_ = 0;  // that may leave
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
