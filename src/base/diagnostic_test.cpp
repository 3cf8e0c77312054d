#include "base/diagnostic.hpp"

#include <gtest/gtest.h>

namespace cotillion {
namespace {

const std::vector<std::string> kCities = {"LON", "NYC", "Singapore", "Frankfurt"};

TEST(Diagnostic, ReadsAsPlaceFieldMessageAndRemedy) {
  const Diagnostic diagnostic{"map.toml",
                              {12, 3},
                              "links[3].latency",
                              "negative time \"-1ms\"",
                              "a time cannot be below zero"};
  EXPECT_EQ(to_text(diagnostic),
            "map.toml:12:3: links[3].latency: negative time \"-1ms\"; "
            "a time cannot be below zero");
}

TEST(Diagnostic, AMistakeOfTheWholeFileHasNoLine) {
  EXPECT_EQ(to_text(Diagnostic{"map.toml", {}, "", "the file holds NUL bytes", "give text"}),
            "map.toml: the file holds NUL bytes; give text");
}

TEST(Diagnostic, FieldAndRemedyMayBeAbsent) {
  EXPECT_EQ(to_text(Diagnostic{"map.toml", {1, 1}, "", "wrong", ""}), "map.toml:1:1: wrong");
}

TEST(ClosestName, ForgivesOneWrongLetterInAShortName) {
  EXPECT_EQ(closest_name("LOM", kCities), "LON");
  EXPECT_EQ(closest_name("NYCC", kCities), "NYC");
}

TEST(ClosestName, ForgivesAThirdOfTheLettersOfALongName) {
  EXPECT_EQ(closest_name("Frankfort", kCities), "Frankfurt");
  EXPECT_EQ(closest_name("Frnkfurtt", kCities), "Frankfurt");
  EXPECT_EQ(closest_name("Frxxxfurt", kCities), "Frankfurt");
  EXPECT_EQ(closest_name("Frxxxxurt", kCities), "");
}

TEST(ClosestName, DoesNotRegardCase) {
  EXPECT_EQ(closest_name("lon", kCities), "LON");
  EXPECT_EQ(closest_name("SINGAPORE", kCities), "Singapore");
}

TEST(ClosestName, IsEmptyWhenNothingIsClose) {
  EXPECT_EQ(closest_name("Reykjavik", kCities), "");
  EXPECT_EQ(closest_name("LON", {}), "");
}

TEST(ClosestName, TheFirstOfEquallyCloseNamesWins) {
  EXPECT_EQ(closest_name("LOX", {"LON", "LOS"}), "LON");
  EXPECT_EQ(closest_name("LOX", {"LOS", "LON"}), "LOS");
}

TEST(ClosestName, DoesNotSearchForTextThatIsNoName) {
  const std::string text(65, 'x');
  EXPECT_EQ(closest_name(text, {text}), "");
}

}  // namespace
}  // namespace cotillion
