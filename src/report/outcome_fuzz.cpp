// Any bytes as an outcome. Reading refuses with remedies or yields what is written and read again
// as the same, and can be put beside its plan and drawn.
#include "job/outcome_loader.hpp"

#include <nlohmann/json.hpp>
#include "report/side_by_side_report.hpp"
#include "report/side_by_side_study.hpp"
#include "tests/support/base/fuzz.hpp"
#include "tests/support/plan/fuzz_json.hpp"

namespace {

using namespace cotillion;

// Two rounds of three islands, the third alone in the first and lost in the second.
Json some_outcome() {
  OutcomeFile file;
  file.made_by = {"v", "c", 1, {{"plan", "hash"}}};
  file.islands = {"A", "B", "C"};
  file.period = 2;
  file.lanes = {{"A", "B"}, {"B", "hub"}};
  Outcome& outcome = file.outcome;
  outcome.settings = {{"exchange", "whole"}};
  outcome.receivers.resize(3);
  outcome.senders.resize(3);
  const double third = 1.0 / 3;
  outcome.rounds.push_back({1,
                            {5},
                            {6},
                            {{{0, 1}, {5}, {6}, true, {}}, {{2}, {}, {}, true, {}}},
                            {},
                            {0.5, 0.5, 0, 0.5, 0.5, 0, 0, 0, 1}});
  outcome.rounds.push_back({2,
                            {7},
                            {8},
                            {{{0, 1, 2}, {7}, {8}, false, {{0, 1, {3}, {4}}}}},
                            {{0, 2, 5, 1}},
                            {0.5, 0.5, 0, third, third, third, third, third, third}});
  for (IslandId island = 0; island < 3; ++island)
    outcome.edges.push_back({island, {100}, {90}, {}});
  outcome.lanes.resize(2);
  outcome.lanes[1].lane = 3;
  return to_json(file);
}

void load(std::string_view text) {
  auto file = read_outcome(text, "outcome.json");
  if (!file) return testing::check_refusal(file.error());
  const std::string written = to_json(*file).dump();
  const auto again = read_outcome(written, "again.json");
  COTILLION_CHECK(again.has_value());
  COTILLION_CHECK(to_json(*again).dump() == written);
  const std::vector<NamedOutcome> outcomes{{"outcome.json", std::move(*file)}};
  const auto plans = side_by_side(outcomes);
  COTILLION_CHECK(plans.has_value());
  COTILLION_CHECK(!side_by_side_text(plans->front(), true).empty());
  COTILLION_CHECK(!to_json(plans->front()).empty());
  COTILLION_CHECK(!study_outcomes(*plans, "").figures.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const testing::JsonPlot plot(some_outcome());
  load(testing::text_of(data, size));
  if (size < 256) load(plot.edited(data, size));
  return 0;
}
