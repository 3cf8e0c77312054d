// Each rule is shown a tiny tree that breaks it, and one that does not.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "tests/tidy/rules.hpp"

namespace cotillion::tidy {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kRooms =
    "room(base LIBRARIES fmt::fmt)\nroom(plan USES base LIBRARIES sim)\nroom(sim USES plan)\n"
    "room(daemon USES plan LABELS threads)\nroom(train USES sim)\nroom(report USES plan)\n"
    "room(topology USES base)\ndoor(cli USES sim daemon)\ndoor(api USES base)\n";

// A folder that exists as long as the test does.
class Tree {
 public:
  Tree() {
    std::string pattern = ::testing::TempDir() + "tidyXXXXXX";
    root_ = ::mkdtemp(pattern.data());
    file("CMakeLists.txt", kRooms);
  }
  ~Tree() { fs::remove_all(root_); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  Tree& file(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path, std::ios::binary) << text;
    return *this;
  }

  [[nodiscard]] std::vector<std::string> findings() const {
    std::vector<std::string> texts;
    for (const Finding& finding : check(read_tree(root_)))
      if (finding.file != "CMakeLists.txt") texts.push_back(to_text(finding));
    return texts;
  }
  // That an edge of kRooms is not needed is said of most trees here, and no news.
  [[nodiscard]] std::vector<std::string> findings_in_the_build() const {
    std::vector<std::string> texts;
    for (const Finding& finding : check(read_tree(root_)))
      if (finding.file == "CMakeLists.txt") texts.push_back(to_text(finding));
    return texts;
  }

 private:
  fs::path root_;
};

std::vector<std::string> findings_in(const std::string& path, const std::string& text) {
  return Tree().file(path, text).findings();
}

std::string lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "int a;\n";
  return text;
}

const std::string kUnfinished = std::string("TO") + "DO";

TEST(Tidy, ACleanTreePasses) {
  Tree tree;
  tree.file("src/base/units.hpp", "// Why units are types.\n#pragma once\n\nstruct Bytes {};\n")
      .file("src/base/units_test.cpp", "#include \"base/units.hpp\"\n#include <fstream>\n")
      .file("src/sim/queue.cpp", "#include \"base/units.hpp\"\n#include \"plan/plan.hpp\"\n")
      .file("src/daemon/clock.cpp", "#include <chrono>\n#include <sys/socket.h>\n")
      .file("src/cli/main.cpp", "#include \"sim/queue.hpp\"\n#include \"daemon/clock.hpp\"\n")
      .file("ARCHITECTURE.md",
            "base/ words everyone uses\n`sim` plays a plan virtually\n"
            "- **daemon** plays it really\n| src/cli/ | the verbs, spoken |\n")
      .file("examples/maps/two-ports.toml", "payload = \"1GB\"\n")
      .file("README.md", "Try `examples/maps/two-ports.toml`.\n");
  EXPECT_THAT(tree.findings(), IsEmpty());
}

// Layering ------------------------------------------------------------------------------

TEST(TidyLayering, ARoomIncludesOnlyWhatTheBuildSaysItUses) {
  EXPECT_THAT(findings_in("src/base/a.cpp", "#include <map>\n#include \"plan/plan.hpp\"\n"),
              ElementsAre("src/base/a.cpp:2: base may not include plan: "
                          "CMakeLists.txt does not say that it uses it"));
  EXPECT_THAT(findings_in("src/sim/a.cpp", "#include \"daemon/b.hpp\"\n").size(), 1);
  EXPECT_THAT(findings_in("src/daemon/a.cpp", "#include \"sim/b.hpp\"\n").size(), 1);
}

TEST(TidyLayering, WhatARoomUsesByWayOfOthersItMayInclude) {
  EXPECT_THAT(findings_in("src/train/a.cpp", "#include \"base/a.hpp\"\n#include \"plan/b.hpp\"\n"),
              IsEmpty());
}

TEST(TidyLayering, LibrariesOfOthersAreNoRooms) {
  EXPECT_THAT(findings_in("src/plan/a.cpp", "#include \"sim/b.hpp\"\n").size(), 1);
}

TEST(TidyLayering, AnEdgeThatNothingNeedsIsRefused) {
  Tree tree;
  tree.file("CMakeLists.txt", "room(base)\nroom(plan USES base)\nroom(sim USES base plan)\n")
      .file("src/plan/a.cpp", "#include \"base/a.hpp\"\n")
      .file("src/sim/a.cpp", "#include \"plan/a.hpp\"\n");
  EXPECT_THAT(
      tree.findings_in_the_build(),
      ElementsAre("CMakeLists.txt:3: sim includes nothing of base: the edge is not needed"));
}

TEST(TidyLayering, TheApiDoesNotIncludeTheCommandLine) {
  EXPECT_THAT(findings_in("api/a.hpp", "// Why.\n#pragma once\n#include \"cli/verbs.hpp\"\n"),
              ElementsAre("api/a.hpp:3: api may not include cli: "
                          "CMakeLists.txt does not say that it uses it"));
}

TEST(TidyLayering, TestsBesideTheCodeAreBoundToo) {
  EXPECT_THAT(findings_in("src/base/a_test.cpp", "#include \"topology/map.hpp\"\n").size(), 1);
  EXPECT_THAT(findings_in("src/base/a.cpp", "#include \"tests/support/base/seeds.hpp\"\n"),
              ElementsAre("src/base/a.cpp:1: only tests include tests/"));
}

TEST(TidyLayering, WhatTestsShareBelongsToItsRoom) {
  const std::string maps = "#include \"tests/support/topology/maps.hpp\"\n";
  EXPECT_THAT(findings_in("src/topology/a_test.cpp", maps), IsEmpty());
  EXPECT_THAT(findings_in("src/plan/a_test.cpp", maps),
              ElementsAre("src/plan/a_test.cpp:1: plan may not include topology: "
                          "CMakeLists.txt does not say that it uses it"));
  EXPECT_THAT(findings_in("tests/support/plan/a.cpp", maps).size(), 1);
  EXPECT_THAT(findings_in("tests/support/plan/a.cpp", "#include \"sim/a.hpp\"\n").size(), 1);
  EXPECT_THAT(findings_in("tests/support/plan/a.cpp", "#include \"plan/a.hpp\"\n"), IsEmpty());
  EXPECT_THAT(findings_in("tests/support/a.cpp", "int a;\n"),
              ElementsAre("tests/support/a.cpp:1: tests/support/ has one folder for each room"));
}

TEST(TidyLayering, AnglesAndRelativePathsAreNoWayAround) {
  EXPECT_THAT(findings_in("src/base/a.cpp", "#include <plan/plan.hpp>\n").size(), 1);
  EXPECT_THAT(findings_in("src/base/a.cpp", "#include \"../plan/plan.hpp\"\n").size(), 1);
}

TEST(TidyLayering, AFolderThatTheBuildDoesNotNameIsNoRoom) {
  EXPECT_THAT(findings_in("src/misc/a.cpp", "int a;\n"),
              ElementsAre("src/misc/a.cpp:1: no room(misc USES ...) in CMakeLists.txt"));
}

TEST(TidyLayering, AnIncludeInACommentOrInTextIsNone) {
  EXPECT_THAT(findings_in("src/base/a.cpp",
                          "// #include \"plan/plan.hpp\"\n/*\n#include \"sim/a.hpp\"\n*/\n"
                          "const char* a = R\"x(\n#include \"daemon/a.hpp\"\n)x\";\n"),
              IsEmpty());
}

// Purity --------------------------------------------------------------------------------

TEST(TidyPurity, APureRoomIncludesNeitherClocksNorThreadsNorSockets) {
  for (const std::string header :
       {"random", "chrono", "thread", "mutex", "atomic", "future", "condition_variable", "fstream",
        "iostream", "filesystem", "ctime", "unordered_map", "unordered_set", "sys/socket.h",
        "netinet/in.h", "unistd.h"})
    EXPECT_THAT(findings_in("src/plan/a.cpp", fmt::format("#include <{}>\n", header)),
                ElementsAre("src/plan/a.cpp:1: plan is a pure room: no <" + header + ">"));
}

TEST(TidyPurity, APureRoomDoesNotAskTheWorld) {
  for (const std::string use : {"std::getenv(\"HOME\")", "rand()", "std::time(nullptr)",
                                "std::cout << 1", "fmt::print(\"a\")"})
    EXPECT_THAT(findings_in("src/report/a.cpp", "int a;\nauto b = [] { " + use + "; };\n").size(),
                1)
        << use;
}

TEST(TidyPurity, NamesThatOnlyLookLikeTheClockPass) {
  EXPECT_THAT(findings_in("src/plan/a.cpp",
                          "auto a = transfer_time(b) + c.time() + d->time();  // not time()\n"
                          "int time = 1'000;\nconst char* e = \"time(now) rand(1) std::cout\";\n"),
              IsEmpty());
}

TEST(TidyPurity, RoomsThatMeetTheWorldAndTestsAreExempt) {
  for (const std::string path :
       {"src/daemon/a.cpp", "src/train/a.cpp", "src/cli/a.cpp", "api/a.cpp", "src/base/a_test.cpp",
        "src/base/a_bench.cpp", "src/base/a_fuzz.cpp"})
    EXPECT_THAT(findings_in(path, "#include <chrono>\nauto a = std::time(nullptr);\n"), IsEmpty())
        << path;
}

TEST(TidyPurity, OneSourceOfBaseOpensFilesAndPureRoomsDoWithoutIt) {
  EXPECT_THAT(findings_in("src/base/file.cpp", "#include <unistd.h>\nauto a = fopen(b, c);\n"),
              IsEmpty());
  EXPECT_THAT(findings_in("src/base/a.cpp", "#include \"base/file.hpp\"\n"),
              ElementsAre("src/base/a.cpp:1: base is a pure room: no <base/file.hpp>"));
  EXPECT_THAT(findings_in("src/daemon/a.cpp", "#include \"base/file.hpp\"\n"), IsEmpty());
}

TEST(TidyFiles, RoomsReadAndWriteThemByBase) {
  EXPECT_THAT(
      findings_in("src/train/a.cpp", "#include <fstream>\nauto a = std::fopen(b, c);\n"),
      ElementsAre("src/train/a.cpp:1: files are read and written by base/file: no <fstream>",
                  "src/train/a.cpp:2: files are read and written by base/file: no fopen"));
  EXPECT_THAT(findings_in("src/train/a_test.cpp", "#include <fstream>\n"), IsEmpty());
}

// Size and layout -----------------------------------------------------------------------

TEST(TidySize, FourHundredLinesAreTheWall) {
  EXPECT_THAT(findings_in("tests/a.cpp", lines(401)),
              ElementsAre("tests/a.cpp:401: 401 lines; 400 is the wall: look for the seam"));
  EXPECT_THAT(findings_in("tools/a", lines(401)).size(), 1);
  EXPECT_THAT(findings_in("docs/a.md", lines(401)), IsEmpty());
  EXPECT_THAT(findings_in("src/base/a.cpp", lines(400)), IsEmpty());
}

TEST(TidySize, SixtyLinesAreTheWallForTheBodyOfAFunction) {
  const auto body = [](int lines) {
    std::string text = "{\n";
    for (int i = 0; i < lines; ++i) text += "  f({1});\n";
    return text + "}\n";
  };
  const auto found = [&](const std::string& head, int lines) {
    return findings_in("src/base/a.cpp", head + body(lines)).size();
  };
  for (const std::string head :
       {"void g(int a) ", "A::A() : a_{1}, b_(2) ", "#define F(a) a\nnamespace a {\nint g() ",
        "struct A {\n  void g() const ", "const auto g = [](int a) "}) {
    EXPECT_EQ(found(head, 60), 0u) << head;
    EXPECT_EQ(found(head, 61), 1u) << head;
  }
  // Neither a table nor a class is a function, however long.
  EXPECT_EQ(found("constexpr int kTable[] = ", 100), 0u);
  EXPECT_EQ(found("class A ", 100), 0u);
}

TEST(TidyLayout, AHundredColumnsOfCodePointsFit) {
  std::string wide = "// ";
  for (int i = 0; i < 97; ++i) wide += "→";
  EXPECT_THAT(findings_in("src/base/a.cpp", wide + "\n"), IsEmpty());
  EXPECT_THAT(findings_in("src/base/a.cpp", "int a;\n" + wide + "→\n"),
              ElementsAre("src/base/a.cpp:2: 101 columns; 100 fit"));
}

TEST(TidyLayout, TabsAndTrailingSpaceAreReported) {
  EXPECT_THAT(findings_in("src/base/a.cpp", "int a;\n\tint b;\nint c; \nint d;\r\n"),
              ElementsAre("src/base/a.cpp:2: a tab", "src/base/a.cpp:3: trailing white space",
                          "src/base/a.cpp:4: trailing white space"));
}

TEST(TidyLayout, AFileEndsWithExactlyOneNewline) {
  const auto reported = ElementsAre("src/base/a.cpp:2: a file ends with exactly one newline");
  EXPECT_THAT(findings_in("src/base/a.cpp", "int a;\nint b;"), reported);
  EXPECT_THAT(findings_in("src/base/a.cpp", "int a;\n\n"), reported);
}

// Headers, words, names -----------------------------------------------------------------

TEST(TidyHeader, AHeaderSaysWhyBeforePragmaOnce) {
  EXPECT_THAT(
      findings_in("src/base/a.hpp", "#pragma once\n"),
      ElementsAre("src/base/a.hpp:1: a header begins with a comment that says why it exists"));
  EXPECT_THAT(findings_in("src/base/a.hpp", "//\n#pragma once\n").size(), 1);
}

TEST(TidyHeader, PragmaOnceComesBeforeAnyCode) {
  EXPECT_THAT(findings_in("src/base/a.hpp", "// Why.\n\n#include <map>\n#pragma once\n"),
              ElementsAre("src/base/a.hpp:3: #pragma once comes before any code"));
  EXPECT_THAT(findings_in("src/base/a.hpp", "// Why.\n"),
              ElementsAre("src/base/a.hpp:1: #pragma once comes before any code"));
}

TEST(TidyWords, PromisesAreReportedInCodeAndInProse) {
  for (const std::string& word :
       {kUnfinished, std::string("FIX") + "ME", std::string("XX") + "X", std::string("HA") + "CK"})
    for (const std::string path : {"src/base/a.cpp", "docs/a.md", "README.md", "examples/a.toml"})
      EXPECT_THAT(findings_in(path, "one\n// " + word + ": later\n"),
                  ElementsAre(fmt::format("{}:2: {}: do it, or write it where work is planned",
                                          path, word)));
}

TEST(TidyWords, LongerWordsThatContainOnePass) {
  EXPECT_THAT(findings_in("docs/a.md", kUnfinished + "S, " + kUnfinished + "_LIST\n"), IsEmpty());
}

TEST(TidyWords, ThePhraseIsFoundAcrossTwoLinesOfAComment) {
  EXPECT_THAT(
      findings_in("tools/a", std::string("x\n# This Must be\n# kept in sy") + "nc with b\n"),
      ElementsAre("tools/a:2: one fact, one place: make it so instead of asking"));
}

TEST(TidyNames, FilesAreInSnakeCase) {
  EXPECT_THAT(findings_in("src/base/EdgeSpec.cpp", "int a;\n"),
              ElementsAre("src/base/EdgeSpec.cpp:1: 'EdgeSpec.cpp' is not snake_case"));
  EXPECT_THAT(findings_in("src/base/edge-spec.cpp", "int a;\n").size(), 1);
  EXPECT_THAT(findings_in("src/base/edge_spec2.cpp", "int a;\n"), IsEmpty());
  EXPECT_THAT(findings_in("src/cli/CMakeLists.txt", "add_executable(a)\n"), IsEmpty());
}

TEST(TidyNames, ATypeIsNotCalledManager) {
  EXPECT_THAT(findings_in("src/base/a.cpp", "int a;\nclass EdgeManager {};\n"),
              ElementsAre("src/base/a.cpp:2: 'EdgeManager': say what it does; "
                          "'Manager' fits any type"));
}

TEST(TidyNames, NorHelperNorUtilNorImplNorBase) {
  for (const std::string type :
       {"struct MapHelper {};", "class [[nodiscard]] TimeUtil {};", "struct Impl;",
        "enum class EdgeBase { kA };", "using MapUtils = int;"})
    EXPECT_THAT(findings_in("tests/a.cpp", type + "\n").size(), 1) << type;
  EXPECT_THAT(findings_in("tests/a.cpp", "struct Database {};  // class FooManager\n"), IsEmpty());
}

// What only the tree can show -----------------------------------------------------------

TEST(TidyTree, EveryRoomHasItsSentence) {
  Tree tree;
  tree.file("src/base/a.cpp", "int a;\n").file("src/plan/a.cpp", "int a;\n");
  EXPECT_THAT(tree.findings(), IsEmpty()) << "there is no page yet";
  tree.file("ARCHITECTURE.md", "base/ words everyone uses\nsrc/plan/a.cpp is the first file\n");
  EXPECT_THAT(tree.findings(), ElementsAre("ARCHITECTURE.md:1: src/plan/ has no sentence here"));
}

TEST(TidyTree, EveryExampleIsMentioned) {
  Tree tree;
  tree.file("examples/deep/lonely-port.toml", "a = 1\n");
  EXPECT_THAT(tree.findings(), IsEmpty()) << "there is nothing yet that could mention it";
  tree.file("docs/files.md", "nothing\n");
  EXPECT_THAT(tree.findings(), ElementsAre("examples/deep/lonely-port.toml:1: "
                                           "no test, document or README mentions this example"));
  tree.file("docs/files.md", "see lonely-port\n");
  EXPECT_THAT(tree.findings(), IsEmpty());
}

TEST(TidyTree, FilesThatDocumentsNameExist) {
  Tree tree;
  tree.file("src/plan/walks.cpp", "int a;\n").file("src/plan/walks_test.cpp", "int a;\n");
  tree.file("ARCHITECTURE.md",
            "`src/plan/` what to do: `plan/walks`, `plan/*_test.cpp`, `TYO/HKG`\n");
  tree.file("CONTRIBUTING.md", "`plan/walks.cpp` and `src/plan`: `walks_test`\n");
  EXPECT_THAT(tree.findings(), IsEmpty());
  tree.file("CONTRIBUTING.md", "`plan/walk`\n`plan/run*.cpp`, `run_test`\n");
  EXPECT_THAT(tree.findings(), ElementsAre("CONTRIBUTING.md:1: there is no `plan/walk`",
                                           "CONTRIBUTING.md:2: there is no `plan/run*.cpp`",
                                           "CONTRIBUTING.md:2: no program is called `run_test`"));
  tree.file("CONTRIBUTING.md", "").file("docs/use/a.md", "`plan/walk`\n");
  EXPECT_THAT(tree.findings(), ElementsAre("docs/use/a.md:1: there is no `plan/walk`"));
  tree.file("docs/use/a.md", "").file("docs/decisions/0001-a.md", "`plan/walk`\n");
  EXPECT_THAT(tree.findings(), IsEmpty());
}

TEST(TidyTree, LinksLeadSomewhere) {
  Tree tree;
  tree.file("docs/use/a.md",
            "[b](../b.md#part), [out](https://example.org/c.md), [all](../use/)\n");
  EXPECT_THAT(tree.findings(),
              ElementsAre("docs/use/a.md:1: a link to ../b.md, which is not there"));
  tree.file("docs/b.md", "here\n");
  EXPECT_THAT(tree.findings(), IsEmpty());
}

TEST(TidyTree, HiddenFilesBinariesAndBuildsAreLeftOut) {
  Tree tree;
  tree.file("src/base/.a.cpp.swp", "\t")
      .file("docs/a.png", std::string("\0", 1) + kUnfinished)
      .file("build/a.cpp", "\t");
  EXPECT_THAT(tree.findings(), IsEmpty());
}

}  // namespace
}  // namespace cotillion::tidy
