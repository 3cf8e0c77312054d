// Runs a search in the world: on threads, until Ctrl-C or the budget, telling of its progress.
#pragma once

#include <functional>
#include <mutex>

#include "cli/interrupt.hpp"
#include "cli/search_options.hpp"
#include "cli/worker_threads.hpp"
#include "report/search_report.hpp"
#include "search/why.hpp"

namespace cotillion::cli {

class SearchRun {
 public:
  explicit SearchRun(const SearchOptions& options);  // throws Stop

  // `settings` as search_settings makes them; `what` is said before the progress, or empty.
  // Each call has the whole budget. After Ctrl-C every call ends as soon as it can.
  [[nodiscard]] SearchResult search(const NetworkModel& network, SearchSettings settings,
                                    const std::string& what = "");

  // Explains what was found. Takes the time it takes, unless the user has had enough.
  [[nodiscard]] Why why(const NetworkModel& network, SearchSettings settings,
                        const SearchResult& result, WhyCare care);

  // How the last search was run, for its report.
  [[nodiscard]] SearchConduct conduct(const SearchSettings& settings) const;

 private:
  [[nodiscard]] std::function<void(const SearchProgress&)> teller(const std::string& what);

  std::string budget_text_;
  Duration budget_;
  Interrupt interrupt_;
  WorkerThreads threads_;
  std::mutex speaking_;  // progress may come from any worker
};

}  // namespace cotillion::cli
