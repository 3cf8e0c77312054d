// Any bytes as recipes and as trainings, whole or as edits of sound ones. Reading refuses with a
// reason, or yields what is written and read again as the same, and can be played, told and drawn.
#include "policy/step_schedule.hpp"

#include <nlohmann/json.hpp>
#include "report/training_report.hpp"
#include "tests/support/base/fuzz.hpp"
#include "tests/support/plan/fuzz_json.hpp"
#include "train/training_file.hpp"

namespace {

using namespace cotillion;

using Kind = decltype(Recipe::kind);

Recipe some_recipe(Kind kind) {
  Recipe recipe;
  recipe.name = "some";
  recipe.policy = "plan";
  recipe.islands = {"A", "B"};
  recipe.shares = {0.5, 0.5};
  recipe.staleness = {{"paper", 700}, {"squared", 600}};
  recipe.kind = std::move(kind);
  std::visit(
      [](auto& made) {
        if constexpr (requires { made.fragments; }) made.fragments = 2;
        if constexpr (requires { made.steps; }) made.steps = 4;
        if constexpr (requires { made.overlap; }) made.overlap = 2;
        if constexpr (requires { made.rounds; })
          made.rounds = {{0.5, {0.5, 0.5, 0.5, 0.5}, {0, 0.1, 0, 0.1}, {0.3, 0.4, 0.3, 0.4}, true}};
      },
      recipe.kind);
  return recipe;
}

Json some_recipes() {
  Json file = {{"recipes", Json::array()}};
  for (const Kind& kind : std::initializer_list<Kind>{
           RotationRecipe{}, GossipRecipe{}, SynchronousRecipe{}, OuterRecipe{}, StreamingRecipe{},
           EagerRecipe{}, PairsRecipe{}, ServersRecipe{}})
    file["recipes"].push_back(to_json(some_recipe(kind)));
  return file;
}

Json some_trainings() {
  Training training;
  training.recipe = some_recipe(RotationRecipe{});
  training.points = {{0, 0, 0, 5, {5, 5}, 0, 0, 1}, {9, 3, 100, 4, {4, 4}, 4, 0.1, 1}};
  return {{"trainings", Json::array({to_json(training), to_json(training)})}};
}

void load(const std::string& text) {
  if (const auto recipes = read_recipes(text)) {
    Json again = {{"recipes", Json::array()}};
    for (const Recipe& recipe : *recipes) {
      again["recipes"].push_back(to_json(recipe));
      const auto schedule = make_step_schedule(recipe);
      for (const std::int64_t step : {0, 1, 2, 3, 4, 1000}) {
        COTILLION_CHECK(schedule->time_after(step) >= 0);
        (void)schedule->after(step);
      }
    }
    const auto read = read_recipes(again.dump());
    COTILLION_CHECK(read.has_value());
  } else {
    COTILLION_CHECK(!recipes.error().message.empty());
  }
  const auto trainings = read_trainings(text);
  if (!trainings || trainings->empty()) return;
  (void)training_text(*trainings);
  (void)training_page(*trainings, "fuzz");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const testing::JsonPlot kRecipes(some_recipes()), kTrainings(some_trainings());
  if (size == 0) return 0;
  if (data[0] == 0)
    load(kRecipes.edited(data + 1, size - 1));
  else if (data[0] == 1)
    load(kTrainings.edited(data + 1, size - 1));
  else
    load(std::string(testing::text_of(data, size)));
  return 0;
}
