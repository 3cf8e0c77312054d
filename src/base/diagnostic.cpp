#include "base/diagnostic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace cotillion {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
}

// Levenshtein distance without regard to case.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t swap = diagonal + (lower(a[i]) == lower(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({swap, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

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

std::string closest_name(const std::string& name, const std::vector<std::string>& candidates) {
  std::string best;
  if (name.size() > 64) return best;
  // Something of the name must be right, and lengths alone rule most candidates out.
  std::size_t best_distance = std::min(std::max<std::size_t>(1, name.size() / 3) + 1, name.size());
  for (const std::string& candidate : candidates) {
    const std::size_t longer = std::max(name.size(), candidate.size());
    if (longer - std::min(name.size(), candidate.size()) >= best_distance) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace cotillion
