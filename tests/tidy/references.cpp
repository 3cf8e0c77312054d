#include "tests/tidy/references.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <regex>

namespace cotillion::tidy {
namespace {

bool any_path(const std::vector<Source>& tree, const auto& holds) {
  return std::any_of(tree.begin(), tree.end(),
                     [&](const Source& source) { return holds(std::string_view(source.path)); });
}

// "src/plan/plan", "src/plan/plan*_test.cpp" or "src/plan": a file, its stem, or a folder.
bool exists(const std::vector<Source>& tree, const std::string& name) {
  const std::size_t star = name.find('*');
  return any_path(tree, [&](std::string_view path) {
    if (star != std::string::npos)
      return path.starts_with(name.substr(0, star)) &&
             path.find(name.substr(star + 1), star) != std::string_view::npos;
    return path == name || path.starts_with(name + ".") || path.starts_with(name + "/");
  });
}

// Whether the first part of a span is a folder of ours at all; "TYO/HKG" is not.
bool is_ours(const std::vector<Source>& tree, const std::string& folder) {
  return exists(tree, folder) || exists(tree, "src/" + folder);
}

bool is_program(const std::vector<Source>& tree, const std::string& name) {
  return std::any_of(tree.begin(), tree.end(), [&](const Source& source) {
    return source.path.ends_with("/" + name + ".cpp") ||
           (source.path.ends_with("CMakeLists.txt") && source.text.find(name) != std::string::npos);
  });
}

// Decisions name what was there when they were made.
bool names_files(const Source& page) {
  return page.path == "ARCHITECTURE.md" || page.path == "CONTRIBUTING.md" ||
         (is_under(page, "docs/") && page.path.ends_with(".md") &&
          !is_under(page, "docs/decisions/"));
}

void check_spans(const std::vector<Source>& tree, const Source& page, std::string_view line,
                 int number, Findings& findings) {
  static const std::regex span("`([^`]+)`");
  static const std::regex file("([a-z_]+)/[A-Za-z0-9_.*/-]*");
  static const std::regex program("[a-z0-9_]+_(test|bench|fuzz)");
  const std::string text(line);
  for (std::sregex_iterator at(text.begin(), text.end(), span), end; at != end; ++at) {
    std::string name = (*at)[1];
    std::smatch parts;
    if (std::regex_match(name, program) && !is_program(tree, name))
      findings.push_back({page.path, number, fmt::format("no program is called `{}`", name)});
    if (!std::regex_match(name, parts, file) || !is_ours(tree, parts[1])) continue;
    while (name.ends_with('/')) name.pop_back();
    if (!exists(tree, name) && !exists(tree, "src/" + name))
      findings.push_back({page.path, number, fmt::format("there is no `{}`", name)});
  }
}

}  // namespace

void check_named_files(const std::vector<Source>& tree, Findings& findings) {
  for (const Source& page : tree) {
    if (!names_files(page)) continue;
    int number = 0;
    for (const std::string_view line : lines_of(page.text))
      check_spans(tree, page, line, ++number, findings);
  }
}

void check_links(const std::vector<Source>& tree, Findings& findings) {
  static const std::regex link(R"~((?:\]\(|src=")([A-Za-z0-9_./-]+)(?:#[^)]*)?[)"])~");
  for (const Source& page : tree) {
    if (!page.path.ends_with(".md")) continue;
    int number = 0;
    for (const std::string_view line : lines_of(page.text)) {
      ++number;
      const std::string text(line);
      for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at) {
        const auto folder = std::filesystem::path(page.path).parent_path();
        std::string target = (folder / (*at)[1].str()).lexically_normal().string();
        while (target.ends_with('/')) target.pop_back();
        if (!any_path(tree, [&](std::string_view path) {
              return path == target || path.starts_with(target + "/");
            }))
          findings.push_back(
              {page.path, number, fmt::format("a link to {}, which is not there", (*at)[1].str())});
      }
    }
  }
}

}  // namespace cotillion::tidy
