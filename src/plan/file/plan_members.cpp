#include "plan/file/plan_members.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/suggestion.hpp"
#include "base/text.hpp"

namespace cotillion {
namespace {

// Plans carry numbers exactly; what differs by more was not written by us.
constexpr double kMembersStochastic = 1e-9;

bool read_weights(const PlanField& rows, Clique& clique) {
  const std::size_t n = clique.islands.size();
  const auto wrong = [&](const PlanField& where, std::string message) {
    where.problem(std::move(message),
                  "weights made by hand belong in a schedule file, for plan --schedule");
    return false;
  };
  if (!rows.json().is_array() || rows.json().size() != n)
    return wrong(rows, fmt::format("not {} rows of {} numbers", n, n));
  for (std::size_t i = 0; i < n; ++i) {
    const PlanField row = rows[i];
    if (!row.json().is_array() || row.json().size() != n)
      return wrong(row, fmt::format("not a row of {} numbers", n));
    double sum = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const Json& given = row.json()[j];
      const double weight = given.is_number() ? given.get<double>() : -1;
      if (!(weight >= 0 && weight <= 1)) return wrong(row[j], "not a weight between 0 and 1");
      if (j < i && weight != clique.weights[j * n + i]) return wrong(row[j], "not symmetric");
      clique.weights.push_back(weight);
      sum += weight;
    }
    if (std::fabs(sum - 1) > kMembersStochastic)
      return wrong(row, fmt::format("the row adds up to {:.10g}, not to 1", sum));
  }
  return true;
}

}  // namespace

MemberReader::MemberReader(const Map& map, std::string remedy)
    : map_(map), remedy_(std::move(remedy)) {
  for (IslandId island = 0; island < map.island_count(); ++island)
    islands_.emplace(map.islands[island].name, island);
}

MemberReader::Members MemberReader::read_round(const PlanField& round) {
  Members members;
  const PlanField list = round.at("cliques");
  const auto size = list.list();
  members.sound = size.has_value();
  std::vector<bool> named(map_.islands.size(), false);
  for (std::size_t c = 0; c < size.value_or(0) && !round.full(); ++c) {
    members.cliques.push_back(read_clique(list[c], named));
    members.sound = members.sound && members.cliques.back();
  }
  if (!members.sound) return members;
  // Plans name everybody, also those who sit out; a schedule file need not.
  const auto missing = std::find(named.begin(), named.end(), false);
  if (missing == named.end()) return members;
  list.problem(
      fmt::format("{} is in no clique", map_.islands[IslandId(missing - named.begin())].name),
      fmt::format("{} places every island of its map; {}", list.words().what, remedy_));
  members.sound = false;
  return members;
}

std::optional<Clique> MemberReader::read_clique(const PlanField& field, std::vector<bool>& named) {
  const PlanField names = field.at("islands");
  const auto size = names.list();
  if (!size) return std::nullopt;
  Clique clique;
  if (*size == 0) names.problem("an empty clique");
  bool sound = *size > 0;
  for (std::size_t i = 0; i < *size && !field.full(); ++i) {
    const auto member = island(names[i]);
    sound = sound && member;
    if (!member) continue;
    if (named[*member]) {
      names[i].problem(fmt::format("{} is twice in one round", map_.islands[*member].name),
                       "an island meets one clique a round; remove it from one of them");
      sound = false;
    } else {
      named[*member] = true;
      clique.islands.push_back(*member);
    }
  }
  if (!sound) return std::nullopt;
  const PlanField weights = field.maybe("weights");
  if (weights.is_there() && !weights.is_null() && !read_weights(weights, clique))
    return std::nullopt;
  return clique;
}

std::optional<IslandId> MemberReader::island(const PlanField& name) {
  if (!name.is_there()) return std::nullopt;
  if (!name.json().is_string()) {
    name.problem("not an island's name");
    return std::nullopt;
  }
  const auto& text = name.json().get_ref<const std::string&>();
  const auto known = islands_.find(text);
  if (known != islands_.end()) return known->second;
  const std::vector<std::string> names = island_names(map_);
  // Of another map's plan every name is a mistake; one says it.
  if (closest_name(text, names).empty() && std::exchange(foreign_, true)) return std::nullopt;
  name.problem(fmt::format("unknown island '{}'", shown(text)), did_you_mean(text, names, remedy_));
  return std::nullopt;
}

}  // namespace cotillion
