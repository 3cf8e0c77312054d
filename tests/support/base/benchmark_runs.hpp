// Google benchmark's runs, remembered by name so that ratios can be printed at the end, and whether
// any of them erred: the library itself then still ends with 0.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/base/benchmarks.hpp"

namespace cotillion::testing {

class BenchmarkRuns : public benchmark::ConsoleReporter {
 public:
  enum class Show { kEveryRun, kErrors };
  explicit BenchmarkRuns(Show show = Show::kEveryRun) : show_(show) {}

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.error_occurred) failed_ = true;
      if (run.run_type == Run::RT_Iteration && !run.error_occurred) runs_.push_back(run);
      if (show_ == Show::kEveryRun || run.error_occurred) ConsoleReporter::ReportRuns({run});
    }
  }

  // The best of a benchmark's repetitions, by its name with its arguments: "walk/40". Zero when it
  // has not run.
  [[nodiscard]] double rate(const std::string& name, const char* counter) const {
    double best = 0;
    for (const Run& run : runs_)
      if (const auto found = run.counters.find(counter);
          found != run.counters.end() && name_of(run) == name)
        best = std::max(best, double(found->second));
    return best;
  }
  // Processor time of one iteration.
  [[nodiscard]] double nanoseconds(const std::string& name) const {
    double best = 0;
    for (const Run& run : runs_) {
      if (name_of(run) != name || run.iterations == 0) continue;
      const double each = run.cpu_accumulated_time * 1e9 / double(run.iterations);
      best = best == 0 ? each : std::min(best, each);
    }
    return best;
  }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  static std::string name_of(const Run& run) {
    const auto& name = run.run_name;
    return name.args.empty() ? name.function_name : name.function_name + "/" + name.args;
  }

  Show show_;
  std::vector<Run> runs_;
  bool failed_ = false;
};

// Hands the command line to the library. In a smoke run only benchmarks that match the expression
// run (with a minus in front: all others), each for a millisecond.
inline void initialize_benchmarks(int count, char** words, bool smoke, const char* smoke_filter,
                                  bool interleaved = false) {
  std::vector<std::string> given;
  if (interleaved) given.emplace_back("--benchmark_enable_random_interleaving=true");
  if (smoke) given.emplace_back("--benchmark_min_time=0.001");
  if (smoke) given.push_back(std::string("--benchmark_filter=") + smoke_filter);
  given.insert(given.end(), words + 1, words + count);
  std::vector<char*> all = {words[0]};  // the library keeps this one
  for (std::string& word : given) all.push_back(word.data());
  int left = int(all.size());
  benchmark::Initialize(&left, all.data());
}

}  // namespace cotillion::testing
