// A policy as it is asked for: a name, and settings of its own. "diloco:steps=8,momentum=0.5"
#pragma once

#include <map>
#include <set>
#include <string>

#include "base/result.hpp"

namespace cotillion {

class PolicyText {
 public:
  [[nodiscard]] static Result<PolicyText> read(const std::string& text);

  [[nodiscard]] const std::string& name() const { return name_; }
  // What was asked for, or the default. What is wrong is remembered for `refusal`.
  [[nodiscard]] double number(const std::string& key, double otherwise, double least, double most);
  // Where nothing would be learned with 0.
  [[nodiscard]] double above_zero(const std::string& key, double otherwise, double most);
  [[nodiscard]] int whole(const std::string& key, int otherwise, int least, int most);
  [[nodiscard]] std::string word(const std::string& key, const std::string& otherwise,
                                 const std::set<std::string>& known);

  // A setting that would change nothing beside the others, if it was given: remembered, too.
  void refuse(const std::string& key, const std::string& why);

  // Once all settings have been asked for: what could not be read, or belongs to nobody. Empty
  // where all is well.
  [[nodiscard]] std::string refusal() const;

 private:
  std::string name_;
  std::map<std::string, std::string> values_;
  std::set<std::string> asked_;
  std::string wrong_;
};

}  // namespace cotillion
