#include "plan/file/schedule_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/suggestion.hpp"
#include "topology/toml_fields.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kScheduleRoundsMax = 4096;
// Rows of decimal fractions add up to 1 to this; what is missing goes to the diagonal.
constexpr double kScheduleStochastic = 1e-6;
constexpr std::string_view kCliquesExample = R"(cliques = [["LON", "NYC"], ["TYO", "SIN"]])";
constexpr std::string_view kWeightsExample =
    R"({ islands = ["LON", "NYC"], weights = [[0.5, 0.5], [0.5, 0.5]] })";

class ScheduleReader {
 public:
  ScheduleReader(std::string_view text, const std::string& file, const Map& map)
      : map_(map), problems_(file) {
    if (const auto root = parse_toml(text, problems_)) read(*root);
  }

  Expected<Schedule, Diagnostics> result() {
    if (problems_.empty()) return std::move(schedule_);
    return Unexpected{problems_.take()};
  }

 private:
  void read(const toml::table& root) {
    Fields top(root, "", problems_);
    schedule_.name = top.text("name", Need::kOptional, "name = \"my schedule\"").value_or("file");
    if (schedule_.name.empty() || shown(schedule_.name) != schedule_.name)
      top.problem("name", "not a name to print", "write up to 60 bytes of plain text on one line");
    auto rounds =
        top.tables("rounds", Need::kRequired, fmt::format("[[rounds]] with {}", kCliquesExample));
    for (Fields& round : rounds) read_round(round);
    top.finish();
    if (!problems_.empty()) return;
    if (rounds.empty() || rounds.size() > kScheduleRoundsMax)
      top.problem("rounds", fmt::format("{} rounds", rounds.size()),
                  fmt::format("give between 1 and {}", kScheduleRoundsMax));
  }

  void read_round(Fields& fields) {
    std::vector<Clique> cliques;
    std::vector<bool> named(map_.islands.size(), false);
    const toml::node* node = fields.find("cliques", Need::kRequired, kCliquesExample);
    if (node != nullptr && !node->is_array())
      fields.problem("cliques", "not a list of cliques",
                     fmt::format("write for example {}", kCliquesExample));
    if (node != nullptr && node->is_array()) {
      int index = 0;
      for (const toml::node& element : *node->as_array()) {
        const std::string field = fmt::format("{}[{}]", fields.name_of("cliques"), index++);
        if (auto clique = read_clique(element, field, named)) cliques.push_back(std::move(*clique));
      }
    }
    fields.finish();
    if (problems_.empty())
      schedule_.rounds.push_back(completed(std::move(cliques), map_.island_count()));
  }

  std::optional<Clique> read_clique(const toml::node& node, const std::string& field,
                                    std::vector<bool>& named) {
    if (const toml::array* names = node.as_array()) return read_islands(*names, field, named);
    const toml::table* table = node.as_table();
    if (table == nullptr) {
      problems_.add(position_of(node), field, "neither a list of islands nor a table",
                    fmt::format("write [\"LON\", \"NYC\"] or {}", kWeightsExample));
      return std::nullopt;
    }
    Fields fields(*table, field, problems_);
    const toml::node* islands = fields.find("islands", Need::kRequired, kWeightsExample);
    const toml::node* weights = fields.find("weights", Need::kOptional, kWeightsExample);
    fields.finish();
    if (islands == nullptr) return std::nullopt;
    if (!islands->is_array()) {
      fields.problem("islands", "not a list of islands",
                     fmt::format("write for example {}", kWeightsExample));
      return std::nullopt;
    }
    auto clique = read_islands(*islands->as_array(), fields.name_of("islands"), named);
    if (clique && weights != nullptr && !read_weights(*weights, fields.name_of("weights"), *clique))
      return std::nullopt;
    return clique;
  }

  std::optional<Clique> read_islands(const toml::array& names, const std::string& field,
                                     std::vector<bool>& named) {
    Clique clique;
    bool sound = true;
    const auto wrong = [&](const toml::node& node, std::string message, std::string remedy) {
      problems_.add(position_of(node), field, std::move(message), std::move(remedy));
      sound = false;
    };
    if (names.empty()) wrong(names, "an empty clique", "name its islands, or remove it");
    for (const toml::node& element : names) {
      const auto* name = element.as_string();
      if (name == nullptr) {
        wrong(element, "not an island's name", "write names in quotes: [\"LON\", \"NYC\"]");
        continue;
      }
      const auto island = find_island(map_, name->get());
      if (!island) {
        wrong(element, fmt::format("unknown island '{}'", shown(name->get())),
              did_you_mean(name->get(), island_names(map_), "use the names of the map"));
      } else if (named[*island]) {
        wrong(element, fmt::format("{} is in two cliques of one round", name->get()),
              "an island meets one clique a round; remove it from one of them");
      } else {
        named[*island] = true;
        clique.islands.push_back(*island);
      }
    }
    return sound ? std::optional(clique) : std::nullopt;
  }

  // A symmetric doubly stochastic matrix, rows and columns in the order of `islands`.
  bool read_weights(const toml::node& node, const std::string& field, Clique& clique) {
    const auto wrong = [&](const toml::node& where, std::string message, std::string remedy) {
      problems_.add(position_of(where), field, std::move(message), std::move(remedy));
      return false;
    };
    const std::size_t n = clique.islands.size();
    const std::string shape = fmt::format("give {} rows of {} numbers", n, n);
    const toml::array* rows = node.as_array();
    if (rows == nullptr || rows->size() != n) return wrong(node, "not a square matrix", shape);
    for (const toml::node& row_node : *rows) {
      const toml::array* row = row_node.as_array();
      if (row == nullptr || row->size() != n)
        return wrong(row_node, "not a row of the matrix", shape);
      double sum = 0;
      for (const toml::node& element : *row) {
        const auto weight = element.is_number() ? element.value<double>() : std::nullopt;
        if (!weight || !(*weight >= 0 && *weight <= 1))
          return wrong(element, "not a weight", "weights lie between 0 and 1");
        clique.weights.push_back(*weight);
        sum += *weight;
      }
      if (std::fabs(sum - 1) > kScheduleStochastic)
        return wrong(row_node, fmt::format("the row adds up to {:.10g}", sum),
                     "every row and column must add up to 1");
    }
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (std::fabs(clique.weights[i * n + j] - clique.weights[j * n + i]) > kScheduleStochastic)
          return wrong(*(*rows)[i].as_array()->get(j),
                       fmt::format("not symmetric: {} here, {} across the diagonal",
                                   clique.weights[i * n + j], clique.weights[j * n + i]),
                       "what i takes from j, j takes from i");
    balance(clique.weights, n);
    return true;
  }

  // Exactly symmetric and, to rounding, exactly stochastic: 0.3333333333 three times is meant as
  // a third, and a sum that falls short of 1 would lose a little of every generation each round.
  static void balance(std::vector<double>& weights, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j)
        weights[i * n + j] = weights[j * n + i] = (weights[i * n + j] + weights[j * n + i]) / 2;
    for (std::size_t i = 0; i < n; ++i) {
      double others = 0;
      for (std::size_t j = 0; j < n; ++j)
        if (j != i) others += weights[i * n + j];
      weights[i * n + i] = std::max(0.0, 1 - others);
    }
  }

  const Map& map_;
  Problems problems_;
  Schedule schedule_;
};

}  // namespace

Expected<Schedule, Diagnostics> read_schedule(std::string_view text, const std::string& file,
                                              const Map& map) {
  return ScheduleReader(text, file, map).result();
}

}  // namespace cotillion
