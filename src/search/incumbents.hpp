// The best schedules that a search has seen, best first. Values of an annealer are rough, so
// several are remembered until the planner has measured them.
#pragma once

#include <functional>
#include <vector>

#include "search/walker.hpp"

namespace cotillion {

// A better value first; ties by the canonical form.
[[nodiscard]] bool ahead(const Standing& a, const Standing& b);

class Incumbents {
 public:
  // In its canonical form, unless it is here already or cannot be stepped.
  void keep(Standing standing);
  // What a proof has shown to be first.
  void put_first(Standing standing) { kept_.insert(kept_.begin(), std::move(standing)); }
  // Every value again, as the caller measures it.
  void measure(const std::function<double(const Schedule&)>& value);

  [[nodiscard]] bool empty() const { return kept_.empty(); }
  [[nodiscard]] std::size_t size() const { return kept_.size(); }
  [[nodiscard]] const Standing& operator[](std::size_t k) const { return kept_[k]; }
  [[nodiscard]] auto begin() const { return kept_.begin(); }
  [[nodiscard]] auto end() const { return kept_.end(); }
  // Infinite when there is none.
  [[nodiscard]] double best() const;

 private:
  std::vector<Standing> kept_;
};

}  // namespace cotillion
