#include "plan/relaxations.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace cotillion {
namespace {

constexpr std::array<bool Relaxations::*, 3> kRelaxationFlags = {
    &Relaxations::lengths, &Relaxations::overlap, &Relaxations::routes};

}  // namespace

bool relax(Relaxations& relaxations, std::string_view name) {
  for (std::size_t k = 0; k < kRelaxationNames.size(); ++k)
    if (kRelaxationNames[k] == name) {
      relaxations.*kRelaxationFlags[k] = true;
      return true;
    }
  return false;
}

Result<Relaxations> relaxations_named(std::string_view text) {
  Relaxations relaxations;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view name = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (name == "all")
      for (const std::string_view each : kRelaxationNames) (void)relax(relaxations, each);
    else if (!relax(relaxations, name))
      return failure(fmt::format("'{}' is not one of lengths, overlap, routes, all",
                                 shown(std::string(name))));
  }
  return relaxations;
}

std::vector<std::string_view> to_names(const Relaxations& relaxations) {
  std::vector<std::string_view> names;
  for (std::size_t k = 0; k < kRelaxationNames.size(); ++k)
    if (relaxations.*kRelaxationFlags[k]) names.push_back(kRelaxationNames[k]);
  return names;
}

}  // namespace cotillion
