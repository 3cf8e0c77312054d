// The study as a program of its own, for machines that have a GPU, PyTorch's libtorch and little
// else: it needs the standard library, the JSON headers and libtorch. `cotillion train
// --export-recipes` writes what it reads, and `cotillion train --from` reads what it writes.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "train/study_options.hpp"
#include "train/training_file.hpp"

namespace {

using namespace cotillion;

[[noreturn]] void refuse(const std::string& message) {
  throw WrongUse(message);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) refuse(path + ": cannot be read");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Those of a file that are to be trained; perhaps none.
std::vector<Recipe> chosen(const StudyOptions& options, const std::string& file) {
  const auto recipes = read_recipes(read_file(file));
  if (!recipes) refuse(file + ": " + recipes.error().message);
  if (options.only.empty()) return *recipes;
  std::vector<Recipe> some;
  for (const Recipe& recipe : *recipes)
    for (const std::string& part : options.only)
      if (recipe.policy.find(part) != std::string::npos) {
        some.push_back(recipe);
        break;
      }
  return some;
}

void write(const std::string& path, const std::vector<Training>& trainings) {
  std::ofstream out(path + ".new");
  if (path.ends_with(".jsonl")) {
    for (const Training& training : trainings) out << line_of(training) << "\n";
  } else {
    Json file = {{"trainings", Json::array()}};
    for (const Training& training : trainings) file["trainings"].push_back(to_json(training));
    out << file.dump(1) << "\n";
  }
  if (!out.flush()) refuse(path + ": cannot be written");
  out.close();
  std::filesystem::rename(path + ".new", path);
}

// Before hours have gone into what could not be kept.
void expect_writable(const std::string& path) {
  if (!std::ofstream(path + ".new")) refuse(path + ": cannot be written; choose another place");
  std::filesystem::remove(path + ".new");
}

// Which runs are taken, by whichever program: folders that exist cannot be made again.
class Claims {
 public:
  explicit Claims(std::string folder) : folder_(std::move(folder)) {
    if (!folder_.empty()) std::filesystem::create_directories(folder_);
  }
  bool take(const StudySettings& settings, const Study& study, const Recipe& recipe,
            std::uint64_t seed) {
    if (folder_.empty()) return true;
    const std::string what = to_json(asked_for(settings, study, recipe, seed)).dump();
    last_ = folder_ + "/" + std::to_string(std::hash<std::string>()(what));
    return std::filesystem::create_directory(last_);
  }
  // The last one was not finished: somebody else may, later.
  void give_back() const {
    if (!folder_.empty()) std::filesystem::remove(last_);
  }

 private:
  const std::string folder_;
  std::string last_;
};

std::vector<Training> finished_in(const std::string& path) {
  auto read = read_trainings(read_file(path));
  if (!read) refuse(path + ": " + read.error().message);
  std::erase_if(*read, [](const Training& training) { return !training.finished; });
  return std::move(*read);
}

// Recipes of one file on one kind of text.
struct Group {
  std::vector<Recipe> recipes;
  StudySettings settings;
  Study study;
};

std::vector<Group> groups_of(const StudyOptions& options) {
  std::vector<Group> groups;
  for (const std::string& file : options.recipes)
    for (const Split split : options.splits) {
      Group group{chosen(options, file), options.study, {}};
      if (group.recipes.empty()) continue;
      group.settings.split = split;
      if (options.steps_long > 0)
        group.settings.training.seconds = options.steps_long * group.recipes[0].step_time;
      if (!group.settings.training.checkpoint.empty() &&
          options.recipes.size() * options.splits.size() > 1)
        group.settings.training.checkpoint += "." + std::to_string(groups.size() + 1);
      auto study = prepare(group.settings, island_count(group.recipes[0]));
      if (!study) refuse(study.error().message);
      group.study = std::move(*study);
      groups.push_back(std::move(group));
    }
  if (groups.empty()) refuse("--only leaves no recipe");
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

int run(const StudyOptions& options) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point started = Clock::now();
  const std::vector<Group> groups = groups_of(options);
  expect_writable(options.output);
  std::vector<Training> made, elsewhere;
  if (std::filesystem::exists(options.output)) made = finished_in(options.output);
  for (const std::string& path : options.done)
    for (Training& training : finished_in(path)) elsewhere.push_back(std::move(training));
  const std::size_t at_first = made.size();
  Claims claims(options.claims);
  Clock::time_point told = started;
  const auto spent = [&] {
    return options.budget > 0 &&
           std::chrono::duration<double>(Clock::now() - started).count() > options.budget;
  };
  bool over = false;
  // Seed by seed: what is there when time runs out is a comparison of everything.
  for (const std::uint64_t seed : options.study.seeds)
    for (const Group& group : groups) {
      StudySettings settings = group.settings;
      settings.seeds = {seed};
      if (!settings.training.checkpoint.empty() && options.study.seeds.size() > 1)
        settings.training.checkpoint += "." + std::to_string(seed);
      StudyEvents events;
      events.learner = make_learner;
      events.take = [&](const Recipe& recipe, std::uint64_t) {
        over = over || spent();
        return !over && claims.take(settings, group.study, recipe, seed);
      };
      events.progress = [&](const Recipe& recipe, std::uint64_t, const Progress& progress,
                            const ClockSummary& account) {
        if (Clock::now() - told > std::chrono::seconds(10)) {
          told = Clock::now();
          std::cerr << progress_text(recipe, seed, progress, account) << std::endl;
        }
        return over = spent();
      };
      events.finished = [&](const std::vector<Training>& trainings) {
        const std::vector<Training> ours(trainings.begin() + std::ptrdiff_t(elsewhere.size()),
                                         trainings.end());
        write(options.output, ours);
        if (ours.back().finished)
          tell(ours.back());
        else
          claims.give_back();
      };
      std::vector<Training> earlier = elsewhere;
      earlier.insert(earlier.end(), made.begin(), made.end());
      const std::vector<Training> all =
          run_study(settings, group.study, group.recipes, std::move(earlier), events);
      if (over) return 1;
      made.assign(all.begin() + std::ptrdiff_t(elsewhere.size()), all.end());
    }
  if (made.size() == at_first)
    std::cerr << "nothing was left to train: all of it is done, or claimed by others\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  // Products on a GPU then come out alike every time; cuBLAS reads it when it starts.
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
  if (argc > 1 && (argv[1] == std::string("--help") || argv[1] == std::string("-h"))) {
    std::cout << kStudyUsage;
    return 0;
  }
  try {
    return run(study_options({argv + 1, argv + argc}));
  } catch (const WrongUse& problem) {
    std::cerr << "train_study: " << problem.what() << "\n" << kStudyUsage;
    return 2;
  } catch (const std::exception& problem) {
    std::cerr << "train_study: " << problem.what() << "\n";
    return 3;
  }
}
