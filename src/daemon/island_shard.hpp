// One shard of an island: a socket, a sender and a receiver, and what each turn of the loop between
// them and the region does.
#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "daemon/island_host.hpp"
#include "daemon/receive_batch.hpp"
#include "daemon/send_batch.hpp"
#include "daemon/shard_loop.hpp"
#include "daemon/shards.hpp"
#include "exchange/exchange_agent.hpp"

namespace cotillion {

// Training code holds a fragment for as long as a copy takes.
inline constexpr Duration kRegionRetry{200'000'000};

class IslandShard final : private ShardWork,
                          private FragmentSource,
                          private ReceiverEvents,
                          private Outbox {
 public:
  [[nodiscard]] static Result<std::unique_ptr<IslandShard>> make(const IslandHostSettings& settings,
                                                                 const ShardJob& part, int shard,
                                                                 const ExchangeRegion* region);

  void run();  // everything its thread does; returns after stop()

  // From any thread.
  void open_round(const RoundOpening& opening);
  void stop() { loop_.stop(); }
  void take_accounts(std::vector<ShardAccount>& into) { accounts_.take(into); }
  [[nodiscard]] IslandReading reading() const;
  [[nodiscard]] Endpoint own() const { return socket_.local(); }

 private:
  // A stream in hand.
  struct Leaving {
    RoundId round = 0;
    Endpoint group;
    StreamSpec next;  // of the round after it; round 0: none
  };
  // A correction to be put into the region, or checked against a synthetic model.
  struct PendingMerge {
    RoundId round = 0;
    int fragment = 0;
  };

  IslandShard(const IslandHostSettings& settings, const ShardJob& part, int shard,
              const ExchangeRegion* region, UdpSocket socket);

  // ShardWork
  void read_mail() override;
  bool receive() override;
  bool on_time() override;
  [[nodiscard]] Instant next_deadline(Instant now) const override;
  void meet_deadlines();
  void send_what_is_due(Instant now);
  [[nodiscard]] bool run_merges();           // a slice of one; false when none can be run now
  [[nodiscard]] bool set_out();              // on the next one
  void check(RoundId round, ChunkId chunk);  // against a synthetic model
  void add_late(ChunkId chunk, std::span<float> correction);
  void lay_late();
  void come_back();
  void finish(RoundId round);
  void note_move(RoundId round, int fragment, bool merged);
  void run_the_last();
  [[nodiscard]] CorrectionAccount account_of(const PendingMerge& pending) const;
  void begin_stream(Instant now);
  void note_wanted(const StreamSpec& stream, int fragment);
  void publish(Instant now);
  [[nodiscard]] bool waits(int fragment) const;
  // No chunk may leave before what was merged into it in the round before.
  [[nodiscard]] Instant may_send_until(Instant now) const;
  [[nodiscard]] int in_region(int fragment) const { return shard_ * job_.fragments + fragment; }
  [[nodiscard]] const RoundAssignment* part_of(RoundId round) const;
  [[nodiscard]] const Leaving& leaving(RoundId round) const {
    return leaving_[leaving_[0].round == round ? 0 : 1];
  }
  [[nodiscard]] std::vector<Absence> absences(const RoundAssignment& part, ChunkId from,
                                              ChunkId to) const;
  [[nodiscard]] std::int64_t wall_ns(Instant instant) const {
    return clock_.origin_ns() + instant.ps / 1000;
  }

  // FragmentSource, ReceiverEvents, Outbox
  void snapshot(RoundId round, std::uint64_t first, std::span<float> values) override;
  bool keep(RoundId round, int fragment) override;
  void fragment_ready(RoundId round, int fragment) override;
  void late_ready(RoundId round, int fragment) override;
  void round_closed(RoundId round, std::span<const Absence> absences) override;
  void send(Towards towards, ByteView packet) override;

  const RunClock clock_;
  const int shard_;
  const JobSpec job_;
  const ChunkId first_chunk_;          // in the whole model
  const std::uint64_t first_element_;  // the same
  const double share_of_chunk_;        // of the whole model
  const int islands_;
  const Missing missing_;
  const SenderSettings sending_;
  const Endpoint edge_;
  const std::uint16_t group_port_;
  const ExchangeRegion* region_;  // none: a synthetic model
  std::optional<ExchangeAgent> agent_;
  const IslandId self_;
  Snapshots snapshots_;
  Merge merge_;
  Sender sender_;
  Receiver receiver_;
  UdpSocket socket_;
  ReceiveBatch sums_;
  SendBatch out_;
  std::vector<RoundAssignment> parts_;         // of the live rounds
  std::vector<RoundOpening> upcoming_;         // whose streams have not begun
  std::array<Leaving, 2> leaving_;             // whose streams are in hand, the older first
  std::vector<PendingMerge> pending_merges_;   // not begun
  std::optional<PendingMerge> current_merge_;  // under way
  ChunkId next_ = 0;                           // chunk of it
  std::vector<float> correction_;              // one chunk
  std::vector<double> average_;                // the same, of a synthetic model
  bool region_is_held_ = false;                // by training code: a merge waits for that
  bool retiring_ = false;
  Instant rest_until_{0};                       // before the next slice of a check
  std::size_t heard_ = 0;                       // bytes, since the last slice of a merge
  std::map<ChunkId, std::vector<float>> late_;  // differences that wait for the next correction
  std::vector<ReportedMove> moves_;             // not reported yet
  RoundId merged_round_ = 0;
  Instant held_up_since_ = kNever;
  Instant published_at_{0};
  Instant missing_at_{0};
  IslandReading counted_;

  ShardLoop loop_;
  Mailbox<RoundOpening> mail_;
  Mailbox<ShardAccount> accounts_;
  mutable std::mutex lock_;
  IslandReading published_;  // under the lock
};

}  // namespace cotillion
