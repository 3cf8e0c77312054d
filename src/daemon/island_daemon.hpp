// One island's agent as a daemon: its part in the job, played by an IslandHost, for training code
// that is attached to its exchange region.
#pragma once

#include "daemon/island_host.hpp"
#include "daemon/member_daemon.hpp"
#include "exchange/agent_listener.hpp"

namespace cotillion {

struct IslandDaemonSettings {
  MemberPlace place;
  DaemonLog* log = nullptr;
};

class IslandDaemon final : public MemberRole {
 public:
  // Without a listener nobody trains: it sends numbers that everyone knows, and checks sums.
  IslandDaemon(const IslandDaemonSettings& settings, std::optional<AgentListener> listener)
      : settings_(settings), listener_(std::move(listener)) {}

  // MemberRole
  [[nodiscard]] Result<void> prepare(const Member& member) override;
  [[nodiscard]] bool ready() override;
  void open_round(const Member& member, RoundId round) override;
  void close_round(RoundId round) override;
  [[nodiscard]] std::optional<RoundReport> next_report() override;
  [[nodiscard]] std::string look(const Member& member, Instant now) override;
  void end(const Member& member) override;
  [[nodiscard]] Metrics metrics(const MetricLabels& labels) const override;

  // Null before it has its part.
  [[nodiscard]] const IslandHost* host() const { return host_.get(); }
  [[nodiscard]] const ExchangeRegion* region() const { return region_ ? &*region_ : nullptr; }

 private:
  void tell_round(const Member& member, Instant now);
  void tell_lateness(const Member& member);
  [[nodiscard]] bool edge_is_silent(const Member& member, const IslandReading& reading);

  IslandDaemonSettings settings_;
  std::optional<AgentListener> listener_;
  std::optional<ExchangeRegion> region_;
  std::unique_ptr<IslandHost> host_;
  RoundId round_ = 0;    // in play
  bool left_ = false;    // training code has
  bool silent_ = false;  // its edge is
};

}  // namespace cotillion
