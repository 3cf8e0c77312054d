#include "report/svg_test.hpp"

#include <limits>

#include "report/svg.hpp"
#include "report/svg_palette.hpp"
#include "report/svg_text.hpp"

namespace cotillion {
namespace {

using testing::expect_sound;
using testing::kHostileNames;
using testing::xml_mistake;

TEST(XmlMistake, TheCheckerItselfSeesWhatIsWrong) {
  EXPECT_EQ(xml_mistake("<svg a=\"1\"><text>x &amp; y</text></svg>\n"), "");
  for (const std::string bad :
       {"", "x", "<svg>", "<svg></text>", "<svg/><svg/>", "<svg><script/></svg>", "<svg a=1/>",
        "<svg>&nbsp;</svg>", "<svg a=\"1\" a=\"2\"/>", "<svg a=\"<\"/>", "<svg>\a</svg>"})
    EXPECT_NE(xml_mistake(bad), "") << bad;
}

TEST(Svg, EmptyDrawingsAreWellFormed) {
  const std::string svg = Svg(10, 20, "nothing").finish();
  expect_sound(svg);
  EXPECT_NE(svg.find("width=\"10\" height=\"20\" viewBox=\"0 0 10 20\""), std::string::npos);
}

TEST(Svg, HostileTextStaysText) {
  for (const std::string& name : kHostileNames) {
    Svg svg(10, 10, name);
    svg.text({1, 2}, name, {.bold = true, .turn = -90, .halo = true});
    expect_sound(svg.finish());
  }
}

TEST(Svg, AllShapesAreWellFormed) {
  Svg svg(10, 10, "all");
  svg.line({0, 0}, {1, 1}, {.stroke = "#000000", .dash = "2 3"});
  svg.polyline({{0, 0}, {1, 1}}, {.stroke = "#000000"});
  svg.polyline({{0, 0}}, {.stroke = "#000000"});
  svg.polygon({{0, 0}, {1, 1}, {2, 0}}, {.fill = "#000000", .fill_opacity = 0.5});
  svg.rect({1, 1, 2, 2}, {}, 3);
  svg.circle({1, 1}, 2, {});
  for (std::size_t i = 0; i < 12; ++i) {
    draw_mark(svg, palette_mark(i), {5, 5}, 3, palette_colour(i));
    draw_hatched(svg, {0, 0, 20, 30}, i);
  }
  expect_sound(svg.finish());
}

TEST(SvgNumber, HasTwoDecimalsAtMostAndNoMinusZero) {
  EXPECT_EQ(svg_number(0), "0");
  EXPECT_EQ(svg_number(-0.001), "0");
  EXPECT_EQ(svg_number(1.5), "1.5");
  EXPECT_EQ(svg_number(-2.25), "-2.25");
  EXPECT_EQ(svg_number(100), "100");
  EXPECT_EQ(svg_number(1.0 / 3), "0.33");
}

TEST(SvgNumberDeathTest, WhatIsNoNumberEndsTheProgram) {
  EXPECT_DEATH((void)svg_number(std::numeric_limits<double>::quiet_NaN()), "internal error");
  EXPECT_DEATH((void)svg_number(std::numeric_limits<double>::infinity()), "internal error");
}

TEST(Escaped, TheFiveSignsAndWhatIsNotPlain) {
  EXPECT_EQ(escaped("<a href=\"b\">'&'"), "&lt;a href=&quot;b&quot;&gt;&#39;&amp;&#39;");
  EXPECT_EQ(escaped("Zürich → µs"), "Zürich → µs");
  EXPECT_EQ(escaped("a\nb\x80"), "a?b?");
}

TEST(Palette, TwentySeriesHaveDifferentLooks) {
  std::set<std::string> looks;
  for (std::size_t i = 0; i < 20; ++i)
    looks.insert(std::string(palette_colour(i)) + "|" + std::string(palette_dash(i)));
  EXPECT_EQ(looks.size(), 20u);
}

TEST(TextWidth, WideLettersAndLargeSizesAreWider) {
  EXPECT_GT(text_width("WWW", 10), text_width("iii", 10));
  EXPECT_DOUBLE_EQ(text_width("abc", 20), 2 * text_width("abc", 10));
  EXPECT_NEAR(text_width("Amsterdam", 100), 581, 6);  // measured with the font
}

TEST(TextLines, BreakBetweenWordsAndKeepLongOnesWhole) {
  EXPECT_EQ(text_lines("", 10, 50), std::vector<std::string>{});
  EXPECT_EQ(text_lines("aa bb", 10, 20), (std::vector<std::string>{"aa", "bb"}));
  EXPECT_EQ(text_lines("aa bb", 10, 200), (std::vector<std::string>{"aa bb"}));
}

TEST(Fitted, CutsWholeCharactersAndSaysSo) {
  EXPECT_EQ(fitted("abc", 10, 100), "abc");
  const std::string cut = fitted("ÄÖÜÄÖÜÄÖÜ", 10, 40);
  EXPECT_TRUE(cut.ends_with("…"));
  EXPECT_EQ(escaped(cut), cut) << "half a character would have become '?'";
  EXPECT_EQ(fitted("abc", 10, 0), "…");
}

TEST(OnDarkGround, ColoursChangeAndTextStays) {
  Svg svg(10, 10, "a #ffffff title");
  svg.line({0, 0}, {1, 1}, {.stroke = kInk});
  svg.circle({1, 1}, 1, {.stroke = palette_colour(1), .fill = kWhite});
  svg.text({0, 0}, "\"#1a1a1a\"");
  const std::string dark = on_dark_ground(svg.finish());
  EXPECT_EQ(dark.find("\"#ffffff\""), std::string::npos);
  EXPECT_NE(dark.find("a #ffffff title"), std::string::npos);
  EXPECT_NE(dark.find("&quot;#1a1a1a&quot;"), std::string::npos);
  EXPECT_NE(dark.find("stroke=\"#e6edf3\""), std::string::npos);
  EXPECT_NE(dark.find(palette_colour(1)), std::string::npos) << "seen on both grounds";
}

TEST(Crosses, ASegmentTouchesABoxOrNot) {
  const Box box{0, 0, 10, 10};
  EXPECT_TRUE(crosses({-5, 5}, {15, 5}, box));
  EXPECT_TRUE(crosses({5, 5}, {6, 6}, box));
  EXPECT_FALSE(crosses({-5, 20}, {15, 20}, box));
  EXPECT_FALSE(crosses({-5, -1}, {-1, -5}, box));
  EXPECT_FALSE(crosses({12, -5}, {12, 15}, box));
}

TEST(LabelPlacer, LabelsNeverOverlapMarksOrEachOther) {
  LabelPlacer placer({0, 0, 400, 300});
  std::vector<Point> marks;
  for (int i = 0; i < 25; ++i) marks.push_back({200.0 + (i * 37) % 60, 150.0 + (i * 23) % 50});
  for (const Point mark : marks) placer.add_mark(mark, 3);
  std::vector<Box> placed;
  for (const Point mark : marks)
    if (const auto label = placer.beside(mark, 3, "a label", 9, 150)) placed.push_back(label->box);
  EXPECT_GE(placed.size(), 12u);
  for (std::size_t i = 0; i < placed.size(); ++i) {
    EXPECT_TRUE(contains({0, 0, 400, 300}, placed[i]));
    for (std::size_t j = i + 1; j < placed.size(); ++j) EXPECT_FALSE(overlap(placed[i], placed[j]));
    for (const Point mark : marks) EXPECT_FALSE(overlap(placed[i], {mark.x - 3, mark.y - 3, 6, 6}));
  }
}

TEST(LabelPlacer, WhereThereIsNoRoomThereIsNoLabel) {
  LabelPlacer placer({0, 0, 20, 20});
  placer.add_mark({10, 10}, 3);
  EXPECT_FALSE(placer.beside({10, 10}, 3, "far too long for this", 12, 100).has_value());
}

}  // namespace
}  // namespace cotillion
