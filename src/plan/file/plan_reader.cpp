#include "plan/file/plan_reader.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "plan/file/plan_fields.hpp"
#include "plan/file/plan_members.hpp"
#include "topology/toml_fields.hpp"

namespace cotillion {
namespace {

bool is_kept(int /*depth*/, const std::string& name) {
  for (const char* kept : {"map", "schedule", "rounds", "cliques", "islands", "weights"})
    if (name == kept) return true;
  return false;
}

std::string text_of(const Json& object, const char* key, const char* otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

std::string right_map(const Json& root, const Map& map) {
  const std::string made_for = text_of(root, "map", "");
  if (made_for.empty() || made_for == map.name) return "give a plan that was made for this map";
  return fmt::format("this plan was made for the map '{}'", shown(made_for));
}

Schedule read(const Json& root, const Map& map, Problems& problems) {
  Schedule schedule;
  schedule.name = text_of(root, "schedule", "plan");
  if (schedule.name.empty() || shown(schedule.name) != schedule.name) schedule.name = "plan";
  MemberReader reader(map, right_map(root, map));
  const PlanField rounds = PlanField(root, problems).at("rounds");
  const auto size = rounds.list("round", 1, kPlannedRoundsMax);
  for (std::size_t k = 0; k < size.value_or(0) && !problems.full(); ++k) {
    MemberReader::Members members = reader.read_round(rounds[k]);
    if (!members.sound || !problems.empty()) continue;
    std::vector<Clique> cliques;
    for (auto& clique : members.cliques) cliques.push_back(std::move(*clique));
    schedule.rounds.push_back(completed(std::move(cliques), map.island_count()));
  }
  return schedule;
}

}  // namespace

Expected<Schedule, Diagnostics> read_planned_schedule(std::string_view text,
                                                      const std::string& file, const Map& map) {
  Problems problems(file);
  Schedule schedule;
  if (const auto root = parse_plan(text, is_kept, problems)) schedule = read(*root, map, problems);
  if (problems.empty()) return schedule;
  return Unexpected{problems.take()};
}

}  // namespace cotillion
