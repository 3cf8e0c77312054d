// Threads for the search. Which of them takes which task is decided by the clock, and the search
// does not care: its answer is that of one worker alone.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "search/workers.hpp"

namespace cotillion::cli {

class WorkerThreads : public Workers {
 public:
  // 0: as many as the machine has. The caller's own thread is one of them.
  explicit WorkerThreads(int threads);
  ~WorkerThreads() override;

  [[nodiscard]] int count() const override { return count_; }
  // What a task throws is thrown here, once no other task is running; those not begun are left.
  void run(int tasks, const std::function<void(int task, int worker)>& work) override;

 private:
  void serve(int worker);         // the life of a thread
  void take_tasks(int worker);    // until there are none
  [[nodiscard]] int next_task();  // or −1

  int count_;
  std::mutex mutex_;  // of all below
  std::condition_variable begun_;
  std::condition_variable ended_;
  const std::function<void(int, int)>* work_ = nullptr;
  int tasks_ = 0;
  int next_ = 0;
  int busy_ = 0;           // threads that have not ended this run
  std::uint64_t run_ = 0;  // counts runs, so that a thread serves each once
  bool leaving_ = false;
  std::exception_ptr failure_;  // the first
  std::vector<std::thread> threads_;
};

}  // namespace cotillion::cli
