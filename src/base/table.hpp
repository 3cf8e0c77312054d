// A table for a terminal: columns as wide as their widest cell, numbers to the right.
#pragma once

#include <string>
#include <vector>

namespace cotillion {

// Cells as plain text, titles first.
using Rows = std::vector<std::vector<std::string>>;

// A column is aligned as numbers when all that stands in it, below its title, is one: opens with a
// figure, a sign or an infinity, or says that there is none.
[[nodiscard]] std::vector<bool> number_columns(const Rows& rows);

class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // Requires one cell per column.
  void add(std::vector<std::string> cells);
  // Each line begins with `indent` spaces and ends without trailing ones.
  [[nodiscard]] std::string text(int indent = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Aligned by what stands in it. Requires rows as long as the first.
[[nodiscard]] Table table_of(const Rows& rows);

// How many columns of a terminal a UTF-8 text takes, one per code point.
[[nodiscard]] std::size_t display_width(const std::string& text);

// Breaks a paragraph into lines of at most `width` columns, between words.
[[nodiscard]] std::string wrapped(const std::string& paragraph, std::size_t width = 96);

}  // namespace cotillion
