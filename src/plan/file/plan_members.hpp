// Who meets whom, in a plan that was written as JSON: the members of each clique and their weights.
// The schedule is all that a search goes on from; to play a plan, more is read on top of it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/file/plan_fields.hpp"
#include "plan/schedule.hpp"

namespace cotillion {

inline constexpr std::size_t kPlannedRoundsMax = 4096;

class MemberReader {
 public:
  // `remedy` is for names of islands that are like none of the map. Keeps a reference: the map
  // must outlive the reader.
  MemberReader(const Map& map, std::string remedy);

  // The cliques of a round, as they stand in the file; nothing for one with a mistake.
  struct Members {
    std::vector<std::optional<Clique>> cliques;
    bool sound = true;  // every island of the map is in one of them
  };
  [[nodiscard]] Members read_round(const PlanField& round);

  // The island that is named there.
  [[nodiscard]] std::optional<IslandId> island(const PlanField& name);

 private:
  std::optional<Clique> read_clique(const PlanField& field, std::vector<bool>& named);

  const Map& map_;
  std::string remedy_;
  std::map<std::string, IslandId, std::less<>> islands_;  // hostile files name millions
  bool foreign_ = false;  // an island has been named that is like none of this map
};

}  // namespace cotillion
