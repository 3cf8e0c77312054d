#include "topology/csv_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "topology/csv_text.hpp"
#include "topology/toml_fields.hpp"

namespace cotillion {
namespace {

// The columns that are read: two ends, latency, rate.
using Header = std::array<std::string_view, 4>;
constexpr Header kForms[] = {{"device1", "device2", "latency", "bandwidth"},
                             {"start", "end", "cost", "bandwidth"}};
constexpr const char* kFormsText =
    "the first line names the columns: device1,device2,latency,bandwidth or "
    "Start,End,Cost,Bandwidth";

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  return text;
}

class CsvNetwork {
 public:
  CsvNetwork(const std::vector<CsvRecord>& records, const ImportOptions& options,
             Problems& problems)
      : options_(options), problems_(problems), places_(network_) {
    if (records.empty()) {
      problems_.add({}, "", "an empty file", kFormsText);
      return;
    }
    if (!read_header(records[0])) return;
    for (std::size_t i = 1; i < records.size(); ++i) read_link(records[i], records[0]);
    if (!unused_.empty())
      network_.notes.push_back(fmt::format("not used: the columns {}", listed(unused_)));
    if (options.round_trip) network_.notes.emplace_back("latencies taken as round trips, halved");
  }

  ImportedNetwork take() { return std::move(network_); }

 private:
  bool read_header(const CsvRecord& header) {
    for (const Header& form : kForms) {
      for (std::size_t i = 0; i < form.size(); ++i) {
        const auto found = std::find_if(header.begin(), header.end(), [&](const CsvField& field) {
          return lower(field.text) == form[i];
        });
        columns_[i] = std::size_t(found - header.begin());
      }
      if (*std::max_element(columns_.begin(), columns_.end()) == header.size()) continue;
      for (std::size_t i = 0; i < header.size(); ++i)
        if (std::find(columns_.begin(), columns_.end(), i) == columns_.end())
          unused_.push_back(shown(header[i].text));
      return true;
    }
    problems_.add({header[0].at.line, 1}, "", "a header that is not known", kFormsText);
    return false;
  }

  std::optional<double> number(const CsvField& field, const std::string& column) {
    const auto value = parse_number(field.text);
    if (!value)
      problems_.add(field.at, column, fmt::format("'{}' is not a number", shown(field.text)),
                    "give a decimal number, without a unit");
    return value;
  }

  void read_link(const CsvRecord& record, const CsvRecord& header) {
    const Position line{record[0].at.line, 1};
    if (record.size() != header.size()) {
      problems_.add(
          line, "",
          fmt::format("{} where the header has {}", counted(record.size(), "field"), header.size()),
          "give every column a value, or NA");
      return;
    }
    const auto column = [&](std::size_t which) { return shown(header[columns_[which]].text); };
    const CsvField& a = record[columns_[0]];
    const CsvField& b = record[columns_[1]];
    for (const std::size_t end : {0, 1})
      if (record[columns_[end]].text.empty())
        problems_.add(record[columns_[end]].at, column(end), "an end without a name",
                      "name the device");
    const auto ms = number(record[columns_[2]], column(2));
    const auto gbps = number(record[columns_[3]], column(3));
    if (!ms || !gbps || a.text.empty() || b.text.empty()) return;
    const auto latency = latency_of_ms(options_.round_trip ? *ms / 2 : *ms, record[columns_[2]].at,
                                       column(2), problems_);
    const auto rate = rate_of_bps(*gbps * 1e9, record[columns_[3]].at, column(3), problems_);
    if (!latency || !rate) return;
    const int ends[2] = {places_[a.text], places_[b.text]};
    network_.links.push_back({{ends[0], ends[1]}, *latency, *rate, line});
  }

  const ImportOptions& options_;
  Problems& problems_;
  ImportedNetwork network_;
  PlaceIndex places_;
  std::array<std::size_t, 4> columns_{};
  std::vector<std::string> unused_;
};

}  // namespace

ImportedNetwork read_csv_network(std::string_view text, const ImportOptions& options,
                                 Problems& problems) {
  const auto records = parse_csv(text, problems);
  if (!records) return {};
  return CsvNetwork(*records, options, problems).take();
}

}  // namespace cotillion
