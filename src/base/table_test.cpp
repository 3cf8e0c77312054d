#include "base/table.hpp"

#include <gtest/gtest.h>

namespace cotillion {
namespace {

using Align = Table::Align;

TEST(Table, ColumnsAreAsWideAsTheirWidestCell) {
  Table table({{"city"}, {"ms", Align::kRight}});
  table.add({"London", "5.7"});
  table.add({"Ur", "116.2"});
  EXPECT_EQ(table.text(),
            "city       ms\n"
            "London    5.7\n"
            "Ur      116.2\n");
}

TEST(Table, ATitleCanBeTheWidestCell) {
  Table table({{"a long title"}, {"b"}});
  table.add({"x", "y"});
  EXPECT_EQ(table.text(),
            "a long title  b\n"
            "x             y\n");
}

TEST(Table, WidthsCountCodePointsNotBytes) {
  Table table({{"lane"}, {"x"}});
  table.add({"A→B", "1"});
  table.add({"Zürich", "2"});
  EXPECT_EQ(table.text(),
            "lane    x\n"
            "A→B     1\n"
            "Zürich  2\n");
  EXPECT_EQ(display_width("A→B–µ"), 5u);
  EXPECT_EQ(display_width(""), 0u);
}

TEST(Table, LinesEndWithoutTrailingSpaces) {
  Table table({{"a"}, {"b"}});
  table.add({"wide cell", ""});
  table.add({"", ""});
  EXPECT_EQ(table.text(),
            "a          b\n"
            "wide cell\n"
            "\n");
}

TEST(Table, EveryLineIsIndented) {
  Table table({{"a"}});
  table.add({"x"});
  EXPECT_EQ(table.text(2), "  a\n  x\n");
}

TEST(Table, WithoutRowsOnlyTheTitlesRemain) {
  EXPECT_EQ(Table({{"a"}, {"b"}}).text(), "a  b\n");
}

TEST(TableDeathTest, ARowWithACellTooFewEndsTheProgram) {
  Table table({{"a"}, {"b"}});
  EXPECT_DEATH(table.add({"x"}), "internal error");
}

TEST(Wrapped, BreaksBetweenWordsAndKeepsLongOnesWhole) {
  EXPECT_EQ(wrapped("one two three", 7), "one two\nthree\n");
  EXPECT_EQ(wrapped("a incomprehensible b", 5), "a\nincomprehensible\nb\n");
  EXPECT_EQ(wrapped("µµ µµ", 5), "µµ µµ\n");
}

}  // namespace
}  // namespace cotillion
