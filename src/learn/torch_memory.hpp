// What tensors take, as the allocator counts it: the same bytes in every run, where pages of a
// process depend on whoever else asked for some.
#pragma once

#include <torch/torch.h>

#include <cstdint>

namespace cotillion {

// From here on tensors in the CPU's memory are counted, too.
void count_tensors();

// Bytes of all tensors that live there now.
[[nodiscard]] std::int64_t tensor_bytes(const torch::Device& device);

// The most of them while it lives, beyond what there was before and what is there to stay.
class TensorPeak {
 public:
  explicit TensorPeak(const torch::Device& device);
  [[nodiscard]] std::int64_t beyond() const;

 private:
  const torch::Device device_;
  const std::int64_t before_;
};

}  // namespace cotillion
