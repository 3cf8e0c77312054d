#include "report/page.hpp"

#include "report/chart.hpp"
#include "report/svg_test.hpp"

namespace cotillion {
namespace {

using testing::kHostileNames;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(Page, HeadingsAreListedAndLinked) {
  const std::string html =
      page_html({"T", "S", {{"One", {"para"}, {}, {}}, {"Two", {}, {{"a"}, {"1"}}, {}}}});
  EXPECT_NE(html.find("<a href=\"#s2\">Two</a>"), std::string::npos);
  EXPECT_NE(html.find("<h2 id=\"s2\">Two</h2>"), std::string::npos);
  EXPECT_NE(html.find("<p>para</p>"), std::string::npos);
  EXPECT_TRUE(html.starts_with("<!DOCTYPE html>"));
}

TEST(Page, NothingInItPointsOutside) {
  const std::string html = page_html({"T", "", {{"H", {}, {}, {chart_svg({}), chart_svg({})}}}});
  EXPECT_EQ(count(html, "<svg "), 2u);
  for (const char* outside :
       {"http:", "https:", "//", "src=", "url(", "@import", "<script", "<link", "<img", "<iframe"})
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
}

TEST(Page, EverythingIsEscaped) {
  for (const std::string& name : kHostileNames) {
    const std::string html =
        page_html({name, name, {{name, {name}, {{name}, {name}}, {}}, {name, {}, {}, {}}}});
    EXPECT_EQ(html.find("<script>"), std::string::npos);
    EXPECT_EQ(html.find("<image"), std::string::npos);
    EXPECT_EQ(count(html, "<section>"), 2u);
    for (const char c : html) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n');
  }
}

TEST(Page, NumbersStandToTheRight) {
  const std::string html = page_html(
      {"T", "", {{"H", {}, {{"name", "T"}, {"a", "564.7 ms"}, {"b", "–"}, {"c", ""}}, {}}}});
  EXPECT_NE(html.find("<td>a</td><td class=\"number\">564.7 ms</td>"), std::string::npos);
  EXPECT_NE(html.find("<th class=\"number\">T</th>"), std::string::npos);
}

TEST(Page, RaggedAndEmptyTablesAreNoTrouble) {
  EXPECT_FALSE(page_html({}).empty());
  const std::string html = page_html({"", "", {{"", {}, {{"a"}, {"1", "2", "3"}, {}}, {}}}});
  EXPECT_EQ(count(html, "<tr>"), 3u);
}

TEST(Page, TheSamePageIsTheSameBytes) {
  const Page page{"T", "S", {{"H", {"p"}, {{"a"}, {"1"}}, {chart_svg({})}}}};
  EXPECT_EQ(page_html(page), page_html(page));
}

}  // namespace
}  // namespace cotillion
