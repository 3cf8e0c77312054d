// The rules of the house that a program can check. Each is a function of one source, or of the
// whole tree where only the tree can show it, so that the self-test shows every rule a tree that
// breaks it. What a rule cannot decide without a compiler is left to clang-tidy.
#pragma once

#include <string>
#include <vector>

#include "tests/tidy/rooms.hpp"
#include "tests/tidy/source.hpp"

namespace cotillion::tidy {

struct Finding {
  std::string file;
  int line = 1;
  std::string reason;
};
using Findings = std::vector<Finding>;

// "src/base/units.hpp:7: reason"
[[nodiscard]] std::string to_text(const Finding& finding);

// A room includes itself and what CMakeLists.txt says it uses, directly or by way of others.
void check_layering(const RoomGraph& rooms, const Source& source, Findings& findings);
// And every edge that is stated there is needed by some include of the room's library.
void check_edges_are_used(const RoomGraph& rooms, const std::vector<Source>& tree,
                          Findings& findings);

// Pure rooms have no clock, thread, socket, file, environment or <random>, and no hash map whose
// order could reach an output. Tests, benchmarks and fuzzers beside the code may. base/file.cpp
// may, too, and no other source of a pure room includes its header.
void check_purity(const Source& source, Findings& findings);

// Rooms that are not pure read and write files by base/file, not by streams of the library.
void check_files(const Source& source, Findings& findings);

// 400 lines are the wall for a file, and 60 for the body of a function.
void check_size(const Source& source, Findings& findings);
void check_functions(const Source& source, Findings& findings);

// At most 100 columns, no tabs, no trailing white space, one newline at the end.
void check_layout(const Source& source, Findings& findings);

// A header begins with why it exists, then `#pragma once`.
void check_header(const Source& source, Findings& findings);

// Words that promise work instead of doing it, and the phrase of those who keep one fact twice.
void check_words(const Source& source, Findings& findings);

// Files in snake_case; no type whose name ends in a word that fits any type.
void check_names(const Source& source, Findings& findings);

// ARCHITECTURE.md gives each room of src/ its sentence.
void check_rooms_are_described(const std::vector<Source>& tree, Findings& findings);

// Every map and scenario in examples/ is mentioned where it is run or explained.
void check_examples_are_used(const std::vector<Source>& tree, Findings& findings);

// All of them, in the order of the tree.
[[nodiscard]] Findings check(const std::vector<Source>& tree);

}  // namespace cotillion::tidy
