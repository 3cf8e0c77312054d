#include "policy/policy_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

namespace cotillion {

Result<PolicyText> PolicyText::read(const std::string& text) {
  PolicyText policy;
  const std::size_t colon = text.find(':');
  policy.name_ = text.substr(0, colon);
  if (colon == std::string::npos) return policy;
  std::string rest = text.substr(colon + 1);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string item = rest.substr(0, comma);
    rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == item.size())
      return failure(fmt::format("policy '{}': '{}' is no setting; write key=value", text, item));
    if (!policy.values_.emplace(item.substr(0, equals), item.substr(equals + 1)).second)
      return failure(fmt::format("policy '{}': {} is set twice", text, item.substr(0, equals)));
  }
  return policy;
}

double PolicyText::number(const std::string& key, double otherwise, double least, double most) {
  asked_.insert(key);
  const auto found = values_.find(key);
  if (found == values_.end()) return otherwise;
  const std::string& text = found->second;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= least) ||
      !(value <= most)) {
    if (wrong_.empty())
      wrong_ = fmt::format("{}={}: a number from {} to {}", key, text, least, most);
    return otherwise;
  }
  return value;
}

double PolicyText::above_zero(const std::string& key, double otherwise, double most) {
  const double value = number(key, otherwise, 0, most);
  if (value == 0) refuse(key, "nothing would be learned; give one above 0, or leave it out");
  return value;
}

int PolicyText::whole(const std::string& key, int otherwise, int least, int most) {
  const double value = number(key, otherwise, least, most);
  if (value != std::floor(value) && wrong_.empty())
    wrong_ = fmt::format("{}={}: a whole number", key, value);
  return int(value);
}

std::string PolicyText::word(const std::string& key, const std::string& otherwise,
                             const std::set<std::string>& known) {
  asked_.insert(key);
  const auto found = values_.find(key);
  if (found == values_.end()) return otherwise;
  if (!known.contains(found->second)) {
    if (wrong_.empty())
      wrong_ = fmt::format("{}={}: one of {}", key, found->second, fmt::join(known, ", "));
    return otherwise;
  }
  return found->second;
}

void PolicyText::refuse(const std::string& key, const std::string& why) {
  const auto found = values_.find(key);
  if (found != values_.end() && wrong_.empty())
    wrong_ = fmt::format("{}={}: {}", key, found->second, why);
}

std::string PolicyText::refusal() const {
  if (!wrong_.empty()) return fmt::format("policy {}: {}", name_, wrong_);
  for (const auto& [key, value] : values_)
    if (!asked_.contains(key))
      return fmt::format("policy {} has no setting '{}'; it has {}", name_, key,
                         asked_.empty() ? "none" : fmt::format("{}", fmt::join(asked_, ", ")));
  return "";
}

}  // namespace cotillion
