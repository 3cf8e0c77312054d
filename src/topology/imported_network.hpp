// What every foreign format comes down to before it becomes a map: labelled places and the links
// between them, each with the line it came from. Readers of one format know nothing of metros,
// components or names; imported_map.hpp knows nothing of formats.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.hpp"
#include "topology/map.hpp"

namespace cotillion {

class Problems;

inline constexpr double kImportedRateMax = 0x1p53;  // bit/s; what a file says beyond is a mistake

struct ImportOptions {
  std::string name;    // of the map; the format or the file gives one otherwise
  std::string source;  // where the figures come from
  Bytes payload{1'000'000'000};
  BitsPerSecond access{20e9};
  BitsPerSecond rate{100e9};  // of links in formats that give none
  Bytes memory{32'000'000'000};
  bool merge_metros = false;         // NYC1 … NYC4 become the island NYC
  bool round_trip = false;           // the file's latencies are there and back: halve them
  std::vector<std::string> islands;  // the other places become routers; empty: all are islands
  // GML carries distances. The authors of the data in omarfoq/communication-in-cross-silo-fl
  // take latency = 0.0085 ms/km × distance + 4 ms.
  double ms_per_km = 0.0085;
  double fixed_ms = 4.0;
};

struct ImportedPlace {
  std::string label;
  std::optional<Coordinates> coordinates;
};

struct ImportedLink {
  int ends[2];
  Duration latency;
  BitsPerSecond rate;
  Position at;
};

struct ImportedNetwork {
  std::string name;
  std::vector<ImportedPlace> places;
  std::vector<ImportedLink> links;
  std::vector<std::string> notes;  // what was left out, merged or assumed, in words
  // Whether two links of one latency between the same places are two fibres, whose rates add up,
  // or one link given twice (GML lists both directions of a link in directed graphs).
  bool parallel_rates_add = true;
};

// The place of that label, made on first sight.
class PlaceIndex {
 public:
  explicit PlaceIndex(ImportedNetwork& network) : network_(network) {}
  int operator[](const std::string& label);

 private:
  ImportedNetwork& network_;
  std::map<std::string, int> ids_;
};

// The whole text as a number; nothing where it is none ("10Gbps", "", "0x1F").
[[nodiscard]] std::optional<double> parse_number(std::string_view text);

// Both refuse what is negative, not finite or absurd, and round: to a nanosecond, to a bit.
[[nodiscard]] std::optional<Duration> latency_of_ms(double ms, Position at,
                                                    const std::string& field, Problems& problems);
[[nodiscard]] std::optional<BitsPerSecond> rate_of_bps(double bps, Position at,
                                                       const std::string& field,
                                                       Problems& problems);

// "a, b, c and 4 more": notes stay readable when a file is large or hostile.
[[nodiscard]] std::string listed(const std::vector<std::string>& items);

}  // namespace cotillion
