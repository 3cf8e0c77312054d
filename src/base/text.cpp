#include "base/text.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace cotillion {
namespace {

struct Character {
  std::size_t size = 1;
  bool plain = false;
};

bool is_control(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) ||        // C0, DEL, C1
         (code >= 0x200e && code <= 0x200f) ||                  // direction marks
         (code >= 0x2028 && code <= 0x202e) ||                  // separators, embeddings
         (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;  // isolates, byte order mark
}

// The UTF-8 character at the front; one byte that is not plain where there is none.
Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, !is_control(lead)};
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (size == 0 || lead > 0xf4 || text.size() < size) return {};
  std::uint32_t code = lead & (0x7fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[size] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {size, !is_control(code)};
}

}  // namespace

bool is_plain(std::string_view text) {
  while (!text.empty()) {
    const Character character = first_of(text);
    if (!character.plain) return false;
    text.remove_prefix(character.size);
  }
  return true;
}

std::string shown(std::string_view text, std::size_t most) {
  std::string safe;
  while (!text.empty()) {
    const Character character = first_of(text);
    if (safe.size() + character.size > most) return safe + "…";
    if (character.plain)
      safe += text.substr(0, character.size);
    else
      safe += '?';
    text.remove_prefix(character.size);
  }
  return safe;
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace cotillion
