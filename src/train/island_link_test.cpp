// Questions and answers between a training and an island's process.
#include "train/island_link.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "train/lab_island.hpp"

namespace cotillion {
namespace {

using ::testing::HasSubstr;

constexpr Duration kSoon{50'000'000'000}, kLong{30'000'000'000'000};

class Links : public ::testing::Test {
 protected:
  Links()
      : path_(std::filesystem::temp_directory_path() /
              ("cotillion-link-" + std::to_string(::getpid()))) {
    std::filesystem::remove(path_);
  }
  ~Links() override { std::filesystem::remove(path_); }
  const std::filesystem::path path_;
};

TEST_F(Links, CarryLongQuestionsAndAnswers) {
  const auto listener = listen_at(path_);
  ASSERT_TRUE(listener.has_value()) << listener.error().message;
  const std::vector<float> model(1'000'000, 0.5F);
  std::thread island([&] {
    auto link = connect_to(path_);
    ASSERT_TRUE(link.has_value());
    auto question = link->receive(kLong);
    ASSERT_TRUE(question.has_value());
    EXPECT_EQ(question->what, Ask::kModel);
    EXPECT_TRUE(link->answer(bytes_of_values(model)).has_value());
    question = link->receive(kLong);
    ASSERT_TRUE(question.has_value());
    EXPECT_EQ(value_of<double>(question->body), 0.25);
    EXPECT_TRUE(link->refuse("it rains").has_value());
  });
  auto link = accept_at(*listener, kLong);
  ASSERT_TRUE(link.has_value()) << link.error().message;
  ASSERT_TRUE(link->ask(Ask::kModel, "").has_value());
  const auto answer = link->answered(kLong);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(values_of<float>(*answer), model);
  const double rate = 0.25;
  ASSERT_TRUE(link->ask(Ask::kUpdate, bytes_of_value(rate)).has_value());
  const auto refused = link->answered(kLong);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message, "it rains");
  island.join();
  EXPECT_THAT(link->answered(kLong).error().message, HasSubstr("it is gone"));
}

TEST_F(Links, WaitForNobodyForEver) {
  const auto listener = listen_at(path_);
  ASSERT_TRUE(listener.has_value());
  EXPECT_EQ(accept_at(*listener, kSoon).error().message, "nobody came");
  auto silent = connect_to(path_);
  auto link = accept_at(*listener, kLong);
  ASSERT_TRUE(link.has_value());
  EXPECT_EQ(link->answered(kSoon).error().message, "it says nothing");
}

TEST_F(Links, WhatAnIslandIsToldIsReadBack) {
  LabIslandSetup setup;
  setup.learner.model = {ModelSpec::Kind::kMlp, 1, 64, 1, 16};
  setup.learner.seed = 7;
  setup.recipe.name = "all-to-all";
  setup.recipe.islands = {"A"};
  setup.recipe.shares = {1};
  rotation_of(setup.recipe).rounds = {{0.5, {1}, {0}, {0.5}, true}};
  rotation_of(setup.recipe).grain = 48;
  setup.plan = "/mnt/plan.json";
  setup.streamed = true;
  setup.grace = {50'000'000'000};
  setup.region = "/mnt/0.sock";
  setup.island = 2;
  setup.rounds = 20;
  const auto read = read_lab_island(to_text(setup));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(to_text(*read), to_text(setup));
  EXPECT_EQ(rotation_of(read->recipe).grain, 48);
  EXPECT_FALSE(read_lab_island("{}").has_value());
}

}  // namespace
}  // namespace cotillion
