// Prices of pairs: what it takes for two islands to meet at all. Any clique of both has their two
// streams on these lanes and lasts at least as long as their flight. Bounds start here, and so does
// the search for partners that are near in time rather than in distance.
#pragma once

#include <vector>

#include "search/constraints.hpp"

namespace cotillion {

class PairPrices {
 public:
  PairPrices(const NetworkModel& network, const Rules& rules, int fragments);

  // The least price, in picoseconds, of a clique with both; infinite where rules forbid it.
  [[nodiscard]] double price(IslandId a, IslandId b) const {
    return price_[std::size_t(a) * n_ + b];
  }
  // The longer of the two ways.
  [[nodiscard]] double flight(IslandId a, IslandId b) const {
    return flight_[std::size_t(a) * n_ + b];
  }
  // Of pairs whose routes use a lane; infinite where none does.
  [[nodiscard]] double least_flight(LaneId lane) const { return least_flight_[lane]; }

  // The least price at which pairs connect all islands, through whatever intermediaries, and the
  // same for the delay of streamed fragments.
  [[nodiscard]] double connecting_price() const { return connecting_price_; }
  [[nodiscard]] double connecting_delay() const { return connecting_delay_; }

 private:
  std::size_t n_;
  std::vector<double> price_, flight_;
  std::vector<double> least_flight_;
  double connecting_price_ = 0, connecting_delay_ = 0;
};

}  // namespace cotillion
