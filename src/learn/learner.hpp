// Islands that learn: their models, gradients and optimizers, behind the one wall between this
// program and the library that computes gradients. Everything else in this room is plain C++.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/result.hpp"
#include "protocol/move.hpp"

namespace cotillion {

struct ModelSpec {
  enum class Kind : std::uint8_t {
    kGpt,  // a byte-level transformer
    kMlp,  // the last few bytes through one hidden layer: for quick tests
  };
  Kind kind = Kind::kGpt;
  int layers = 2;
  int width = 128;
  int heads = 4;
  int context = 64;  // bytes
};
// "gpt:0.5M", "gpt:2M", "gpt:7M", "gpt:10M", "gpt:25M", "gpt:50M", "gpt:125M", "mlp".
[[nodiscard]] Result<ModelSpec> model_named(const std::string& name);

struct LearnerSettings {
  ModelSpec model;
  int islands = 1;
  std::uint64_t seed = 1;
  std::string device = "auto";  // "cpu", "cuda"
  bool exact = false;           // on a GPU: no TF32 in products
  bool bf16 = false;            // on a GPU: steps compute in bf16, all that is kept is f32
  bool eager = false;           // on a GPU: launch by launch, where steps could be recorded
  int threads = 0;              // of the CPU; 0: one for small models, all for others
  // AdamW, each island its own
  double beta1 = kAdamBeta1;
  double beta2 = kAdamBeta2;
  double decay = 0.1;
  double clip = 1;  // of each island's gradient norm
};

class Learner : public Vectors {
 public:
  [[nodiscard]] virtual std::int64_t parameters() const = 0;  // of one island
  [[nodiscard]] virtual std::string device() const = 0;
  // Of all islands together, bytes, as the allocator counts them; zeros where it does not.
  struct Memory {
    std::int64_t kept = 0;    // between steps
    std::int64_t moving = 0;  // beyond that, at most, while vectors were moved and stepped
  };
  [[nodiscard]] virtual Memory memory() = 0;
  // Tokens of all islands, as draw_batch gives them. Fills Buffer::kGradient. Does not wait: on a
  // GPU the next step is prepared while this one computes.
  virtual void backward(const std::vector<std::uint8_t>& tokens) = 0;
  // Of each island, nats per byte, mean over the backward passes since it was last asked for.
  [[nodiscard]] virtual std::vector<double> training_losses() = 0;
  virtual void update(double rate) = 0;
  // Of each island's model, and of their mean with these shares, on the same tokens.
  [[nodiscard]] virtual std::vector<double> losses(const std::vector<std::uint8_t>& tokens) = 0;
  [[nodiscard]] virtual double loss_of_mean(const std::vector<double>& shares,
                                            const std::vector<std::uint8_t>& tokens) = 0;
  // √ of the mean over islands of ‖x_i − mean‖², and the norm of that mean.
  struct Disagreement {
    double distance = 0;
    double norm = 0;
  };
  [[nodiscard]] virtual Disagreement disagreement(const std::vector<double>& shares) = 0;
  // The update with moves around it; and, where shares are given, the disagreement between the two.
  virtual Disagreement update_around(double rate, const AroundStep& around,
                                     const std::vector<double>& shares) = 0;
  // One island's vector, for exchanges that carry it elsewhere.
  [[nodiscard]] virtual std::vector<float> row(Buffer buffer, int island) = 0;
  virtual void set_row(Buffer buffer, int island, const std::vector<float>& values) = 0;
  // And a part of an island's model: as it is; or x ← scale · x + values.
  virtual void read(int island, std::int64_t first, std::span<float> to) = 0;
  virtual void merge(int island, std::int64_t first, double scale,
                     std::span<const float> values) = 0;
  // All of it, so that training goes on to the same bits.
  virtual void save(const std::string& path) = 0;
  virtual void load(const std::string& path) = 0;
};

// Throws std::exception with the reason when there is no such device, or no memory.
[[nodiscard]] std::unique_ptr<Learner> make_learner(const LearnerSettings& settings);

// The same across a library that is loaded when it is needed; null, and the reason in *error.
inline constexpr const char* kMakeLearner = "cotillion_make_learner";
using MakeLearner = Learner* (*)(const LearnerSettings*, std::string* error);

}  // namespace cotillion
