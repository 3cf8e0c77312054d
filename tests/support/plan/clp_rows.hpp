// Linear programs for CLP, the oracle of the planner's solvers: rows as they are printed.
#pragma once

#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

namespace cotillion::testing {

// Rows of the form Σ coefficient·column ≥ least, over columns that have lower bounds.
class ClpRows {
 public:
  void add(std::initializer_list<std::pair<int, double>> terms, double least);

  // The least Σ cost·column, or nothing when CLP proves the program infeasible.
  [[nodiscard]] std::optional<double> minimum(const std::vector<double>& lower,
                                              const std::vector<double>& cost,
                                              double tolerance) const;

 private:
  std::vector<int> rows_, columns_;
  std::vector<double> elements_, least_;
};

}  // namespace cotillion::testing
