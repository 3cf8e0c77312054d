#include "base/diagnostic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace cotillion {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
}

// How many letters to add, drop, change or swap with a neighbour; case does not count.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto same = [&](std::size_t x, std::size_t y) { return lower(a[x]) == lower(b[y]); };
      next[j] = std::min({row[j - 1] + (same(i - 1, j - 1) ? 0 : 1), row[j] + 1, next[j - 1] + 1});
      if (i > 1 && j > 1 && same(i - 1, j - 2) && same(i - 2, j - 1))
        next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before.swap(row);
    row.swap(next);
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
