// One mistake in an input file: where it is, which field, what is wrong, what to do about
// it. Readers collect all of them, so that a user mends a file in one pass.
#pragma once

#include <string>
#include <vector>

namespace cotillion {

struct Position {
  int line = 0;  // from 1; 0 when the mistake belongs to the file as a whole
  int column = 0;
};

struct Diagnostic {
  std::string file;
  Position at;
  std::string field;  // as in the file: "links[3].latency"; may be empty
  std::string message;
  std::string remedy;
};
using Diagnostics = std::vector<Diagnostic>;

// "map.toml:12:3: links[3].latency: negative time "-1ms"; a time cannot be below zero"
[[nodiscard]] std::string to_text(const Diagnostic& diagnostic);

}  // namespace cotillion
