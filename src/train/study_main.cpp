// The study as a program of its own, for machines that have a GPU, PyTorch's libtorch and little
// else: it needs the standard library, the JSON headers and libtorch. `cotillion train
// --export-recipes` writes what it reads, and `cotillion train --from` reads what it writes.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "train/study_options.hpp"
#include "train/training_file.hpp"

namespace {

using namespace cotillion;
namespace fs = std::filesystem;

// Those of a file that are to be trained; perhaps none.
Result<std::vector<Recipe>> chosen(const StudyOptions& options, const std::string& file) {
  const auto text = read_file(file);
  if (!text) return Unexpected<Error>{text.error()};
  auto recipes = read_recipes(*text);
  if (!recipes) return Unexpected<Error>{recipes.error().within(file)};
  if (options.only.empty()) return recipes;
  std::erase_if(*recipes, [&](const Recipe& recipe) {
    return std::none_of(options.only.begin(), options.only.end(), [&](const std::string& part) {
      return recipe.policy.find(part) != std::string::npos;
    });
  });
  return recipes;
}

// False where it could not be written.
bool write(const std::string& path, const std::vector<Training>& trainings) {
  std::string text;
  if (path.ends_with(".jsonl")) {
    for (const Training& training : trainings) text += line_of(training) + "\n";
  } else {
    Json file = {{"trainings", Json::array()}};
    for (const Training& training : trainings) file["trainings"].push_back(to_json(training));
    text = file.dump(1) + "\n";
  }
  return write_atomically(path, text).has_value();
}

// Before hours have gone into what could not be kept.
bool is_writable(const std::string& path) {
  if (!write_atomically(path + ".new", "")) return false;
  std::error_code ignored;
  fs::remove(path + ".new", ignored);
  return true;
}

// Which runs are taken, by whichever program: folders that exist cannot be made again.
class Claims {
 public:
  explicit Claims(std::string folder) : folder_(std::move(folder)) {
    std::error_code ignored;  // where there is no such folder nothing can be claimed
    if (!folder_.empty()) fs::create_directories(folder_, ignored);
  }
  [[nodiscard]] bool possible() const { return folder_.empty() || fs::is_directory(folder_); }
  bool take(const StudySettings& settings, const Study& study, const Recipe& recipe,
            std::uint64_t seed) {
    if (folder_.empty()) return true;
    const std::string what = to_json(asked_for(settings, study, recipe, seed)).dump();
    last_ = folder_ + "/" + std::to_string(std::hash<std::string>()(what));
    std::error_code ignored;
    return fs::create_directory(last_, ignored);
  }
  // The last one was not finished: somebody else may, later.
  void give_back() const {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove(last_, ignored);
  }

 private:
  const std::string folder_;
  std::string last_;
};

Result<std::vector<Training>> finished_in(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return Unexpected<Error>{text.error()};
  auto read = read_trainings(*text);
  if (!read) return Unexpected<Error>{read.error().within(path)};
  std::erase_if(*read, [](const Training& training) { return !training.finished; });
  return read;
}

// Recipes of one file on one kind of text.
struct Group {
  std::vector<Recipe> recipes;
  StudySettings settings;
  Study study;
};

Result<std::vector<Group>> groups_of(const StudyOptions& options) {
  std::vector<Group> groups;
  for (const std::string& file : options.recipes)
    for (const Split split : options.splits) {
      auto recipes = chosen(options, file);
      if (!recipes) return Unexpected<Error>{recipes.error()};
      if (recipes->empty()) continue;
      Group group{std::move(*recipes), options.study, {}};
      group.settings.split = split;
      settle_length(group.settings, group.recipes);
      if (!group.settings.training.checkpoint.empty() &&
          options.recipes.size() * options.splits.size() > 1)
        group.settings.training.checkpoint += "." + std::to_string(groups.size() + 1);
      auto study = prepare(group.settings, island_count(group.recipes[0]));
      if (!study) return Unexpected<Error>{study.error()};
      group.study = std::move(*study);
      groups.push_back(std::move(group));
    }
  if (groups.empty()) return failure("--only leaves no recipe");
  return groups;
}

void tell(const Training& last) {
  std::printf("%-60s seed %llu  %6lld steps  %8.1f s  loss %.4f  islands %.4f  (%.1f s, %s)\n",
              last.recipe.name.c_str(), static_cast<unsigned long long>(last.settings.seed),
              static_cast<long long>(last.steps), last.seconds, last.points.back().loss_of_mean,
              last.points.back().island_loss.empty() ? 0 : last.points.back().island_loss[0],
              last.computed_seconds, last.device.c_str());
  std::fflush(stdout);
}

enum class Ended { kAllDone, kOutOfTime };
using Outcome = Expected<Ended, StudyFailure>;

Unexpected<StudyFailure> used_wrongly(const std::string& message) {
  return {{true, message}};
}

// All groups, seed by seed: what is there when time runs out is a comparison of everything.
class Studies {
 public:
  Studies(const StudyOptions& options, std::vector<Group> groups)
      : options_(options), groups_(std::move(groups)), claims_(options.claims) {}

  Outcome play() {
    if (!is_writable(options_.output))
      return used_wrongly(options_.output + ": cannot be written; choose another place");
    if (!claims_.possible())
      return used_wrongly("--claims " + options_.claims + ": cannot be a folder");
    if (const std::string wrong = read_earlier(); !wrong.empty()) return used_wrongly(wrong);
    const std::size_t at_first = made_.size();
    for (const std::uint64_t seed : options_.study.seeds)
      for (const Group& group : groups_) {
        std::vector<Training> earlier = elsewhere_;
        earlier.insert(earlier.end(), made_.begin(), made_.end());
        StudySettings settings = group.settings;
        settings.seeds = {seed};
        if (!settings.training.checkpoint.empty() && options_.study.seeds.size() > 1)
          settings.training.checkpoint += "." + std::to_string(seed);
        const auto all = run_study(settings, group.study, group.recipes, std::move(earlier),
                                   events_of(settings, group));
        if (!all) return Unexpected<StudyFailure>{all.error()};
        if (unwritten_) return used_wrongly(options_.output + ": cannot be written");
        if (over_) return Ended::kOutOfTime;
        made_.assign(all->begin() + std::ptrdiff_t(elsewhere_.size()), all->end());
      }
    if (made_.size() == at_first)
      std::cerr << "nothing was left to train: all of it is done, or claimed by others\n";
    return Ended::kAllDone;
  }

 private:
  using Clock = std::chrono::steady_clock;

  // What is wrong with files of earlier runs; empty where nothing is.
  std::string read_earlier() {
    if (fs::exists(options_.output)) {
      auto read = finished_in(options_.output);
      if (!read) return read.error().message;
      made_ = std::move(*read);
    }
    for (const std::string& path : options_.done) {
      auto read = finished_in(path);
      if (!read) return read.error().message;
      for (Training& training : *read) elsewhere_.push_back(std::move(training));
    }
    return "";
  }
  [[nodiscard]] bool spent() const {
    return options_.budget > 0 &&
           std::chrono::duration<double>(Clock::now() - started_).count() > options_.budget;
  }
  StudyEvents events_of(const StudySettings& settings, const Group& group) {
    StudyEvents events;
    events.learner = make_learner;
    events.take = [&](const Recipe& recipe, std::uint64_t seed) {
      over_ = over_ || unwritten_ || spent();
      return !over_ && claims_.take(settings, group.study, recipe, seed);
    };
    events.progress = [this](const Recipe& recipe, std::uint64_t seed, const Progress& progress,
                             const ClockSummary& account) {
      if (Clock::now() - told_ > std::chrono::seconds(10)) {
        told_ = Clock::now();
        std::cerr << progress_text(recipe, seed, progress, account) << std::endl;
      }
      return over_ = spent();
    };
    events.finished = [this](const std::vector<Training>& trainings) {
      const std::vector<Training> ours(trainings.begin() + std::ptrdiff_t(elsewhere_.size()),
                                       trainings.end());
      unwritten_ = unwritten_ || !write(options_.output, ours);
      if (ours.back().finished)
        tell(ours.back());
      else
        claims_.give_back();
    };
    return events;
  }

  const StudyOptions& options_;
  const std::vector<Group> groups_;
  Claims claims_;
  std::vector<Training> made_, elsewhere_;  // by this command, and by --done
  const Clock::time_point started_ = Clock::now();
  Clock::time_point told_ = started_;
  bool over_ = false;       // the budget is spent
  bool unwritten_ = false;  // what was trained cannot be kept
};

Outcome run(const StudyOptions& options) {
  auto groups = groups_of(options);
  if (!groups) return used_wrongly(groups.error().message);
  return Studies(options, std::move(*groups)).play();
}

}  // namespace

int main(int argc, char** argv) {
  // Products on a GPU then come out alike every time; cuBLAS reads it when it starts.
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
  if (argc > 1 && (argv[1] == std::string("--help") || argv[1] == std::string("-h"))) {
    std::cout << study_usage();
    return 0;
  }
  const auto options = study_options({argv + 1, argv + argc});
  if (!options) {
    std::cerr << "train_study: " << options.error().message << "\n" << study_usage();
    return 2;
  }
  const auto ended = run(*options);
  if (!ended) {
    std::cerr << "train_study: " << ended.error().message << "\n";
    return ended.error().used_wrongly ? 2 : 3;
  }
  return *ended == Ended::kAllDone ? 0 : 1;
}
