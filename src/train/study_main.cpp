// The study as a program of its own, for machines that have a GPU, PyTorch's libtorch and little
// else: it needs the standard library, the JSON headers and libtorch. `cotillion train
// --export-recipes` writes what it reads, and `cotillion train --from` reads what it writes.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "train/study.hpp"
#include "train/training_file.hpp"

namespace {

using namespace cotillion;

constexpr const char* kUsage =
    "train_study RECIPES.json -o OUT.json\n"
    "  --model gpt:7M        gpt:0.5M 2M 7M 25M 50M 125M, mlp\n"
    "  --context N           bytes (default: the model's)\n"
    "  --data synthetic:8MB  or a folder of text\n"
    "  --split alike         or by-source\n"
    "  --seconds S, --steps N, --batch N, --rate R, --warmup N, --seeds 1,2,3\n"
    "  --evaluations N, --windows N, --target LOSS, --distance-every N (merges),\n"
    "  --islands-at-end      evaluate each island's own model at the end only\n"
    "  --device auto|cpu|cuda, --exact, --bf16, --eager, --threads N\n"
    "  --only TEXT           recipes whose policy contains it; may be repeated\n"
    "  --budget S            stop after so many real seconds, between steps\n"
    "  --checkpoint FILE     and go on from it\n"
    "  --claims FOLDER       shared by several of these programs: each run is one's alone\n"
    "Runs that OUT.json has already are not made again. OUT.jsonl has a run a line, shortened.\n";

[[noreturn]] void refuse(const std::string& message) {
  std::cerr << "train_study: " << message << "\n" << kUsage;
  std::exit(2);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) refuse(path + ": cannot be read");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

double number(const std::string& option, const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    refuse(option + " " + text + ": not a number");
  return value;
}

struct Options {
  std::string recipes, output, claims;
  std::vector<std::string> only;
  double budget = 0;
  StudySettings study;
};

Options parse(const std::vector<std::string>& arguments) {
  Options options;
  TrainingSettings& training = options.study.training;
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    const std::string& option = arguments[a];
    if (option == "--exact") {
      options.study.learner.exact = true;
      continue;
    }
    if (option == "--bf16" || option == "--eager") {
      (option == "--bf16" ? options.study.learner.bf16 : options.study.learner.eager) = true;
      continue;
    }
    if (option == "--islands-at-end") {
      training.islands_at_end = true;
      continue;
    }
    if (!option.starts_with("-")) {
      options.recipes = option;
      continue;
    }
    if (a + 1 == arguments.size()) refuse(option + ": a value is missing");
    const std::string& value = arguments[++a];
    if (option == "-o")
      options.output = value;
    else if (option == "--model")
      options.study.model = value;
    else if (option == "--context")
      options.study.context = int(number(option, value));
    else if (option == "--data")
      options.study.data = value;
    else if (option == "--split" && (value == "alike" || value == "by-source"))
      options.study.split = value == "alike" ? Split::kAlike : Split::kBySource;
    else if (option == "--seconds")
      training.seconds = number(option, value);
    else if (option == "--steps")
      training.steps = std::int64_t(number(option, value));
    else if (option == "--batch")
      training.batch = int(number(option, value));
    else if (option == "--rate")
      training.rate = number(option, value);
    else if (option == "--warmup")
      training.warmup = int(number(option, value));
    else if (option == "--evaluations")
      training.evaluations = int(number(option, value));
    else if (option == "--windows")
      training.windows = int(number(option, value));
    else if (option == "--target")
      training.target = number(option, value);
    else if (option == "--distance-every")
      training.distance_every = std::max(1, int(number(option, value)));
    else if (option == "--claims")
      options.claims = value;
    else if (option == "--device")
      options.study.learner.device = value;
    else if (option == "--threads")
      options.study.learner.threads = int(number(option, value));
    else if (option == "--only")
      options.only.push_back(value);
    else if (option == "--budget")
      options.budget = number(option, value);
    else if (option == "--checkpoint")
      training.checkpoint = value, training.resume = true;
    else if (option == "--seeds") {
      options.study.seeds.clear();
      std::stringstream list(value);
      for (std::string seed; std::getline(list, seed, ',');)
        options.study.seeds.push_back(std::uint64_t(number(option, seed)));
    } else {
      refuse(option + ": unknown, or not with such a value");
    }
  }
  if (options.recipes.empty() || options.output.empty()) refuse("RECIPES.json and -o are needed");
  if (training.seconds <= 0 && training.steps <= 0) refuse("--seconds or --steps is needed");
  return options;
}

std::vector<Recipe> chosen(const Options& options) {
  const auto recipes = read_recipes(read_file(options.recipes));
  if (!recipes) refuse(options.recipes + ": " + recipes.error().message);
  if (options.only.empty()) return *recipes;
  std::vector<Recipe> some;
  for (const Recipe& recipe : *recipes)
    for (const std::string& part : options.only)
      if (recipe.policy.find(part) != std::string::npos) {
        some.push_back(recipe);
        break;
      }
  if (some.empty()) refuse("--only leaves no recipe");
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

// A file that only one program can have made: folders that exist cannot be made again.
bool claimed(const Options& options, const Study& study, const Recipe& recipe, std::uint64_t seed) {
  if (options.claims.empty()) return true;
  std::ostringstream what;
  what << recipe.name << "|" << recipe.step_time << "|" << seed << "|" << study.data << "|"
       << options.study.model << "|" << options.study.training.seconds << "|"
       << options.study.training.steps;
  std::filesystem::create_directories(options.claims);
  return std::filesystem::create_directory(options.claims + "/" +
                                           std::to_string(std::hash<std::string>()(what.str())));
}

int run(const Options& options) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point started = Clock::now();
  const std::vector<Recipe> recipes = chosen(options);
  const auto study = prepare(options.study, island_count(recipes[0]));
  if (!study) refuse(study.error().message);
  std::vector<Training> earlier;
  if (std::filesystem::exists(options.output)) {
    auto read = read_trainings(read_file(options.output));
    if (!read) refuse(options.output + ": " + read.error().message);
    for (Training& training : *read)
      if (training.finished) earlier.push_back(std::move(training));
  }
  StudyEvents events;
  Clock::time_point told = started;
  bool over = false;
  events.learner = make_learner;
  events.take = [&](const Recipe& recipe, std::uint64_t seed) {
    over = over || (options.budget > 0 &&
                    std::chrono::duration<double>(Clock::now() - started).count() > options.budget);
    return !over && claimed(options, *study, recipe, seed);
  };
  events.progress = [&](const Recipe& recipe, std::uint64_t seed, const Progress& progress,
                        const ClockSummary& account) {
    const Clock::time_point now = Clock::now();
    if (now - told > std::chrono::seconds(10)) {
      told = now;
      std::cerr << progress_text(recipe, seed, progress, account) << std::endl;
    }
    over =
        options.budget > 0 && std::chrono::duration<double>(now - started).count() > options.budget;
    return over;
  };
  events.finished = [&](const std::vector<Training>& trainings) {
    write(options.output, trainings);
    const Training& last = trainings.back();
    if (!last.finished) return;
    std::printf("%-60s seed %llu  %6lld steps  %8.1f s  loss %.4f  islands %.4f  (%.1f s, %s)\n",
                last.recipe.name.c_str(), static_cast<unsigned long long>(last.settings.seed),
                static_cast<long long>(last.steps), last.seconds, last.points.back().loss_of_mean,
                last.points.back().island_loss.empty() ? 0 : last.points.back().island_loss[0],
                last.computed_seconds, last.device.c_str());
    std::fflush(stdout);
  };
  (void)run_study(options.study, *study, recipes, std::move(earlier), events);
  return over ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  // Products on a GPU then come out alike every time; cuBLAS reads it when it starts.
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
  try {
    return run(parse({argv + 1, argv + argc}));
  } catch (const std::exception& problem) {
    std::cerr << "train_study: " << problem.what() << "\n";
    return 3;
  }
}
