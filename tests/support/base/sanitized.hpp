// Whether a sanitizer watches. It takes ten times as long, and finds in a few of many alike what it
// would find in all of them; what is counted, or certified, is so in the other builds.
#pragma once

#include <cstdlib>

namespace cotillion::testing {

#ifdef COTILLION_SANITIZED  // by the presets: clang defines no macro of its own
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// ThreadSanitizer runs no handlers of signals in a process that was forked and had threads.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kThreadSanitized = __has_feature(thread_sanitizer);
#else
inline constexpr bool kThreadSanitized = false;
#endif

// What takes minutes under a sanitizer, searches over nine cities above all, is left to
// `make sanitize`, which runs everything (tools/sanitize says so).
[[nodiscard]] inline bool is_left_to_make_sanitize() {
  return kSanitized && std::getenv("COTILLION_SANITIZE_ALL") == nullptr;
}
inline constexpr const char* kLeftToMakeSanitize = "takes minutes; `make sanitize` runs it";

}  // namespace cotillion::testing
