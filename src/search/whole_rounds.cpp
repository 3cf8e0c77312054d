#include "search/whole_rounds.hpp"

namespace cotillion {
namespace {

constexpr std::int64_t kShareOfSteps = 32;  // of the default's, that are few

}  // namespace

SearchResult search_whole_rounds(const NetworkModel& network, SearchSettings settings,
                                 Workers& workers) {
  const bool squared = settings.plan.objective == Objective::kSquaredStreamed;
  settings.plan.objective = squared ? Objective::kSquared : Objective::kPaper;
  if (settings.until_stopped)
    settings.steps = default_steps(network.map().island_count()) / kShareOfSteps;
  settings.bounded = settings.until_stopped = false;
  settings.frontier_points = 0;
  return search(network, settings, workers);
}

}  // namespace cotillion
