#include "report/training_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "report/rank_correlation.hpp"
#include "report/training_figures.hpp"
#include "report/training_pairs.hpp"
#include "train/run_identity.hpp"
#include "train/training_file.hpp"

namespace cotillion {
namespace {

using ::testing::HasSubstr;

Training training(const std::string& name, std::uint64_t seed, double last) {
  Training made;
  made.recipe.name = name;
  made.recipe.islands = {"A", "B"};
  made.recipe.shares = {0.5, 0.5};
  made.recipe.staleness = {{"paper", 1000}, {"squared", 900}};
  made.account = {0.3, 0.4, 0.5};
  made.model = "mlp";
  made.data = "text";
  made.device = "cpu";
  made.settings.seed = seed;
  made.settings.target = 3;
  made.steps = 20;
  made.seconds = 10;
  made.utilisation = 0.5;
  made.finished = true;
  made.points = {{0, 0, 0, 5, {5, 5}, 0, 0, 1},
                 {10, 5, 1000, 4, {4, 4.2}, 4.5, 0.1, 1},
                 {20, 10, 2000, last, {last, last + 0.1}, last, 0.2, 2}};
  made.target_time = time_to(made.points, 3);
  made.parameters = 1000;
  made.memory = {20.5, 0.25, 1.5};
  made.lab = {10, 20, 1, 2.5, 3, 4, 0.024, 0.004, {"it rained"}};
  return made;
}

TEST(TrainingReport, TimeToALossIsBetweenPoints) {
  const Training one = training("a", 1, 2);
  EXPECT_DOUBLE_EQ(*time_to(one.points, 4.5), 2.5);
  EXPECT_DOUBLE_EQ(*time_to(one.points, 3), 7.5);
  EXPECT_DOUBLE_EQ(*time_to(one.points, 6), 0);
  EXPECT_FALSE(time_to(one.points, 1).has_value());
}

TEST(TrainingReport, StalenessAsSteppedReplacesTheRoundByTheDelay) {
  const auto measured = measured_staleness(training("a", 1, 2));
  ASSERT_TRUE(measured.has_value());
  EXPECT_DOUBLE_EQ(measured->paper, 800);
  EXPECT_DOUBLE_EQ(measured->squared, 700);
}

TEST(TrainingReport, SeedsAreOneLineWithTheirSpreadAndTheBestComesFirst) {
  const std::vector<Training> all = {training("slow", 1, 3.5), training("fast", 1, 2),
                                     training("fast", 2, 2.2)};
  const std::string text = training_text(all);
  EXPECT_LT(text.find("fast"), text.find("slow"));
  EXPECT_THAT(text, HasSubstr("2.1000"));
  EXPECT_THAT(text, HasSubstr("0.1414"));
  EXPECT_THAT(text, HasSubstr("10 copies and 20 corrections"));
  EXPECT_THAT(text, HasSubstr("20.0 bytes"));
  EXPECT_THAT(text, HasSubstr("20.5"));  // bytes that an island keeps for a parameter
  EXPECT_THAT(text, HasSubstr("0.2 more"));
  EXPECT_THAT(text, HasSubstr("1.5000"));  // behind the fast one of the same seed
  const IllustratedPage page = training_page(all, "tests");
  EXPECT_EQ(page.figures.size(), 4u);
  EXPECT_THAT(page.figures[0].svg, HasSubstr("slow"));
}

TEST(TrainingReport, WhereNothingWasMergedNobodyLookedHowFarIslandsAreApart) {
  std::vector<Training> all = {training("a", 1, 2)};
  all[0].points.push_back(all[0].points.back());
  all[0].points.back().distance = 0;
  EXPECT_DOUBLE_EQ(late_distance(all[0]), 0.1);  // 0.2 at a norm of 2
  const Chart chart = distance_chart(by_policy(all));
  ASSERT_EQ(chart.series.size(), 1u);
  EXPECT_EQ(chart.series[0].points.size(), 2u);
}

TEST(TrainingReport, NothingIsDrawnAgainstOneStaleness) {
  std::vector<Training> all = {training("a", 1, 2), training("b", 1, 2.1)};
  EXPECT_TRUE(prediction_chart(by_policy({all[0]})).series.empty());
  EXPECT_TRUE(prediction_chart(by_policy(all)).series.empty());  // both have 700 ms
  all[1].recipe.staleness = {{"paper", 1100}, {"squared", 1000}};
  const Chart chart = prediction_chart(by_policy(all));
  ASSERT_EQ(chart.series.size(), 1u);
  EXPECT_EQ(chart.series[0].points.size(), 2u);
  all[1].points.back().distance = INFINITY;  // it diverged
  EXPECT_TRUE(prediction_chart(by_policy(all)).series.empty());
}

TEST(TrainingReport, PoliciesThatEndFarAboveAreLeftOutOfTheCloseLook) {
  const std::vector<Training> all = {training("a", 1, 2), training("b", 1, 2.1),
                                     training("c", 1, 4)};
  const Chart chart = late_loss_chart(by_policy(all));
  ASSERT_EQ(chart.series.size(), 2u);
  EXPECT_EQ(chart.series[0].name, "a");
  EXPECT_EQ(chart.series[0].points.front().first, 5);  // of 10 s
  EXPECT_THAT(chart.caption, HasSubstr("one policy"));
  const std::vector<Training> alone = {all[0]};
  EXPECT_TRUE(late_loss_chart(by_policy(alone)).series.empty());
}

TEST(TrainingReport, RanksAgreeWhateverTheScale) {
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3}, {10, 20, 300}), 1);
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3}, {3, 2, 1}), -1);
  EXPECT_NEAR(rank_correlation({1, 1, 2}, {1, 2, 3}), 0.866, 1e-3);
  EXPECT_TRUE(std::isnan(rank_correlation({1, 1, 1}, {1, 2, 3})));
  std::vector<Training> all;
  for (int i = 0; i < 5; ++i) {
    all.push_back(training("p" + std::to_string(i), 1, 2 + i));
    all.back().recipe.staleness = {{"paper", 1000 - 10.0 * i}, {"squared", 900 + 10.0 * i}};
  }
  const std::string text = training_text(all);
  EXPECT_THAT(text, HasSubstr("rank correlation over 5 policies"));
  EXPECT_THAT(text, HasSubstr("-1.00"));
  EXPECT_THAT(text, HasSubstr(" 1.00"));
}

TEST(TrainingFile, ALineIsATrainingWithFewerDigits) {
  Training one = training("a", 3, 2.1234567);
  const std::string lines = line_of(one) + "\n" + line_of(training("b", 1, 2)) + "\n";
  const auto read = read_trainings(lines);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ(read->at(0).points.back().loss_of_mean, 2.1235);
  EXPECT_EQ(read->at(0).points.back().island_loss.size(), 2u);
  EXPECT_TRUE(read->at(0).points[1].island_loss.empty());
  EXPECT_EQ(read->at(1).recipe.name, "b");
  EXPECT_EQ(training_page(*read, "tests").figures.size(), 4u);
}

TEST(TrainingFile, WhatIsWrittenIsReadBack) {
  Json file = {{"trainings", Json::array({to_json(training("a", 3, 2))})}};
  const auto read = read_trainings(file.dump());
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(to_json(read->at(0)), file["trainings"][0]);
  const auto refused = [&](const char* pointer, const Json& value) {
    Json wrong = file;
    wrong[Json::json_pointer(pointer)] = value;
    const auto none = read_trainings(wrong.dump());
    return none ? "" : none.error().message;
  };
  EXPECT_THAT(refused("/trainings/0/points/1/island_loss", {1.0}),
              HasSubstr("one for each island"));
  EXPECT_THAT(refused("/trainings/0/points", Json::array()), HasSubstr("without points"));
  EXPECT_THAT(refused("/trainings/0/steps", 1e300), HasSubstr("steps: a number"));
  EXPECT_THAT(refused("/trainings/0/settings/batch", 1.5), HasSubstr("batch: a whole number"));
  EXPECT_FALSE(read_trainings("{}").has_value());
  EXPECT_FALSE(read_trainings("[").has_value());
}

TEST(TrainingReport, PairsOfTheSameSeedSayWhoIsAhead) {
  const std::vector<Training> all = {training("fast", 1, 2), training("fast", 2, 2.2),
                                     training("slow", 1, 2.3), training("slow", 2, 2.1),
                                     training("slow", 3, 1)};
  const std::vector<Runs> policies = by_policy(all);
  ASSERT_EQ(policies.size(), 2u);
  EXPECT_EQ(policies[0][0]->recipe.name, "slow");
  EXPECT_EQ(pairs_of(policies[1], policies[0]).ahead, 1);
  EXPECT_EQ(pairs_of(policies[1], policies[0]).of, 2);
  const Rows rows = pair_rows(policies);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[2], (std::vector<std::string>{"fast", "(2)", "1 of 2", "–"}));
  // Of one seed there is nothing to count.
  EXPECT_EQ(pair_rows(by_policy({all[0], all[2]})).size(), 1u);
}

TEST(TrainingReport, WhatWasTrainedUnderOtherSettingsIsAnotherTable) {
  std::vector<Training> all = {training("a", 1, 2), training("a", 1, 3), training("a", 1, 4),
                               training("a", 1, 5)};
  all[1].recipe.step_time = 0.4942;
  all[2].data = "text, by source";
  all[3].unigram_entropy = 3.509;  // another text of the same name
  EXPECT_EQ(by_setting(all).size(), 4u);
  EXPECT_EQ(by_policy(all).size(), 4u);
  EXPECT_EQ(words_for(by_setting({all[0], all[3]}))[1], "text of 3.509 nats a byte");
  EXPECT_THAT(training_text(all), HasSubstr("\nWith steps of 494.2 ms, "));
}

TEST(TrainingReport, RunsAreTheSameWhereNothingThatALossDependsOnDiffers) {
  const Training run = training("a", 1, 2);
  EXPECT_EQ(what_differs(run, run), "");
  const auto differs = [&](const auto& change) {
    Training other = run;
    change(other);
    return what_differs(other, run);
  };
  EXPECT_EQ(differs([](Training& t) { t.recipe.name = "b"; }), "it has policy b, and this run a");
  EXPECT_EQ(differs([](Training& t) { t.settings.batch = 64; }),
            "it has batches of 64, and this run 8");
  for (const std::function<void(Training&)>& change : std::vector<std::function<void(Training&)>>{
           [](Training& t) { t.settings.seed = 7; }, [](Training& t) { t.settings.steps = 7; },
           [](Training& t) { t.settings.seconds = 7; }, [](Training& t) { t.settings.rate = 7; },
           [](Training& t) { t.settings.warmup = 7; }, [](Training& t) { t.settings.windows = 7; },
           [](Training& t) { t.settings.evaluations = 7; }, [](Training& t) { t.model = "gpt"; },
           [](Training& t) { t.data = "text, by source"; },
           [](Training& t) { t.unigram_entropy = 7; }, [](Training& t) { t.recipe.step_time = 7; },
           [](Training& t) {
             t.recipe.shares = {0.25, 0.75};
           },
           [](Training& t) { t.recipe.islands = {"A"}; }})
    EXPECT_NE(differs(change), "");
  // Lines have fewer digits, and old ones do not say everything.
  EXPECT_EQ(differs([](Training& t) { t.settings.rate *= 1.00001; }), "");
  Training knows = run;
  knows.context = 64;
  EXPECT_EQ(what_differs(run, knows), "");
  Training other = knows;
  other.context = 16;
  EXPECT_NE(what_differs(other, knows), "");
}

TEST(TrainingReport, SaysWhichRunsDidNotComeToTheirEnd) {
  std::vector<Training> all = {training("a", 1, 2), training("b", 1, 3)};
  all[0].finished = false;
  all[1].diverged = true;
  EXPECT_THAT(training_text(all), HasSubstr("a (stopped; its last evaluation)"));
  EXPECT_THAT(training_text(all), HasSubstr("b (diverged: lower its rate)"));
}

TEST(TrainingReport, WhatWasTrainedUnderOtherSettingsHasFiguresThatSayWhich) {
  std::vector<Training> all;
  for (const char* data : {"/tmp/texts, alike", "/tmp/texts, by source"})
    for (const double step_time : {0.0309, 0.4942}) {
      all.push_back(training("a", 1, 2));
      all.back().data = data;
      all.back().recipe.step_time = step_time;
    }
  const IllustratedPage page = training_page(all, "tests");
  std::set<std::string> names;
  for (const NamedFigure& figure : page.figures) names.insert(figure.name);
  EXPECT_EQ(names.size(), 16u);
  EXPECT_TRUE(names.contains("loss-against-time-steps-of-30.9-ms-text-by-source"));
  EXPECT_THAT(page.figures[0].svg, HasSubstr("Loss against time: steps of 30.9 ms, text alike"));
  EXPECT_EQ(page.page.sections.size(), 8u);
  EXPECT_EQ(page.page.sections[0].table.size(), 2u);  // the titles, and one policy
  EXPECT_EQ(page.page.sections[6].heading, "Loss: steps of 494.2 ms, text by source");
  // What is alike everywhere is not said, and of one setting nothing is.
  EXPECT_EQ(words_for(by_setting({all[0], all[2]})),
            (std::vector<std::string>{"text alike", "text by source"}));
  EXPECT_EQ(training_page({all[0]}, "tests").figures[0].name, "loss-against-time");
}

TEST(TrainingReport, SettingsWithTheSameNameDoNotShareAFile) {
  std::vector<Training> all = {training("a", 1, 2), training("a", 1, 2)};
  all[0].data = "a b";
  all[1].data = "a-b";
  const IllustratedPage page = training_page(all, "tests");
  std::set<std::string> names;
  for (const NamedFigure& figure : page.figures) names.insert(figure.name);
  EXPECT_EQ(names.size(), page.figures.size());
}

}  // namespace
}  // namespace cotillion
