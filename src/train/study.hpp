// Several recipes trained alike: same model, same text, same first values and batches for each
// seed. The program's own verb and the small program that is built on GPU machines both run this.
#pragma once

#include <functional>

#include "train/trainer.hpp"

namespace cotillion {

struct StudySettings {
  std::string model = "gpt:0.5M";
  std::string data = "synthetic:2MB";  // or a folder
  Split split = Split::kAlike;
  std::vector<std::uint64_t> seeds = {1};
  int context = 0;  // bytes; zero: the model's own
  LearnerSettings learner;
  TrainingSettings training;
};

struct Study {
  ModelSpec model;
  Corpus corpus;
};

// Reads or makes the text. The reason where it cannot.
[[nodiscard]] Result<Study> prepare(const StudySettings& settings, int islands);

// What a record of a run would say before it is made.
[[nodiscard]] Training asked_for(const StudySettings& settings, const Study& study,
                                 const Recipe& recipe, std::uint64_t seed);

struct StudyEvents {
  std::function<std::unique_ptr<Learner>(const LearnerSettings&)> learner;  // may throw
  // What carries corrections in a run of so many steps; null, or none: the ideal carrier. May
  // throw.
  std::function<std::unique_ptr<Carrier>(const Recipe&, std::int64_t elements, std::int64_t steps)>
      carrier;
  // Whether to make this run; none: all. Several programs can share a study so.
  std::function<bool(const Recipe&, std::uint64_t seed)> take;
  // Told often; true to stop.
  std::function<bool(const Recipe&, std::uint64_t seed, const Progress&, const ClockSummary&)>
      progress;
  // After each run, with all that there are so far.
  std::function<void(const std::vector<Training>&)> finished;
};

// Runs that are among `earlier` already are not made again. Stops where `progress` says so, with
// what there is. Throws what learners throw.
[[nodiscard]] std::vector<Training> run_study(const StudySettings& settings, const Study& study,
                                              const std::vector<Recipe>& recipes,
                                              std::vector<Training> earlier,
                                              const StudyEvents& events);

// "all-to-all, whole, seed 1: step 120 of 2000, round 30, loss 1.923, 35 s left"
[[nodiscard]] std::string progress_text(const Recipe& recipe, std::uint64_t seed,
                                        const Progress& progress, const ClockSummary& account);

}  // namespace cotillion
