#include "base/fingerprint.hpp"

#include <gtest/gtest.h>

namespace cotillion {
namespace {

// The two values are those of FIPS 180-4's examples.
TEST(Fingerprint, IsTheSha256OfTheBytes) {
  EXPECT_EQ(fingerprint("abc"),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Fingerprint, NothingHasAFingerprintToo) {
  const std::string expected =
      "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  EXPECT_EQ(fingerprint(""), expected);
  EXPECT_EQ(fingerprint(std::string_view{}), expected);
}

TEST(Fingerprint, EveryByteCountsEvenNul) {
  EXPECT_NE(fingerprint(std::string_view("a\0b", 3)), fingerprint(std::string_view("a\0c", 3)));
  EXPECT_NE(fingerprint(std::string_view("a", 1)), fingerprint(std::string_view("a\0", 2)));
}

}  // namespace
}  // namespace cotillion
