#include "plan/file/plan_provenance.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kHashMax = 128;  // "sha256:" and digits

}  // namespace

Provenance read_provenance(const PlanField& root) {
  Provenance made_by;
  made_by.version = root.at("version").text().value_or("");
  made_by.commit = root.at("commit").text().value_or("");
  const PlanField seed = root.at("seed");
  if (seed.is_there() && seed.json().is_number_unsigned())
    made_by.seed = seed.json().get<std::uint64_t>();
  else if (seed.is_there())
    seed.problem("not a whole number");
  const PlanField inputs = root.at("inputs");
  if (!inputs.is_object()) return made_by;
  if (inputs.json().size() > kInputsMax) {
    inputs.problem("more than 64 inputs",
                   std::string(root.words().what) + " is made from a few files");
    return made_by;
  }
  for (const auto& [name, hash] : inputs.json().items()) {
    const auto text = hash.is_string() ? hash.get<std::string>() : "";
    if (text.empty() || shown(name) != name || shown(text, kHashMax) != text) {
      inputs.problem("not names with the fingerprint of each");
      return made_by;
    }
    made_by.inputs.emplace_back(name, text);
  }
  return made_by;
}

NamedFields::NamedFields(std::string_view names) {
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(' '), names.size());
    names_.insert(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
}

bool NamedFields::operator()(int depth, const std::string& name) {
  if (depth == 1) {
    anything_goes_ = name == "inputs" || name == "settings";
    kept_ = 0;
  }
  if (depth == 2 && anything_goes_) return ++kept_ <= kInputsMax + 1;
  return names_.contains(name);
}

}  // namespace cotillion
