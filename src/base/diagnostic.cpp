#include "base/diagnostic.hpp"

#include <fmt/format.h>

namespace cotillion {
std::string to_text(const Diagnostic& diagnostic) {
  std::string text = diagnostic.file;
  if (diagnostic.at.line > 0)
    text += fmt::format(":{}:{}", diagnostic.at.line, diagnostic.at.column);
  text += ": ";
  if (!diagnostic.field.empty()) text += diagnostic.field + ": ";
  text += diagnostic.message;
  if (!diagnostic.remedy.empty()) text += "; " + diagnostic.remedy;
  return text;
}

}  // namespace cotillion
