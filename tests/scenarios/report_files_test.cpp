// What `cotillion report` leaves behind: files that are what their names say.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/base/sanitized.hpp"

namespace {

namespace fs = std::filesystem;
using cotillion::testing::is_left_to_make_sanitize;
using cotillion::testing::kLeftToMakeSanitize;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string head_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(8, '\0');
  file.read(head.data(), std::streamsize(head.size()));
  return head;
}

class Report : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              (std::string("cotillion-") +
               ::testing::UnitTest::GetInstance()->current_test_info()->name() +
               std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  int run(const std::string& arguments) const {
    const std::string command =
        "cd '" COTILLION_SOURCE_DIR "' && '" COTILLION_BINARY "' " + arguments + " >/dev/null 2>&1";
    return WEXITSTATUS(std::system(command.c_str()));
  }
  fs::path folder_;
};

TEST_F(Report, WritesSvgPngAndOnePage) {
  if (is_left_to_make_sanitize()) GTEST_SKIP() << kLeftToMakeSanitize;
  ASSERT_EQ(run("report examples/nine-cities.toml -o '" + (folder_ / "out").string() + "'"), 0);
  EXPECT_EQ(head_of(folder_ / "out/map.png"), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(head_of(folder_ / "out/map.svg").substr(0, 4), "<svg");
  EXPECT_EQ(head_of(folder_ / "out/report.html"), "<!DOCTYP");
  for (const char* name : {"search", "frontier", "cliques-best-found"})
    EXPECT_TRUE(fs::exists(folder_ / "out" / (std::string(name) + ".png"))) << name;
  for (const auto& entry : fs::directory_iterator(folder_ / "out"))
    EXPECT_EQ(entry.path().string().find(".partial"), std::string::npos);
}

// The README shows what this command draws; COTILLION_BLESS=1 puts it there.
TEST_F(Report, DrawsThePictureOfTheReadme) {
  if (is_left_to_make_sanitize()) GTEST_SKIP() << kLeftToMakeSanitize;
  const fs::path out = folder_ / "out", docs = COTILLION_SOURCE_DIR "/docs";
  ASSERT_EQ(
      run("report examples/nine-cities.toml --memory 0B --no-png --dark -o '" + out.string() + "'"),
      0);
  for (const std::string ending : {".svg", "-dark.svg"}) {
    const std::string drawn = text_of(out / ("cliques-best-found" + ending));
    const fs::path shown = docs / ("nine-cities" + ending);
    if (std::getenv("COTILLION_BLESS") != nullptr)
      std::ofstream(shown, std::ios::binary) << drawn;
    else
      EXPECT_TRUE(text_of(shown) == drawn) << shown;
  }
}

TEST_F(Report, DrawsNamedSchedulesAloneOnRequest) {
  const std::string to = " --no-png --no-search -o '" + (folder_ / "out").string() + "'";
  ASSERT_EQ(run("report examples/nine-cities.toml" + to), 0);
  EXPECT_TRUE(fs::exists(folder_ / "out/cliques-triangles.svg"));
  EXPECT_FALSE(fs::exists(folder_ / "out/search.svg"));
  EXPECT_EQ(run("report examples/nine-cities.toml --steps 10k" + to), 2);
}

TEST_F(Report, GoesOnWhenNothingIsFound) {
  const std::string to = " --no-png -o '" + (folder_ / "out").string() + "'";
  ASSERT_EQ(run("report examples/nine-cities.toml --memory 0B --period-max 1" + to), 0);
  EXPECT_TRUE(fs::exists(folder_ / "out/report.html"));
  EXPECT_FALSE(fs::exists(folder_ / "out/search.svg"));
}

TEST_F(Report, RefusesAFileInTheWay) {
  std::ofstream(folder_ / "file") << "x";
  EXPECT_EQ(run("report examples/nine-cities.toml -o '" + (folder_ / "file").string() + "'"), 2);
}

TEST_F(Report, PlaysAPlanAndSaysWhetherItHolds) {
  const std::string plan = (folder_ / "plan.json").string();
  const std::string outcome = (folder_ / "outcome.json").string();
  ASSERT_EQ(run("plan examples/nine-cities.toml -s triangles --memory 0B --payload 10MB -o '" +
                plan + "'"),
            0);
  EXPECT_EQ(run("simulate '" + plan + "' -o '" + outcome + "'"), 0);
  EXPECT_GT(fs::file_size(outcome), 1000u);
  EXPECT_EQ(run("simulate '" + plan + "' --faults tests/scenarios/inputs/rough-weather.toml"), 1);
  EXPECT_EQ(run("simulate '" + plan + "' --faults examples/nine-cities.toml"), 2);
  EXPECT_EQ(run("simulate '" + outcome + "'"), 2);
}

TEST_F(Report, PutsWhatWasPlayedBesideThePlan) {
  const std::string plan = (folder_ / "plan.json").string();
  const std::string outcome = (folder_ / "outcome.json").string();
  const std::string rough = (folder_ / "rough.json").string();
  ASSERT_EQ(run("plan examples/nine-cities.toml -s triangles --memory 1MB --payload 10MB -o '" +
                plan + "'"),
            0);
  ASSERT_EQ(run("simulate '" + plan + "' -o '" + outcome + "'"), 0);
  ASSERT_EQ(run("simulate '" + plan + "' --rounds 4 -o '" + rough +
                "' --faults tests/scenarios/inputs/rough-weather.toml"),
            1);
  ASSERT_EQ(run("report '" + outcome + "' '" + rough + "' -o '" + (folder_ / "out").string() + "'"),
            0);
  for (const char* name : {"cliques", "rounds", "memory", "links", "mixing-1", "mixing-2"})
    EXPECT_EQ(head_of(folder_ / "out" / (std::string(name) + ".png")), "\x89PNG\r\n\x1a\n") << name;
  EXPECT_EQ(head_of(folder_ / "out/report.html"), "<!DOCTYP");
  EXPECT_EQ(run("report '" + outcome + "' --json"), 0);
  EXPECT_FALSE(fs::exists(folder_ / "out/cliques.svg.partial"));
  EXPECT_EQ(run("report '" + plan + "'"), 2);
  EXPECT_EQ(run("report '" + outcome + "' --seed 5"), 2);
}

TEST_F(Report, DrawsAMapOnRequest) {
  const std::string file = (folder_ / "map.svg").string();
  ASSERT_EQ(run("topology show examples/nine-cities.toml --svg '" + file + "'"), 0);
  EXPECT_EQ(head_of(file).substr(0, 4), "<svg");
}

TEST_F(Report, PlansAreWrittenThroughALinkNotOverIt) {
  std::ofstream(folder_ / "real.json") << "old";
  fs::create_symlink("real.json", folder_ / "link.json");
  ASSERT_EQ(
      run("plan examples/nine-cities.toml -s pairs -o '" + (folder_ / "link.json").string() + "'"),
      0);
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.json"));
  EXPECT_GT(fs::file_size(folder_ / "real.json"), 1000u);
}

}  // namespace
