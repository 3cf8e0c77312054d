// A study: several recipes trained alike, with the same model and text, and for each seed the same
// first values and batches. The program's own verb and the small program that is built on GPU
// machines both run this.
//
// Learners and carriers throw std::exception, as libtorch does; run_study is the one place where
// that becomes a value. All else in this room says by a Result what the world has refused.
#pragma once

#include <functional>

#include "train/trainer.hpp"

namespace cotillion {

struct StudySettings {
  std::string model = "gpt:0.5M";
  std::string data = "synthetic:2MB";  // or a folder
  Split split = Split::kAlike;
  std::vector<std::uint64_t> seeds = {1};
  int context = 0;        // bytes; zero: the model's own
  double steps_long = 0;  // runs are as long as so many steps take without waiting; zero: not given
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
  // May throw.
  std::function<std::unique_ptr<Learner>(const LearnerSettings&)> learner;
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

// Why a study ended before it was over.
struct StudyFailure {
  bool used_wrongly = false;  // a checkpoint is of another run; otherwise it is a system error
  std::string message;
};

// Runs that are among `earlier` already are not made again. Stops where `progress` says so, with
// what there is.
[[nodiscard]] Expected<std::vector<Training>, StudyFailure> run_study(
    const StudySettings& settings, const Study& study, const std::vector<Recipe>& recipes,
    std::vector<Training> earlier, const StudyEvents& events);

// A length that was given in steps, as time on the clock of these recipes.
void settle_length(StudySettings& settings, const std::vector<Recipe>& recipes);

// "all-to-all, whole, seed 1: step 120 of 2000, round 30, loss 1.923, 35 s left"
[[nodiscard]] std::string progress_text(const Recipe& recipe, std::uint64_t seed,
                                        const Progress& progress, const ClockSummary& account);

}  // namespace cotillion
