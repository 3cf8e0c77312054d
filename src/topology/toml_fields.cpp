#include "topology/toml_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/suggestion.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kProblemsMax = 1000;  // nobody reads more

std::string kind_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "text";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a number";
    case toml::node_type::boolean:
      return "a boolean";
    case toml::node_type::date:
    case toml::node_type::time:
    case toml::node_type::date_time:
      return "a date";
    default:
      return "nothing";
  }
}

// The TOML library bounds how deep values nest but not how many parts a dotted key has, and frees
// what it built by recursion. No file of ours needs a thousand dots without a separator.
bool has_endless_key(std::string_view text) {
  constexpr int kDotsMax = 1000;
  int dots = 0;
  for (const char c : text) {
    if (c == '.' && ++dots > kDotsMax) return true;
    if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) dots = 0;
  }
  return false;
}

std::string write_example(std::string_view example) {
  return fmt::format("write for example {}", example);
}

// A quantity must be text with a unit; a bare number gets the remedy it needs.
template <class Parse>
auto read_quantity(const toml::node& node, const std::string& field, Problems& problems,
                   const char* noun, const char* unit, Parse parse)
    -> std::optional<typename decltype(parse(std::string_view{}))::value_type> {
  if (const auto* text = node.as_string()) {
    const auto parsed = parse(std::string_view(text->get()));
    if (parsed) return *parsed;
    problems.add(position_of(node), field, parsed.error().message, parsed.error().remedy);
    return std::nullopt;
  }
  if (node.is_number()) {
    const double value =
        node.is_integer() ? double(node.as_integer()->get()) : node.as_floating_point()->get();
    const bool likely = std::isfinite(value) && value != 0 && std::fabs(value) < 1e6;
    const double example = likely ? std::fabs(value) : 20;
    problems.add(position_of(node), field, fmt::format("{} {} has no unit", noun, value),
                 fmt::format("write for example \"{}{}\"", example, unit));
    return std::nullopt;
  }
  problems.add(position_of(node), field, fmt::format("{} is not a {}", kind_of(node), noun),
               fmt::format("write text with a unit, for example \"20{}\"", unit));
  return std::nullopt;
}

}  // namespace

void Problems::add(Position at, std::string field, std::string message, std::string remedy) {
  if (full()) {
    ++left_out_;
    return;
  }
  list_.push_back({file_, at, std::move(field), std::move(message), std::move(remedy)});
}

Diagnostics Problems::take() {
  std::stable_sort(list_.begin(), list_.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.at.line, a.at.column) < std::pair(b.at.line, b.at.column);
  });
  if (left_out_ > 0)
    list_.push_back({file_,
                     {},
                     "",
                     fmt::format("and {} more", counted(left_out_, "mistake")),
                     "mend these first"});
  return std::move(list_);
}

bool Problems::full() const {
  return list_.size() >= kProblemsMax;
}

Position position_of(const toml::node& node) {
  return {int(node.source().begin.line), int(node.source().begin.column)};
}

std::optional<toml::table> parse_toml(std::string_view text, Problems& problems) {
  if (text.find('\0') != std::string_view::npos) {
    problems.add({}, "", "the file holds NUL bytes", "give a TOML text file");
    return std::nullopt;
  }
  if (has_endless_key(text)) {
    problems.add({}, "", "a key of more than 1000 parts", "no field of ours has more than two");
    return std::nullopt;
  }
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    problems.add({int(error.source().begin.line), int(error.source().begin.column)}, "",
                 fmt::format("not valid TOML: {}", shown(error.description(), 300)),
                 "mend the syntax here; further mistakes are reported after that");
    return std::nullopt;
  }
}

Position Fields::at(std::string_view key) const {
  const toml::node* node = table_.get(key);
  return node != nullptr ? position_of(*node) : at();
}

std::string Fields::name_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

void Fields::problem(std::string_view key, std::string message, std::string remedy) {
  problems_.add(at(key), key.empty() ? path_ : name_of(key), std::move(message), std::move(remedy));
}

void Fields::problem_at(const toml::node& node, std::string_view key, std::string message,
                        std::string remedy) {
  problems_.add(position_of(node), name_of(key), std::move(message), std::move(remedy));
}

const toml::node* Fields::find(std::string_view key, Need need, std::string_view example) {
  known_.emplace(key);
  const toml::node* node = table_.get(key);
  if (node == nullptr && need == Need::kRequired)
    problem(key, fmt::format("missing field '{}'", key), write_example(example));
  return node;
}

std::optional<std::string> Fields::text(std::string_view key, Need need, std::string_view example) {
  const toml::node* node = find(key, need, example);
  if (node == nullptr) return std::nullopt;
  if (const auto* value = node->as_string()) return value->get();
  problem(key, fmt::format("{} is not text", kind_of(*node)), write_example(example));
  return std::nullopt;
}

std::optional<double> Fields::number(std::string_view key, Need need, std::string_view example) {
  const toml::node* node = find(key, need, example);
  if (node == nullptr) return std::nullopt;
  if (node->is_number()) return node->value<double>();
  problem(key, fmt::format("{} is not a number", kind_of(*node)), write_example(example));
  return std::nullopt;
}

std::optional<bool> Fields::boolean(std::string_view key, Need need, std::string_view example) {
  const toml::node* node = find(key, need, example);
  if (node == nullptr) return std::nullopt;
  if (const auto* value = node->as_boolean()) return value->get();
  problem(key, fmt::format("{} is neither true nor false", kind_of(*node)), write_example(example));
  return std::nullopt;
}

std::optional<Duration> Fields::read_duration(const toml::node& node, const std::string& field) {
  return read_quantity(node, field, problems_, "time", "ms", parse_duration);
}

std::optional<Bytes> Fields::read_bytes(const toml::node& node, const std::string& field) {
  return read_quantity(node, field, problems_, "size", "GB", parse_bytes);
}

std::optional<BitsPerSecond> Fields::read_rate(const toml::node& node, const std::string& field) {
  return read_quantity(node, field, problems_, "rate", "Gbps", parse_rate);
}

std::optional<Duration> Fields::duration(std::string_view key, Need need) {
  const toml::node* node = find(key, need, fmt::format("{} = \"49.4ms\"", key));
  return node == nullptr ? std::nullopt : read_duration(*node, name_of(key));
}

std::optional<Bytes> Fields::bytes(std::string_view key, Need need) {
  const toml::node* node = find(key, need, fmt::format("{} = \"1GB\"", key));
  return node == nullptr ? std::nullopt : read_bytes(*node, name_of(key));
}

std::optional<BitsPerSecond> Fields::rate(std::string_view key, Need need) {
  const toml::node* node = find(key, need, fmt::format("{} = \"100Gbps\"", key));
  return node == nullptr ? std::nullopt : read_rate(*node, name_of(key));
}

std::optional<std::vector<std::string>> Fields::names(std::string_view key, Need need,
                                                      std::string_view example) {
  const toml::node* node = find(key, need, example);
  if (node == nullptr) return std::nullopt;
  const toml::array* array = node->as_array();
  if (array == nullptr) {
    problem(key, fmt::format("{} is not a list of names", kind_of(*node)), write_example(example));
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (const toml::node& element : *array) {
    const auto* name = element.as_string();
    if (name == nullptr) {
      problems_.add(position_of(element), name_of(key),
                    fmt::format("{} is not a name", kind_of(element)), write_example(example));
      return std::nullopt;
    }
    names.push_back(name->get());
  }
  return names;
}

std::vector<Fields> Fields::tables(std::string_view key, Need need, std::string_view example) {
  std::vector<Fields> found;
  const toml::node* node = find(key, need, example);
  if (node == nullptr) return found;
  const toml::array* array = node->as_array();
  if (array == nullptr) {
    problem(key, fmt::format("{} is not a list of tables", kind_of(*node)), write_example(example));
    return found;
  }
  for (std::size_t i = 0; i < array->size(); ++i) {
    const toml::node& element = (*array)[i];
    const std::string path = fmt::format("{}[{}]", name_of(key), i);
    if (const toml::table* table = element.as_table())
      found.emplace_back(*table, path, problems_);
    else
      problems_.add(position_of(element), path, fmt::format("{} is not a table", kind_of(element)),
                    write_example(example));
  }
  return found;
}

std::size_t Fields::elements(std::string_view key) const {
  const toml::node* node = table_.get(key);
  return node != nullptr && node->is_array() ? node->as_array()->size() : 0;
}

std::optional<Fields> Fields::table(std::string_view key, Need need, std::string_view example) {
  const toml::node* node = find(key, need, example);
  if (node == nullptr) return std::nullopt;
  if (const toml::table* table = node->as_table()) return Fields(*table, name_of(key), problems_);
  problem(key, fmt::format("{} is not a table", kind_of(*node)), write_example(example));
  return std::nullopt;
}

void Fields::finish() {
  for (const auto& [key, node] : table_) {
    const std::string name(key.str());
    if (known_.contains(name)) continue;
    std::vector<std::string> known;
    if (!problems_.full()) known.assign(known_.begin(), known_.end());
    problems_.add({int(key.source().begin.line), int(key.source().begin.column)},
                  name_of(shown(name)), fmt::format("unknown field '{}'", shown(name)),
                  did_you_mean(name, known, fmt::format("known here: {}", fmt::join(known, ", "))));
  }
}

}  // namespace cotillion
