#include "topology/import_names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kNameMax = 40;  // bytes, in a map
constexpr std::size_t kLabelMax = 200;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// How many bytes the first character takes; 1 where it is not plain text.
std::size_t first_size(std::string_view text) {
  for (std::size_t size = 1; size <= std::min<std::size_t>(4, text.size()); ++size)
    if (is_plain(text.substr(0, size))) return size;
  return 1;
}

// Whole characters, at most `most` bytes of them.
std::string cut(std::string_view text, std::size_t most) {
  std::size_t size = 0;
  while (size < text.size()) {
    const std::size_t next = first_size(text.substr(size));
    if (size + next > most) break;
    size += next;
  }
  return std::string(text.substr(0, size));
}

// Plain text in which what a name may not hold has become single dashes.
std::string dashed(std::string_view label) {
  std::string name;
  while (!label.empty() && name.size() < kNameMax) {
    const std::size_t size = first_size(label);
    const std::string_view character = label.substr(0, size);
    const bool fits = is_plain(character) &&
                      std::string_view(" ,;:=<>\"'").find(character) == std::string_view::npos;
    if (fits)
      name += character;
    else if (!name.empty() && name.back() != '-')
      name += '-';
    label.remove_prefix(size);
  }
  name = cut(name, kNameMax);
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name;
}

}  // namespace

std::string ImportNames::name_for(std::string_view label) {
  const std::string wanted = dashed(label);
  const std::string stem = wanted.empty() ? "place" : wanted;
  std::string name = stem;
  int& count = counts_.emplace(stem, 1).first->second;
  while (!taken_.insert(name).second) {
    const std::string suffix = fmt::format("-{}", ++count);
    name = cut(stem, kNameMax - suffix.size()) + suffix;
  }
  return name;
}

std::string plain_label(std::string_view label) {
  std::string plain;
  while (!label.empty() && plain.size() < kLabelMax) {
    const std::size_t size = first_size(label);
    const std::string_view character = label.substr(0, size);
    plain += is_plain(character) ? character : std::string_view("?");
    label.remove_prefix(size);
  }
  return label.empty() ? plain : plain + "…";
}

std::string metro_of(std::string_view label) {
  const auto letters = std::find_if_not(label.begin(), label.end(), is_letter);
  const auto digits = std::find_if_not(letters, label.end(), is_digit);
  std::string metro(label.begin(), letters);
  if (metro.empty()) return std::string(label);
  if (digits == label.end()) return metro;
  const std::string_view rest = label.substr(std::size_t(digits - label.begin()));
  const bool device = rest.starts_with("-dz") && rest.size() > 3 && is_digit(rest.back());
  return device ? metro : std::string(label);
}

}  // namespace cotillion
