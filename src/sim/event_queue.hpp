// What happens next, and where. Every place where something can happen (a lane, an island) has at
// most one next instant, so there are a few dozen entries whatever the number of packets in flight.
// They play a tournament: each inner node keeps the sooner of its two, the root the soonest of all,
// and moving one replays its way to the root without a branch to guess. Ties go to the lower
// number: the same run always. A network may be in partitions (partitions.hpp), each with a
// tournament.
#pragma once

#include <algorithm>
#include <vector>

#include "base/units.hpp"

namespace cotillion {

// When the first round of a simulation starts; what scenario files say counts from here.
inline constexpr Instant kOrigin{1'000'000'000};

class EventQueue {
 public:
  // By place: its partition. Each partition has a tournament of its own.
  explicit EventQueue(const std::vector<int>& partitions) : positions_(partitions.size()) {
    const int count =
        partitions.empty() ? 0 : *std::max_element(partitions.begin(), partitions.end()) + 1;
    for (int partition = 0; partition < count; ++partition) {
      std::vector<int> places;
      for (int place = 0; place < int(partitions.size()); ++place)
        if (partitions[std::size_t(place)] == partition) places.push_back(place);
      std::size_t leaves = 1;
      while (leaves < places.size()) leaves *= 2;
      const std::size_t top = nodes_.size();
      tops_.push_back(top);
      nodes_.resize(top + 2 * leaves);
      for (std::size_t leaf = 0; leaf < places.size(); ++leaf) {
        positions_[std::size_t(places[leaf])] = {top, leaves + leaf};
        nodes_[top + leaves + leaf].place = places[leaf];
      }
    }
  }

  [[nodiscard]] int next_place(int partition) const { return root(partition).place; }
  [[nodiscard]] Instant next_time(int partition) const { return root(partition).when; }
  [[nodiscard]] Instant time_of(int place) const {
    const Position& at = positions_[std::size_t(place)];
    return nodes_[at.top + at.leaf].when;
  }

  // kNever takes the place off.
  void set(int place, Instant when) {
    // What is ahead so far stays in registers; rivals wait where they were left.
    const Position at = positions_[std::size_t(place)];
    Node* const nodes = nodes_.data() + at.top;
    Node ahead{when, place};
    std::size_t node = at.leaf;
    nodes[node] = ahead;
    for (; node > 1; node /= 2) {
      const Node rival = nodes[node ^ 1];
      // One on the left has the lower number. Who wins cannot be guessed, so nothing branches on
      // it: a mask of ones or zeros chooses.
      const std::int64_t rival_wins =
          -std::int64_t(rival.when.ps - std::int64_t(node & 1) < ahead.when.ps);
      ahead.when.ps ^= (ahead.when.ps ^ rival.when.ps) & rival_wins;
      ahead.place ^= (ahead.place ^ rival.place) & int(rival_wins);
      nodes[node / 2] = ahead;
    }
  }

 private:
  struct Node {
    Instant when = kNever;
    int place = 0;
  };
  struct Position {
    std::size_t top = 0;   // where its partition's nodes begin
    std::size_t leaf = 0;  // among them
  };
  [[nodiscard]] const Node& root(int partition) const {
    return nodes_[tops_[std::size_t(partition)] + 1];
  }

  std::vector<Position> positions_;  // by place
  std::vector<std::size_t> tops_;    // by partition
  std::vector<Node> nodes_;          // the root is 1, the children of n are 2n and 2n + 1
};

}  // namespace cotillion
