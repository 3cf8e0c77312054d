#include "train/study.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/file.hpp"
#include "train/run_identity.hpp"
#include "train/text_folder.hpp"
#include "train/training_file.hpp"

namespace cotillion {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKept = "kept_by_a_study";  // the mark of a run that is over
constexpr std::uint64_t kTextSeed = 1;            // text is the same whatever the seeds of runs

// "synthetic:4MB", "synthetic"; nothing where it is not one of these.
Result<std::size_t> synthetic_bytes(const std::string& data) {
  const std::string size = data.size() > 10 ? data.substr(10) : "2MB";
  char unit[3] = {};
  double count = 0;
  char rest = 0;
  if (std::sscanf(size.c_str(), "%lf%2[kM]%c", &count, unit, &rest) != 3 || rest != 'B' ||
      !(count > 0))
    return failure("--data " + data + ": a size is written as synthetic:4MB");
  const double bytes = count * (unit[0] == 'k' ? 1e3 : 1e6);
  if (bytes > 4e9) return failure("--data " + data + ": 4000MB at most");
  return std::size_t(bytes);
}

// Without the folders above it: where a text lies differs from machine to machine. Names of files
// may hold any bytes, results may not.
std::string name_of_text(const std::string& data) {
  const fs::path path(data);
  const Json name = (path.has_filename() ? path : path.parent_path()).filename().string();
  return Json::parse(name.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// Where runs of a study keep what they have: each at a place of its own, models while it is
// unfinished and its record alone when it is over. When all are over nothing is left.
class Checkpoints {
 public:
  Checkpoints(std::string path, std::size_t runs) : path_(std::move(path)), runs_(runs) {}

  // Empty where nothing is kept.
  [[nodiscard]] std::string of(std::size_t run) const {
    return path_.empty() || runs_ == 1 ? path_ : path_ + "." + std::to_string(run + 1);
  }
  // A run that was over before.
  [[nodiscard]] std::optional<Training> kept(std::size_t run) const {
    const std::string file = of(run);
    if (file.empty() || !fs::exists(file) || fs::exists(file + ".models")) return std::nullopt;
    const auto record = read_file(file);
    if (!record) throw WrongCheckpoint(record.error().message);
    const auto read = read_trainings(*record);
    // What `keep` wrote has its mark; anything else is somebody's result.
    const Json json = Json::parse(*record, nullptr, false);
    const bool ours = json.is_object() && json.contains(kKept);
    if (ours && read && read->size() == 1 && read->front().finished) return read->front();
    throw WrongCheckpoint(
        file + ": is no checkpoint of a study; choose another place, or remove it to begin anew");
  }
  void keep(std::size_t run, const Training& training) const {
    const std::string file = of(run);
    if (file.empty() || runs_ == 1) return;
    Json record = to_json(training);
    record[kKept] = true;
    if (const auto written = write_atomically(file, record.dump() + "\n"); !written)
      throw std::runtime_error(written.error().message);
    fs::remove(file + ".models");
  }
  void clear() const {
    for (std::size_t run = 0; run < runs_ && !path_.empty(); ++run) {
      fs::remove(of(run));
      fs::remove(of(run) + ".models");
    }
  }

 private:
  const std::string path_;
  const std::size_t runs_;
};

// One study on its way.
class StudyRun {
 public:
  StudyRun(const StudySettings& settings, const Study& study, const std::vector<Recipe>& recipes,
           std::vector<Training> earlier, const StudyEvents& events)
      : settings_(settings),
        study_(study),
        recipes_(recipes),
        events_(events),
        checkpoints_(settings.training.checkpoint, settings.seeds.size() * recipes.size()),
        trainings_(std::move(earlier)) {}

  // Seed by seed: what is there when time runs out is a comparison of everything.
  std::vector<Training> play() {
    std::size_t number = 0;
    bool all = true;
    for (const std::uint64_t seed : settings_.seeds)
      for (const Recipe& recipe : recipes_) {
        const std::size_t run = number++;
        const Training asked = asked_for(settings_, study_, recipe, seed);
        if (is_there(asked)) continue;
        if (events_.take && !events_.take(recipe, seed)) {
          all = false;
          continue;
        }
        if (take_kept(run, asked)) continue;
        trainings_.push_back(train_one(run, recipe, seed));
        if (events_.finished) events_.finished(trainings_);
        if (!trainings_.back().finished) return std::move(trainings_);
        checkpoints_.keep(run, trainings_.back());
      }
    if (all) checkpoints_.clear();
    return std::move(trainings_);
  }

 private:
  [[nodiscard]] bool is_there(const Training& asked) const {
    return std::any_of(trainings_.begin(), trainings_.end(), [&](const Training& training) {
      return training.finished && what_differs(training, asked).empty();
    });
  }
  // A run that was over when the study was stopped.
  bool take_kept(std::size_t run, const Training& asked) {
    const auto kept = checkpoints_.kept(run);
    if (!kept) return false;
    if (const std::string other = what_differs(*kept, asked); !other.empty())
      throw WrongCheckpoint(checkpoints_.of(run) + ": " + other + "; remove it to train anew");
    trainings_.push_back(*kept);
    return true;
  }
  Training train_one(std::size_t run, const Recipe& recipe, std::uint64_t seed) {
    LearnerSettings learner = settings_.learner;
    learner.model = study_.model;
    learner.islands = island_count(recipe);
    learner.seed = seed;
    TrainingSettings training = settings_.training;
    training.seed = seed;
    training.checkpoint = checkpoints_.of(run);
    const ClockSummary account = make_step_schedule(recipe)->account();
    const auto islands = events_.learner(learner);
    std::unique_ptr<Carrier> carrier;
    if (events_.carrier)
      carrier = events_.carrier(recipe, islands->parameters(),
                                last_step(*ideal_carrier(recipe), recipe.step_time, training));
    const auto watch = [&](const Progress& progress) {
      return events_.progress && events_.progress(recipe, seed, progress, account);
    };
    Training made =
        train(*islands, recipe, study_.corpus, study_.model, training, watch, carrier.get());
    made.model = settings_.model;
    return made;
  }

  const StudySettings& settings_;
  const Study& study_;
  const std::vector<Recipe>& recipes_;
  const StudyEvents& events_;
  const Checkpoints checkpoints_;
  std::vector<Training> trainings_;
};

}  // namespace

Training asked_for(const StudySettings& settings, const Study& study, const Recipe& recipe,
                   std::uint64_t seed) {
  Training asked;
  asked.recipe = without_rounds(recipe);
  asked.account = make_step_schedule(recipe)->account();
  asked.model = settings.model;
  asked.context = study.model.context;
  asked.data = study.corpus.name;
  asked.unigram_entropy = study.corpus.unigram_entropy;
  asked.settings = settings.training;
  asked.settings.seed = seed;
  return asked;
}

Result<Study> prepare(const StudySettings& settings, int islands) {
  Study study;
  const auto model = model_named(settings.model);
  if (!model) return Unexpected<Error>{model.error()};
  study.model = *model;
  if (settings.context > 0) study.model.context = settings.context;
  std::vector<Document> documents;
  if (settings.data == "synthetic" || settings.data.starts_with("synthetic:")) {
    const auto bytes = synthetic_bytes(settings.data);
    if (!bytes) return Unexpected<Error>{bytes.error()};
    documents = synthetic_documents(kTextSeed, *bytes, std::max(2, islands));
  } else {
    auto read = read_folder(settings.data);
    if (!read) return Unexpected<Error>{read.error()};
    documents = std::move(*read);
  }
  auto corpus = make_corpus(std::move(documents), islands, settings.split, kTextSeed,
                            std::size_t(study.model.context) + 2);
  if (!corpus) return Unexpected<Error>{corpus.error().within("--data " + settings.data)};
  study.corpus = std::move(*corpus);
  study.corpus.name =
      name_of_text(settings.data) + (settings.split == Split::kAlike ? ", alike" : ", by source");
  return study;
}

Expected<std::vector<Training>, StudyFailure> run_study(const StudySettings& settings,
                                                        const Study& study,
                                                        const std::vector<Recipe>& recipes,
                                                        std::vector<Training> earlier,
                                                        const StudyEvents& events) {
  try {
    return StudyRun(settings, study, recipes, std::move(earlier), events).play();
  } catch (const WrongCheckpoint& problem) {
    return Unexpected<StudyFailure>{{true, problem.what()}};
  } catch (const std::exception& problem) {
    return Unexpected<StudyFailure>{{false, problem.what()}};
  }
}

void settle_length(StudySettings& settings, const std::vector<Recipe>& recipes) {
  if (settings.steps_long > 0)
    settings.training.seconds = settings.steps_long * recipes.front().step_time;
}

std::string progress_text(const Recipe& recipe, std::uint64_t seed, const Progress& progress,
                          const ClockSummary& account) {
  char text[160], loss[40] = "";
  // Losses are read now and then.
  if (progress.loss > 0) std::snprintf(loss, sizeof loss, ", loss %.3f", progress.loss);
  std::snprintf(text, sizeof text, ", seed %llu: step %lld of %lld, round %.0f%s, %.0f s left",
                static_cast<unsigned long long>(seed), static_cast<long long>(progress.step),
                static_cast<long long>(progress.steps),
                account.cycle > 0 ? std::floor(progress.seconds / account.cycle) : 0.0, loss,
                progress.left);
  return recipe.name + text;
}

}  // namespace cotillion
