#include "base/suggestion.hpp"

#include <gtest/gtest.h>

namespace cotillion {
namespace {

const std::vector<std::string> kCities = {"LON", "NYC", "Singapore", "Frankfurt"};

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

TEST(DidYouMean, NamesTheClosestCandidate) {
  EXPECT_EQ(did_you_mean("LOM", kCities, "see the map"), "did you mean 'LON'?");
}

TEST(DidYouMean, SaysSomethingElseWhenNothingIsClose) {
  EXPECT_EQ(did_you_mean("Reykjavik", kCities, "see the map"), "see the map");
  EXPECT_EQ(did_you_mean("LON", {}, "see the map"), "see the map");
}

TEST(DidYouMean, PrintsNothingThatWouldMoveACursor) {
  EXPECT_EQ(did_you_mean("Londo", {"Lond\x1b"}, "see the map"), "did you mean 'Lond?'?");
}

}  // namespace
}  // namespace cotillion
