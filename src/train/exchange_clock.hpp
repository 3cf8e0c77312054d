// Training code that keeps the plan's clock at an agent's region: it offers every fragment for the
// round and the step that the recipe says, and takes every correction after the step that the
// recipe says, waiting for it if it must. So the models are those of an ideal exchange, as long as
// nothing is lost and every copy is renewed before it leaves. Training may be ahead of the plan's
// time, by as much as the corrections it needs allow: that is what makes up for a busy machine.
// No copy is renewed before the agent has taken the one of the round before.
#pragma once

#include "exchange/exchange_client.hpp"
#include "learn/learner.hpp"
#include "policy/rotation_clock.hpp"
#include "train/exchange_merge.hpp"
#include "train/island_link.hpp"
#include "train/packetised_plan.hpp"

namespace cotillion {

class ExchangeClock {
 public:
  // For the first `rounds` of a job. The played plan must outlive it; its assignment is the
  // agent's.
  ExchangeClock(ExchangeClient region, const PacketisedPlan& played,
                const JobAssignment& assignment, IslandId island, int rounds);

  // What is due after so many steps, between the region and a learner of this island alone: nothing
  // of the model is copied besides. An Error says who is late, or what has happened to the job.
  [[nodiscard]] Result<void> between(std::int64_t steps, Learner& learner);
  [[nodiscard]] const LabAccount& account() const { return account_; }
  // That own weights and momentum keep here.
  [[nodiscard]] std::size_t bytes() const { return merge_ ? merge_->bytes() : 0; }

 private:
  using DueExchange = RotationClock::DueExchange;
  [[nodiscard]] Result<void> offer(const DueExchange& due, Learner& learner);
  [[nodiscard]] Result<void> take(const DueExchange& due, Learner& learner);
  void merge(const DueExchange& due, const Correction& correction, Learner& learner);
  [[nodiscard]] Result<void> learn_origin();
  // From the start of round one, ns.
  [[nodiscard]] std::int64_t leaves(std::int64_t k, int fragment) const;

  ExchangeClient region_;
  const RotationClock clock_;
  const JobAssignment& assignment_;
  const IslandId island_;
  const int rounds_;
  std::optional<ExchangeMerge> merge_;  // for rules that look at the running model
  std::int64_t origin_ns_ = 0;          // of round one, on the wall clock; 0: not known yet
  std::vector<RoundId> taken_;          // by fragment: the newest
  LabAccount account_;
};

}  // namespace cotillion
