#include "topology/gml_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text.hpp"
#include "topology/toml_fields.hpp"

namespace cotillion {
namespace {

constexpr int kGmlDepthMax = 32;  // real files nest three deep

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool is_key_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class GmlParser {
 public:
  GmlParser(std::string_view text, Problems& problems) : text_(text), problems_(problems) {}

  std::optional<GmlGraph> parse() {
    while (!failed_ && skip_blanks()) {
      const Position at = position();
      if (text_[next_] == ']')
        close(at);
      else
        read_entry(at);
    }
    if (failed_) return std::nullopt;
    if (depth_ > 0)
      fail(opened_.back(), "a list that is never closed", "add the missing ]");
    else if (graphs_ == 0)
      fail({}, "no graph in the file", "GML begins with graph [");
    if (failed_) return std::nullopt;
    return std::move(graph_);
  }

 private:
  void fail(Position at, std::string message, std::string remedy) {
    problems_.add(at, "", std::move(message), std::move(remedy));
    failed_ = true;
  }

  [[nodiscard]] Position position() const { return {line_, int(next_ - line_start_) + 1}; }

  void step() {
    if (text_[next_] == '\n') {
      ++line_;
      line_start_ = next_ + 1;
    }
    ++next_;
  }

  // Past white space and comments; false at the end.
  bool skip_blanks() {
    while (next_ < text_.size()) {
      if (text_[next_] == '#')
        while (next_ < text_.size() && text_[next_] != '\n') ++next_;
      else if (is_space(text_[next_]))
        step();
      else
        return true;
    }
    return false;
  }

  void read_entry(Position at) {
    const std::size_t begin = next_;
    while (next_ < text_.size() && is_key_char(text_[next_])) ++next_;
    const std::string_view key = text_.substr(begin, next_ - begin);
    if (key.empty())
      return fail(at, fmt::format("'{}' where a key should be", shown(text_.substr(begin, 1))),
                  "GML is keys with values: id 3, label \"London\", node [ … ]");
    if (!skip_blanks()) return fail(at, "a key without a value", "give it a value");
    const Position value_at = position();
    if (text_[next_] == '[') return open(key, at);
    if (text_[next_] == ']') return fail(at, "a key without a value", "give it a value");
    const auto value = read_value();
    if (!value) return;
    if (in_graph_ && depth_ == 1)
      graph_.self.attributes.push_back({key, *value, value_at});
    else if (in_graph_ && depth_ == 2)
      graph_.records.back().attributes.push_back({key, *value, value_at});
  }

  std::optional<std::string_view> read_value() {
    const Position at = position();
    if (text_[next_] != '"') {
      const std::size_t begin = next_;
      while (next_ < text_.size() && !is_space(text_[next_]) && text_[next_] != '[' &&
             text_[next_] != ']' && text_[next_] != '"')
        ++next_;
      return text_.substr(begin, next_ - begin);
    }
    ++next_;
    const std::size_t begin = next_;
    while (next_ < text_.size() && text_[next_] != '"') step();
    if (next_ == text_.size()) {
      fail(at, "a string that is never closed", "add the missing quotation mark");
      return std::nullopt;
    }
    ++next_;
    return text_.substr(begin, next_ - 1 - begin);
  }

  void open(std::string_view key, Position at) {
    ++next_;
    if (depth_ == kGmlDepthMax)
      return fail(at, fmt::format("lists nested more than {} deep", kGmlDepthMax),
                  "a graph needs three levels; is this a GML file?");
    if (depth_ == 0) {
      in_graph_ = key == "graph";
      if (in_graph_ && ++graphs_ > 1) return fail(at, "a second graph", "keep one graph in a file");
      if (in_graph_) graph_.self = {key, at, {}};
    } else if (depth_ == 1 && in_graph_) {
      graph_.records.push_back({key, at, {}});
    }
    opened_.push_back(at);
    ++depth_;
  }

  void close(Position at) {
    ++next_;
    if (depth_ == 0) return fail(at, "a ] too many", "remove it, or add the [ that it closes");
    opened_.pop_back();
    --depth_;
  }

  std::string_view text_;
  Problems& problems_;
  GmlGraph graph_;
  std::size_t next_ = 0, line_start_ = 0;
  int line_ = 1, depth_ = 0, graphs_ = 0;
  bool in_graph_ = false, failed_ = false;
  std::vector<Position> opened_;
};

std::string utf8(std::uint32_t code) {
  const auto tail = [](std::uint32_t bits) { return char(0x80 | (bits & 0x3f)); };
  if (code < 0x80) return {char(code)};
  if (code < 0x800) return {char(0xc0 | code >> 6), tail(code)};
  if (code < 0x10000) return {char(0xe0 | code >> 12), tail(code >> 6), tail(code)};
  return {char(0xf0 | code >> 18), tail(code >> 12), tail(code >> 6), tail(code)};
}

// What stands between & and ;, or nothing when it is no reference.
std::optional<std::string> referred(std::string_view name) {
  constexpr std::pair<std::string_view, const char*> kNames[] = {
      {"amp", "&"}, {"quot", "\""}, {"apos", "'"}, {"lt", "<"}, {"gt", ">"}, {"nbsp", " "}};
  for (const auto& [known, text] : kNames)
    if (name == known) return text;
  if (!name.starts_with('#')) return std::nullopt;
  std::uint32_t code = 0;
  const char* const last = name.data() + name.size();
  const auto [end, error] = std::from_chars(name.data() + 1, last, code);
  if (error != std::errc{} || end != last || code > 0x10ffff) return std::nullopt;
  return utf8(code);
}

}  // namespace

const GmlAttribute* GmlRecord::find(std::string_view name) const {
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const GmlAttribute& each) { return each.key == name; });
  return found == attributes.end() ? nullptr : &*found;
}

std::optional<GmlGraph> parse_gml(std::string_view text, Problems& problems) {
  return GmlParser(text, problems).parse();
}

std::string decode_gml(std::string_view value) {
  constexpr std::size_t kReferenceMax = 10;
  std::string text;
  while (!value.empty()) {
    const std::size_t end =
        value.front() == '&' ? value.substr(0, kReferenceMax).find(';') : std::string_view::npos;
    const auto meant =
        end != std::string_view::npos ? referred(value.substr(1, end - 1)) : std::nullopt;
    text += meant ? *meant : std::string(1, value.front());
    value.remove_prefix(meant ? end + 1 : 1);
  }
  return text;
}

}  // namespace cotillion
