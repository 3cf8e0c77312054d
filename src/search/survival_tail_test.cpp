#include "search/survival_tail.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "base/infinity.hpp"
#include "base/random.hpp"
#include "plan/named_schedule.hpp"
#include "search/area_meter.hpp"
#include "search/walker.hpp"
#include "tests/support/plan/maps.hpp"
#include "topology/generate_map.hpp"

namespace cotillion {
namespace {

using testing::fixture_of;
using testing::random_schedule;

// The slow clear reference: all of Φ in long double, every phase followed until nothing is left.
// Schedules that take too long for that have no reference.
long double dense_area(const Schedule& schedule, int n, bool squared) {
  constexpr long double kNothing = 1e-14L;
  constexpr int kRoundsMost = 4000;
  const int period = int(schedule.rounds.size());
  long double area = 0;
  std::vector<long double> phi, mean;
  for (int phase = 0; phase < period; ++phase) {
    phi.assign(std::size_t(n) * n, 0);
    for (int i = 0; i < n; ++i) phi[std::size_t(i) * n + i] = 1;
    long double e = 1;
    for (int age = 0; e > kNothing; ++age) {
      if (age > kRoundsMost) return kInfinity;
      area += e;
      e = 0;
      for (const Clique& clique : schedule.rounds[(phase + age + 1) % period].cliques) {
        mean.assign(n, 0);
        for (const IslandId member : clique.islands)
          for (int j = 0; j < n; ++j) mean[j] += phi[std::size_t(member) * n + j] / clique.size();
        for (const IslandId member : clique.islands)
          std::copy(mean.begin(), mean.end(), &phi[std::size_t(member) * n]);
        for (const long double value : mean) {
          const long double gap = std::fabs(value - 1.0L / n);
          e += clique.size() * (squared ? gap * gap / (n - 1) : gap / (2 * n - 2));
        }
      }
    }
  }
  return area / period;
}

double measured_area(const Schedule& schedule, int n, bool squared, TailCare care) {
  std::deque<Grouping> groups;
  std::vector<const Grouping*> rounds;
  for (const Round& round : schedule.rounds) rounds.push_back(&groups.emplace_back(round, n));
  return AreaMeter(n, squared, care).start(rounds, kInfinity);
}

// Errors relative to what is promised.
class Errors {
 public:
  void measure(const Schedule& schedule, int n) {
    if (schedule.rounds.size() < 2 || !connects_all(schedule, n)) return;
    for (const bool squared : {false, true}) {
      const auto area = double(dense_area(schedule, n, squared));
      if (!std::isfinite(area) || area > kSlowestArea) continue;
      const double proof = measured_area(schedule, n, squared, TailCare::kProof);
      ASSERT_NEAR(proof, area, SurvivalTail::kProofError * area);
      const double search = measured_area(schedule, n, squared, TailCare::kSearch);
      ASSERT_NEAR(search, area, SurvivalTail::search_error(area) * area);
      errors_.push_back(std::fabs(search - area) / area / SurvivalTail::search_error(area));
    }
  }
  [[nodiscard]] std::size_t count() const { return errors_.size(); }
  // Below which lie this share of them.
  [[nodiscard]] double at(double share) {
    std::sort(errors_.begin(), errors_.end());
    return errors_[std::size_t(share * double(errors_.size() - 1))];
  }

 private:
  std::vector<double> errors_;
};

TEST(SurvivalTail, KeepsItsPromiseOnRandomSchedules) {
  Errors errors;
  for (const int n : {3, 6, 9, 16, 24, 40})
    for (std::uint64_t seed = 0; seed < (n > 16 ? 15u : 60u); ++seed)
      ASSERT_NO_FATAL_FAILURE(errors.measure(random_schedule(n, 2 + int(seed % 5), seed), n))
          << n << " islands, seed " << seed;
  EXPECT_GT(errors.count(), 300u);
}

// The schedules that matter: where an annealer starts, and where it has been.
TEST(SurvivalTail, KeepsItsPromiseWhereAnAnnealerWalks) {
  Errors errors;
  for (const int n : {9, 25, 40, 100}) {
    const auto fixture = fixture_of(n == 9    ? testing::example_map("nine-cities")
                                    : n == 40 ? testing::example_map("geant")
                                              : generate_map(n, 1));
    const Constraints constraints;
    const PlanSettings settings;
    const Rules rules(fixture->network, constraints);
    const Score score(fixture->network, settings);
    const PairPrices pairs(fixture->network, rules, settings.fragments);
    const Neighbourhood neighbourhood(pairs, n);
    CliqueCache cache(fixture->network, settings.fragments);
    const auto start = named_schedule("grid", fixture->map, fixture->routes);
    ASSERT_TRUE(start.has_value());
    Walker walker(rules, score, neighbourhood, cache);
    ASSERT_TRUE(walker.begin(*start));
    WalkSettings walking;
    walking.steps = 400;
    Random random{std::uint64_t(n)};
    for (int lap = 0; lap < (n > 40 ? 6 : 12); ++lap) {
      ASSERT_NO_FATAL_FAILURE(errors.measure(walker.best().schedule, n)) << n << ", lap " << lap;
      walker.walk(walking, start->rounds, random, {});
    }
  }
  EXPECT_GT(errors.count(), 70u);
  EXPECT_LT(errors.at(0.5), 0.1);  // and is usually much better
}

TEST(SurvivalTail, ClosesAGeometricSeriesExactly) {
  for (const TailCare care : {TailCare::kProof, TailCare::kSearch}) {
    SurvivalTail tail(care, 2);
    std::vector<double> sums = {2};
    double total = 2;
    TailState state = TailState::kUnknown;
    while (state != TailState::kClosed) {
      ASSERT_LT(sums.size(), 20u);
      sums.push_back(sums.back() / 2);
      total += sums.back();
      if (sums.size() > 2) state = tail.follow(sums, total);
    }
    EXPECT_DOUBLE_EQ(total + tail.rest(), 4);
  }
}

TEST(SurvivalTail, KnowsWhatHasSettledAndWhatNeverWill) {
  SurvivalTail settled(TailCare::kSearch, 2);
  EXPECT_EQ(settled.follow({2, 1, 0}, 3), TailState::kSettled);
  EXPECT_EQ(settled.rest(), 0);
  SurvivalTail stuck(TailCare::kSearch, 1);
  EXPECT_EQ(stuck.follow({1, 0.5}, 1.5), TailState::kUnknown);
  EXPECT_EQ(stuck.follow({1, 0.5, 0.5}, 2), TailState::kStuck);
}

}  // namespace
}  // namespace cotillion
