#include "base/table.hpp"

#include <algorithm>
#include <string_view>

#include "base/check.hpp"

namespace cotillion {
namespace {

// A cell that opens with a figure, a sign or an infinity, or says that there is none.
bool is_number(const std::string& cell) {
  std::string_view text = cell;
  if (text == "–" || text == "-" || text == "—" || text == "∞") return true;
  for (const std::string_view sign : {"-", "−", "+", "~", "≈"})
    if (text.starts_with(sign)) text.remove_prefix(sign.size());
  return !text.empty() && text[0] >= '0' && text[0] <= '9';
}

}  // namespace

std::size_t display_width(const std::string& text) {
  return std::size_t(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string wrapped(const std::string& paragraph, std::size_t width) {
  std::string text, line;
  for (std::size_t at = 0; at < paragraph.size();) {
    const std::size_t space = std::min(paragraph.find(' ', at), paragraph.size());
    const std::string word = paragraph.substr(at, space - at);
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width) {
      text += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    at = space + 1;
  }
  return text + line + "\n";
}

std::vector<bool> number_columns(const Rows& rows) {
  if (rows.empty()) return {};
  std::vector<bool> numbers(rows[0].size(), rows.size() > 1);
  for (std::size_t r = 1; r < rows.size(); ++r)
    for (std::size_t c = 0; c < rows[r].size() && c < numbers.size(); ++c)
      if (!rows[r][c].empty() && !is_number(rows[r][c])) numbers[c] = false;
  return numbers;
}

Table table_of(const Rows& rows) {
  const std::vector<bool> numbers = number_columns(rows);
  std::vector<Table::Column> columns;
  for (std::size_t c = 0; c < numbers.size(); ++c)
    columns.push_back({rows[0][c], numbers[c] ? Table::Align::kRight : Table::Align::kLeft});
  Table table(std::move(columns));
  for (std::size_t r = 1; r < rows.size(); ++r) table.add(rows[r]);
  return table;
}

void Table::add(std::vector<std::string> cells) {
  COTILLION_CHECK(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::text(int indent) const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(display_width(column.title));
  for (const auto& row : rows_)
    for (std::size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], display_width(row[c]));

  std::string out;
  const auto line = [&](const auto& cell_of) {
    std::string text(std::size_t(indent), ' ');
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string& cell = cell_of(c);
      const std::string pad(widths[c] - display_width(cell), ' ');
      if (c > 0) text += "  ";
      text += columns_[c].align == Align::kRight ? pad + cell : cell + pad;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  line([&](std::size_t c) -> const std::string& { return columns_[c].title; });
  for (const auto& row : rows_) line([&](std::size_t c) -> const std::string& { return row[c]; });
  return out;
}

}  // namespace cotillion
