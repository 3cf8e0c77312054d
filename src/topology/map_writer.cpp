// One island or link a line, because such lines are diffed, sorted and commented out. What most
// of them share moves into `defaults`, so that a line shows what is particular to it.
#include "topology/map_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "base/check.hpp"
#include "base/text.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kColumns = 98;  // of a comment

// value / 10^places, without trailing zeros: (49'400'000'000, 9) is "49.4".
std::string decimal(std::int64_t value, int places) {
  std::int64_t unit = 1;
  for (int i = 0; i < places; ++i) unit *= 10;
  std::string text = fmt::format("{}", value / unit);
  if (value % unit == 0) return text;
  text += fmt::format(".{:0{}}", value % unit, places);
  return text.substr(0, text.find_last_not_of('0') + 1);
}

std::string quoted(const std::string& text) {
  std::string safe = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe + '"';
}

template <class T>
std::string quantity(T value) {
  return '"' + exact_text(value) + '"';
}

// One value when both directions agree, else a list: there and back.
template <class T>
std::string both_ways(const T (&pair)[2]) {
  return pair[0] == pair[1] ? quantity(pair[0])
                            : fmt::format("[{}, {}]", quantity(pair[0]), quantity(pair[1]));
}

std::string access_text(const Island& island) {
  return island.up == island.down
             ? quantity(island.up)
             : fmt::format("{{ up = {}, down = {} }}", quantity(island.up), quantity(island.down));
}

// The text that occurs most, the first of equals; empty when there is none.
std::string commonest(const std::vector<std::string>& texts) {
  std::map<std::string, int> counts;
  for (const std::string& text : texts) ++counts[text];
  std::string best;
  for (const std::string& text : texts)
    if (best.empty() || counts[text] > counts[best]) best = text;
  return best;
}

class MapWriter {
 public:
  MapWriter(const Map& map, const std::vector<std::string>& remarks) : map_(map) {
    for (const std::string& remark : remarks) write_remark(remark);
    find_defaults();
    write_head();
    write_places();
    write_links();
    write_aggregators();
  }

  std::string take() { return std::move(text_); }

 private:
  void write_remark(const std::string& remark) {
    const std::string margin = remark.starts_with("- ") ? "#  " : "#";  // of lines that go on
    std::string line = "#";
    std::string_view rest = remark;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      // A comment that held a newline would be no comment.
      const std::string_view word = is_plain(rest.substr(0, end)) ? rest.substr(0, end) : "?";
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (line.size() > 1 && line.size() + 1 + word.size() > kColumns) {
        text_ += line + "\n";
        line = margin;
      }
      line += ' ';
      line += word;
    }
    text_ += line + "\n";
  }

  void find_defaults() {
    std::vector<std::string> access;
    for (const Island& island : map_.islands) access.push_back(access_text(island));
    access_ = commonest(access);
    std::vector<std::string> rates;  // a default rate serves both directions
    for (const Link& link : map_.links)
      if (link.rate[0] == link.rate[1]) rates.push_back(both_ways(link.rate));
    rate_ = commonest(rates);
    // Edges that the reader adds by itself, after all that are written: the longest run at the
    // end that it would make, which is plain edges in the order of islands.
    written_ = map_.aggregators.size();
    int next = map_.island_count();
    while (written_ > 0) {
      const Aggregator& edge = map_.aggregators[AggregatorId(written_ - 1)];
      const bool plain = edge.place < next && edge.spec == map_.edge && edge.serves.size() == 1 &&
                         edge.serves[0] == edge.place;
      if (!plain) break;
      next = edge.place;
      --written_;
    }
  }

  void write_head() {
    if (!map_.name.empty()) text_ += fmt::format("name     = {}\n", quoted(map_.name));
    if (!map_.source.empty()) text_ += fmt::format("source   = {}\n", quoted(map_.source));
    text_ += fmt::format("payload  = {}\n", quantity(map_.payload));
    std::vector<std::string> defaults;
    if (!access_.empty()) defaults.push_back("access = " + access_);
    if (!rate_.empty()) defaults.push_back("rate = " + rate_);
    if (!defaults.empty()) text_ += fmt::format("defaults = {{ {} }}\n", fmt::join(defaults, ", "));
    const EdgeSpec usual;
    std::vector<std::string> edge;
    if (map_.edge.memory != usual.memory) edge.push_back("memory = " + quantity(map_.edge.memory));
    if (map_.edge.chunk != usual.chunk) edge.push_back("chunk = " + quantity(map_.edge.chunk));
    if (map_.edge.slot != map_.edge.chunk) edge.push_back("slot = " + quantity(map_.edge.slot));
    if (map_.edge.framing != usual.framing)
      edge.push_back("framing = " + quantity(map_.edge.framing));
    if (map_.edge.resend != usual.resend) edge.push_back("resend = " + quantity(map_.edge.resend));
    if (!edge.empty()) text_ += fmt::format("edge     = {{ {} }}\n", fmt::join(edge, ", "));
  }

  void write_list(std::string_view name, const std::vector<std::string>& tables) {
    if (tables.empty()) return;
    text_ += fmt::format("\n{} = [\n", name);
    for (const std::string& table : tables) text_ += fmt::format("  {{ {} }},\n", table);
    text_ += "]\n";
  }

  static std::string coordinates_text(const Coordinates& at) {
    return fmt::format(", coordinates = [{}, {}]", at.latitude, at.longitude);
  }

  void write_places() {
    const auto edges = aggregator_of_islands(map_);
    std::vector<std::string> islands;
    for (IslandId i = 0; i < map_.island_count(); ++i) {
      const Island& island = map_.islands[i];
      std::string table = "name = " + quoted(island.name);
      if (!island.label.empty()) table += ", label = " + quoted(island.label);
      if (!island.region.empty()) table += ", region = " + quoted(island.region);
      if (island.coordinates) table += coordinates_text(*island.coordinates);
      if (access_text(island) != access_) table += ", access = " + access_text(island);
      if (edges[i] == kNoAggregator) table += ", edge = false";
      islands.push_back(std::move(table));
    }
    write_list("islands", islands);
    std::vector<std::string> routers;
    for (const Router& router : map_.routers)
      routers.push_back("name = " + quoted(router.name) +
                        (router.coordinates ? coordinates_text(*router.coordinates) : ""));
    write_list("routers", routers);
  }

  void write_links() {
    std::vector<std::string> links;
    for (const Link& link : map_.links) {
      std::string table =
          fmt::format("ends = [{}, {}], latency = {}", quoted(place_name(map_, link.ends[0])),
                      quoted(place_name(map_, link.ends[1])), both_ways(link.latency));
      if (both_ways(link.rate) != rate_) table += ", rate = " + both_ways(link.rate);
      links.push_back(std::move(table));
    }
    write_list("links", links);
  }

  void write_aggregators() {
    std::vector<std::string> aggregators;
    for (const AggregatorId a : all_ids<AggregatorId>(written_)) {
      const Aggregator& edge = map_.aggregators[a];
      EdgeSpec usual = map_.edge;
      usual.memory = edge.spec.memory;
      COTILLION_CHECK(edge.spec == usual && !edge.serves.empty());
      std::vector<std::string> serves;
      for (const IslandId island : edge.serves) serves.push_back(quoted(map_.islands[island].name));
      std::string table = fmt::format(
          "at = {}, serves = [{}]", quoted(place_name(map_, edge.place)), fmt::join(serves, ", "));
      if (edge.spec != map_.edge) table += ", memory = " + quantity(edge.spec.memory);
      aggregators.push_back(std::move(table));
    }
    write_list("aggregators", aggregators);
  }

  const Map& map_;
  std::string text_;
  std::string access_, rate_;
  std::size_t written_ = 0;  // aggregators that the reader would not add by itself
};

}  // namespace

std::string write_map(const Map& map, const std::vector<std::string>& remarks) {
  return MapWriter(map, remarks).take();
}

std::string exact_text(Duration duration) {
  return decimal(duration.ps, 9) + "ms";
}

std::string exact_text(Bytes bytes) {
  constexpr std::pair<std::int64_t, const char*> kUnits[] = {
      {1'000'000'000'000, "TB"}, {1LL << 40, "TiB"}, {1'000'000'000, "GB"}, {1LL << 30, "GiB"},
      {1'000'000, "MB"},         {1LL << 20, "MiB"}, {1'000, "kB"},         {1LL << 10, "KiB"}};
  const char* unit = "B";
  std::int64_t fewest = bytes.count;
  for (const auto& [size, name] : kUnits)
    if (bytes.count % size == 0 && bytes.count / size < fewest) {
      fewest = bytes.count / size;
      unit = name;
    }
  return fmt::format("{}{}", fewest, unit);
}

std::string exact_text(BitsPerSecond rate) {
  COTILLION_CHECK(rate.value >= 0 && rate.value <= 0x1p53 && rate.value == std::floor(rate.value));
  const auto bits = std::int64_t(rate.value);
  if (bits >= 1'000'000'000) return decimal(bits, 9) + "Gbps";
  if (bits >= 1'000'000) return decimal(bits, 6) + "Mbps";
  if (bits >= 1'000) return decimal(bits, 3) + "kbps";
  return decimal(bits, 0) + "bps";
}

}  // namespace cotillion
