// A byte-level GPT and a small MLP in which every parameter has a leading island dimension: one
// pass runs the models of all islands.
#pragma once

#include <torch/torch.h>
#include <torch/version.h>

#include <vector>

#include "learn/learner.hpp"

namespace cotillion {

struct ParameterSpec {
  std::vector<std::int64_t> shape;  // of one island
  double spread = 0;                // of its first values; zero: all are `start`
  double start = 0;
  bool decays = false;

  [[nodiscard]] std::int64_t elements() const;
};

[[nodiscard]] std::vector<ParameterSpec> parameters_of(const ModelSpec& model);

// Mean loss of each island, nats per byte, differentiable. Parameters are in the order above, each
// with islands as its first dimension; tokens are [islands, batch, context + 1].
[[nodiscard]] torch::Tensor losses_of(const ModelSpec& model,
                                      const std::vector<torch::Tensor>& parameters,
                                      const torch::Tensor& tokens);

}  // namespace cotillion
