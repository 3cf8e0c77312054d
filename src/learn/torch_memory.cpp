#include "learn/torch_memory.hpp"

#include <c10/core/CPUAllocator.h>
#include <torch/version.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#ifdef COTILLION_CUDA
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#endif

namespace cotillion {
namespace {

std::atomic<std::int64_t> now_bytes = 0, most_bytes = 0;

void count(std::int64_t bytes) {
  const std::int64_t now = now_bytes += bytes;
  std::int64_t most = most_bytes;
  while (now > most && !most_bytes.compare_exchange_weak(most, now)) {
  }
}

constexpr std::size_t kLabel = 64;  // bytes, as much as memory is aligned to

// Asks another allocator, and labels what comes with its size: some libraries give back what they
// were given with nothing but the address.
class CountingAllocator final : public c10::Allocator {
 public:
  explicit CountingAllocator(c10::Allocator* asked) { asked_ = asked; }

#if TORCH_VERSION_MAJOR >= 2
  c10::DataPtr allocate(std::size_t bytes) override {
    return counted(bytes);
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
#else
  [[nodiscard]] c10::DataPtr allocate(std::size_t bytes) const override {
    return counted(bytes);
  }
#endif
  [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override {
    return &give_back;
  }

 private:
  static c10::DataPtr counted(std::size_t bytes) {
    char* const block = static_cast<char*>(asked_->raw_allocate(bytes + kLabel));
    const auto size = std::int64_t(bytes);
    std::memcpy(block, &size, sizeof size);
    count(size);
    return {block + kLabel, block + kLabel, &give_back, c10::Device(c10::DeviceType::CPU)};
  }
  static void give_back(void* data) {
    if (data == nullptr) return;
    char* const block = static_cast<char*>(data) - kLabel;
    std::int64_t size = 0;
    std::memcpy(&size, block, sizeof size);
    count(-size);
    asked_->raw_deallocate(block);
  }

  static inline c10::Allocator* asked_ = nullptr;
};

struct Use {
  std::int64_t now = 0, most = 0;
};
Use use_of(const torch::Device& device) {
  if (device.is_cpu()) return {now_bytes, most_bytes};
#ifdef COTILLION_CUDA
  // Before the first tensor there is nobody to ask.
  if (!c10::cuda::CUDACachingAllocator::get()->initialized()) return {};
  const auto bytes = c10::cuda::CUDACachingAllocator::getDeviceStats(c10::cuda::current_device())
                         .allocated_bytes[0];
  return {bytes.current, bytes.peak};
#else
  return {};
#endif
}

}  // namespace

void count_tensors() {
  // For ever, as tensors may outlive whoever asked for the counting.
  static CountingAllocator* const counting = [] {
    auto* const made = new CountingAllocator(c10::GetCPUAllocator());
    c10::SetCPUAllocator(made);
    return made;
  }();
  (void)counting;
}

std::int64_t tensor_bytes(const torch::Device& device) {
  return use_of(device).now;
}

TensorPeak::TensorPeak(const torch::Device& device)
    : device_(device), before_(tensor_bytes(device)) {
  if (device.is_cpu()) most_bytes = before_;
#ifdef COTILLION_CUDA
  if (device.is_cuda() && c10::cuda::CUDACachingAllocator::get()->initialized())
    c10::cuda::CUDACachingAllocator::resetPeakStats(c10::cuda::current_device());
#endif
}

std::int64_t TensorPeak::beyond() const {
  const Use use = use_of(device_);
  return use.most - std::max(before_, use.now);
}

}  // namespace cotillion
