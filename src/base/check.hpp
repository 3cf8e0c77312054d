// Our own mistakes end the program, in every build: a wrong answer that travels on
// costs more than a stop. Bad input is never handled here; see result.hpp.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace cotillion {

[[noreturn]] inline void check_failed(const char* what, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: internal error: %s does not hold\n", file, line, what);
  std::abort();
}

}  // namespace cotillion

#define COTILLION_CHECK(condition) \
  ((condition) ? void(0) : ::cotillion::check_failed(#condition, __FILE__, __LINE__))
