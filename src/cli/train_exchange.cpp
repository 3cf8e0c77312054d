#include "cli/train_exchange.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "cli/settings.hpp"
#include "cli/torch_module.hpp"
#include "cli/world.hpp"
#include "lab/play.hpp"
#include "lab/priority.hpp"
#include "train/lab_carrier.hpp"
#include "train/simulated_carrier.hpp"

namespace cotillion::cli {
namespace {

Duration grace_of(const ExchangeOptions& exchanges) {
  if (!exchanges.grace.empty()) return option_value(parse_duration(exchanges.grace), "--grace");
  const Duration each = exchanges.has("lab") ? Duration{50'000'000'000} : Duration{1'000'000'000};
  return {each.ps * exchanges.pace};
}

LabRecord record_of(const LabTrainingAccount& account) {
  LabRecord record;
  for (const LabAccount& island : account.islands) {
    record.copies += std::int64_t(island.copies);
    record.corrections += std::int64_t(island.corrections);
    record.late += std::int64_t(island.late_copies);
    record.latest_ms = std::max(record.latest_ms, double(island.latest_ns) / 1e6);
    record.missing += std::int64_t(island.absent);
    record.process_mb = std::max(record.process_mb, double(island.resident) / 1e6);
  }
  record.agent_mb = double(account.agent) / 1e6;
  record.agent_before_mb = double(account.agent_before) / 1e6;
  record.problems = account.problems;
  return record;
}

// One folder of this process's own for each lab, in a mount that nobody else sees.
std::string fresh_folder() {
  static const auto base = private_folder();
  static int number = 0;
  if (!base) throw Stop{kSystemError, base.error().message};
  std::string folder = fmt::format("{}/{}", *base, ++number);
  if (::mkdir(folder.c_str(), 0700) != 0) throw Stop{kSystemError, folder + " cannot be made"};
  return folder;
}

class Trainer {
 public:
  Trainer(const ExchangeOptions& exchanges, const StudySettings& settings, const PlanFile& plan,
          const Faults& faults, StudyEvents events)
      : exchanges_(exchanges),
        settings_(settings),
        plan_(plan),
        faults_(faults),
        events_(std::move(events)) {}

  Expected<std::vector<Training>, StudyFailure> train(const std::vector<Recipe>& recipes) {
    const auto study = prepare(settings_, island_count(recipes.front()));
    if (!study) throw Stop{kUsedWrongly, study.error().message};
    if (exchanges_.of_packets()) play(recipes, *study);
    for (const std::string& exchange : exchanges_.names) {
      std::vector<Recipe> named;
      for (const Recipe& recipe : recipes) {
        named.push_back(exchanges_.of_packets() ? played_.at(recipe.name).recipe : recipe);
        if (exchange != "ideal") named.back().name += ", " + exchange;
      }
      StudyEvents events = events_;
      events.learner = load_learner;
      if (exchange == "simulated") simulate(events);
      if (exchange == "lab") use_a_lab(events);
      auto trained = run_study(settings_, *study, named, std::move(trainings_), events);
      if (!trained) return trained;
      trainings_ = std::move(*trained);
      if (!trainings_.back().finished) break;
    }
    // Labs are left when the runs in them are over.
    for (Training& training : trainings_) {
      const auto found = labs_.find({training.recipe.name, training.settings.seed});
      if (found != labs_.end()) training.lab = found->second;
    }
    return std::move(trainings_);
  }

 private:
  void play(const std::vector<Recipe>& recipes, const Study& study) {
    LearnerSettings one = settings_.learner;
    one.model = study.model;
    one.islands = 1;
    const std::int64_t elements = load_learner(one)->parameters();
    for (const Recipe& recipe : recipes) {
      auto played = packetised(plan_, recipe, elements, {grace_of(exchanges_), exchanges_.pace});
      if (!played) throw Stop{kUsedWrongly, played.error().message};
      // Before anything is trained another way.
      if (const std::string why = why_not_under(faults_, played->recipe); !why.empty())
        throw Stop{kUsedWrongly, recipe.name + ": " + why};
      played_.emplace(recipe.name, std::move(*played));
    }
  }
  // Of a recipe under the name that it has with its exchange.
  [[nodiscard]] const PacketisedPlan& played(const Recipe& recipe) const {
    return played_.at(recipe.name.substr(0, recipe.name.rfind(", ")));
  }

  void simulate(StudyEvents& events) {
    events.carrier = [this](const Recipe& recipe, std::int64_t, std::int64_t steps) {
      auto carrier = simulated_carrier(played(recipe), faults_, steps);
      if (!carrier) throw Stop{kUsedWrongly, carrier.error().message};
      return std::move(*carrier);
    };
  }

  void use_a_lab(StudyEvents& events) {
    go_before_others();
    events.learner = [this](const LearnerSettings& settings) -> std::unique_ptr<Learner> {
      one_ = settings;
      one_.islands = 1;
      if (one_.threads == 0) one_.threads = 1;  // all islands share this machine
      auto remote = std::make_unique<RemoteLearner>(load_learner(one_));
      remote_ = remote.get();
      return remote;
    };
    events.carrier = [this](const Recipe& recipe, std::int64_t, std::int64_t steps) {
      LabTrainingSettings settings{"/proc/self/exe", fresh_folder(), one_, faults_, one_.seed};
      auto carrier =
          lab_carrier(played(recipe), steps, settings, *remote_,
                      [this, run = std::pair(recipe.name, one_.seed)](
                          const LabTrainingAccount& account) { labs_[run] = record_of(account); });
      if (!carrier) throw Stop{kSystemError, carrier.error().message};
      return std::move(*carrier);
    };
  }

  const ExchangeOptions& exchanges_;
  const StudySettings& settings_;
  const PlanFile& plan_;
  const Faults& faults_;
  const StudyEvents events_;
  std::map<std::string, PacketisedPlan> played_;
  LearnerSettings one_;
  RemoteLearner* remote_ = nullptr;
  std::map<std::pair<std::string, std::uint64_t>, LabRecord> labs_;
  std::vector<Training> trainings_;
};

}  // namespace

bool ExchangeOptions::has(const std::string& name) const {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Expected<std::vector<Training>, StudyFailure> train_by(const ExchangeOptions& exchanges,
                                                       const StudySettings& settings,
                                                       const PlanFile& plan, const Faults& faults,
                                                       const std::vector<Recipe>& recipes,
                                                       StudyEvents events) {
  return Trainer(exchanges, settings, plan, faults, std::move(events)).train(recipes);
}

}  // namespace cotillion::cli
