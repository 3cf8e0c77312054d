// Whether a sanitizer watches. It takes ten times as long, and finds in a few of many alike what it
// would find in all of them; what is counted, or certified, is so in the other builds.
#pragma once

namespace cotillion::testing {

#ifdef COTILLION_SANITIZED  // by the presets: clang defines no macro of its own
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace cotillion::testing
