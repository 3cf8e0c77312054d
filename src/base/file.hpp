// Files, read whole and written whole: for the command line and the rooms whose business files are.
// Pure rooms do not include this; its own source is the only one of `base` that knows an operating
// system (tests/tidy sees to both).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cotillion {

struct FileError {
  std::string message;  // "map.toml: cannot be read: No such file or directory"
  int code = 0;         // as errno has it; EFBIG for a file that is too large to be read

  operator Error() const { return {message}; }
};

// Everything that is in a file, a pipe or a device; an error where that is more than `bytes_max`.
[[nodiscard]] Expected<std::string, FileError> read_file(const std::string& path,
                                                         std::size_t bytes_max = SIZE_MAX);

// The same, and nothing where it cannot be read: for logs and for what a kernel shows.
[[nodiscard]] std::string read_if_there(const std::string& path);

// All or nothing: a temporary file beside `path` is written, brought to the disk and renamed, so
// that readers find the old text or the new one. A link is followed; a device or a pipe is written
// to in place.
[[nodiscard]] Expected<void, FileError> write_atomically(const std::string& path,
                                                         std::string_view text);

}  // namespace cotillion
