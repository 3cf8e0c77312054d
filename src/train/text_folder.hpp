// Documents from a folder: every file of text below it is one, and what lies directly in the folder
// says of which source it is.
#pragma once

#include "train/corpus.hpp"

namespace cotillion {

// Files with a zero byte in their first 4 KiB are no text and are left out; so is what is below
// 64 bytes. In the order of their paths.
[[nodiscard]] Result<std::vector<Document>> read_folder(const std::string& folder);

}  // namespace cotillion
