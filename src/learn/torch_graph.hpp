// A step's hundreds of small launches recorded once and played in one: on a GPU a small model would
// wait for the CPU otherwise. Where the library knows no GPU, or no recording, it just runs.
#pragma once

#include <functional>

#ifdef COTILLION_CUDA
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace cotillion {

class StepGraph {
 public:
  // Recording needs a stream that is not the default one; all else must be on it too.
  static void use_own_stream() {
#ifdef COTILLION_CUDA
    static const c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool();
    c10::cuda::setCurrentCUDAStream(stream);
#endif
  }

  explicit StepGraph(bool records) : records_(records) {}

  // `step` reads and writes the same memory every time, and waits for nothing.
  void play(const std::function<void()>& step) {
#ifdef COTILLION_CUDA
    // A few times as it is: libraries set themselves up when they are first used.
    if (records_ && ++played_ > kRunsBefore) {
      if (played_ == kRunsBefore + 1) {
        graph_.capture_begin();
        step();
        graph_.capture_end();
      }
      graph_.replay();
      return;
    }
#endif
    step();
  }

 private:
#ifdef COTILLION_CUDA
  static constexpr int kRunsBefore = 3;
  at::cuda::CUDAGraph graph_;
  int played_ = 0;
#endif
  [[maybe_unused]] const bool records_;
};

}  // namespace cotillion
