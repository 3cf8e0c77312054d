#include "plan/file/plan_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.hpp"
#include "base/text.hpp"
#include "topology/toml_fields.hpp"

namespace cotillion {
namespace {

constexpr int kDepthMax = 32;                                 // a plan needs nine
constexpr std::size_t kFileBytesMax = std::size_t{64} << 20;  // as files; each may cost twenty
constexpr std::size_t kTextMax = 400;                         // as in maps

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

}  // namespace

std::optional<Json> parse_plan(std::string_view text, const FieldFilter& keeps, Problems& problems,
                               const FileWords& words) {
  if (text.size() > kFileBytesMax) {
    problems.add({}, "", "larger than 64 MiB", words.remedy);
    return std::nullopt;
  }
  if (const auto offset = too_deep(text)) {
    problems.add(position_at(text, *offset), "", fmt::format("nested more than {} deep", kDepthMax),
                 words.remedy);
    return std::nullopt;
  }
  const auto keep = [&](int depth, Json::parse_event_t event, Json& parsed) {
    return event != Json::parse_event_t::key || keeps(depth, parsed.get_ref<const std::string&>());
  };
  try {
    Json root = Json::parse(text, keep);
    if (root.is_object()) return root;
    problems.add({}, "", fmt::format("not {}: no JSON object", words.what), words.remedy);
  } catch (const Json::parse_error& error) {
    problems.add(
        position_at(text, error.byte > 0 ? error.byte - 1 : 0), "",
        error.byte > text.size() ? "not valid JSON: it ends too soon" : "not valid JSON here",
        words.remedy);
  } catch (const Json::exception&) {
    problems.add({}, "", "not valid JSON: a number too large for any computer", words.remedy);
  }
  return std::nullopt;
}

PlanField PlanField::within(const Json* value, Step step) const {
  COTILLION_CHECK(depth_ < kStepsMax);
  PlanField field = *this;
  field.value_ = value;
  field.steps_[field.depth_++] = step;
  return field;
}

PlanField PlanField::maybe(const char* key) const {
  const Json* found = nullptr;
  if (is_there() && value_->is_object())
    if (const auto member = value_->find(key); member != value_->end()) found = &*member;
  return within(found, {key, 0});
}

PlanField PlanField::at(const char* key) const {
  PlanField field = maybe(key);
  if (is_there() && !field.is_there()) {
    if (value_->is_object())
      field.problem("missing");
    else
      problem("not an object");
  }
  return field;
}

PlanField PlanField::operator[](std::size_t index) const {
  return within(&(*value_)[index], {nullptr, index});
}

std::string PlanField::path() const {
  std::string text;
  for (std::size_t i = 0; i < depth_; ++i)
    if (steps_[i].key == nullptr)
      text += fmt::format("[{}]", steps_[i].index);
    else
      text += (text.empty() ? "" : ".") + std::string(steps_[i].key);
  return text;
}

void PlanField::problem(std::string message, std::string remedy) const {
  problems_->add({}, path(), std::move(message), std::move(remedy));
}

bool PlanField::full() const {
  return problems_->full();
}

bool PlanField::is_faultless() const {
  return problems_->empty();
}

bool PlanField::is_object() const {
  if (!is_there()) return false;
  if (!value_->is_object()) problem("not an object");
  return value_->is_object();
}

bool PlanField::is_null() const {
  return is_there() && value_->is_null();
}

bool PlanField::expect_null(const char* when) const {
  if (!is_there()) return false;
  if (!is_null()) problem("not null", fmt::format("{} it must be null", when));
  return is_null();
}

std::optional<std::size_t> PlanField::list() const {
  if (!is_there()) return std::nullopt;
  if (value_->is_array()) return value_->size();
  problem("not a list");
  return std::nullopt;
}

std::optional<std::size_t> PlanField::list(const char* noun, std::size_t least,
                                           std::size_t most) const {
  if (!is_there()) return std::nullopt;
  if (!value_->is_array()) {
    problem(fmt::format("not a list of {}s", noun));
    return std::nullopt;
  }
  const std::size_t size = value_->size();
  if (size >= least && size <= most) return size;
  problem(counted(size, noun),
          least == most ? fmt::format("there must be {}", least)
                        : fmt::format("{} has between {} and {}", words_->what, least, most));
  return std::nullopt;
}

std::optional<std::string> PlanField::text() const {
  if (!is_there()) return std::nullopt;
  if (!value_->is_string()) {
    problem("not text");
    return std::nullopt;
  }
  auto text = value_->get<std::string>();
  if (is_plain(text) && text.size() <= kTextMax) return text;
  problem(is_plain(text) ? "more than 400 bytes of text" : "control characters in the text",
          "write plain text on one line");
  return std::nullopt;
}

std::optional<bool> PlanField::flag() const {
  if (!is_there()) return std::nullopt;
  if (value_->is_boolean()) return value_->get<bool>();
  problem("neither true nor false");
  return std::nullopt;
}

std::optional<std::int64_t> PlanField::integer(std::int64_t least, std::int64_t most) const {
  if (!is_there()) return std::nullopt;
  if (!value_->is_number_integer()) {
    problem("not a whole number");
    return std::nullopt;
  }
  // What exceeds 63 bits wraps to below zero, so that is looked at first.
  const bool huge = value_->is_number_unsigned() && value_->get<std::uint64_t>() > INT64_MAX;
  const auto value = value_->get<std::int64_t>();
  if (!huge && value >= least && value <= most) return value;
  problem(fmt::format("{} is not between {} and {}", value_->dump(), least, most));
  return std::nullopt;
}

std::optional<double> PlanField::number(double least, double most) const {
  if (!is_there()) return std::nullopt;
  if (!value_->is_number()) {
    problem("not a number");
    return std::nullopt;
  }
  const auto value = value_->get<double>();
  if (value >= least && value <= most) return value;
  problem(fmt::format("{} is not between {} and {}", value_->dump(), least, most));
  return std::nullopt;
}

}  // namespace cotillion
