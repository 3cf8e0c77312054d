// The tree as the rules see it: a list of (path, text). Reading the disk and taking C++ apart
// happen here, so that a rule is a few lines and says only what it forbids.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cotillion::tidy {

struct Source {
  std::string path;  // from the root of the tree, with '/': "src/base/units.hpp"
  std::string text;
};

// The text files under the folders that people write in, and the *.md and CMakeLists.txt of the
// root, sorted by path. Hidden files are left out, and so is what holds NUL bytes: it is no text.
[[nodiscard]] std::vector<Source> read_tree(const std::filesystem::path& root);

[[nodiscard]] bool is_under(const Source& source, std::string_view folder);  // "src/base/"
[[nodiscard]] bool is_cpp(const Source& source);                             // *.hpp, *.cpp, *.h
// *_test.cpp, *_bench.cpp, *_fuzz.cpp: programs beside the code, not part of its library.
[[nodiscard]] bool is_beside_the_code(const Source& source);

// Without their newlines. Text behind the last newline counts as a line.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

struct Token {
  std::string text;  // an identifier or number, a punctuation mark, or what a literal holds
  int line = 0;
  bool literal = false;  // of characters: text in it is no code
};

// C++ as tokens. Comments are gone and literals are marked, so a rule about code cannot trip
// over prose. "::" and "->" are one token; all other punctuation is single characters.
[[nodiscard]] std::vector<Token> tokens_of(std::string_view text);

struct Include {
  std::string path;
  int line = 0;
};
[[nodiscard]] std::vector<Include> includes_of(const std::vector<Token>& tokens);

// Runs of letters, digits and '_' in any text, comments included.
[[nodiscard]] std::vector<Token> words_of(std::string_view text);

}  // namespace cotillion::tidy
