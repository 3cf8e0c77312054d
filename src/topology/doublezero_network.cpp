#include "topology/doublezero_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "base/quantity.hpp"
#include "base/text.hpp"
#include "topology/doublezero_json.hpp"
#include "topology/toml_fields.hpp"

namespace cotillion {
namespace {

struct Field {
  std::string name;
  const JsonValue* value = nullptr;
};

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  return text;
}

class DoublezeroNetwork {
 public:
  DoublezeroNetwork(std::vector<JsonRecord> records, const ImportOptions& options,
                    Problems& problems)
      : options_(options), problems_(problems), places_(network_) {
    choose_list(records);
    if (records.empty() && problems_.empty())
      problems_.add({}, "", "no links in the file",
                    "give the output of doublezero link list --json");
    for (std::size_t i = 0; i < records.size(); ++i) read_link(records[i], i);
    say_what_was_assumed();
  }

  ImportedNetwork take() { return std::move(network_); }

 private:
  // Of several lists in one object only that of links is meant.
  void choose_list(std::vector<JsonRecord>& records) {
    const auto is_links = [](const JsonRecord& record) { return record.list == "links"; };
    if (std::any_of(records.begin(), records.end(), is_links)) {
      std::erase_if(records, [&](const JsonRecord& record) { return !is_links(record); });
      return;
    }
    for (const JsonRecord& record : records)
      if (record.list != records[0].list) {
        problems_.add(record.at, shown(record.list), "a second list of objects",
                      "call the one that holds the links 'links'");
        records.clear();
        return;
      }
  }

  // The first of these fields that is there.
  static Field find(const JsonRecord& record, std::initializer_list<const char*> names) {
    for (const char* name : names) {
      const auto known = record.fields.find(name);
      if (known != record.fields.end()) return {name, &known->second};
    }
    return {*names.begin(), nullptr};
  }

  std::optional<std::string> read_end(const JsonRecord& record, std::size_t index,
                                      std::initializer_list<const char*> names) {
    const Field field = find(record, names);
    if (field.value != nullptr && !field.value->text.empty()) return field.value->text;
    problems_.add(record.at, fmt::format("links[{}].{}", index, field.name),
                  "a link without the name of this end", "give the device's name as text");
    return std::nullopt;
  }

  // A whole or decimal number, quoted or not.
  std::optional<double> read_number(const JsonRecord& record, std::size_t index, const char* name) {
    const Field field = find(record, {name});
    const auto value = field.value != nullptr ? parse_number(field.value->text) : std::nullopt;
    if (!value)
      problems_.add(record.at, fmt::format("links[{}].{}", index, name),
                    field.value == nullptr
                        ? fmt::format("missing field '{}'", name)
                        : fmt::format("'{}' is not a number", shown(field.value->text)),
                    fmt::format("give a number: \"{}\": 32200000", name));
    return value;
  }

  std::optional<BitsPerSecond> read_rate(const JsonRecord& record, std::size_t index) {
    const Field field = find(record, {"bandwidth"});
    const std::string path = fmt::format("links[{}].bandwidth", index);
    // Text with a unit, as the same command prints in its table: "10Gbps".
    if (field.value != nullptr && field.value->quoted && !parse_number(field.value->text)) {
      const auto rate = parse_rate(field.value->text);
      if (rate) return rate_of_bps(rate->value, record.at, path, problems_);
      problems_.add(record.at, path, rate.error().message, "give bit/s as a number");
      return std::nullopt;
    }
    const auto bps = read_number(record, index, "bandwidth");
    return bps ? rate_of_bps(*bps, record.at, path, problems_) : std::nullopt;
  }

  // Whether the link carries traffic; says so of those that do not.
  bool is_active(const JsonRecord& record, const std::string& ends) {
    const Field field = find(record, {"status"});
    if (field.value == nullptr) {
      ++unknown_;
      return true;
    }
    const std::string status = lower_case(field.value->text);
    if (status == "active" || status == "activated") return true;
    inactive_.push_back(fmt::format("{} ({})", ends, shown(field.value->text)));
    return false;
  }

  void read_link(const JsonRecord& record, std::size_t index) {
    const auto a = read_end(record, index, {"side_a_name", "side_a"});
    const auto z = read_end(record, index, {"side_z_name", "side_z"});
    if (!a || !z) return;
    if (!is_active(record, fmt::format("{}–{}", shown(*a), shown(*z)))) return;
    const auto rate = read_rate(record, index);
    const auto ns = read_number(record, index, "delay_ns");
    if (!rate || !ns) return;
    const auto latency = latency_of_ms(options_.round_trip ? *ns / 2e6 : *ns / 1e6, record.at,
                                       fmt::format("links[{}].delay_ns", index), problems_);
    if (record.fields.contains("jitter_ns")) {
      const auto jitter = read_number(record, index, "jitter_ns");
      if (!jitter) return;
      const auto checked = latency_of_ms(*jitter / 1e6, record.at,
                                         fmt::format("links[{}].jitter_ns", index), problems_);
      if (checked) jitter_ = std::max(jitter_, *checked);
    }
    if (!latency) return;
    const int ends[2] = {places_[*a], places_[*z]};
    network_.links.push_back({{ends[0], ends[1]}, *latency, *rate, record.at});
  }

  void say_what_was_assumed() {
    auto& notes = network_.notes;
    if (!inactive_.empty())
      notes.push_back(fmt::format("{} not active left out: {}", counted(inactive_.size(), "link"),
                                  listed(inactive_)));
    if (unknown_ > 0)
      notes.push_back(fmt::format("{} without status taken as active", counted(unknown_, "link")));
    notes.emplace_back(options_.round_trip ? "delay_ns taken as the round trip, halved"
                                           : "delay_ns taken as one way; --round-trip halves it");
    if (jitter_.ps > 0)
      notes.push_back(fmt::format(
          "jitter of up to {} is not in the map: give it to plan as --slack", to_text(jitter_)));
  }

  const ImportOptions& options_;
  Problems& problems_;
  ImportedNetwork network_;
  PlaceIndex places_;
  std::vector<std::string> inactive_;
  std::size_t unknown_ = 0;
  Duration jitter_;
};

}  // namespace

ImportedNetwork read_doublezero_network(std::string_view text, const ImportOptions& options,
                                        Problems& problems) {
  auto records = read_json_records(text, problems);
  if (!records) return {};
  return DoublezeroNetwork(std::move(*records), options, problems).take();
}

}  // namespace cotillion
