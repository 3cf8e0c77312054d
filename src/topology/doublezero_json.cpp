#include "topology/doublezero_json.hpp"
#include "topology/map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "topology/toml_fields.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kJsonDepthMax = 32;
constexpr std::size_t kJsonRecordsMax = 200'000;

Position position_at(std::string_view text, std::size_t offset) {
  text = text.substr(0, std::min(offset, text.size()));
  const auto lines = std::count(text.begin(), text.end(), '\n');
  const std::size_t start = text.rfind('\n');
  return {int(lines) + 1,
          int(start == std::string_view::npos ? text.size() : text.size() - start - 1) + 1};
}

// Where each object begins, in the order of the text: events carry no positions, but they come in
// that order too.
std::vector<Position> positions_of_objects(std::string_view text) {
  std::vector<Position> found;
  int line = 1;
  std::size_t line_start = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') {
      ++line;
      line_start = i + 1;
    } else if (c == '\\' && quoted) {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == '{' && !quoted) {
      found.push_back({line, int(i - line_start) + 1});
    }
  }
  return found;
}

class RecordEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  RecordEvents(std::string_view text, Problems& problems)
      : text_(text), problems_(problems), positions_(positions_of_objects(text)) {}

  std::vector<JsonRecord> take() { return std::move(records_); }

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t value) override { return add(fmt::to_string(value), false); }
  bool number_unsigned(number_unsigned_t value) override {
    return add(fmt::to_string(value), false);
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    return add(fmt::format("{}", value), false);
  }
  bool string(string_t& value) override { return add(value, true); }
  bool binary(binary_t& /*value*/) override { return true; }

  bool key(string_t& value) override {
    if (is_record())
      key_ = value;
    else if (open_ == "{")
      list_ = value;
    return true;
  }

  bool start_object(std::size_t /*size*/) override {
    const std::size_t which = objects_++;
    const Position at = which < positions_.size() ? positions_[which] : Position{};
    open_ += '{';
    if (is_record()) records_.push_back({list_, at, {}});
    return fits(at);
  }
  bool end_object() override {
    open_.pop_back();
    return true;
  }
  bool start_array(std::size_t /*size*/) override {
    open_ += '[';
    return fits({});
  }
  bool end_array() override {
    open_.pop_back();
    return true;
  }

  bool parse_error(std::size_t offset, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    problems_.add(position_at(text_, offset), "", "not valid JSON",
                  "give the output of doublezero link list --json as it is");
    return false;
  }

 private:
  [[nodiscard]] bool is_record() const { return open_ == "[{" || open_ == "{[{"; }

  bool add(std::string text, bool quoted) {
    if (is_record()) records_.back().fields[key_] = {std::move(text), quoted};
    return true;
  }

  bool fits(Position at) {
    if (open_.size() > kJsonDepthMax)
      problems_.add(at, "", fmt::format("nested more than {} deep", kJsonDepthMax),
                    "a list of links needs three levels");
    else if (records_.size() > kJsonRecordsMax)
      problems_.add(at, "", fmt::format("more than {} records", kJsonRecordsMax),
                    fmt::format("Cotillion plans for at most {} links", kLinksMax));
    else
      return true;
    return false;
  }

  std::string_view text_;
  Problems& problems_;
  std::vector<Position> positions_;
  std::vector<JsonRecord> records_;
  std::string open_;  // brackets that are open
  std::string key_, list_;
  std::size_t objects_ = 0;
};

}  // namespace

std::optional<std::vector<JsonRecord>> read_json_records(std::string_view text,
                                                         Problems& problems) {
  RecordEvents events(text, problems);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &events)) return std::nullopt;
  return events.take();
}

}  // namespace cotillion
