#include "train/study_options.hpp"

#include <algorithm>
#include <sstream>

#include "train/output_paths.hpp"
#include "train/training_options.hpp"

namespace cotillion {
namespace {

// As TrainingOption, for what only a study of several files is asked for.
struct StudyOption {
  const char* name;
  const char* value;
  const char* help;
  std::string (*take)(StudyOptions& options, const std::string& text);
};

std::string take_splits(StudyOptions& options, const std::string& list);

constexpr StudyOption kOwn[] = {
    {"-o", "FILE",
     "Where runs are written: those that it has already are not made again. FILE.jsonl has a run a "
     "line, shortened",
     [](StudyOptions& options, const std::string& text) {
       options.output = text;
       return std::string();
     }},
    {"--split", "HOW", "alike, by-source, or alike,by-source: both", take_splits},
    {"--only", "TEXT", "Recipes whose policy contains it; may be repeated",
     [](StudyOptions& options, const std::string& text) {
       options.only.push_back(text);
       return std::string();
     }},
    {"--budget", "S", "Stop after so many real seconds, between steps",
     [](StudyOptions& options, const std::string& text) {
       return take_above_zero(options.budget, text, kMany);
     }},
    {"--done", "FILE", "Runs that are not to be made again; may be repeated",
     [](StudyOptions& options, const std::string& text) {
       options.done.push_back(text);
       return std::string();
     }},
    {"--claims", "FOLDER", "Shared by several of these programs: each run is one's alone",
     [](StudyOptions& options, const std::string& text) {
       options.claims = text;
       return std::string();
     }},
};

const TrainingOption* shared_option(const std::string& name) {
  for (const TrainingOption& option : training_options())
    if (name == option.name) return &option;
  return nullptr;
}

const StudyOption* own_option(const std::string& name) {
  for (const StudyOption& option : kOwn)
    if (name == option.name) return &option;
  return nullptr;
}

std::string take_splits(StudyOptions& options, const std::string& list) {
  options.splits.clear();
  std::stringstream rest(list);
  for (std::string part; std::getline(rest, part, ',');) {
    if (std::string wrong = shared_option("--split")->take(options.study, part); !wrong.empty())
      return wrong;
    options.splits.push_back(options.study.split);
  }
  return options.splits.empty() ? "at least one of alike and by-source" : "";
}

// What is missing, or would be written over; empty where nothing is.
std::string wrong_together(const StudyOptions& options) {
  const TrainingSettings& training = options.study.training;
  if (options.recipes.empty() || options.output.empty()) return "RECIPES.json and -o are needed";
  if (training.seconds <= 0 && training.steps <= 0 && options.study.steps_long <= 0)
    return "--seconds or --steps is needed";
  std::vector<NamedFile> read;
  for (const std::string& file : options.recipes) read.push_back({"RECIPES.json", file});
  std::string why =
      why_not_apart({{"--checkpoint", training.checkpoint}, {"-o", options.output}}, read);
  // -o may be a file of --done: its runs are not made again either way.
  for (const std::string& file : options.done) read.push_back({"--done", file});
  if (why.empty()) why = why_not_apart({{"--checkpoint", training.checkpoint}}, read);
  return why;
}

std::string usage_line(const char* name, const char* value, const char* help) {
  std::string line = "  " + std::string(name) + " " + value;
  line.resize(std::max<std::size_t>(line.size() + 1, 24), ' ');
  return line + help + "\n";
}

}  // namespace

std::string study_usage() {
  std::string text = "train_study RECIPES.json... -o FILE [OPTION...]\n";
  for (const StudyOption& option : kOwn) text += usage_line(option.name, option.value, option.help);
  for (const TrainingOption& option : training_options())
    if (own_option(option.name) == nullptr)
      text += usage_line(option.name, option.value, option.help);
  return text;
}

Result<StudyOptions> study_options(const std::vector<std::string>& arguments) {
  StudyOptions options;
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    const std::string& name = arguments[a];
    if (!name.starts_with("-")) {
      options.recipes.push_back(name);
      continue;
    }
    const StudyOption* const own = own_option(name);
    const TrainingOption* const shared = shared_option(name);
    if (own == nullptr && shared == nullptr) return failure(name + ": unknown");
    const bool flag = own == nullptr && *shared->value == '\0';
    if (!flag && a + 1 == arguments.size()) return failure(name + ": a value is missing");
    const std::string value = flag ? "" : arguments[++a];
    const std::string wrong =
        own != nullptr ? own->take(options, value) : shared->take(options.study, value);
    if (!wrong.empty()) return failure(std::string(name).append(": ").append(wrong));
  }
  if (const std::string wrong = wrong_together(options); !wrong.empty()) return failure(wrong);
  return options;
}

}  // namespace cotillion
