// One run: islands that learn, a recipe that says what passes between them and when, and a record
// of what came of it. Runs that are compared share data, first values and seeds.
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "train/carrier.hpp"
#include "train/corpus.hpp"

namespace cotillion {

struct TrainingSettings {
  // The run ends at whichever comes first; zero: no limit. The clock is the recipe's.
  std::int64_t steps = 0;
  double seconds = 0;
  int batch = 8;                // windows of an island in a step
  double rate = 2e-3;           // of learning, at its highest
  int warmup = 20;              // steps, at most a tenth of them
  double rate_last = 0.1;       // share of it that is left at the end of a cosine
  int evaluations = 20;         // spread evenly over the clock
  int windows = 32;             // of held-out text in an evaluation
  bool islands_at_end = false;  // each island's own model is evaluated at the end only
  int distance_every = 1;  // steps with a merge: disagreement is measured before one of so many
  std::uint64_t seed = 1;  // of batches
  double target = 0;       // loss of the mean model whose time is asked for; zero: none
  std::string checkpoint;  // file; empty: none
  std::int64_t checkpoint_every = 500;  // steps
  bool resume = false;                  // from the checkpoint, where there is one
};

// What is known at one instant.
struct TrainingPoint {
  std::int64_t step = 0;
  double seconds = 0;               // on the recipe's clock
  double tokens = 0;                // of all islands together
  double loss_of_mean = 0;          // of the averaged model, held-out text, nats per byte
  std::vector<double> island_loss;  // of each island's own model
  double training_loss = 0;         // mean over islands and steps since the last point
  double distance = 0;  // mean disagreement before merges since then, ‖·‖ per island
  double norm = 0;      // of the mean model
};

// What an exchange through real daemons was like, of all islands together.
struct LabRecord {
  std::int64_t copies = 0, corrections = 0;
  std::int64_t late = 0;     // copies that were renewed after they had left: older ones were sent
  double latest_ms = 0;      // by how much, the worst
  std::int64_t missing = 0;  // contributions that corrections lacked, wholly or in part
  double process_mb = 0;  // that a training process has in memory, libraries left out; the largest
  double agent_mb = 0;    // the same of an agent, with the region that both share
  double agent_before_mb = 0;         // before there was anything on it
  std::vector<std::string> problems;  // sentences
};

// What an island's learner takes, bytes per parameter of its model, as the allocator counts them.
struct MemoryRecord {
  double kept = 0;       // model, gradient, two moments, and what the policy needs beyond them
  double moving = 0;     // more, at most, while vectors are moved and stepped
  double in_flight = 0;  // models that are copied and not merged yet, at most
};

struct Training {
  Recipe recipe;  // without its rounds
  ClockSummary account;
  std::string model, data, device;
  std::int64_t parameters = 0;
  int context = 0;  // bytes; zero: a record that does not say
  TrainingSettings settings;
  double unigram_entropy = 0;
  std::vector<TrainingPoint> points;
  std::int64_t steps = 0;
  double seconds = 0;
  double utilisation = 0;             // share of the clock in which GPUs train
  double egress_bytes = 0;            // of an island, in all
  std::optional<double> target_time;  // seconds; interpolated between points
  double computed_seconds = 0;        // real time that it took
  bool finished = false;              // not when it was stopped
  bool diverged = false;              // ended when the loss was no longer a number
  MemoryRecord memory;
  std::optional<LabRecord> lab;
};

// The first time at which the mean model is as good as that.
[[nodiscard]] std::optional<double> time_to(const std::vector<TrainingPoint>& points, double loss);

struct Progress {
  std::int64_t step = 0, steps = 0;
  double seconds = 0;
  double loss = 0;  // of training, lately
  double left = 0;  // real seconds, expected
};

// The most steps whose end, waits included, is within the limits.
[[nodiscard]] std::int64_t last_step(const Carrier& carrier, double step_time,
                                     const TrainingSettings& settings);

// It is of another run, or damaged; the text says of which, and what to do.
struct WrongCheckpoint : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// By the recipe's ideal carrier unless another is given. `watch` is told now and then and returns
// true to stop. Throws WrongCheckpoint, or another std::exception when one cannot be written.
[[nodiscard]] Training train(Learner& learner, const Recipe& recipe, const Corpus& corpus,
                             const ModelSpec& model, const TrainingSettings& settings,
                             const std::function<bool(const Progress&)>& watch = {},
                             Carrier* carrier = nullptr);

}  // namespace cotillion
