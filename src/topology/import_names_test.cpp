#include "topology/import_names.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.hpp"

namespace cotillion {
namespace {

TEST(ImportNames, WhatANameMayNotHoldBecomesADash) {
  ImportNames names;
  EXPECT_EQ(names.name_for("Sao Paulo"), "Sao-Paulo");
  EXPECT_EQ(names.name_for("Miami, Florida"), "Miami-Florida");
  EXPECT_EQ(names.name_for("  <a>; 'b' "), "a-b");
  EXPECT_EQ(names.name_for("Zürich"), "Zürich");
  EXPECT_EQ(names.name_for("tab\there"), "tab-here");
}

TEST(ImportNames, ANameIsGivenOnce) {
  ImportNames names;
  EXPECT_EQ(names.name_for("LON"), "LON");
  EXPECT_EQ(names.name_for("LON-2"), "LON-2");
  EXPECT_EQ(names.name_for("LON"), "LON-3");
  EXPECT_EQ(names.name_for("net"), "net-2") << "net is taken";
  EXPECT_EQ(names.name_for(""), "place");
  EXPECT_EQ(names.name_for(" , "), "place-2");
}

TEST(ImportNames, ALongLabelIsCutBetweenCharacters) {
  ImportNames names;
  for (int i = 0; i < 20; ++i) {
    std::string label = "x";
    for (int k = 0; k < 100; ++k) label += "é";
    const std::string name = names.name_for(label);
    EXPECT_LE(name.size(), 40u);
    EXPECT_TRUE(is_plain(name)) << name;
  }
}

TEST(ImportNames, ALabelForPeopleIsPlainAndBounded) {
  EXPECT_EQ(plain_label("Zürich"), "Zürich");
  EXPECT_EQ(plain_label("a\nb\xff"), "a?b?");
  EXPECT_LE(plain_label(std::string(100'000, 'x')).size(), 210u);
}

TEST(ImportNames, AMetroIsTheLettersBeforeADevicesNumber) {
  EXPECT_EQ(metro_of("NYC3"), "NYC");
  EXPECT_EQ(metro_of("NYC12"), "NYC");
  EXPECT_EQ(metro_of("NYC"), "NYC");
  EXPECT_EQ(metro_of("nyc-dz001"), "nyc");
  EXPECT_EQ(metro_of("ny5-dz01"), "ny");
  EXPECT_EQ(metro_of("New York 3"), "New York 3");
  EXPECT_EQ(metro_of("3NYC"), "3NYC");
  EXPECT_EQ(metro_of("NYC3a"), "NYC3a");
  EXPECT_EQ(metro_of(""), "");
}

}  // namespace
}  // namespace cotillion
