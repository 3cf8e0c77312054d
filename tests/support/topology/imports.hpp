// Foreign files that a test knows to be sound, imported in one format: imported(text, options).
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "topology/import_map.hpp"

namespace cotillion::testing {

struct Importing {
  ImportFormat format;
  const char* file;  // as messages name it

  // Fails the test and yields an empty map when the text is refused.
  [[nodiscard]] Imported operator()(const std::string& text,
                                    const ImportOptions& options = {}) const {
    auto result = import_map(text, file, format, options);
    if (!result) ADD_FAILURE() << to_text(result.error()[0]);
    return result ? std::move(*result) : Imported{};
  }
};

}  // namespace cotillion::testing
