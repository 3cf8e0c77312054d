// Three islands that send, one that receives, and the real edge host between them, on loopback:
// real sockets, real time, everybody but the edge in the test's own thread. No test may count on
// how long anything takes; pump() waits for what must happen and gives up after half a minute.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <functional>
#include <set>

#include "daemon/edge_host.hpp"
#include "daemon/receive_batch.hpp"
#include "daemon/send_batch.hpp"
#include "daemon/shards.hpp"
#include "protocol/receiver.hpp"

namespace cotillion::testing {

inline constexpr Ipv4Address kLoopback = 0x7f00'0001;
inline constexpr int kMembers = 4;
inline constexpr int kReceiving = 3;  // the member behind the edge
inline constexpr ContributorMask kAllOthers = 0b0111;
inline constexpr Duration kTimeout{30'000'000'000'000};

// The first of `count` ports that nobody uses.
inline std::uint16_t free_ports(int count) {
  for (;;) {
    UdpSettings settings;
    settings.bind = {kLoopback, 0};
    std::vector<UdpSocket> held;
    held.push_back(std::move(*UdpSocket::open(settings)));
    const std::uint16_t first = held[0].local().port;
    for (int i = 1; i < count && first + i < 65'536; ++i) {
      settings.bind.port = std::uint16_t(first + i);
      auto next = UdpSocket::open(settings);
      if (!next) break;
      held.push_back(std::move(*next));
    }
    if (int(held.size()) == count) return first;
  }
}

inline UdpSocket loopback_socket(std::uint16_t port = 0) {
  UdpSettings settings;
  settings.bind = {kLoopback, port};
  settings.interface = kLoopback;
  return std::move(*UdpSocket::open(settings));
}

inline double value_of(int island, std::uint64_t element) {
  return double((island + 1) * 1000) + double(element % 97);
}

struct RigSettings {
  // A round fits into a socket's buffer as an unprivileged user gets it: an edge that must wait for
  // its turn on a busy machine loses nothing.
  std::uint64_t elements = 6000;
  int beats = 4;
  int shards = 1;
  bool authenticated = false;
  bool introduced = false;       // the edge knows everyone's boot beforehand
  Duration deadline = kTimeout;  // of all chunks, after the round's start
  std::size_t slots = 4096;
  std::size_t resend_packets = 1024;
  InjectorSettings on_receive, on_send;
  bool direct = false;
  BitsPerSecond rate{400e6};  // of each stream
  BitsPerSecond last_hop{0};  // as the edge believes it to be; 0: not known
  bool bursts = false;        // what is due at once comes to the edge at once
};

inline Seal seal_of(const RigSettings& settings, JobId job, int name, BootId boot) {
  Key secret{};
  secret[0] = std::uint8_t(name);
  Seal seal = settings.authenticated ? Seal(secret, job, SourceName(name)) : Seal();
  seal.set_boot(boot);
  return seal;
}
inline constexpr int kEdgeName = 100, kReceiverName = 101;

// One shard's islands.
class RigIslands final : ReceiverEvents {
 public:
  RigIslands(const RigSettings& settings, const JobSpec& whole, int shard, UdpSocket socket)
      : settings_(settings),
        part_(shard_job(whole, shard, settings.shards)),
        socket_(std::move(socket)),
        batch_(8),
        out_(socket_) {
    for (int i = 0; i < kMembers; ++i) {
      streams_.push_back(std::make_unique<Stream>(*this, i));
    }
    ReceiverSettings receiving;
    receiving.islands = kMembers;
    receiving.gaps.round_trip = {20'000'000'000};
    receiving.heartbeat = {20'000'000'000};
    receiver_ = std::make_unique<Receiver>(receiving, streams_[kReceiving]->snapshots, merge_,
                                           seal_of(settings, part_.job.id, kReceiverName, 1),
                                           seal_of(settings, part_.job.id, kEdgeName, 0));
  }

  void open_round(const RoundSpec& spec, Instant now, Endpoint edge, std::uint16_t port) {
    round_ = spec.round;
    edge_ = edge;
    requests_ = std::make_unique<Requests>(*this);
    ReceiverRound round{spec, spec.last_deadline, {0}};
    ASSERT_TRUE(receiver_->open_round(now, round, *requests_, *this).has_value());
    for (int i = 0; i < kMembers; ++i) {
      streams_[std::size_t(i)]->group = {group_address(i, 0), port};
      StreamSpec stream;
      stream.round = spec.round;
      stream.bit = i;
      stream.weight_sum = kMembers;
      stream.start = now;
      stream.rate = settings_.rate;
      streams_[std::size_t(i)]->sender->open_round(stream);
    }
  }

  void pump(Instant now) {
    for (const auto& stream : streams_) {
      stream->sender->on_time(now, *stream);
      stream->out.flush();
    }
    for (int came = batch_.receive(socket_); came > 0; came = batch_.receive(socket_))
      for (int i = 0; i < came; ++i)
        for_each_packet(batch_[i], {}, [&](ByteView packet, ByteView) {
          const Header header = read_header(packet).value();
          if (carries_sum(header.type())) ++sums_;
          if (carries_sum(header.type()) && !header.has(flag::kResent) &&
              !seen_.insert(header.sequence).second)
            ++repeats_;
          if (!deaf(header)) receiver_->on_packet(now, packet, *requests_, *this);
        });
    receiver_->on_time(now, *requests_, *this);
    out_.flush();
  }

  [[nodiscard]] bool whole() const {
    const auto masks = receiver_->contributors(round_);
    return std::all_of(masks.begin(), masks.end(),
                       [](ContributorMask mask) { return mask == kAllOthers; });
  }
  [[nodiscard]] bool ended() const { return receiver_->counters()[ReceiverCount::kPlaced] > 0; }

  // Whatever came is the exact sum of those who are said to be in it.
  void expect_exact() {
    const auto masks = receiver_->contributors(round_);
    std::vector<double> average(elements_per_chunk(part_.job));
    for (ChunkId chunk = 0; chunk < masks.size(); ++chunk) {
      const std::span values(average.data(), elements_in(part_.job, chunk));
      receiver_->average(round_, chunk, values);
      for (std::size_t e = 0; e < values.size(); ++e) {
        const std::uint64_t element = part_.first_element + first_element(part_.job, chunk) + e;
        double sum = value_of(kReceiving, element);
        int present = 1;
        for (int i = 0; i < kReceiving; ++i)
          if ((masks[chunk] >> unsigned(i) & 1) != 0) {
            sum += value_of(i, element);
            ++present;
          }
        ASSERT_DOUBLE_EQ(values[e], sum / present) << "chunk " << chunk << " element " << element;
      }
    }
  }

  [[nodiscard]] const Receiver& receiver() const { return *receiver_; }
  [[nodiscard]] const JobSpec& job() const { return part_.job; }
  [[nodiscard]] int fd() const { return socket_.fd(); }
  [[nodiscard]] bool closed() const { return closed_; }
  [[nodiscard]] std::uint64_t sums() const { return sums_; }
  [[nodiscard]] std::span<const std::vector<std::byte>> sent() const { return sent_; }
  // Sums that came a second time and are not marked so.
  [[nodiscard]] std::uint64_t repeats() const { return repeats_; }
  std::function<bool(const Header&)> deaf = [](const Header&) { return false; };
  std::function<bool(int island)> silent = [](int) { return false; };

 private:
  struct Stream final : FragmentSource, Outbox {
    Stream(RigIslands& in, int number)
        : rig(in), self(number), snapshots(in.part_.job, Grid(0), 2), socket(loopback_socket()) {
      SenderSettings sending;
      sending.heartbeat = {20'000'000'000};
      sender = std::make_unique<Sender>(sending, snapshots, *this,
                                        seal_of(in.settings_, in.part_.job.id, number, 1));
    }
    void snapshot(RoundId, std::uint64_t first, std::span<float> values) override {
      for (std::size_t e = 0; e < values.size(); ++e)
        values[e] = float(value_of(self, rig.part_.first_element + first + e));
    }
    void send(Towards, ByteView packet) override {
      if (rig.silent(self) || self == kReceiving) return;
      if (rig.sent_.size() < 64) rig.sent_.emplace_back(packet.begin(), packet.end());
      out.add_copy(group, packet);
      if (!rig.settings_.bursts) out.flush();
    }
    RigIslands& rig;
    int self;
    Snapshots snapshots;
    std::unique_ptr<Sender> sender;
    UdpSocket socket;
    SendBatch out{socket};
    Endpoint group;
  };
  struct Requests final : Outbox {
    explicit Requests(RigIslands& in) : rig(in) {}
    void send(Towards, ByteView packet) override { rig.out_.add_copy(rig.edge_, packet); }
    RigIslands& rig;
  };

  void fragment_ready(RoundId, int) override {}
  void late_ready(RoundId, int) override {}
  void round_closed(RoundId, std::span<const Absence>) override { closed_ = true; }

  RigSettings settings_;
  ShardJob part_;
  Merge merge_{part_.job, {}};
  std::vector<std::unique_ptr<Stream>> streams_;
  std::unique_ptr<Receiver> receiver_;
  std::unique_ptr<Requests> requests_;
  UdpSocket socket_;
  ReceiveBatch batch_;
  SendBatch out_;
  Endpoint edge_;
  RoundId round_ = 0;
  bool closed_ = false;
  std::uint64_t sums_ = 0, repeats_ = 0;
  std::set<std::uint32_t> seen_;              // sequences
  std::vector<std::vector<std::byte>> sent_;  // the first packets on the wire
};

class LoopbackRig {
 public:
  explicit LoopbackRig(const RigSettings& settings)
      : settings_(settings),
        clock_(RunClock::starting_now()),
        port_(free_ports(settings.shards)),
        island_port_(free_ports(settings.shards)) {
    AggregationSpec spec;
    spec.job = {
        .id = 7, .element = Element::kI32, .elements = settings.elements, .beats = settings.beats};
    spec.slots = settings.slots;
    spec.resend_packets = settings.resend_packets;
    spec.heartbeat = {20'000'000'000};
    spec.last_hop = settings.last_hop;
    std::vector<Edge> edges;
    for (int shard = 0; shard < settings.shards; ++shard) {
      const AggregationSpec share = shard_share(spec, shard, settings.shards);
      const JobId job = share.job.id;
      AggregationSeals seals{
          seal_of(settings, job, kEdgeName, 1), seal_of(settings, job, kReceiverName, 0), {}};
      for (int i = 0; i < kMembers; ++i)
        seals.sources.push_back(seal_of(settings, job, i, settings.introduced ? 1 : 0));
      std::vector<EdgeJob> jobs;
      jobs.push_back({share, std::move(seals)});
      const Bytes memory{std::int64_t(footprint(share).sums)};
      edges.push_back(std::move(*Edge::build({.memory = memory}, {0}, std::move(jobs))));
      islands_.push_back(std::make_unique<RigIslands>(
          settings, spec.job, shard, loopback_socket(std::uint16_t(island_port_ + shard))));
    }
    EdgeHostSettings hosting;
    hosting.clock = clock_;
    hosting.interface = kLoopback;
    for (int i = 0; i < kReceiving; ++i)
      hosting.groups.push_back({group_address(i, 0), SourceId(i)});
    hosting.port = port_;
    hosting.own = {kLoopback, 0};
    hosting.island = {kLoopback, island_port_};
    hosting.direct = settings.direct;
    hosting.on_receive = settings.on_receive;
    hosting.on_send = settings.on_send;
    auto started = EdgeHost::start(hosting, std::move(edges));
    if (!started) ADD_FAILURE() << started.error().message;
    COTILLION_CHECK(started.has_value());
    host_ = std::move(*started);
  }

  void open_round(RoundId round) {
    RoundSpec spec = equal_round(round, kMembers, kReceiving);
    spec.first_deadline = spec.last_deadline = clock_.now() + settings_.deadline;
    const std::uint64_t before = host_->reading()[HostCount::kRoundsOpened];
    host_->open_round(7, spec);
    ASSERT_TRUE(pump([&] {
      return host_->reading()[HostCount::kRoundsOpened] == before + std::uint64_t(shards());
    }));
    for (int s = 0; s < shards(); ++s)
      islands(s).open_round(spec, clock_.now(), host_->own(s), std::uint16_t(port_ + s));
    open_ = true;
  }

  // Lets everybody work until that is so; false when timeout ends.
  [[nodiscard]] bool pump(const std::function<bool()>& until) {
    const Instant end = clock_.now() + kTimeout;
    std::vector<pollfd> watched;
    for (const auto& shard : islands_) watched.push_back({shard->fd(), POLLIN, 0});
    while (!until()) {
      if (clock_.now() > end) return false;
      if (open_)
        for (const auto& shard : islands_) shard->pump(clock_.now());
      (void)poll(watched.data(), nfds_t(watched.size()), 1);
    }
    return true;
  }
  [[nodiscard]] bool pump_until_whole() {
    return pump([&] {
      return std::all_of(islands_.begin(), islands_.end(),
                         [](const auto& shard) { return shard->whole(); });
    });
  }

  [[nodiscard]] EdgeHost& host() { return *host_; }
  [[nodiscard]] RigIslands& islands(int shard = 0) { return *islands_[std::size_t(shard)]; }
  [[nodiscard]] int shards() const { return int(islands_.size()); }
  [[nodiscard]] Endpoint group(int sender) const { return {group_address(sender, 0), port_}; }
  [[nodiscard]] const RunClock& clock() const { return clock_; }

 private:
  RigSettings settings_;
  RunClock clock_;
  std::uint16_t port_, island_port_;
  std::vector<std::unique_ptr<RigIslands>> islands_;
  std::unique_ptr<EdgeHost> host_;
  bool open_ = false;
};

}  // namespace cotillion::testing
