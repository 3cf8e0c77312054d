// Reading TOML so that every mistake in a file is reported, each with its line, field and
// remedy. Problems collects them; Fields reads one table and notices keys nobody asked for.
// Only readers of files include this header: it brings in the TOML library.
#pragma once

#include <toml++/toml.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/quantity.hpp"
#include "base/text.hpp"

namespace cotillion {

class Problems {
 public:
  explicit Problems(std::string file) : file_(std::move(file)) {}

  void add(Position at, std::string field, std::string message, std::string remedy);
  [[nodiscard]] bool empty() const { return list_.empty(); }
  // No more are kept: a hostile file can hold a mistake on every line. Readers may then skip
  // what costs time, such as looking for the nearest name.
  [[nodiscard]] bool full() const;
  // In the order of the file; the last one says so when there were more.
  [[nodiscard]] Diagnostics take();

 private:
  std::string file_;
  Diagnostics list_;
  std::size_t left_out_ = 0;
};

[[nodiscard]] Position position_of(const toml::node& node);

// Parses the text; on a syntax error adds one problem and returns nothing.
[[nodiscard]] std::optional<toml::table> parse_toml(std::string_view text, Problems& problems);

enum class Need { kRequired, kOptional };

class Fields {
 public:
  // `path` is how messages name the table: "links[3]"; empty for the file's top level.
  Fields(const toml::table& table, std::string path, Problems& problems)
      : table_(table), path_(std::move(path)), problems_(problems) {}

  [[nodiscard]] Position at() const { return position_of(table_); }
  [[nodiscard]] Position at(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const { return table_.contains(key); }
  [[nodiscard]] std::string name_of(std::string_view key) const;

  // Each returns nothing when the key is absent or wrong; what is wrong has been reported.
  const toml::node* find(std::string_view key, Need need, std::string_view example);
  std::optional<std::string> text(std::string_view key, Need need, std::string_view example);
  std::optional<double> number(std::string_view key, Need need, std::string_view example);
  std::optional<bool> boolean(std::string_view key, Need need, std::string_view example);
  std::optional<Duration> duration(std::string_view key, Need need);
  std::optional<Bytes> bytes(std::string_view key, Need need);
  std::optional<BitsPerSecond> rate(std::string_view key, Need need);
  // A list of names; nothing is returned when any element is not text.
  std::optional<std::vector<std::string>> names(std::string_view key, Need need,
                                                std::string_view example);
  // The tables of an array, with their own Fields; elements that are not tables are reported.
  std::vector<Fields> tables(std::string_view key, Need need, std::string_view example);
  // How many elements the array has, tables or not; 0 when it is no array.
  [[nodiscard]] std::size_t elements(std::string_view key) const;
  std::optional<Fields> table(std::string_view key, Need need, std::string_view example);

  // One quantity in a node that `find` returned.
  std::optional<Duration> read_duration(const toml::node& node, const std::string& field);
  std::optional<Bytes> read_bytes(const toml::node& node, const std::string& field);
  std::optional<BitsPerSecond> read_rate(const toml::node& node, const std::string& field);

  // Reports every key that was never asked for, with the nearest known one.
  void finish();

  void problem(std::string_view key, std::string message, std::string remedy);
  // The same, at a node inside the key's value.
  void problem_at(const toml::node& node, std::string_view key, std::string message,
                  std::string remedy);

 private:
  const toml::table& table_;
  std::string path_;
  Problems& problems_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace cotillion
