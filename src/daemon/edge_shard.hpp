// One shard of an edge: its sockets and its edge, and what each turn of the loop between them does.
#pragma once

#include "daemon/edge_host.hpp"
#include "daemon/receive_batch.hpp"
#include "daemon/send_batch.hpp"
#include "daemon/shard_loop.hpp"
#include "daemon/xdp_socket.hpp"
#include "job/overlap_margins.hpp"

namespace cotillion {

class EdgeShard final : private ShardWork, private Outbox {
 public:
  [[nodiscard]] static Result<std::unique_ptr<EdgeShard>> make(const EdgeHostSettings& settings,
                                                               int shard, Edge edge);

  // Everything its thread does. Returns after stop().
  void run();

  // From any thread.
  void open_round(JobId job, const RoundSpec& round);
  void account_for(RoundId round);
  void take_accounts(std::vector<EdgeAccount>& into) { accounts_.take(into); }
  void stop() { loop_.stop(); }
  [[nodiscard]] EdgeReading reading() const { return published_.read(); }
  [[nodiscard]] std::uint64_t packets_heard() const { return published_.read(HostCount::kPackets); }
  [[nodiscard]] Endpoint own() const { return requests_.local(); }

 private:
  static constexpr Instant kLongAgo{-1'000'000'000'000'000'000};  // 11 days before the origin
  struct Mail {
    JobId job = 0;
    RoundSpec round;
    bool account = false;  // of this round, instead of opening it
  };

  EdgeShard(const EdgeHostSettings& settings, int shard, Edge edge, UdpSocket groups,
            UdpSocket requests, std::optional<XdpSocket> direct);
  void send_mail(const Mail& mail);
  // ShardWork
  void read_mail() override;
  bool receive() override;
  bool on_time() override;
  [[nodiscard]] Instant next_deadline(Instant now) const override;
  void receive_requests() override;
  // False when nothing more is waiting.
  template <class Source>
  [[nodiscard]] bool hear_groups(const Source& source, int came);
  void hear(Instant now, SourceId source, ByteView packet);
  void pass_on(Instant now, SourceId source, ByteView packet);
  void meet_deadlines();
  void count_overflows(Instant now);
  void publish();
  void send(Towards towards, ByteView packet) override;
  [[nodiscard]] const HeardGroup* find(Ipv4Address group) const;

  const RunClock clock_;
  const Duration spin_;
  const Endpoint island_;
  std::vector<HeardGroup> heard_;  // sorted
  Edge edge_;
  std::size_t stays_;  // so many packets that were sent stay as they are in every store
  UdpSocket groups_, requests_;
  std::optional<XdpSocket> direct_;
  ReceiveBatch streams_, questions_;
  SendBatch out_;
  Injector on_receive_, on_send_;
  EdgeReading counted_;
  PublishedReading published_;

  ShardLoop loop_;
  Mailbox<Mail> mail_;
  std::vector<Mail> came_;  // mail that is being read
  Mailbox<EdgeAccount> accounts_;
  // By round, of which two are live, and source: the last one. The next round begins before the
  // account of this one is asked for.
  std::array<IdVector<SourceId, Instant>, kLiveRoundsMost> accepted_;
  Instant heard_at_ = kLongAgo;
  Instant overflows_at_ = kLongAgo;  // when the kernel was asked for them
  std::uint64_t overflows_ = 0;
};

}  // namespace cotillion
