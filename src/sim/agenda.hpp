// What happens next, and where. Every place where something can happen (a lane, an island) has at
// most one next instant, so there are a few dozen entries whatever the number of packets in flight.
// They play a tournament: each inner node keeps the sooner of its two, the root the soonest of all,
// and moving one replays its way to the root without a branch to guess. Ties go to the lower
// number: the same run always.
#pragma once

#include <vector>

#include "base/units.hpp"

namespace cotillion {

// When the first round of a simulation starts; what scenario files say counts from here.
inline constexpr Instant kOrigin{1'000'000'000};

class Agenda {
 public:
  explicit Agenda(int places) {
    while (leaves_ < std::size_t(places)) leaves_ *= 2;
    nodes_.resize(2 * leaves_);
    for (std::size_t leaf = 0; leaf < leaves_; ++leaf) nodes_[leaves_ + leaf].place = int(leaf);
    for (std::size_t node = leaves_ - 1; node > 0; --node) nodes_[node] = nodes_[2 * node];
  }

  [[nodiscard]] int next_place() const { return nodes_[1].place; }
  [[nodiscard]] Instant next_time() const { return nodes_[1].when; }
  [[nodiscard]] Instant time_of(int place) const { return nodes_[leaves_ + place].when; }

  // kNever takes the place off.
  void set(int place, Instant when) {
    // What is ahead so far stays in registers; rivals wait where they were left.
    Node ahead{when, place};
    std::size_t node = leaves_ + std::size_t(place);
    nodes_[node] = ahead;
    for (; node > 1; node /= 2) {
      const Node rival = nodes_[node ^ 1];
      // One on the left has the lower number. Who wins cannot be guessed, so nothing branches on
      // it: a mask of ones or zeros chooses.
      const std::int64_t rival_wins =
          -std::int64_t(rival.when.ps - std::int64_t(node & 1) < ahead.when.ps);
      ahead.when.ps ^= (ahead.when.ps ^ rival.when.ps) & rival_wins;
      ahead.place ^= (ahead.place ^ rival.place) & int(rival_wins);
      nodes_[node / 2] = ahead;
    }
  }

 private:
  struct Node {
    Instant when = kNever;
    int place = 0;
  };
  std::size_t leaves_ = 1;
  std::vector<Node> nodes_;  // the root is 1, the children of n are 2n and 2n + 1
};

}  // namespace cotillion
