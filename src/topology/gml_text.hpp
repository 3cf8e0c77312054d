// GML as text: nested lists of keys with numbers, strings or lists. Of a graph only two levels
// matter here, its own attributes and those of its nodes and edges; what lies deeper is skipped.
// The scanner is a loop without recursion, so brackets a million deep cost nothing but an error.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.hpp"

namespace cotillion {

class Problems;

struct GmlAttribute {
  std::string_view key;
  std::string_view value;  // as written, without quotes
  Position at;
};

// A list in the graph: a node, an edge, or one that nobody asks for.
struct GmlRecord {
  std::string_view key;
  Position at;
  std::vector<GmlAttribute> attributes;

  [[nodiscard]] const GmlAttribute* find(std::string_view name) const;
};

struct GmlGraph {
  GmlRecord self;
  std::vector<GmlRecord> records;
};

// Views point into `text`. On a mistake in the syntax adds one problem and returns nothing.
[[nodiscard]] std::optional<GmlGraph> parse_gml(std::string_view text, Problems& problems);

// A string's value with character references such as &#233; and &amp; as UTF-8.
[[nodiscard]] std::string decode_gml(std::string_view value);

}  // namespace cotillion
