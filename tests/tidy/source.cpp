#include "tests/tidy/source.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

namespace cotillion::tidy {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 8> kFolders = {"src", "tests",    "tools", "docs",
                                                      "rtl", "examples", "api",   "web"};

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void add_file(const fs::path& root, const fs::path& path, std::vector<Source>& tree) {
  std::string text = read_file(path);
  if (text.find('\0') != std::string::npos) return;
  tree.push_back({path.lexically_relative(root).generic_string(), std::move(text)});
}

bool is_skipped(const fs::path& name) {
  return name.string().starts_with('.') || name == "__pycache__" || name == "node_modules";
}

// Splits C++ from the front. Not a compiler's lexer: it knows what a rule can trip over.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : rest_(text) {}

  std::vector<Token> tokens() {
    while (!rest_.empty()) step();
    return std::move(found_);
  }

 private:
  void step() {
    const char c = rest_.front();
    if (rest_.starts_with("//"))
      skip(rest_.find('\n'));
    else if (rest_.starts_with("/*"))
      skip_past("*/", 2);
    else if (c == '"' || c == '\'')
      take_literal(c);
    else if (is_word(c))
      take_word();
    else if (rest_.starts_with("::") || rest_.starts_with("->"))
      take(2, false);
    else if (c == ' ' || c == '\t' || c == '\r' || c == '\n')
      skip(1);
    else
      take(1, false);
  }

  void take_word() {
    // In a number the apostrophe separates digits; it does not open a literal.
    const bool number = is_digit(rest_.front());
    std::size_t size = 1;
    while (size < rest_.size() &&
           (is_word(rest_[size]) || (number && (rest_[size] == '\'' || rest_[size] == '.'))))
      ++size;
    const bool raw = rest_.substr(size).starts_with('"') && rest_[size - 1] == 'R' && size <= 3;
    if (!raw) return take(size, false);
    skip(size);
    take_raw_literal();
  }

  void take_literal(char quote) {
    std::size_t end = 1;
    while (end < rest_.size() && rest_[end] != quote && rest_[end] != '\n')
      end += rest_[end] == '\\' ? 2 : 1;
    end = std::min(end, rest_.size());
    skip(1);
    take(end - 1, true);
    skip(1);
  }

  // At the quote of R"delimiter( … )delimiter".
  void take_raw_literal() {
    const std::size_t open = rest_.find('(');
    if (open == std::string_view::npos) return skip(rest_.size());
    const std::string close = ")" + std::string(rest_.substr(1, open - 1)) + "\"";
    skip(open + 1);
    take(std::min(rest_.find(close), rest_.size()), true);
    skip(close.size());
  }

  void take(std::size_t size, bool literal) {
    found_.push_back({std::string(rest_.substr(0, size)), line_, literal});
    skip(size);
  }

  void skip(std::size_t size) {
    size = std::min(size, rest_.size());
    line_ += int(std::count(rest_.begin(), rest_.begin() + std::ptrdiff_t(size), '\n'));
    rest_.remove_prefix(size);
  }

  void skip_past(std::string_view mark, std::size_t from) {
    const std::size_t at = rest_.find(mark, from);
    skip(at == std::string_view::npos ? rest_.size() : at + mark.size());
  }

  std::string_view rest_;
  int line_ = 1;
  std::vector<Token> found_;
};

}  // namespace

std::vector<Source> read_tree(const fs::path& root) {
  std::vector<Source> tree;
  for (const auto& entry : fs::directory_iterator(root))
    if (entry.is_regular_file() &&
        (entry.path().extension() == ".md" || entry.path().filename() == "CMakeLists.txt"))
      add_file(root, entry.path(), tree);
  for (const std::string_view folder : kFolders) {
    if (!fs::is_directory(root / folder)) continue;
    for (fs::recursive_directory_iterator at(root / folder), end; at != end; ++at) {
      if (is_skipped(at->path().filename()))
        at.disable_recursion_pending();
      else if (at->is_regular_file())
        add_file(root, at->path(), tree);
    }
  }
  std::sort(tree.begin(), tree.end(),
            [](const Source& a, const Source& b) { return a.path < b.path; });
  return tree;
}

bool is_under(const Source& source, std::string_view folder) {
  return source.path.starts_with(folder);
}

bool is_cpp(const Source& source) {
  return source.path.ends_with(".hpp") || source.path.ends_with(".cpp") ||
         source.path.ends_with(".h");
}

bool is_beside_the_code(const Source& source) {
  return source.path.ends_with("_test.cpp") || source.path.ends_with("_bench.cpp") ||
         source.path.ends_with("_fuzz.cpp");
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::vector<Token> tokens_of(std::string_view text) {
  return Lexer(text).tokens();
}

std::vector<Include> includes_of(const std::vector<Token>& tokens) {
  std::vector<Include> found;
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (tokens[i].literal || tokens[i].text != "#" || tokens[i + 1].text != "include") continue;
    const Token& name = tokens[i + 2];
    if (name.literal) found.push_back({name.text, name.line});
    if (name.literal || name.text != "<") continue;
    std::string path;
    for (std::size_t k = i + 3; k < tokens.size(); ++k) {
      if (tokens[k].text == ">" || tokens[k].line != name.line) break;
      path += tokens[k].text;
    }
    found.push_back({path, name.line});
  }
  return found;
}

std::vector<Token> words_of(std::string_view text) {
  std::vector<Token> words;
  int line = 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    line += text[at] == '\n' ? 1 : 0;
    if (!is_word(text[at])) continue;
    const bool goes_on = at > 0 && is_word(text[at - 1]);
    if (!goes_on) words.push_back({"", line, false});
    words.back().text += text[at];
  }
  return words;
}

}  // namespace cotillion::tidy
