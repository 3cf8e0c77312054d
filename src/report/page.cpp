#include "report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/table.hpp"
#include "report/svg.hpp"

namespace cotillion {
namespace {

// The policy makes a browser refuse whatever a mistake of ours might reach for.
constexpr std::string_view kPageHead = R"(<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
)";

constexpr std::string_view kStyle = R"(<style>
html { background: #fff; color: #1a1a1a; }
body { max-width: 1080px; margin: 2rem auto 4rem; padding: 0 1.5rem;
  font: 16px/1.5 "DejaVu Sans", Arial, sans-serif; }
h1 { font-size: 1.8rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.3rem; margin: 2.6rem 0 .6rem; border-bottom: 1px solid #bbb; }
p { max-width: 46rem; margin: .6rem 0; }
.subtitle { color: #555; }
nav { margin: 1.5rem 0; padding: .8rem 1.2rem; background: #f4f4f4; }
nav ol { margin: 0; padding-left: 1.4rem; columns: 2; }
nav a { color: #0058a0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .86rem; margin: 1rem 0; }
th, td { padding: .28rem .7rem; border-bottom: 1px solid #ddd; text-align: left;
  vertical-align: top; }
th { border-bottom: 2px solid #1a1a1a; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
figure { margin: 1.2rem 0; }
figure svg { max-width: 100%; height: auto; border: 1px solid #ddd; }
@media print {
  body { margin: 0; max-width: none; font-size: 11pt; }
  nav { background: none; padding: 0; }
  h2 { break-after: avoid; }
  figure, tr { break-inside: avoid; }
  figure svg { border: 0; }
}
</style>
)";

// Text may be wrapped where it was written; a line break is a space.
std::string prose(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return escaped(text);
}

std::string table_html(const std::vector<std::vector<std::string>>& rows) {
  const std::vector<bool> numbers = number_columns(rows);
  std::string html = "<div class=\"wide\"><table>\n";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::string_view cell = r == 0 ? "th" : "td";
    html += "<tr>";
    for (std::size_t c = 0; c < rows[r].size(); ++c)
      html += fmt::format("<{0}{1}>{2}</{0}>", cell,
                          c < numbers.size() && numbers[c] ? " class=\"number\"" : "",
                          prose(rows[r][c]));
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

// HTML knows SVG by itself; without the namespace no address at all stands in the page.
std::string inline_svg(std::string svg) {
  constexpr std::string_view kNamespace = " xmlns=\"http://www.w3.org/2000/svg\"";
  if (const std::size_t at = svg.find(kNamespace); at != std::string::npos)
    svg.erase(at, kNamespace.size());
  return svg;
}

std::string section_html(const Section& section, std::size_t index) {
  std::string html =
      fmt::format("<section>\n<h2 id=\"s{}\">{}</h2>\n", index + 1, prose(section.heading));
  for (const std::string& paragraph : section.paragraphs)
    html += fmt::format("<p>{}</p>\n", prose(paragraph));
  if (!section.table.empty()) html += table_html(section.table);
  for (const std::string& figure : section.figures)
    html += fmt::format("<figure>\n{}</figure>\n", inline_svg(figure));
  return html + "</section>\n";
}

}  // namespace

std::string page_html(const Page& page) {
  std::string html = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n";
  html += kPageHead;
  html += fmt::format("<title>{}</title>\n", prose(page.title));
  html += kStyle;
  html += fmt::format("</head>\n<body>\n<h1>{}</h1>\n", prose(page.title));
  if (!page.subtitle.empty())
    html += fmt::format("<p class=\"subtitle\">{}</p>\n", prose(page.subtitle));
  if (page.sections.size() > 1) {
    html += "<nav><ol>\n";
    for (std::size_t i = 0; i < page.sections.size(); ++i)
      html +=
          fmt::format("<li><a href=\"#s{}\">{}</a></li>\n", i + 1, prose(page.sections[i].heading));
    html += "</ol></nav>\n";
  }
  for (std::size_t i = 0; i < page.sections.size(); ++i) html += section_html(page.sections[i], i);
  return html + "</body>\n</html>\n";
}

}  // namespace cotillion
