// What every drawing must be, for the tests of this room: well-formed XML that carries no foreign
// element, and no number that is none.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cotillion::testing {

// Names that try to leave the text they stand in.
inline const std::vector<std::string> kHostileNames = {"<script>alert(1)</script>",
                                                       "\"/><image href='x'/>",
                                                       "a & b < c > d",
                                                       "it's",
                                                       "]]>&#0;",
                                                       "bell\a\x1b[31mred",
                                                       "\xff\xfe\x80",
                                                       "\u202Eright-to-left",
                                                       "\xef\xbf\xbf noncharacter",
                                                       std::string("nul\0l", 5)};

// What is wrong with the text as XML; empty when nothing is. Knows elements, attributes, text and
// the five entities, which is all that the writer writes.
inline std::string xml_mistake(std::string_view text) {
  std::vector<std::string> open;
  bool rooted = false;
  const auto bad_text = [](std::string_view part) {
    for (std::size_t at = part.find('&'); at != std::string_view::npos;
         at = part.find('&', at + 1)) {
      bool known = false;
      for (const std::string_view entity : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"})
        known = known || part.substr(at).starts_with(entity);
      if (!known) return true;
    }
    for (const char c : part)
      if (static_cast<unsigned char>(c) < 0x20 && c != '\n') return true;
    return part.find('<') != std::string_view::npos;
  };
  while (!text.empty()) {
    const std::size_t start = text.find('<');
    const std::string_view before = text.substr(0, start);
    if (bad_text(before)) return "bad text: " + std::string(before);
    if (open.empty() && before.find_first_not_of('\n') != std::string_view::npos)
      return "text outside the root";
    if (start == std::string_view::npos) break;
    text.remove_prefix(start);
    const std::size_t end = text.find('>');
    if (end == std::string_view::npos) return "a tag without an end";
    std::string_view tag = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) return "closes what is not open";
      open.pop_back();
      continue;
    }
    const bool alone = tag.ends_with('/');
    if (alone) tag.remove_suffix(1);
    const std::string name(tag.substr(0, tag.find(' ')));
    tag.remove_prefix(name.size());
    static const std::set<std::string> kKnown = {"svg",     "rect",   "line", "polyline",
                                                 "polygon", "circle", "text"};
    if (!kKnown.contains(name)) return "a foreign element: " + name;
    std::set<std::string> seen;
    while (tag.starts_with(' ')) {
      const std::size_t equals = tag.find("=\"");
      if (equals == std::string_view::npos) return "an attribute without a value in " + name;
      if (!seen.insert(std::string(tag.substr(1, equals - 1))).second) return "an attribute twice";
      const std::size_t close = tag.find('"', equals + 2);
      if (close == std::string_view::npos) return "a value without an end in " + name;
      if (bad_text(tag.substr(equals + 2, close - equals - 2))) return "a bad value in " + name;
      tag.remove_prefix(close + 1);
    }
    if (!tag.empty()) return "junk in " + name + ": " + std::string(tag);
    if (open.empty() && rooted) return "two roots";
    rooted = true;
    if (!alone) open.push_back(name);
  }
  if (!rooted) return "no root";
  return open.empty() ? "" : "never closed: " + open.back();
}

inline void expect_sound(const std::string& svg) {
  EXPECT_EQ(xml_mistake(svg), "");
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"")) << svg;
  for (const std::string number : {"\"nan", "\"-nan", "\"inf", "\"-inf", ",nan", ",inf", " nan"})
    EXPECT_EQ(svg.find(number), std::string::npos) << number;
}

}  // namespace cotillion::testing
