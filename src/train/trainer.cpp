#include "train/trainer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numbers>
#include <stdexcept>

#include "base/check.hpp"
#include "base/file.hpp"
#include "policy/rotation_clock.hpp"
#include "train/run_identity.hpp"
#include "train/training_file.hpp"

namespace cotillion {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kReadEvery = 25;  // steps from one look at losses to the next

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Run {
 public:
  Run(Learner& learner, const Recipe& recipe, const Corpus& corpus, const ModelSpec& model,
      const TrainingSettings& settings, const std::function<bool(const Progress&)>& watch,
      Carrier& carrier)
      : learner_(learner),
        recipe_(recipe),
        corpus_(corpus),
        context_(model.context),
        settings_(settings),
        watch_(watch),
        carrier_(carrier),
        held_out_(held_out_batch(corpus, settings.windows, model.context)) {
    last_ = last_step(carrier, recipe.step_time, settings);
    evaluate_at_ = evaluations();
  }

  Training play() {
    result_.recipe = without_rounds(recipe_);
    result_.account = carrier_.account();
    result_.device = learner_.device();
    result_.parameters = learner_.parameters();
    result_.context = context_;
    result_.data = corpus_.name;
    result_.settings = settings_;
    result_.unigram_entropy = corpus_.unigram_entropy;
    started_ = Clock::now();
    if (!resumed()) {
      move_after(0);
      evaluate(0);
    }
    first_ = step_;
    bool stopped = false;
    while (step_ < last_ && !stopped) {
      if (!take_step()) break;
      if (next_evaluation_ < evaluate_at_.size() && evaluate_at_[next_evaluation_] == step_) {
        ++next_evaluation_;
        evaluate(step_);
      }
      if (!settings_.checkpoint.empty() &&
          (step_ % settings_.checkpoint_every == 0 || step_ == last_))
        write_checkpoint();
      stopped = watch_ && watch_(progress());
    }
    if (stopped && !settings_.checkpoint.empty()) write_checkpoint();
    finish();
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::vector<std::int64_t> evaluations() const {
    std::vector<std::int64_t> steps;
    const double end = carrier_.time_after(last_);
    std::int64_t step = 0;
    for (int e = 1; e <= settings_.evaluations; ++e) {
      const double due = end * e / settings_.evaluations;
      while (step < last_ && carrier_.time_after(step) < due - 1e-9) ++step;
      if (step > 0 && (steps.empty() || steps.back() != step)) steps.push_back(step);
    }
    if (last_ > 0 && (steps.empty() || steps.back() != last_)) steps.push_back(last_);
    return steps;
  }

  // By the clock, so that every policy has cooled down when its time is over.
  [[nodiscard]] double rate(std::int64_t step) const {
    // A policy that takes few steps cannot spend them all on warming up.
    const auto warmup =
        std::clamp<std::int64_t>(settings_.warmup, 1, std::max<std::int64_t>(1, last_ / 10));
    const double warm = std::min(1.0, double(step) / double(warmup));
    const double gone = carrier_.time_after(step) / carrier_.time_after(last_);
    const double cosine = (1 + std::cos(std::numbers::pi * std::min(1.0, gone))) / 2;
    const double highest = recipe_.learning_rate > 0 ? recipe_.learning_rate : settings_.rate;
    COTILLION_CHECK(warm >= 0 && warm <= 1 && cosine >= 0 && cosine <= 1);
    return highest * warm * (settings_.rate_last + (1 - settings_.rate_last) * cosine);
  }

  // False when there is nothing left to train.
  bool take_step() {
    ++step_;
    COTILLION_CHECK(step_ <= last_);
    COTILLION_CHECK(carrier_.time_after(step_) >= carrier_.time_after(step_ - 1));
    learner_.backward(draw_batch(corpus_, settings_.seed, step_, settings_.batch, context_));
    ++unread_;
    carrier_.on_gradients(learner_, step_);
    const AroundStep around = carrier_.around(step_);
    if (around.empty())
      learner_.update(rate(step_));
    else
      update_around(around);
    move_after(step_, around.empty());
    if (step_ % kReadEvery == 0) read_losses();
    return !result_.diverged;
  }

  // Waits for the device, so it is done now and then.
  void read_losses() {
    if (unread_ == 0) return;
    const std::vector<double> losses = learner_.training_losses();
    double mean = 0;
    for (const double loss : losses) mean += loss / double(losses.size());
    training_loss_ += mean * unread_;
    training_steps_ += unread_;
    unread_ = 0;
    lately_ = lately_ == 0 ? mean : 0.5 * lately_ + 0.5 * mean;
    result_.diverged = !std::isfinite(mean);
  }

  // Merges with the update, and perhaps some more after it.
  void update_around(const AroundStep& around) {
    const bool measured = measures();
    const Learner::Disagreement now = learner_.update_around(
        rate(step_), around, measured ? recipe_.shares : std::vector<double>());
    if (measured) note(now);
  }
  void move_after(std::int64_t step, bool measures_too = true) {
    carrier_.between(learner_, step, [&] {
      if (measures_too && measures()) note(learner_.disagreement(recipe_.shares));
    });
  }
  // Models are large, and some policies merge after every step.
  bool measures() { return merges_++ % settings_.distance_every == 0; }
  void note(const Learner::Disagreement& now) {
    distance_ += now.distance;
    ++distances_;
  }

  void evaluate(std::int64_t step) {
    read_losses();
    TrainingPoint point;
    point.step = step;
    point.seconds = carrier_.time_after(step);
    point.tokens = double(step) * settings_.batch * context_ * island_count(recipe_);
    point.loss_of_mean = learner_.loss_of_mean(recipe_.shares, held_out_);
    if (!settings_.islands_at_end || step == last_) point.island_loss = learner_.losses(held_out_);
    point.training_loss = training_steps_ > 0 ? training_loss_ / training_steps_ : 0;
    point.distance = distances_ > 0 ? distance_ / distances_ : 0;
    point.norm = learner_.disagreement(recipe_.shares).norm;
    // A model that has diverged is no distance from anywhere; and no file holds such numbers.
    for (double* const value : {&point.training_loss, &point.distance, &point.norm})
      if (!(std::abs(*value) <= kHuge)) *value = 0;
    COTILLION_CHECK(result_.points.empty() || result_.points.back().step <= step);
    result_.points.push_back(std::move(point));
    training_loss_ = training_steps_ = distance_ = distances_ = 0;
  }

  [[nodiscard]] Progress progress() const {
    const double took = since(started_) / double(std::max<std::int64_t>(1, step_ - first_));
    return {step_, last_, carrier_.time_after(step_), lately_, took * double(last_ - step_)};
  }

  void finish() {
    const Learner::Memory memory = learner_.memory();
    const double each = double(result_.parameters) * island_count(recipe_);
    result_.memory.kept = double(memory.kept) / each;
    result_.memory.moving = double(memory.moving) / each;
    if (is_a<RotationRecipe>(recipe_)) result_.memory.in_flight = copies_in_flight(recipe_, step_);
    result_.steps = step_;
    result_.seconds = carrier_.time_after(step_);
    result_.utilisation =
        result_.seconds > 0 ? double(step_) * recipe_.step_time / result_.seconds : 0;
    result_.egress_bytes = recipe_.egress * result_.seconds;
    if (settings_.target > 0) result_.target_time = time_to(result_.points, settings_.target);
    result_.computed_seconds += since(started_);
    result_.finished = step_ == last_ || result_.diverged;
  }

  // The models in one file, the record so far in another beside it. Each is complete under another
  // name before it takes its own.
  void write_checkpoint() {
    const std::string models = settings_.checkpoint + ".models";
    learner_.save(models + ".new");
    Training so_far = result_;
    so_far.steps = step_;
    so_far.computed_seconds += since(started_);
    Json record = to_json(so_far);
    record["unfinished"] = {{"training_loss", training_loss_},
                            {"training_steps", training_steps_},
                            {"distance", distance_},
                            {"distances", distances_},
                            {"merges", merges_},
                            {"unread", unread_},
                            {"lately", lately_}};
    const std::string records = settings_.checkpoint + ".new";
    if (const auto written = write_atomically(records, record.dump() + "\n"); !written)
      throw std::runtime_error(written.error().message);
    std::filesystem::rename(models + ".new", models);
    std::filesystem::rename(records, settings_.checkpoint);
  }

  bool resumed() {
    if (!settings_.resume || settings_.checkpoint.empty() ||
        !std::filesystem::exists(settings_.checkpoint) || !carrier_.resumes())
      return false;
    try {
      take_up();
    } catch (const std::exception& problem) {
      throw WrongCheckpoint(settings_.checkpoint + ": cannot be taken up again: " +
                            reason_of(problem) + "; give another --checkpoint, or remove it and " +
                            settings_.checkpoint + ".models to begin anew");
    }
    return true;
  }

  // What a checkpoint has that this run has not; empty where it is one of this run.
  [[nodiscard]] std::string difference(const Training& earlier) const {
    std::string other = what_differs(earlier, result_);
    if (!other.empty() || earlier.steps <= last_) return other;
    return "it is at step " + std::to_string(earlier.steps) + ", and this run ends after " +
           std::to_string(last_);
  }

  void take_up() {
    const auto text = read_file(settings_.checkpoint);
    if (!text) throw std::runtime_error(text.error().message);
    const Json record = Json::parse(*text);
    const Training earlier = training_from(record);
    if (const std::string other = difference(earlier); !other.empty())
      throw std::runtime_error(other);
    learner_.load(settings_.checkpoint + ".models");
    result_.points = earlier.points;
    result_.computed_seconds = earlier.computed_seconds;
    step_ = earlier.steps;
    const Json& unfinished = record.at("unfinished");
    training_loss_ = unfinished.at("training_loss");
    training_steps_ = unfinished.at("training_steps");
    distance_ = unfinished.at("distance");
    distances_ = unfinished.at("distances");
    merges_ = unfinished.at("merges");
    unread_ = unfinished.at("unread");
    lately_ = unfinished.at("lately");
    while (next_evaluation_ < evaluate_at_.size() && evaluate_at_[next_evaluation_] <= step_)
      ++next_evaluation_;
  }

  Learner& learner_;
  const Recipe& recipe_;
  const Corpus& corpus_;
  const int context_;
  const TrainingSettings& settings_;
  const std::function<bool(const Progress&)>& watch_;
  Carrier& carrier_;
  const std::vector<std::uint8_t> held_out_;
  std::int64_t last_ = 0, step_ = 0, first_ = 0;
  std::vector<std::int64_t> evaluate_at_;
  std::size_t next_evaluation_ = 0;
  double training_loss_ = 0, training_steps_ = 0, distance_ = 0, distances_ = 0, lately_ = 0;
  double unread_ = 0;        // steps whose losses the learner still has
  std::int64_t merges_ = 0;  // steps after which there was one
  Clock::time_point started_;
  Training result_;
};

}  // namespace

std::int64_t last_step(const Carrier& carrier, double step_time, const TrainingSettings& settings) {
  if (settings.seconds <= 0) return settings.steps;
  std::int64_t low = 0;
  std::int64_t high =
      settings.steps > 0 ? settings.steps : std::int64_t(settings.seconds / step_time) + 1;
  while (low < high) {
    const std::int64_t middle = (low + high + 1) / 2;
    if (carrier.time_after(middle) <= settings.seconds + 1e-9)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

std::optional<double> time_to(const std::vector<TrainingPoint>& points, double loss) {
  for (std::size_t p = 0; p < points.size(); ++p) {
    if (points[p].loss_of_mean > loss) continue;
    if (p == 0) return points[0].seconds;
    const TrainingPoint& before = points[p - 1];
    const double share =
        (before.loss_of_mean - loss) / (before.loss_of_mean - points[p].loss_of_mean);
    return before.seconds + share * (points[p].seconds - before.seconds);
  }
  return std::nullopt;
}

Training train(Learner& learner, const Recipe& recipe, const Corpus& corpus, const ModelSpec& model,
               const TrainingSettings& settings, const std::function<bool(const Progress&)>& watch,
               Carrier* carrier) {
  const std::unique_ptr<Carrier> ideal = carrier == nullptr ? ideal_carrier(recipe) : nullptr;
  return Run(learner, recipe, corpus, model, settings, watch, ideal ? *ideal : *carrier).play();
}

}  // namespace cotillion
