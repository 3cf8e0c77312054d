// The edge of one island as a daemon: its part in the job, played by an EdgeHost.
#pragma once

#include "daemon/edge_host.hpp"
#include "daemon/member_daemon.hpp"

namespace cotillion {

struct EdgeDaemonSettings {
  MemberPlace place;
  bool direct = false;
  InjectorSettings on_receive, on_send;
};

class EdgeDaemon final : public MemberRole {
 public:
  explicit EdgeDaemon(const EdgeDaemonSettings& settings) : settings_(settings) {}

  // MemberRole
  [[nodiscard]] Result<void> prepare(const Member& member) override;
  [[nodiscard]] bool ready() override { return true; }
  void open_round(const Member& member, RoundId round) override;
  void close_round(RoundId round) override { host_->account_for(round); }
  [[nodiscard]] std::optional<RoundReport> next_report() override;
  [[nodiscard]] std::string look(const Member& member, Instant now) override;
  void end(const Member& member) override;
  [[nodiscard]] Metrics metrics(const MetricLabels& labels) const override;

  // Null before it has its part.
  [[nodiscard]] const EdgeHost* host() const { return host_.get(); }

 private:
  EdgeDaemonSettings settings_;
  std::unique_ptr<EdgeHost> host_;
  Bytes slot_{0};  // of memory, as the plan counts it
  int shards_ = 1;
  std::vector<std::pair<RoundId, RoundAssignment>> parts_;  // of rounds that are not reported
};

}  // namespace cotillion
