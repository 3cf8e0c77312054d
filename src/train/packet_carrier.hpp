// What all carriers of packets share, through the simulator or in a lab: the recipe's clock, and
// the loop between steps. What differs is what an exchange is.
#pragma once

#include <memory>

#include "policy/rotation_clock.hpp"
#include "train/carrier.hpp"
#include "train/packetised_plan.hpp"

namespace cotillion {

class PacketCarrier : public Carrier {
 public:
  // For the first so many rounds.
  PacketCarrier(const PacketisedPlan& played, int rounds);
  PacketCarrier(const PacketCarrier&) = delete;
  PacketCarrier& operator=(const PacketCarrier&) = delete;

  [[nodiscard]] double time_after(std::int64_t steps) const final {
    return clock_.time_after(steps);
  }
  // Packets carry models, never gradients.
  void on_gradients(Learner&, std::int64_t) final {}
  [[nodiscard]] AroundStep around(std::int64_t) const final { return {}; }
  void between(Learner& learner, std::int64_t steps,
               const std::function<void()>& before_merge) final;
  // Some packets are in flight, and no vector of the learner has them.
  [[nodiscard]] bool resumes() const final { return false; }
  [[nodiscard]] ClockSummary account() const final { return schedule_->account(); }

 protected:
  // All that is copied and merged after so many steps; after 0 begins.
  virtual void exchange(Learner& learner, std::int64_t steps) = 0;

  [[nodiscard]] const Recipe& recipe() const { return played_.recipe; }
  [[nodiscard]] const RotationRecipe& rotation() const { return rotation_of(played_.recipe); }

  const PacketisedPlan played_;
  const RotationClock clock_;
  const int islands_;
  const int rounds_;

 private:
  [[nodiscard]] bool anybody_merges(std::int64_t steps) const;

  const std::unique_ptr<StepSchedule> schedule_;
  std::int64_t next_ = 0;  // after how many steps the next exchange is
};

}  // namespace cotillion
