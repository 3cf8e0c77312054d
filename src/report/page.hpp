// One HTML file that needs nothing else: no script, no font, no picture from anywhere. It opens
// without a network and prints as it looks.
#pragma once

#include <string>
#include <vector>

namespace cotillion {

struct Section {
  std::string heading;
  std::vector<std::string> paragraphs;          // plain text; escaped here
  std::vector<std::vector<std::string>> table;  // plain text, titles first; none when empty
  std::vector<std::string> figures;             // finished SVG, as the figures of this room are
};

struct Page {
  std::string title;
  std::string subtitle;  // may be empty
  std::vector<Section> sections;
};

struct NamedFigure {
  std::string name;  // a file name without its ending: "survival-triangles"
  std::string svg;
};

// A page, and its figures as files of their own.
struct IllustratedPage {
  std::vector<NamedFigure> figures;
  Page page;
};

[[nodiscard]] std::string page_html(const Page& page);

}  // namespace cotillion
