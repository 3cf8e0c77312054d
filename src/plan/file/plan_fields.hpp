// One value of a plan that was written as JSON, with its path: "rounds[1].cliques[0].islands[2]".
// Everything that reads plans, or outcomes of them, walks them with it, so that every mistake is
// reported once, with where it is and what to do. What is not there has been reported by whoever
// looked for it; whatever is then read from it is quietly nothing.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "plan/file/plan_file.hpp"

namespace cotillion {

class Problems;

// What a file is called in messages, and the remedy where nothing better can be said.
struct FileWords {
  const char* what;
  const char* remedy;
};
inline constexpr FileWords kPlanWords{"a plan",
                                      "give the file that cotillion plan -o wrote, as it is"};

// Decides by its depth (1 in the outermost object) and name whether a field is kept: of a plan's
// megabytes most readers need little.
using FieldFilter = std::function<bool(int depth, const std::string& name)>;

// Parses the text of a plan; on a mistake in the syntax, or when it is no object, adds one problem
// and returns nothing.
[[nodiscard]] std::optional<Json> parse_plan(std::string_view text, const FieldFilter& keeps,
                                             Problems& problems,
                                             const FileWords& words = kPlanWords);

class PlanField {
 public:
  // The whole file. The value, the problems and the words must outlive every field made from it.
  PlanField(const Json& root, Problems& problems, const FileWords& words = kPlanWords)
      : value_(&root), problems_(&problems), words_(&words) {}

  // The member `key`, which must be a literal: its address is kept. Reported when it is missing.
  [[nodiscard]] PlanField at(const char* key) const;
  // The same for one that need not be there.
  [[nodiscard]] PlanField maybe(const char* key) const;
  // Requires index < the size that `list` returned.
  [[nodiscard]] PlanField operator[](std::size_t index) const;

  [[nodiscard]] bool is_there() const { return value_ != nullptr; }
  [[nodiscard]] bool is_null() const;
  // The value itself; requires that it is there.
  [[nodiscard]] const Json& json() const { return *value_; }

  // Each reports and returns false or nothing when the value is of another kind or out of range.
  [[nodiscard]] bool is_object() const;
  [[nodiscard]] bool expect_null(const char* when) const;
  // How many elements the list has; of so many `noun`s at least `least`, at most `most`.
  [[nodiscard]] std::optional<std::size_t> list() const;
  [[nodiscard]] std::optional<std::size_t> list(const char* noun, std::size_t least,
                                                std::size_t most) const;
  [[nodiscard]] std::optional<std::string> text() const;  // plain, at most 400 bytes
  [[nodiscard]] std::optional<bool> flag() const;
  [[nodiscard]] std::optional<std::int64_t> integer(std::int64_t least, std::int64_t most) const;
  [[nodiscard]] std::optional<double> number(double least, double most) const;

  void problem(std::string message, std::string remedy) const;
  void problem(std::string message) const { problem(std::move(message), words_->remedy); }
  [[nodiscard]] const FileWords& words() const { return *words_; }
  // No more problems are kept: readers stop where going on costs time.
  [[nodiscard]] bool full() const;
  // Nothing has been reported: what follows from several fields is checked only then, so that one
  // mistake is told once.
  [[nodiscard]] bool is_faultless() const;

 private:
  struct Step {
    const char* key = nullptr;  // null for an element of a list
    std::size_t index = 0;
  };
  static constexpr std::size_t kStepsMax = 10;

  [[nodiscard]] PlanField within(const Json* value, Step step) const;
  [[nodiscard]] std::string path() const;

  const Json* value_;  // null: not there
  Problems* problems_;
  const FileWords* words_;
  std::array<Step, kStepsMax> steps_{};
  std::size_t depth_ = 0;
};

}  // namespace cotillion
