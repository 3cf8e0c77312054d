#include "cli/worker_threads.hpp"

#include <algorithm>
#include <utility>

namespace cotillion::cli {
namespace {

// Never more than tasks could use, whatever a machine claims to have.
constexpr int kThreadsMax = 256;

}  // namespace

WorkerThreads::WorkerThreads(int threads)
    : count_(std::clamp(threads > 0 ? threads : int(std::thread::hardware_concurrency()), 1,
                        kThreadsMax)) {
  for (int worker = 1; worker < count_; ++worker)
    threads_.emplace_back([this, worker] { serve(worker); });
}

WorkerThreads::~WorkerThreads() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  begun_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerThreads::run(int tasks, const std::function<void(int task, int worker)>& work) {
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    tasks_ = tasks;
    next_ = 0;
    busy_ = int(threads_.size());
    failure_ = nullptr;
    ++run_;
  }
  begun_.notify_all();
  take_tasks(0);
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return busy_ == 0; });
  work_ = nullptr;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void WorkerThreads::serve(int worker) {
  std::uint64_t served = 0;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      begun_.wait(lock, [&] { return leaving_ || run_ != served; });
      if (leaving_) return;
      served = run_;
    }
    take_tasks(worker);
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) ended_.notify_one();
  }
}

void WorkerThreads::take_tasks(int worker) {
  for (int task = next_task(); task >= 0; task = next_task()) {
    try {
      (*work_)(task, worker);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      next_ = tasks_;
    }
  }
}

int WorkerThreads::next_task() {
  const std::lock_guard lock(mutex_);
  return next_ < tasks_ ? next_++ : -1;
}

}  // namespace cotillion::cli
