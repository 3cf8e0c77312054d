// HALoS, with all regions in step: islands average within their region every H steps, waiting for
// that short exchange only; every `every` such exchanges a region sends what it has added up to a
// global server, which takes an outer step with momentum, and what comes back `overlap` steps later
// pulls the region towards the global model.
#include "policy/step_schedule.hpp"

namespace cotillion {
namespace {

class Servers final : public StepSchedule {
 public:
  Servers(const RecipeCommon& common, const ServersRecipe& recipe)
      : common_(common), recipe_(recipe), all_(everyone(common)) {}

  [[nodiscard]] double time_after(std::int64_t steps) const override {
    const std::int64_t exchanges = steps / recipe_.steps;
    return double(steps) * common_.step_time + double(exchanges) * recipe_.exchange;
  }

  [[nodiscard]] std::vector<VectorMove> after(std::int64_t steps) const override {
    if (steps == 0)
      return {{Buffer::kTheta, all_, {{Buffer::kModel}}},
              {Buffer::kAnchor, all_, {{Buffer::kModel}}},
              {Buffer::kGlobal, all_, {{Buffer::kModel}}}};
    std::vector<VectorMove> moves;
    if (steps % recipe_.steps == 0) {
      moves.push_back({.into = Buffer::kTheta,
                       .islands = all_,
                       .terms = {{Buffer::kModel, 1, recipe_.rounds[0].mixing}},
                       .merges = true});
      moves.push_back({Buffer::kModel, all_, {{Buffer::kTheta}}});
    }
    const std::int64_t cycle = std::int64_t(recipe_.steps) * recipe_.every;
    if (steps > recipe_.overlap && (steps - recipe_.overlap) % cycle == 0) come_back(moves);
    if (steps % cycle == 0) {
      moves.push_back({Buffer::kSentEven, all_, {{Buffer::kTheta}, {Buffer::kAnchor, -1}}});
      moves.push_back({Buffer::kAnchor, all_, {{Buffer::kTheta}}});
    }
    return moves;
  }

  [[nodiscard]] ClockSummary account() const override {
    const double delay = recipe_.overlap * common_.step_time;
    return {delay, delay, recipe_.steps * common_.step_time + recipe_.exchange};
  }

 private:
  void come_back(std::vector<VectorMove>& moves) const {
    const std::vector<double> average = average_of_all(common_);
    std::vector<double> stepped = average;
    for (double& weight : stepped) weight *= recipe_.outer_rate;
    const double w = recipe_.server_weight;
    moves.push_back(
        {.into = Buffer::kVelocity,
         .islands = all_,
         .terms = {{Buffer::kVelocity, recipe_.momentum}, {Buffer::kSentEven, 1, average}},
         .merges = true});
    moves.push_back({Buffer::kGlobal,
                     all_,
                     {{Buffer::kGlobal},
                      {Buffer::kSentEven, 1, stepped},
                      {Buffer::kVelocity, recipe_.outer_rate * recipe_.momentum}}});
    // What the region is pulled by is nothing it has added up itself.
    for (const Buffer pulled : {Buffer::kModel, Buffer::kAnchor})
      moves.push_back({pulled, all_, {{pulled}, {Buffer::kGlobal, w}, {Buffer::kTheta, -w}}});
    moves.push_back({Buffer::kTheta, all_, {{Buffer::kTheta, 1 - w}, {Buffer::kGlobal, w}}});
  }

  const RecipeCommon common_;
  const ServersRecipe recipe_;
  const std::vector<int> all_;
};

}  // namespace

SchedulePointer step_schedule_of(const RecipeCommon& common, const ServersRecipe& recipe) {
  return std::make_unique<Servers>(common, recipe);
}

}  // namespace cotillion
