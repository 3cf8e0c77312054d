#include "topology/csv_text.hpp"
#include "topology/map.hpp"

#include <fmt/format.h>

#include "topology/toml_fields.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kFieldsMax = 64;           // a table of links has eight
constexpr std::size_t kCsvRecordsMax = 200'000;  // three times as many as a map can have

class CsvParser {
 public:
  CsvParser(std::string_view text, Problems& problems) : text_(text), problems_(problems) {}

  std::optional<std::vector<CsvRecord>> parse() {
    while (!failed_ && next_ < text_.size()) {
      CsvRecord record;
      read_record(record);
      const bool blank = record.size() == 1 && record[0].text.empty();
      if (!blank) records_.push_back(std::move(record));
      if (records_.size() > kCsvRecordsMax)
        fail({line_, 1}, fmt::format("more than {} lines", kCsvRecordsMax),
             fmt::format("Cotillion plans for at most {} links", kLinksMax));
    }
    if (failed_) return std::nullopt;
    return std::move(records_);
  }

 private:
  void fail(Position at, std::string message, std::string remedy) {
    problems_.add(at, "", std::move(message), std::move(remedy));
    failed_ = true;
  }

  [[nodiscard]] bool at_end_of_line() const {
    return next_ == text_.size() || text_[next_] == '\n' || text_[next_] == '\r';
  }

  void skip_blanks() {
    while (next_ < text_.size() && (text_[next_] == ' ' || text_[next_] == '\t')) ++next_;
  }

  void read_record(CsvRecord& record) {
    for (;;) {
      if (record.size() == kFieldsMax)
        return fail({line_, 1}, fmt::format("more than {} fields", kFieldsMax),
                    "give one link a line");
      read_field(record);
      if (failed_) return;
      if (at_end_of_line()) break;
      ++next_;  // the comma
    }
    if (next_ < text_.size() && text_[next_] == '\r') ++next_;
    if (next_ < text_.size() && text_[next_] == '\n') ++next_;
    ++line_;
    line_start_ = next_;
  }

  void read_field(CsvRecord& record) {
    skip_blanks();
    const Position at{line_, int(next_ - line_start_) + 1};
    std::string field;
    if (next_ < text_.size() && text_[next_] == '"') {
      if (!read_quoted(field, at)) return;
      skip_blanks();
      if (!at_end_of_line() && text_[next_] != ',')
        return fail(at, "text behind a closing quotation mark", "separate fields by commas");
    } else {
      while (!at_end_of_line() && text_[next_] != ',') field += text_[next_++];
      while (!field.empty() && (field.back() == ' ' || field.back() == '\t')) field.pop_back();
    }
    record.push_back({std::move(field), at});
  }

  // A quotation mark inside is doubled; no field that an importer needs spans lines.
  bool read_quoted(std::string& field, Position at) {
    for (++next_; !at_end_of_line(); ++next_) {
      if (text_[next_] == '"') {
        ++next_;
        if (next_ == text_.size() || text_[next_] != '"') return true;
      }
      field += text_[next_];
    }
    fail(at, "a quotation mark that is not closed on its line", "close it");
    return false;
  }

  std::string_view text_;
  Problems& problems_;
  std::vector<CsvRecord> records_;
  std::size_t next_ = 0, line_start_ = 0;
  int line_ = 1;
  bool failed_ = false;
};

}  // namespace

std::optional<std::vector<CsvRecord>> parse_csv(std::string_view text, Problems& problems) {
  return CsvParser(text, problems).parse();
}

}  // namespace cotillion
