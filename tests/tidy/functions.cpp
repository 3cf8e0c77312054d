#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/tidy/rules.hpp"

namespace cotillion::tidy {
namespace {

constexpr int kFunctionLines = 60;

const std::set<std::string, std::less<>> kScopes = {"namespace", "class", "struct",
                                                    "union",     "enum",  "extern"};

// Braces open a scope, the body of a function, or neither: a list of values, a block in a body.
enum class Brace { kScope, kBody, kOther };

class FunctionReader {
 public:
  FunctionReader(const Source& source, Findings& findings)
      : source_(source), findings_(findings), tokens_(tokens_of(source.text)) {}

  void read() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (is(i, "#"))  // a line of the preprocessor belongs to no statement
        while (i + 1 < tokens_.size() && tokens_[i + 1].line == token.line) ++i;
      else if (is(i, "{"))
        open(token);
      else if (is(i, "}"))
        close(i);
      else if (is(i, ";"))
        statement_.clear();
      else
        statement_.push_back(token.literal ? std::string() : token.text);
    }
  }

 private:
  struct Opened {
    Brace brace;
    int line;
    std::vector<std::string> statement;  // that it stands in
  };

  [[nodiscard]] bool is(std::size_t i, std::string_view mark) const {
    return i < tokens_.size() && !tokens_[i].literal && tokens_[i].text == mark;
  }

  [[nodiscard]] bool has(std::string_view word) const {
    return std::find(statement_.begin(), statement_.end(), word) != statement_.end();
  }

  void open(const Token& token) {
    const bool in_scope = opened_.empty() || opened_.back().brace == Brace::kScope;
    const bool scope = in_scope && !has("(") &&
                       std::any_of(statement_.begin(), statement_.end(),
                                   [](const auto& s) { return kScopes.contains(s); });
    const bool body = in_scope && !scope && has("(");
    opened_.push_back({scope  ? Brace::kScope
                       : body ? Brace::kBody
                              : Brace::kOther,
                       token.line, std::exchange(statement_, {})});
  }

  void close(std::size_t i) {
    if (opened_.empty()) return;
    Opened last = std::move(opened_.back());
    opened_.pop_back();
    const int lines = tokens_[i].line - last.line - 1;
    if (last.brace == Brace::kBody && lines > kFunctionLines)
      findings_.push_back({source_.path, last.line,
                           "a function of " + std::to_string(lines) + " lines; " +
                               std::to_string(kFunctionLines) + " fit on a screen"});
    // Members may be initialised in braces before a constructor's body begins.
    const bool goes_on = is(i + 1, ",") || is(i + 1, "{") || is(i + 1, ")");
    statement_ = goes_on ? std::move(last.statement) : std::vector<std::string>();
  }

  const Source& source_;
  Findings& findings_;
  const std::vector<Token> tokens_;
  std::vector<Opened> opened_;
  std::vector<std::string> statement_;  // its tokens so far
};

}  // namespace

void check_functions(const Source& source, Findings& findings) {
  if (is_cpp(source)) FunctionReader(source, findings).read();
}

}  // namespace cotillion::tidy
