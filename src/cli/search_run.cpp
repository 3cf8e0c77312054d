#include "cli/search_run.hpp"

#include <chrono>

namespace cotillion::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Duration budget_of(const std::string& text) {
  if (text.empty()) return {};
  const Duration budget = option_value(parse_duration(text), "--budget");
  if (budget.ps == 0)
    throw Stop{kUsedWrongly, "--budget: zero; give the search some time, as in 60s"};
  return budget;
}

}  // namespace

SearchRun::SearchRun(const SearchOptions& options)
    : budget_text_(options.budget), budget_(budget_of(options.budget)), threads_(options.threads) {}

std::function<void(const SearchProgress&)> SearchRun::teller(const std::string& what) {
  return [this, what, start = Clock::now(), say = progress_line()](const SearchProgress& progress) {
    const std::lock_guard lock(speaking_);
    const double elapsed = seconds_since(start);
    const double pace = elapsed > 0 ? double(progress.evaluated) / elapsed : 0;
    say((what.empty() ? "" : what + ": ") + progress_text(progress, pace));
  };
}

SearchResult SearchRun::search(const NetworkModel& network, SearchSettings settings,
                               const std::string& what) {
  const Clock::time_point start = Clock::now();
  const double allowed = RealDuration(budget_).seconds();
  settings.stop = [this, start, allowed] {
    return interrupt_.asked() || (allowed > 0 && seconds_since(start) >= allowed);
  };
  settings.progress = teller(what);
  SearchResult result = cotillion::search(network, settings, threads_);
  end_progress();
  return result;
}

Why SearchRun::why(const NetworkModel& network, SearchSettings settings, const SearchResult& result,
                   WhyCare care) {
  settings.stop = [this] { return interrupt_.asked(); };
  settings.progress = teller("");
  Why why = cotillion::why(network, settings, result, care, threads_);
  end_progress();
  return why;
}

SearchConduct SearchRun::conduct(const SearchSettings& settings) const {
  return {settings.seed, settings.steps, budget_text_, interrupt_.asked()};
}

}  // namespace cotillion::cli
