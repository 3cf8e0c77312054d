// Benchmark programs: what their mains share. Every program takes `--smoke`, with which it measures
// nothing: each of its benchmarks runs once or for a moment, at small sizes, so that the tests see
// that it still works. A benchmark that errs, or whose ways of doing a thing disagree, makes its
// program fail.
#pragma once

#include <cstring>

namespace cotillion::testing {

// Whether the arguments ask for a smoke run; takes the word out of them.
[[nodiscard]] inline bool take_smoke(int& count, char** words) {
  bool smoke = false;
  int kept = 0;
  for (int i = 0; i < count; ++i)
    if (std::strcmp(words[i], "--smoke") == 0)
      smoke = true;
    else
      words[kept++] = words[i];
  count = kept;
  return smoke;
}

}  // namespace cotillion::testing
