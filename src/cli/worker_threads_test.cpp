#include "cli/worker_threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "tests/support/search/searches.hpp"

namespace cotillion::cli {
namespace {

TEST(WorkerThreads, EveryTaskIsDoneOnceAndNoWorkerDoesTwoAtATime) {
  WorkerThreads workers(4);
  ASSERT_EQ(workers.count(), 4);
  for (int run = 0; run < 200; ++run) {
    const int tasks = run % 17;
    std::vector<int> done(std::size_t(tasks), 0);  // not atomic: a task is one worker's own,
    std::vector<int> busy(4, 0);                   // and so is a worker's place
    workers.run(tasks, [&](int task, int worker) {
      EXPECT_EQ(busy[std::size_t(worker)]++, 0);
      ++done[std::size_t(task)];
      --busy[std::size_t(worker)];
    });
    EXPECT_EQ(done, std::vector<int>(std::size_t(tasks), 1));
  }
}

TEST(WorkerThreads, WhatATaskThrowsIsThrownOnceTheOthersHaveEnded) {
  WorkerThreads workers(3);
  for (int run = 0; run < 50; ++run) {
    std::atomic<int> begun{0};
    std::atomic<int> ended{0};
    const auto work = [&](int task, int) {
      ++begun;
      if (task == 5) {
        ++ended;
        throw std::runtime_error("task 5");
      }
      ++ended;
    };
    EXPECT_THROW(workers.run(40, work), std::runtime_error);
    EXPECT_EQ(begun, ended);
    EXPECT_GE(begun, 6);
    int after = 0;
    workers.run(1, [&](int, int) { ++after; });
    EXPECT_EQ(after, 1);
  }
}

TEST(WorkerThreads, ASearchFindsWhatOneWorkerFinds) {
  const auto fixture = testing::fixture_of(testing::random_map(12, 3));
  SearchSettings settings;
  settings.exact = false;
  settings.steps = 20'000;
  WorkerThreads workers(4);
  const SearchResult found = search(fixture->network, settings, workers);
  const SearchResult alone = testing::alone(*fixture, settings);
  ASSERT_TRUE(found.found);
  EXPECT_EQ(found.plan.staleness(), alone.plan.staleness());
  EXPECT_EQ(found.evaluated, alone.evaluated);
}

}  // namespace
}  // namespace cotillion::cli
