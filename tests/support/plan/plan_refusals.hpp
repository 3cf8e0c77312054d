// A small plan with a bit of everything, and what is said of it once something in it is changed.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "plan/file/plan_loader.hpp"
#include "tests/support/base/fuzz.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion::testing {

// Lanes: 0–9 of links, then up and down of A (10, 11), B, C, D (16, 17).
inline constexpr const char* kMap = R"(
name     = "four"
payload  = "1GB"
defaults = { access = "20Gbps", rate = "100Gbps" }
edge     = { memory = "0B" }
islands  = [{ name = "A" }, { name = "B" }, { name = "C" }, { name = "D" }]
routers  = [{ name = "hub" }]
links = [
  { ends = ["A", "B"], latency = "5ms" },
  { ends = ["B", "C"], latency = ["24ms", "31ms"] },
  { ends = ["C", "hub"], latency = "17ms" },
  { ends = ["hub", "D"], latency = "3ms" },
  { ends = ["D", "A"], latency = "40ms" },
]
aggregators = [{ at = "hub", serves = ["D"] }]
)";

// Round 0: A, B and C meet, D sits out. Round 1: A and D, B and C.
inline Json plan_of(NetworkModelSettings settings = {}) {
  const auto fixture = fixture_of(map_of(kMap), settings);
  const Schedule schedule{
      "two", {completed({{{0, 1, 2}, {}}}, 4), completed({{{0, 3}, {}}, {{1, 2}, {}}}, 4)}};
  return to_json(fixture->network, make_plan(fixture->network, schedule),
                 {"v", "c", 1, {{"map", "hash"}}});
}

inline std::vector<std::string> refusals_of(const std::string& text) {
  const auto file = read_plan(text, "p.json");
  std::vector<std::string> lines;
  if (file) return lines;
  check_refusal(file.error());
  for (const Diagnostic& diagnostic : file.error()) lines.push_back(to_text(diagnostic));
  return lines;
}

// All that is said of the plan when the value at this JSON pointer is another one.
inline std::string refusal_with(const char* pointer, const Json& value,
                                NetworkModelSettings settings = {}) {
  Json json = plan_of(settings);
  json[Json::json_pointer(pointer)] = value;
  return fmt::format("{}", fmt::join(refusals_of(json.dump()), "\n"));
}

}  // namespace cotillion::testing
