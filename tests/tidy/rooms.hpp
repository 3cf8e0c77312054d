// The graph of rooms, read from the one place that states it: the room() and door() lines of the
// build. A room may include itself, the rooms it uses and the rooms those use.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/tidy/source.hpp"

namespace cotillion::tidy {

class RoomGraph {
 public:
  // Reads lines such as `room(plan USES topology LIBRARIES fmt::fmt)`.
  [[nodiscard]] static RoomGraph from_build(const std::vector<Source>& tree);

  struct Edge {
    std::string room, uses;
    int line = 0;
  };
  [[nodiscard]] bool has(const std::string& room) const { return reach_.contains(room); }
  // Requires has(room).
  [[nodiscard]] bool may_include(const std::string& room, const std::string& other) const {
    return reach_.at(room).contains(other);
  }
  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }

 private:
  std::map<std::string, std::set<std::string>> reach_;  // each room's own name included
  std::vector<Edge> edges_;
};

}  // namespace cotillion::tidy
