// One island on the network: its model, sender and receiver, and the edge in front of it, all of
// them the real ones. The island keeps its own clock; the network and the edge keep the true one.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "job/roles.hpp"
#include "protocol/edge.hpp"
#include "sim/observer.hpp"
#include "sim/route.hpp"

namespace cotillion {

// Where an island and its edge put packets, with the way each of them takes.
class RoutedOutbox {
 public:
  virtual void carry(const Route& route, ByteView packet) = 0;

 protected:
  ~RoutedOutbox() = default;
};

// Whose event is being handled.
struct Turn {
  Instant now{0};
  int place = -1;  // on the event queue; −1: a round begins or a fault strikes
};

struct SimulatedIslandSettings {
  Payloads payloads = Payloads::kCounted;
  JobSettings job_settings;
  MergeSettings merge;
  int exponent = 0;                        // of i32 jobs
  Duration round_trip_margin{10'000'000};  // beyond the last hop's own, before asking again
  Duration step_time{0};                   // τ; zero: islands do not compute
};

class SimulatedIsland final : public FragmentSource, public ReceiverEvents, public Outbox {
 public:
  // What is referred to must outlive it.
  SimulatedIsland(const Turn& turn, RoutedOutbox& network, const Observers& observers,
                  const PlanFile& plan, const JobAssignment& assignment,
                  const SimulatedIslandSettings& settings, IslandId self);

  [[nodiscard]] IslandId id() const { return self_; }

  void open_round(Instant now, const RoundAssignment& part, const Route* stream);
  void hear_stream(Instant now, SourceId source, ByteView packet);
  void expect(RoundId round, ChunkId chunk) const { aggregation_->expect(round, chunk); }
  void hear_request(Instant now, ByteView packet);
  void hear_sum(Instant now, ByteView packet);
  void on_time(Instant now);
  // In true time.
  [[nodiscard]] Instant next_deadline() const {
    return std::min(std::min(edge_due_, island_due_), step_due_);
  }

  void set_clock(Duration ahead, double drift);
  // When its clock shows that much.
  [[nodiscard]] Instant true_time(Instant own) const;
  // Its steps take `factor` times as long, and it sends that much too late. Troubles may overlap:
  // they end with the last of them.
  void slow_down(double factor, Duration late);
  void speed_up();
  void die();
  // As a new process, with a model that has lived on; it takes part from the next round.
  void revive(Instant now);
  void restart_edge(Instant now);

  [[nodiscard]] std::vector<float>& model() { return model_; }
  [[nodiscard]] const Receiver& receiver() const { return *receiver_; }
  [[nodiscard]] Receiver& receiver() { return *receiver_; }
  [[nodiscard]] const Sender& sender() const { return *sender_; }
  [[nodiscard]] const Snapshots& snapshots() const { return *snapshots_; }
  [[nodiscard]] bool dead() const { return dead_; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  // When its edge last accepted a contribution of this source, to this round where rounds overlap,
  // since the last time it was asked; nothing: never.
  [[nodiscard]] Instant last_accepted(SourceId source, RoundId round) {
    return std::exchange(accepted_[acceptance(source, round)], kNever);
  }
  // Totals, including those before a restart.
  [[nodiscard]] EdgeCounters edge_counters() const;
  [[nodiscard]] ReceiverCounters receiver_counters() const;
  [[nodiscard]] SenderCounters sender_counters() const;
  [[nodiscard]] EdgeState edge_state() const;
  [[nodiscard]] std::size_t open_slots_peak() const;

  // FragmentSource, ReceiverEvents, Outbox
  void snapshot(RoundId round, std::uint64_t first, std::span<float> values) override;
  bool keep(RoundId round, int fragment) override;
  void fragment_ready(RoundId round, int fragment) override;
  void late_ready(RoundId round, int fragment) override;
  void round_closed(RoundId round, std::span<const Absence> absences) override;
  void send(Towards towards, ByteView packet) override;

 private:
  [[nodiscard]] std::unique_ptr<Edge> make_edge() const;
  void make_island();
  [[nodiscard]] Duration step_length() const;
  [[nodiscard]] std::span<float> elements(int fragment);
  [[nodiscard]] Instant own_time(Instant now) const;
  [[nodiscard]] const Route& route_of(RoundId round) const;
  [[nodiscard]] std::size_t rounds_told_apart() const {
    return overlapped_ ? std::size_t(receiving_.live_rounds) : 1;
  }
  [[nodiscard]] std::size_t acceptance(SourceId source, RoundId round) const {
    return std::size_t(source) * rounds_told_apart() + round % rounds_told_apart();
  }
  void note_island();
  void note_edge() { edge_due_ = aggregation_->next_deadline(); }
  [[nodiscard]] Instant late_by(Instant due) const { return due == kNever ? due : due + late_; }

  const Turn& turn_;
  RoutedOutbox& network_;
  const Observers& observers_;
  const JobSpec job_;
  const SimulatedIslandSettings settings_;
  IslandId self_;
  const SenderSettings sending_;
  const ReceiverSettings receiving_;
  const AggregationSpec aggregating_;
  Bytes resend_;
  std::vector<float> model_;
  std::unique_ptr<Snapshots> snapshots_;
  std::unique_ptr<Merge> merge_;
  std::unique_ptr<Sender> sender_;
  std::unique_ptr<Receiver> receiver_;
  std::unique_ptr<Edge> edge_;
  const Aggregation* aggregation_ = nullptr;  // its share of this job
  Route ingress_, requests_;
  std::vector<std::pair<RoundId, const Route*>> streams_;  // in hand
  std::vector<RoundSpec> open_;                            // what a restarted edge is told again
  EdgeCounters earlier_;                                   // of edges that were restarted
  std::size_t earlier_peak_ = 0;
  const bool overlapped_;
  std::vector<Instant> accepted_;  // by source, and by round where they overlap
  BootId edge_boot_ = 1, island_boot_ = 1;
  ReceiverCounters received_earlier_;  // in earlier lives
  SenderCounters sent_earlier_;
  bool dead_ = false;
  int deaths_ = 0, slow_ = 0;  // troubles that have begun and not ended
  std::uint64_t steps_ = 0;
  double factor_ = 1;
  Duration late_{0};
  Duration ahead_{0};
  double drift_ = 0;
  Instant edge_due_ = kNever, island_due_ = kNever, step_due_ = kNever;
};

}  // namespace cotillion
