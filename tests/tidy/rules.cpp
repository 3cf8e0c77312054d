#include "tests/tidy/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "tests/tidy/references.hpp"

namespace cotillion::tidy {
namespace {

constexpr std::size_t kLinesWall = 400;
constexpr std::size_t kColumns = 100;

const std::set<std::string, std::less<>> kImpureRooms = {"exchange", "daemon", "lab", "learn",
                                                         "train",    "cli",    "api"};

const std::set<std::string, std::less<>> kImpureHeaders = {
    "random",    "chrono",  "thread",   "mutex",        "shared_mutex",  "condition_variable",
    "atomic",    "future",  "fstream",  "iostream",     "filesystem",    "ctime",
    "time.h",    "csignal", "signal.h", "unistd.h",     "unordered_map", "unordered_set",
    "pthread.h", "fcntl.h", "poll.h",   "fmt/chrono.h", "semaphore",
};
constexpr std::array<std::string_view, 4> kImpureFolders = {"sys/", "netinet/", "arpa/", "net/"};
// Where files are opened, read and written; pure rooms do without it, and all others go by it.
constexpr std::string_view kFileSource = "src/base/file.cpp", kFileHeader = "base/file.hpp";
const std::set<std::string, std::less<>> kImpureNames = {"getenv", "cout", "cerr", "clog", "cin"};
const std::set<std::string, std::less<>> kImpureCalls = {"rand", "srand", "time",   "clock",
                                                         "puts", "fopen", "printf", "print"};

constexpr std::array<std::string_view, 6> kEmptyEndings = {"Manager", "Helper", "Util",
                                                           "Utils",   "Impl",   "Base"};

// The words are in pieces, so that this file may be checked like any other.
const std::set<std::string, std::less<>> kPromises = {
    std::string("TO") + "DO", std::string("FIX") + "ME", std::string("XX") + "X",
    std::string("HA") + "CK"};
const std::array<std::string, 5> kTwice = {"must", "be", "kept", "in", std::string("sy") + "nc"};

void add(Findings& findings, const Source& source, int line, std::string reason) {
  findings.push_back({source.path, line, std::move(reason)});
}

std::string_view first_part(std::string_view path) {
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

constexpr std::string_view kSupport = "tests/support/";

// "src/plan/x.cpp" is in plan, "api/x.hpp" in api; nothing for what is in no room.
std::optional<std::string> room_of(const Source& source) {
  if (is_under(source, "api/")) return "api";
  if (!is_under(source, "src/")) return std::nullopt;
  const std::string_view room = first_part(std::string_view(source.path).substr(4));
  return room.empty() ? std::nullopt : std::optional<std::string>(room);
}

// What tests of a room share belongs to the room: "tests/support/plan/x.hpp" is in plan.
std::string_view room_of_support(std::string_view path) {
  return path.starts_with(kSupport) ? first_part(path.substr(kSupport.size())) : std::string_view{};
}

bool is_impure_header(const std::string& path) {
  return kImpureHeaders.contains(path) || path == kFileHeader ||
         std::any_of(kImpureFolders.begin(), kImpureFolders.end(),
                     [&](std::string_view folder) { return path.starts_with(folder); });
}

std::size_t columns_of(std::string_view line) {
  return std::size_t(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

bool is_snake_case(std::string_view name) {
  return !name.empty() && name.front() >= 'a' && name.front() <= 'z' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
         });
}

bool is_word_char(char c) {
  return !words_of(std::string_view(&c, 1)).empty();
}

// A mark such as "base/" that stands alone, with a sentence behind it on the same line.
bool has_sentence_after(std::string_view line, const std::string& mark) {
  for (std::size_t at = line.find(mark); at != std::string_view::npos;
       at = line.find(mark, at + 1)) {
    const std::string_view rest = line.substr(at + mark.size());
    const bool alone =
        (at == 0 || !is_word_char(line[at - 1])) && (rest.empty() || !is_word_char(rest.front()));
    if (alone && words_of(rest).size() >= 3) return true;
  }
  return false;
}

}  // namespace

std::string to_text(const Finding& finding) {
  return fmt::format("{}:{}: {}", finding.file, finding.line, finding.reason);
}

void check_layering(const RoomGraph& rooms, const Source& source, Findings& findings) {
  const bool support = source.path.starts_with(kSupport);
  const auto room = support ? std::string(room_of_support(source.path)) : room_of(source);
  if (!room) return;
  if (room->empty()) return add(findings, source, 1, "tests/support/ has one folder for each room");
  if (!rooms.has(*room)) {
    add(findings, source, 1, fmt::format("no room({} USES ...) in CMakeLists.txt", *room));
    return;
  }
  if (!is_cpp(source)) return;
  for (const Include& include : includes_of(tokens_of(source.text))) {
    const bool shared = include.path.starts_with(kSupport);
    const std::string other(shared ? room_of_support(include.path) : first_part(include.path));
    if (include.path.starts_with("."))
      add(findings, source, include.line,
          fmt::format("\"{}\" is relative; name the room: \"base/units.hpp\"", include.path));
    if (include.path.starts_with("tests/") && !support && !is_beside_the_code(source))
      add(findings, source, include.line, "only tests include tests/");
    if (!rooms.has(other) || rooms.may_include(*room, other)) continue;
    add(findings, source, include.line,
        fmt::format("{} may not include {}: CMakeLists.txt does not say that it uses it", *room,
                    other));
  }
}

void check_edges_are_used(const RoomGraph& rooms, const std::vector<Source>& tree,
                          Findings& findings) {
  std::set<std::pair<std::string, std::string>> used;
  for (const Source& source : tree) {
    const auto room = room_of(source);
    if (!room || !is_cpp(source) || is_beside_the_code(source)) continue;
    for (const Include& include : includes_of(tokens_of(source.text)))
      used.emplace(*room, first_part(include.path));
  }
  for (const RoomGraph::Edge& edge : rooms.edges())
    if (!used.contains({edge.room, edge.uses}))
      findings.push_back(
          {"CMakeLists.txt", edge.line,
           fmt::format("{} includes nothing of {}: the edge is not needed", edge.room, edge.uses)});
}

void check_purity(const Source& source, Findings& findings) {
  const auto room = room_of(source);
  if (!room || kImpureRooms.contains(*room) || is_beside_the_code(source) || !is_cpp(source) ||
      source.path == kFileSource)
    return;
  const std::vector<Token> tokens = tokens_of(source.text);
  for (const Include& include : includes_of(tokens))
    if (is_impure_header(include.path))
      add(findings, source, include.line,
          fmt::format("{} is a pure room: no <{}>", *room, include.path));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto is = [&](std::size_t at, std::string_view text) {
      return at < tokens.size() && !tokens[at].literal && tokens[at].text == text;
    };
    if (tokens[i].literal) continue;
    // A member called time is a matter of its type; std::time is the clock.
    const bool member = i > 0 && (is(i - 1, ".") || is(i - 1, "->"));
    const bool called = is(i + 1, "(") && kImpureCalls.contains(tokens[i].text);
    if (!member && (called || kImpureNames.contains(tokens[i].text)))
      add(findings, source, tokens[i].line,
          fmt::format("{} is a pure room: no {}", *room, tokens[i].text));
  }
}

void check_files(const Source& source, Findings& findings) {
  const auto room = room_of(source);
  if (!room || !kImpureRooms.contains(*room) || is_beside_the_code(source) || !is_cpp(source))
    return;
  const std::vector<Token> tokens = tokens_of(source.text);
  for (const Include& include : includes_of(tokens))
    if (include.path == "fstream")
      add(findings, source, include.line, "files are read and written by base/file: no <fstream>");
  for (const Token& token : tokens)
    if (!token.literal && token.text == "fopen")
      add(findings, source, token.line, "files are read and written by base/file: no fopen");
}

void check_size(const Source& source, Findings& findings) {
  if (!is_under(source, "src/") && !is_under(source, "api/") && !is_under(source, "tests/") &&
      !is_under(source, "tools/"))
    return;
  const std::size_t lines = lines_of(source.text).size();
  if (lines > kLinesWall)
    add(findings, source, int(kLinesWall) + 1,
        fmt::format("{} lines; {} is the wall: look for the seam", lines, kLinesWall));
}

void check_layout(const Source& source, Findings& findings) {
  if (!is_cpp(source)) return;
  const auto lines = lines_of(source.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    const std::size_t columns = columns_of(line);
    if (columns > kColumns)
      add(findings, source, int(i) + 1, fmt::format("{} columns; {} fit", columns, kColumns));
    if (line.find('\t') != std::string_view::npos) add(findings, source, int(i) + 1, "a tab");
    if (!line.empty() && std::string_view(" \t\r").find(line.back()) != std::string_view::npos)
      add(findings, source, int(i) + 1, "trailing white space");
  }
  const std::string& text = source.text;
  if (!text.ends_with('\n') || text.ends_with("\n\n") || text == "\n")
    add(findings, source, std::max(1, int(lines.size())), "a file ends with exactly one newline");
}

void check_header(const Source& source, Findings& findings) {
  if (!source.path.ends_with(".hpp")) return;
  const auto lines = lines_of(source.text);
  if (lines.empty() || !lines[0].starts_with("//") || words_of(lines[0]).empty())
    add(findings, source, 1, "a header begins with a comment that says why it exists");
  const auto first_code = std::find_if(lines.begin(), lines.end(), [](std::string_view line) {
    return !line.empty() && !line.starts_with("//");
  });
  if (first_code == lines.end() || *first_code != "#pragma once")
    add(findings, source, int(first_code - lines.begin()) + (first_code == lines.end() ? 0 : 1),
        "#pragma once comes before any code");
}

void check_words(const Source& source, Findings& findings) {
  const std::vector<Token> words = words_of(source.text);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (kPromises.contains(words[i].text))
      add(findings, source, words[i].line,
          fmt::format("{}: do it, or write it where work is planned", words[i].text));
    // Words, not characters: a phrase broken over two lines of a comment is still the phrase.
    const auto same = [&](std::string_view mine, const Token& theirs) {
      return std::equal(mine.begin(), mine.end(), theirs.text.begin(), theirs.text.end(),
                        [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b + 32 : b); });
    };
    if (words.size() - i >= kTwice.size() &&
        std::equal(kTwice.begin(), kTwice.end(), words.begin() + std::ptrdiff_t(i), same))
      add(findings, source, words[i].line, "one fact, one place: make it so instead of asking");
  }
}

void check_names(const Source& source, Findings& findings) {
  const std::string_view name = file_name(source.path);
  if (is_under(source, "src/") && name != "CMakeLists.txt" && !is_snake_case(name))
    add(findings, source, 1, fmt::format("'{}' is not snake_case", name));
  if (!is_cpp(source)) return;
  const std::vector<Token> tokens = tokens_of(source.text);
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const std::string& keyword = tokens[i].text;
    if (tokens[i].literal || (keyword != "class" && keyword != "struct" && keyword != "enum" &&
                              keyword != "union" && keyword != "using" && keyword != "concept"))
      continue;
    std::size_t at = i + 1;
    while (at < tokens.size() && tokens[at].text == "[") {  // class [[nodiscard]] Name
      while (at < tokens.size() && tokens[at].text != "]") ++at;
      at += 2;
    }
    if (at >= tokens.size() || tokens[at].literal) continue;
    for (const std::string_view ending : kEmptyEndings)
      if (tokens[at].text.ends_with(ending))
        add(findings, source, tokens[at].line,
            fmt::format("'{}': say what it does; '{}' fits any type", tokens[at].text, ending));
  }
}

void check_rooms_are_described(const std::vector<Source>& tree, Findings& findings) {
  const auto page = std::find_if(tree.begin(), tree.end(),
                                 [](const Source& s) { return s.path == "ARCHITECTURE.md"; });
  if (page == tree.end()) return;
  std::set<std::string> rooms;
  for (const Source& source : tree)
    if (is_under(source, "src/"))
      if (const auto room = room_of(source)) rooms.insert(*room);
  const auto lines = lines_of(page->text);
  for (const std::string& room : rooms) {
    const bool described = std::any_of(lines.begin(), lines.end(), [&](std::string_view line) {
      return has_sentence_after(line, room + "/") || has_sentence_after(line, "`" + room + "`") ||
             has_sentence_after(line, "**" + room + "**");
    });
    if (!described) add(findings, *page, 1, fmt::format("src/{}/ has no sentence here", room));
  }
}

void check_examples_are_used(const std::vector<Source>& tree, Findings& findings) {
  const auto may_mention = [](const Source& source) {
    return is_under(source, "tests/") || is_under(source, "docs/") || source.path == "README.md";
  };
  if (std::none_of(tree.begin(), tree.end(), may_mention)) return;
  for (const Source& example : tree) {
    if (!is_under(example, "examples/") || !example.path.ends_with(".toml")) continue;
    const std::string_view name = file_name(example.path);
    const std::string_view stem = name.substr(0, name.size() - std::string_view(".toml").size());
    const bool mentioned = std::any_of(tree.begin(), tree.end(), [&](const Source& source) {
      return may_mention(source) && source.text.find(stem) != std::string::npos;
    });
    if (!mentioned) add(findings, example, 1, "no test, document or README mentions this example");
  }
}

Findings check(const std::vector<Source>& tree) {
  Findings findings;
  const RoomGraph rooms = RoomGraph::from_build(tree);
  check_edges_are_used(rooms, tree, findings);
  for (const Source& source : tree) {
    check_layering(rooms, source, findings);
    check_purity(source, findings);
    check_files(source, findings);
    check_size(source, findings);
    check_functions(source, findings);
    check_layout(source, findings);
    check_header(source, findings);
    check_words(source, findings);
    check_names(source, findings);
  }
  check_rooms_are_described(tree, findings);
  check_examples_are_used(tree, findings);
  check_named_files(tree, findings);
  check_links(tree, findings);
  return findings;
}

}  // namespace cotillion::tidy
