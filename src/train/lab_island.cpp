#include "train/lab_island.hpp"

#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "lab/memory_in_use.hpp"
#include "train/exchange_clock.hpp"
#include "train/training_file.hpp"

namespace cotillion {
namespace {

constexpr Duration kJoins{120'000'000'000'000};
// The training may evaluate, or wait for other islands, for this long between two questions.
constexpr Duration kIdle{600'000'000'000'000};
constexpr int kBehindTheDaemons = 5;  // nice

class LabIsland {
 public:
  LabIsland(const LabIslandSetup& setup, PacketisedPlan played, std::unique_ptr<Learner> learner)
      : setup_(setup), played_(std::move(played)), learner_(std::move(learner)) {}

  [[nodiscard]] Result<void> join() {
    auto made = JobAssignment::make(played_.plan, played_.job_settings);
    if (!made) return Unexpected<Error>{made.error()};
    assignment_.emplace(std::move(*made));
    auto region =
        ExchangeClient::join(setup_.region, std::uint64_t(learner_->parameters()), kJoins);
    if (!region) return Unexpected<Error>{region.error()};
    clock_.emplace(std::move(*region), played_, *assignment_, setup_.island, setup_.rounds);
    return {};
  }

  [[nodiscard]] Result<std::string> reply(Ask what, const std::string& body) {
    switch (what) {
      case Ask::kBackward:
        learner_->backward(values_of<std::uint8_t>(body));
        return std::string();
      case Ask::kTrainingLoss:
        return std::string(bytes_of_value(learner_->training_losses()[0]));
      case Ask::kUpdate:
        learner_->update(value_of<double>(body));
        return std::string();
      case Ask::kBetween: {
        const auto done = clock_->between(value_of<std::int64_t>(body), *learner_);
        if (!done) return Unexpected<Error>{done.error()};
        return std::string();
      }
      case Ask::kLosses:
        return std::string(bytes_of_value(learner_->losses(values_of<std::uint8_t>(body))[0]));
      case Ask::kModel:
        return std::string(bytes_of_values(learner_->row(Buffer::kModel, 0)));
      case Ask::kAccount: {
        LabAccount account = clock_->account();
        account.resident = memory_in_use("self");
        const Learner::Memory memory = learner_->memory();
        account.kept = std::uint64_t(memory.kept) + clock_->bytes();
        account.moving = std::uint64_t(memory.moving);
        return std::string(bytes_of_value(account));
      }
      default:
        return failure("a question that nobody understands");
    }
  }

 private:
  const LabIslandSetup setup_;
  const PacketisedPlan played_;
  std::unique_ptr<Learner> learner_;
  std::optional<JobAssignment> assignment_;
  std::optional<ExchangeClock> clock_;
};

Result<PacketisedPlan> played_by(const LabIslandSetup& setup) {
  const auto text = read_file(setup.plan);
  if (!text) return Unexpected<Error>{text.error()};
  auto plan = read_plan(*text, setup.plan);
  if (!plan) return failure(to_text(plan.error().front()));
  PacketisedPlan played{std::move(*plan), {}, setup.recipe, 1};
  played.job_settings =
      job_settings_for(rotation_of(setup.recipe),
                       setup.streamed ? Exchange::kStreamed : Exchange::kWhole, setup.grace);
  return played;
}

}  // namespace

std::string to_text(const LabIslandSetup& setup) {
  const ModelSpec& model = setup.learner.model;
  return Json{{"model", {int(model.kind), model.layers, model.width, model.heads, model.context}},
              {"seed", setup.learner.seed},
              {"device", setup.learner.device},
              {"exact", setup.learner.exact},
              {"threads", setup.learner.threads},
              {"recipe", to_json(setup.recipe)},
              {"plan", setup.plan},
              {"streamed", setup.streamed},
              {"grace_ps", setup.grace.ps},
              {"region", setup.region},
              {"island", setup.island},
              {"rounds", setup.rounds}}
      .dump();
}

Result<LabIslandSetup> read_lab_island(const std::string& text) {
  LabIslandSetup setup;
  try {
    const Json json = Json::parse(text);
    const auto model = json.at("model").get<std::vector<int>>();
    setup.learner.model = {ModelSpec::Kind(model.at(0)), model.at(1), model.at(2), model.at(3),
                           model.at(4)};
    setup.learner.seed = json.at("seed");
    setup.learner.device = json.at("device");
    setup.learner.exact = json.at("exact");
    setup.learner.threads = json.at("threads");
    const auto recipes = read_recipes(Json{{"recipes", {json.at("recipe")}}}.dump());
    if (!recipes) return Unexpected<Error>{recipes.error()};
    setup.recipe = recipes->front();
    if (!is_a<RotationRecipe>(setup.recipe)) return failure("a recipe that no agent exchanges by");
    setup.plan = json.at("plan");
    setup.streamed = json.at("streamed");
    setup.grace = {json.at("grace_ps").get<std::int64_t>()};
    setup.region = json.at("region");
    setup.island = IslandId(json.at("island").get<int>());
    setup.rounds = json.at("rounds");
  } catch (const std::exception& problem) {
    return failure(problem.what());
  }
  return setup;
}

Result<void> serve_lab_island(
    const std::string& socket,
    const std::function<std::unique_ptr<Learner>(const LearnerSettings&)>& make) {
  (void)::setpriority(PRIO_PROCESS, 0, kBehindTheDaemons);
  auto link = connect_to(socket);
  if (!link) return Unexpected<Error>{link.error()};
  const auto refuse = [&](const Error& error) {
    (void)link->refuse(error.message);
    return Unexpected<Error>{error};
  };
  std::optional<LabIsland> island;
  for (;;) {
    const auto question = link->receive(kIdle);
    if (!question) return Unexpected<Error>{question.error().within("the training")};
    if (question->what == Ask::kLeave) return {};
    try {
      if (question->what == Ask::kSetUp) {
        const auto setup = read_lab_island(question->body);
        if (!setup) return refuse(setup.error());
        auto played = played_by(*setup);
        if (!played) return refuse(played.error());
        island.emplace(*setup, std::move(*played), make(setup->learner));
        if (const auto joined = island->join(); !joined) return refuse(joined.error());
        if (auto told = link->answer(""); !told) return told;
        continue;
      }
      if (!island) return refuse({"it has not been set up"});
      const auto answer = island->reply(question->what, question->body);
      if (!answer) return refuse(answer.error());
      if (auto told = link->answer(*answer); !told) return told;
    } catch (const std::exception& problem) {
      return refuse({problem.what()});
    }
  }
}

}  // namespace cotillion
