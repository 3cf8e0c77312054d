#include "base/text.hpp"

#include <gtest/gtest.h>

namespace cotillion {
namespace {

TEST(Text, LettersOfAnyScriptArePlain) {
  EXPECT_TRUE(is_plain("LON"));
  EXPECT_TRUE(is_plain("São Paulo 東京 µ"));
  EXPECT_TRUE(is_plain(""));
}

TEST(Text, ControlCharactersAndBrokenUtf8AreNotPlain) {
  for (const char* text : {"a\nb", "\x1b[2J", "\x7f", "\xc2\x9b", "\xe2\x80\xae", "\xff", "\xc3",
                           "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80"})
    EXPECT_FALSE(is_plain(text)) << text;
}

TEST(Text, ShownReplacesWhatIsNotPlain) {
  EXPECT_EQ(shown("a\x1b[1mb\xff"), "a?[1mb?");
}

TEST(Text, ShownNeverCutsACharacterInHalf) {
  const std::string long_text = std::string(59, 'x') + "µµµ";
  EXPECT_EQ(shown(long_text), std::string(59, 'x') + "…");
  EXPECT_TRUE(is_plain(shown(long_text)));
}

TEST(Text, CountedKnowsOneFromMany) {
  EXPECT_EQ(counted(1, "link"), "1 link");
  EXPECT_EQ(counted(0, "link"), "0 links");
}

}  // namespace
}  // namespace cotillion
