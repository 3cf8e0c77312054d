#include "train/study_options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "train/output_paths.hpp"

namespace cotillion {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw WrongUse(message);
}

double number(const std::string& option, const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    refuse(option + " " + text + ": not a number");
  return value;
}

double more_than_zero(const std::string& option, const std::string& text, double most = kMany) {
  const double value = number(option, text);
  if (!(value > 0 && value <= most))
    refuse(option + " " + text + ": must be more than 0, and " +
           (most == kMany ? "a billion" : std::to_string(int(most))) + " at most");
  return value;
}

int whole(const std::string& option, const std::string& text, int least = 1) {
  const double value = number(option, text);
  if (!(value >= least && value <= 1e9) || value != std::floor(value))
    refuse(option + " " + text + ": a whole number from " + std::to_string(least) +
           " to a billion");
  return int(value);
}

std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  std::stringstream rest(list);
  for (std::string part; std::getline(rest, part, ',');) parts.push_back(part);
  return parts;
}

std::vector<std::uint64_t> seeds(const std::string& option, const std::string& list) {
  std::vector<std::uint64_t> seeds;
  const std::string wrong = option + " " + list + ": whole numbers from 0, with commas between";
  for (const std::string& part : parts_of(list)) {
    std::uint64_t seed = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), seed);
    if (error != std::errc() || end != part.data() + part.size()) refuse(wrong);
    seeds.push_back(seed);
  }
  if (seeds.empty()) refuse(option + ": at least one");
  return seeds;
}

std::vector<Split> splits(const std::string& list) {
  std::vector<Split> splits;
  for (const std::string& part : parts_of(list)) {
    if (part != "alike" && part != "by-source") refuse("--split " + list + ": unknown");
    splits.push_back(part == "alike" ? Split::kAlike : Split::kBySource);
  }
  if (splits.empty()) refuse("--split: alike or by-source");
  return splits;
}

}  // namespace

const char* const kStudyUsage =
    "train_study RECIPES.json... -o OUT.json\n"
    "  --model gpt:0.5M      gpt:0.5M 2M 7M 10M 25M 50M 125M, mlp\n"
    "  --context N           bytes (default: the model's)\n"
    "  --data synthetic:8MB  or a folder of text\n"
    "  --split alike         or by-source, or alike,by-source: both\n"
    "  --seconds S           of the clock, or Nsteps: as long as N steps take without waiting\n"
    "  --steps N, --batch N, --rate R, --warmup N, --seeds 1,2,3\n"
    "  --evaluations N, --windows N, --target LOSS, --distance-every N (merges),\n"
    "  --islands-at-end      evaluate each island's own model at the end only\n"
    "  --device auto|cpu|cuda, --exact, --bf16, --eager, --threads N\n"
    "  --only TEXT           recipes whose policy contains it; may be repeated\n"
    "  --budget S            stop after so many real seconds, between steps\n"
    "  --checkpoint FILE     and go on from it\n"
    "  --done FILE           runs that are not to be made again; may be repeated\n"
    "  --claims FOLDER       shared by several of these programs: each run is one's alone\n"
    "Runs that OUT.json has already are not made again. OUT.jsonl has a run a line, shortened.\n";

StudyOptions study_options(const std::vector<std::string>& arguments) {
  StudyOptions options;
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
      options.recipes.push_back(option);
      continue;
    }
    if (a + 1 == arguments.size()) refuse(option + ": a value is missing");
    const std::string& value = arguments[++a];
    if (option == "-o")
      options.output = value;
    else if (option == "--model")
      options.study.model = value;
    else if (option == "--context")
      options.study.context = whole(option, value, 0);
    else if (option == "--data")
      options.study.data = value;
    else if (option == "--split")
      options.splits = splits(value);
    else if (option == "--seconds" && value.ends_with("steps"))
      options.steps_long = more_than_zero(option, value.substr(0, value.size() - 5));
    else if (option == "--seconds")
      training.seconds = more_than_zero(option, value);
    else if (option == "--steps")
      training.steps = whole(option, value);
    else if (option == "--batch")
      training.batch = whole(option, value);
    else if (option == "--rate")
      training.rate = more_than_zero(option, value, kRateMost);
    else if (option == "--warmup")
      training.warmup = whole(option, value, 0);
    else if (option == "--evaluations")
      training.evaluations = whole(option, value, 0);
    else if (option == "--windows")
      training.windows = whole(option, value);
    else if (option == "--target")
      training.target = more_than_zero(option, value);
    else if (option == "--distance-every")
      training.distance_every = whole(option, value);
    else if (option == "--claims")
      options.claims = value;
    else if (option == "--device")
      options.study.learner.device = value;
    else if (option == "--threads")
      options.study.learner.threads = whole(option, value, 0);
    else if (option == "--only")
      options.only.push_back(value);
    else if (option == "--done")
      options.done.push_back(value);
    else if (option == "--budget")
      options.budget = more_than_zero(option, value);
    else if (option == "--checkpoint")
      training.checkpoint = value, training.resume = true;
    else if (option == "--seeds")
      options.study.seeds = seeds(option, value);
    else
      refuse(option + ": unknown, or not with such a value");
  }
  if (options.recipes.empty() || options.output.empty()) refuse("RECIPES.json and -o are needed");
  if (training.seconds <= 0 && training.steps <= 0 && options.steps_long <= 0)
    refuse("--seconds or --steps is needed");
  std::vector<NamedFile> read;
  for (const std::string& file : options.recipes) read.push_back({"RECIPES.json", file});
  std::string why =
      why_not_apart({{"--checkpoint", training.checkpoint}, {"-o", options.output}}, read);
  // -o may be a file of --done: its runs are not made again either way.
  for (const std::string& file : options.done) read.push_back({"--done", file});
  if (why.empty()) why = why_not_apart({{"--checkpoint", training.checkpoint}}, read);
  if (!why.empty()) refuse(why);
  return options;
}

}  // namespace cotillion
