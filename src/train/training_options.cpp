#include "train/training_options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace cotillion {
namespace {

// What was typed, fit to be printed.
std::string quoted(std::string text) {
  constexpr std::size_t kMost = 60;
  if (text.size() > kMost) text.resize(kMost);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return "'" + text + "'";
}

// Not a number where it is none, or none that ends.
double number_of(const std::string& text) {
  double value = 0;
  const char* const first = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(first, text.data() + text.size(), value);
  const bool all = error == std::errc() && end == text.data() + text.size();
  return all && std::isfinite(value) ? value : NAN;
}

template <class Whole>
std::string take_whole(Whole& into, const std::string& text, std::int64_t least,
                       std::int64_t most) {
  const double value = number_of(text);
  if (!(value >= double(least) && value <= double(most)) || value != std::floor(value))
    return quoted(text) + " is not a whole number from " + std::to_string(least) + " to " +
           std::to_string(most);
  into = Whole(value);
  return "";
}

template <class Value>
std::string set(Value& into, const Value& value) {
  into = value;
  return "";
}

std::string take_word(std::string& into, const std::string& text,
                      std::initializer_list<const char*> known) {
  std::string all;
  for (const char* const word : known) {
    if (text == word) {
      into = text;
      return "";
    }
    all += (all.empty() ? "" : ",") + std::string(word);
  }
  return text + " not in {" + all + "}";
}

std::string take_seeds(StudySettings& settings, const std::string& list) {
  std::vector<std::uint64_t> seeds;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string seed = list.substr(at, end - at);
    const bool digits =
        std::all_of(seed.begin(), seed.end(), [](char c) { return c >= '0' && c <= '9'; });
    // A zero in front would be read as octal elsewhere.
    if (seed.empty() || !digits || seed.size() > 19 || (seed.size() > 1 && seed[0] == '0'))
      return "a seed is a whole number of up to 19 digits";
    seeds.push_back(std::stoull(seed));
    at = end + 1;
  }
  settings.seeds = std::move(seeds);
  return "";
}

std::string take_seconds(StudySettings& settings, const std::string& text) {
  constexpr std::string_view kSteps = "steps";
  if (text.ends_with(kSteps))
    return take_above_zero(settings.steps_long, text.substr(0, text.size() - kSteps.size()), kMany);
  return take_above_zero(settings.training.seconds, text, kMany);
}

using Settings = StudySettings;
using Text = const std::string&;

constexpr TrainingOption kOptions[] = {
    {"--model", "NAME",
     "gpt:0.5M (default), gpt:2M, 7M, 10M, 25M, 50M, 125M: byte-level transformers; mlp",
     [](Settings& s, Text text) { return set(s.model, text); }},
    {"--context", "BYTES", "Bytes a model sees (default: the model's own)",
     [](Settings& s, Text text) { return take_whole(s.context, text, 8, 65536); }},
    {"--data", "TEXT",
     "synthetic:2MB (default): made-up text of that size; or a folder of text files",
     [](Settings& s, Text text) { return set(s.data, text); }},
    {"--split", "HOW", "alike: islands' texts are alike; by-source: not",
     [](Settings& s, Text text) {
       std::string split;
       std::string wrong = take_word(split, text, {"alike", "by-source"});
       if (wrong.empty()) s.split = split == "alike" ? Split::kAlike : Split::kBySource;
       return wrong;
     }},
    {"--seconds", "S",
     "End at this time on the planned clock; Nsteps: as long as N steps take without waiting",
     take_seconds},
    {"--steps", "N", "End after so many steps (default 300)",
     [](Settings& s, Text text) { return take_whole(s.training.steps, text, 1, 1'000'000'000); }},
    {"--seeds", "N,…", "One run of every policy for each (default 1)", take_seeds},
    {"--batch", "N", "Sequences per island per step (default 8)",
     [](Settings& s, Text text) { return take_whole(s.training.batch, text, 1, 65536); }},
    {"--rate", "R", "Learning rate (default 0.002)",
     [](Settings& s, Text text) { return take_above_zero(s.training.rate, text, kRateMost); }},
    {"--warmup", "N", "Steps until it is reached (default 20)",
     [](Settings& s, Text text) { return take_whole(s.training.warmup, text, 0, 1'000'000); }},
    {"--evaluations", "N", "Evaluations on held-out text (default 20)",
     [](Settings& s, Text text) { return take_whole(s.training.evaluations, text, 0, 10'000); }},
    {"--windows", "N", "Sequences of held-out text in each (default 32)",
     [](Settings& s, Text text) { return take_whole(s.training.windows, text, 1, 100'000); }},
    {"--target", "LOSS", "A loss whose time is reported",
     [](Settings& s, Text text) { return take_above_zero(s.training.target, text, kMany); }},
    {"--device", "NAME", "auto (default), cpu, cuda",
     [](Settings& s, Text text) {
       return take_word(s.learner.device, text, {"auto", "cpu", "cuda"});
     }},
    {"--exact", "", "No TF32 on a GPU",
     [](Settings& s, Text) { return set(s.learner.exact, true); }},
    {"--bf16", "", "On a GPU: steps in bf16, all that is kept in f32",
     [](Settings& s, Text) { return set(s.learner.bf16, true); }},
    {"--threads", "N", "Threads of the CPU (default: one for small models, all for others)",
     [](Settings& s, Text text) { return take_whole(s.learner.threads, text, 1, 1024); }},
    {"--checkpoint", "FILE", "Keep the run in progress there, and go on from it if it is there",
     [](Settings& s, Text text) {
       s.training.resume = !text.empty();
       return set(s.training.checkpoint, text);
     }},
    {"--distance-every", "N", "Measure disagreement before one of so many steps with a merge",
     [](Settings& s, Text text) {
       return take_whole(s.training.distance_every, text, 1, 1'000'000'000);
     },
     true},
    {"--islands-at-end", "", "Evaluate each island's own model at the end only",
     [](Settings& s, Text) { return set(s.training.islands_at_end, true); }, true},
    {"--eager", "", "On a GPU: steps are not recorded",
     [](Settings& s, Text) { return set(s.learner.eager, true); }, true},
};

}  // namespace

std::span<const TrainingOption> training_options() {
  return kOptions;
}

std::string take_above_zero(double& into, const std::string& text, double most) {
  const double value = number_of(text);
  if (!(value > 0 && value <= most))
    return quoted(text) + " is not a number above 0 and up to " +
           std::to_string(std::int64_t(most));
  into = value;
  return "";
}

}  // namespace cotillion
