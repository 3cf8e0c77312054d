// Islands that learn, exchanging through the runtime: every island a process at its agent's region,
// agents, edges and coordinator the real daemons, on the plan's links as a lab on this machine has
// them, scaled to the model. Make it within confined() (lab/confinement.hpp).
#pragma once

#include <functional>

#include "job/faults.hpp"
#include "train/carrier.hpp"
#include "train/packetised_plan.hpp"
#include "train/remote_learner.hpp"

namespace cotillion {

struct LabTrainingSettings {
  std::string program;      // cotillion itself, which serves `--as-island SOCKET`
  std::string folder;       // nobody else's, and empty
  LearnerSettings learner;  // of each island; one island
  Faults faults;            // of links
  std::uint64_t seed = 1;
};

// What came of it, when the carrier is gone.
struct LabTrainingAccount {
  std::vector<LabAccount> islands;
  std::uint64_t agent = 0;         // bytes in memory, the largest agent's: its own and the region
  std::uint64_t agent_before = 0;  // when nothing had been written there
  std::vector<std::string> problems;  // sentences
};

// For a run of so many steps by the played recipe; `learner` must outlive it. `told` is called when
// the training is over and everybody has left.
[[nodiscard]] Result<std::unique_ptr<Carrier>> lab_carrier(
    const PacketisedPlan& played, std::int64_t steps, const LabTrainingSettings& settings,
    RemoteLearner& learner, std::function<void(const LabTrainingAccount&)> told);

}  // namespace cotillion
