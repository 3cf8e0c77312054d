// Text that came from outside, made fit to print: nothing that would move a cursor, reverse a
// line or cut a character in half reaches a terminal or a JSON file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cotillion {

// Whether the text is valid UTF-8 without control characters, C1 and bidirectional ones included.
[[nodiscard]] bool is_plain(std::string_view text);

// The text for a message: whole characters up to `most` bytes, what is not plain as '?'.
[[nodiscard]] std::string shown(std::string_view text, std::size_t most = 60);

// "1 link", "2 links".
[[nodiscard]] std::string counted(std::size_t count, std::string_view noun);

}  // namespace cotillion
