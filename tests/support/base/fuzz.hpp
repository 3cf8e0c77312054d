// What fuzz targets share, whatever they read. Header only: a target links its room and nothing of
// the test library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "base/diagnostic.hpp"
#include "base/text.hpp"

namespace cotillion::testing {

[[nodiscard]] inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Every refusal says what is wrong and what to do, in text that terminals and JSON can carry.
inline void check_refusal(const Diagnostics& diagnostics) {
  COTILLION_CHECK(!diagnostics.empty());
  for (const Diagnostic& diagnostic : diagnostics)
    COTILLION_CHECK(!diagnostic.message.empty() && !diagnostic.remedy.empty() &&
                    is_plain(to_text(diagnostic)));
}

}  // namespace cotillion::testing
