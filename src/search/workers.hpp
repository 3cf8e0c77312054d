// Workers run the tasks of a search. What a task yields does not depend on which worker runs it,
// nor on how many there are. Threads are handed in by those who may have them.
#pragma once

#include <functional>

namespace cotillion {

class Workers {
 public:
  Workers() = default;
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  virtual ~Workers() = default;

  [[nodiscard]] virtual int count() const = 0;
  // Calls work(task, worker) once for each task 0 … tasks − 1, at most one call at a time for
  // each worker 0 … count() − 1; returns when all are done.
  virtual void run(int tasks, const std::function<void(int task, int worker)>& work) = 0;
};

// One after another, on the caller's own thread.
class Alone : public Workers {
 public:
  [[nodiscard]] int count() const override { return 1; }
  void run(int tasks, const std::function<void(int, int)>& work) override {
    for (int task = 0; task < tasks; ++task) work(task, 0);
  }
};

}  // namespace cotillion
