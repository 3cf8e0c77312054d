#include "plan/plan_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "topology/toml_fields.hpp"

namespace cotillion {
namespace {

using Node = nlohmann::json;

constexpr std::size_t kRoundsMax = 4096;
constexpr int kDepthMax = 32;  // a plan needs nine
// Plans carry numbers exactly; what differs by more was not written by us.
constexpr double kStochastic = 1e-9;
constexpr const char* kWholeFile = "give the file that cotillion plan -o wrote, as it is";

Position position_at(std::string_view text, std::size_t offset) {
  text = text.substr(0, std::min(offset, text.size()));
  const std::size_t start = text.rfind('\n');
  return {int(std::count(text.begin(), text.end(), '\n')) + 1,
          int(start == std::string_view::npos ? text.size() : text.size() - start - 1) + 1};
}

// Where brackets first nest too deep: each level costs memory long before it is looked at.
std::optional<std::size_t> too_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\')
      ++i;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == '[' || c == '{') && ++depth > kDepthMax)
      return i;
    else if (!quoted && (c == ']' || c == '}'))
      --depth;
  }
  return std::nullopt;
}

class PlanReader {
 public:
  PlanReader(std::string_view text, const std::string& file, const Map& map)
      : map_(map), problems_(file) {
    for (IslandId island = 0; island < map.island_count(); ++island)
      islands_.emplace(map.islands[island].name, island);
    if (const auto root = parse(text)) read(*root);
  }

  Expected<Schedule, Diagnostics> result() {
    if (problems_.empty()) return std::move(schedule_);
    return Unexpected{problems_.take()};
  }

 private:
  void problem(std::string field, std::string message, std::string remedy) {
    problems_.add({}, std::move(field), std::move(message), std::move(remedy));
  }

  std::optional<Node> parse(std::string_view text) {
    if (const auto offset = too_deep(text)) {
      problems_.add(position_at(text, *offset), "",
                    fmt::format("nested more than {} deep", kDepthMax), kWholeFile);
      return std::nullopt;
    }
    // Of a plan's megabytes only this is kept.
    const auto keep = [](int /*depth*/, Node::parse_event_t event, Node& parsed) {
      if (event != Node::parse_event_t::key) return true;
      for (const char* key : {"map", "schedule", "rounds", "cliques", "islands", "weights"})
        if (parsed == key) return true;
      return false;
    };
    try {
      return Node::parse(text, keep);
    } catch (const Node::parse_error& error) {
      problems_.add(
          position_at(text, error.byte > 0 ? error.byte - 1 : 0), "",
          error.byte > text.size() ? "not valid JSON: it ends too soon" : "not valid JSON here",
          kWholeFile);
    } catch (const Node::exception&) {
      problem("", "not valid JSON: a number too large for any computer", kWholeFile);
    }
    return std::nullopt;
  }

  void read(const Node& root) {
    if (!root.is_object()) return problem("", "not a plan: no JSON object", kWholeFile);
    schedule_.name = text_of(root, "schedule", "plan");
    if (schedule_.name.empty() || shown(schedule_.name) != schedule_.name) schedule_.name = "plan";
    made_for_ = text_of(root, "map", "");
    const auto rounds = root.find("rounds");
    if (rounds == root.end() || !rounds->is_array())
      return problem("rounds", rounds == root.end() ? "missing" : "not a list of rounds",
                     kWholeFile);
    if (rounds->empty() || rounds->size() > kRoundsMax)
      return problem("rounds", counted(rounds->size(), "round"),
                     fmt::format("a plan has between 1 and {}", kRoundsMax));
    for (std::size_t k = 0; k < rounds->size() && !problems_.full(); ++k)
      read_round((*rounds)[k], fmt::format("rounds[{}]", k));
  }

  static std::string text_of(const Node& object, const char* key, const char* otherwise) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
  }

  // The list under `key`; nothing when it is not there, which has been reported.
  const Node* list_of(const Node& node, const std::string& field, const char* key) {
    const auto found = node.is_object() ? node.find(key) : node.end();
    if (node.is_object() && found != node.end() && found->is_array()) return &*found;
    problem(node.is_object() ? fmt::format("{}.{}", field, key) : field,
            !node.is_object()     ? "not an object"
            : found == node.end() ? "missing"
                                  : "not a list",
            kWholeFile);
    return nullptr;
  }

  void read_round(const Node& node, const std::string& field) {
    const Node* list = list_of(node, field, "cliques");
    if (list == nullptr) return;
    std::vector<Clique> cliques;
    std::vector<bool> named(map_.islands.size(), false);
    bool sound = true;
    for (std::size_t c = 0; c < list->size() && !problems_.full(); ++c) {
      auto clique = read_clique((*list)[c], fmt::format("{}.cliques[{}]", field, c), named);
      sound = sound && clique;
      if (clique) cliques.push_back(std::move(*clique));
    }
    if (!sound) return;
    // Plans name everybody, also those who sit out; a schedule file need not.
    const auto missing = std::find(named.begin(), named.end(), false);
    if (missing != named.end())
      return problem(field + ".cliques",
                     fmt::format("{} is in no clique",
                                 map_.islands[std::size_t(missing - named.begin())].name),
                     fmt::format("a plan places every island of its map; {}", right_map()));
    if (problems_.empty())
      schedule_.rounds.push_back(completed(std::move(cliques), map_.island_count()));
  }

  std::optional<Clique> read_clique(const Node& node, const std::string& field,
                                    std::vector<bool>& named) {
    const Node* names = list_of(node, field, "islands");
    if (names == nullptr) return std::nullopt;
    Clique clique;
    bool sound = true;
    const auto wrong = [&](std::size_t at, std::string message, std::string remedy) {
      problem(fmt::format("{}.islands[{}]", field, at), std::move(message), std::move(remedy));
      sound = false;
    };
    if (names->empty()) {
      problem(field + ".islands", "an empty clique", kWholeFile);
      sound = false;
    }
    for (std::size_t i = 0; i < names->size() && !problems_.full(); ++i) {
      const Node& element = (*names)[i];
      if (!element.is_string()) {
        wrong(i, "not an island's name", kWholeFile);
        continue;
      }
      const auto name = element.get<std::string>();
      const auto island = islands_.find(name);
      if (island == islands_.end()) {
        const std::string near = closest_name(name, island_names(map_));
        // Of another map's plan every name is a mistake; one says it.
        if (near.empty() && std::exchange(foreign_, true))
          sound = false;
        else
          wrong(i, fmt::format("unknown island '{}'", shown(name)),
                near.empty() ? right_map() : fmt::format("did you mean '{}'?", near));
      } else if (named[island->second]) {
        wrong(i, fmt::format("{} is twice in one round", name),
              "an island meets one clique a round; remove it from one of them");
      } else {
        named[island->second] = true;
        clique.islands.push_back(island->second);
      }
    }
    if (!sound) return std::nullopt;
    const auto weights = node.find("weights");
    if (weights != node.end() && !weights->is_null() &&
        !read_weights(*weights, field + ".weights", clique))
      return std::nullopt;
    return clique;
  }

  bool read_weights(const Node& rows, const std::string& field, Clique& clique) {
    const std::size_t n = clique.islands.size();
    const auto wrong = [&](const std::string& where, std::string message) {
      problem(field + where, std::move(message),
              "weights made by hand belong in a schedule file, for plan --schedule");
      return false;
    };
    if (!rows.is_array() || rows.size() != n)
      return wrong("", fmt::format("not {} rows of {} numbers", n, n));
    for (std::size_t i = 0; i < n; ++i) {
      const Node& row = rows[i];
      const std::string where = fmt::format("[{}]", i);
      if (!row.is_array() || row.size() != n)
        return wrong(where, fmt::format("not a row of {} numbers", n));
      double sum = 0;
      for (std::size_t j = 0; j < n; ++j) {
        const double weight = row[j].is_number() ? row[j].get<double>() : -1;
        if (!(weight >= 0 && weight <= 1))
          return wrong(fmt::format("{}[{}]", where, j), "not a weight between 0 and 1");
        if (j < i && weight != clique.weights[j * n + i])
          return wrong(fmt::format("{}[{}]", where, j), "not symmetric");
        clique.weights.push_back(weight);
        sum += weight;
      }
      if (std::fabs(sum - 1) > kStochastic)
        return wrong(where, fmt::format("the row adds up to {:.10g}, not to 1", sum));
    }
    return true;
  }

  [[nodiscard]] std::string right_map() const {
    if (made_for_.empty() || made_for_ == map_.name)
      return "give a plan that was made for this map";
    return fmt::format("this plan was made for the map '{}'", shown(made_for_));
  }

  const Map& map_;
  Problems problems_;
  std::map<std::string, IslandId, std::less<>> islands_;  // hostile files name millions
  std::string made_for_;
  bool foreign_ = false;  // an island has been named that is like none of this map
  Schedule schedule_;
};

}  // namespace

Expected<Schedule, Diagnostics> read_planned_schedule(std::string_view text,
                                                      const std::string& file, const Map& map) {
  return PlanReader(text, file, map).result();
}

}  // namespace cotillion
