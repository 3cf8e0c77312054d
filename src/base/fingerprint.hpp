// The hash by which a plan names the files it was made from.
#pragma once

#include <string>
#include <string_view>

namespace cotillion {

// SHA-256 of the bytes, "sha256:" and 64 hexadecimal digits.
[[nodiscard]] std::string fingerprint(std::string_view bytes);

}  // namespace cotillion
