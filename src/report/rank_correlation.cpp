#include "report/rank_correlation.hpp"

#include <cmath>

namespace cotillion {
namespace {

// Places in order of size, from 1; equals share theirs.
std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<double> ranks;
  for (const double value : values) {
    double below = 0, equal = 0;
    for (const double other : values) {
      below += other < value;
      equal += other == value;
    }
    ranks.push_back(below + (equal + 1) / 2);
  }
  return ranks;
}

}  // namespace

double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = ranks_of(a), y = ranks_of(b);
  const double middle = (double(a.size()) + 1) / 2;
  double both = 0, of_x = 0, of_y = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    both += (x[i] - middle) * (y[i] - middle);
    of_x += (x[i] - middle) * (x[i] - middle);
    of_y += (y[i] - middle) * (y[i] - middle);
  }
  return of_x > 0 && of_y > 0 ? both / std::sqrt(of_x * of_y) : NAN;
}

}  // namespace cotillion
