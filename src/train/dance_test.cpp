// Every policy on two or three islands whose models are one number each, against arithmetic that
// was done by hand.
#include "train/dance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "train/plain_vectors.hpp"

namespace cotillion {
namespace {

constexpr double kStep = 0.1;

Recipe recipe_of(Recipe::Kind kind, int islands) {
  Recipe recipe;
  recipe.kind = kind;
  recipe.step_time = kStep;
  for (int i = 0; i < islands; ++i) recipe.islands.push_back(std::string(1, char('A' + i)));
  recipe.shares.assign(std::size_t(islands), 1.0 / islands);
  return recipe;
}

RecipeRound round_of(std::vector<double> mixing, double length, int islands, int fragments = 1) {
  RecipeRound round{length, std::move(mixing), {}, {}, true};
  for (int i = 0; i < islands; ++i)
    for (int f = 0; f < fragments; ++f) {
      round.leaves.push_back(fragments == 1 ? 0 : length * f / (2 * fragments));
      round.arrives.push_back(fragments == 1 ? length
                                             : length / 2 + length * (f + 1) / (2 * fragments));
    }
  return round;
}

const std::vector<double> kHalves = {0.5, 0.5, 0.5, 0.5};

// Plays steps in which island i adds add[i] to each element.
class Play {
 public:
  Play(const Recipe& recipe, std::vector<float> add, std::int64_t elements = 1)
      : dance_(make_dance(recipe)),
        rows_(island_count(recipe), elements),
        add_(std::move(add)),
        elements_(elements) {
    moves(0);
  }
  void start_from(std::vector<float> x) {
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::int64_t e = 0; e < elements_; ++e) rows_.at(Buffer::kModel, int(i), e) = x[i];
    moves(0);
  }
  void step(int count = 1) {
    for (int s = 0; s < count; ++s) {
      ++steps_;
      for (int i = 0; i < rows_.islands(); ++i)
        for (std::int64_t e = 0; e < elements_; ++e)
          rows_.at(Buffer::kGradient, i, e) = add_[std::size_t(i)];
      for (const VectorMove& move : dance_->on_gradients(steps_)) rows_.apply(move);
      const AroundStep around = dance_->around(steps_);
      for (const VectorMove& move : around.before) rows_.apply(move);
      for (int i = 0; i < rows_.islands(); ++i)
        for (std::int64_t e = 0; e < elements_; ++e)
          rows_.at(Buffer::kModel, i, e) += rows_.at(Buffer::kGradient, i, e);
      for (const VectorMove& move : around.after) rows_.apply(move);
      moves(steps_);
    }
  }
  [[nodiscard]] float x(int island, std::int64_t element = 0) {
    return rows_.at(Buffer::kModel, island, element);
  }
  [[nodiscard]] const Dance& dance() const { return *dance_; }

 private:
  void moves(std::int64_t steps) {
    for (const VectorMove& move : dance_->after(steps)) rows_.apply(move);
  }
  std::unique_ptr<Dance> dance_;
  PlainVectors rows_;
  std::vector<float> add_;
  std::int64_t elements_;
  std::int64_t steps_ = 0;
};

TEST(Dance, WholeSnapshotsAverageWhatWasSentAndKeepProgress) {
  Recipe recipe = recipe_of(Recipe::Kind::kRotation, 2);
  recipe.rounds = {round_of(kHalves, 0.2, 2)};
  Play play(recipe, {1, 3});
  play.start_from({0, 8});
  play.step();
  EXPECT_EQ(play.x(0), 1);
  // S was (0, 8): x ← 2 + 4 − 0 and 14 + 4 − 8.
  play.step();
  EXPECT_EQ(play.x(0), 6);
  EXPECT_EQ(play.x(1), 10);
  // S is (6, 10) and its mean 8.
  play.step(2);
  EXPECT_EQ(play.x(0), 10);
  EXPECT_EQ(play.x(1), 14);
  EXPECT_DOUBLE_EQ(play.dance().time_after(4), 0.4);
}

TEST(Dance, MergesWaitForTheEndOfAStepAndCopiesDoNot) {
  Recipe recipe = recipe_of(Recipe::Kind::kRotation, 2);
  // Two fragments: copied at 0 and at 0.15, merged at 0.12 and at 0.27 of rounds of 0.3.
  recipe.fragments = 2;
  RecipeRound round{0.3, kHalves, {0, 0.15, 0, 0.15}, {0.12, 0.27, 0.12, 0.27}, true};
  recipe.rounds = {round};
  Play play(recipe, {1, 3}, 2);
  play.start_from({0, 8});
  play.step();  // fragment 1 is copied as it is after one step: (1, 11)
  EXPECT_EQ(play.x(0, 0), 1);
  play.step();  // fragment 0, sent as (0, 8), is merged
  EXPECT_EQ(play.x(0, 0), 2 + 4);
  EXPECT_EQ(play.x(1, 0), 14 - 4);
  EXPECT_EQ(play.x(0, 1), 2);
  play.step();  // and fragment 1
  EXPECT_EQ(play.x(0, 1), 3 + 6 - 1);
  EXPECT_EQ(play.x(1, 1), 17 + 6 - 11);
  EXPECT_NEAR(play.dance().account().delay_max, 0.2, 1e-12);
}

TEST(Dance, OwnWeightShowsTheOptimizerOnlyAShareOfItsOwnProgress) {
  Recipe recipe = recipe_of(Recipe::Kind::kRotation, 2);
  recipe.rounds = {round_of(kHalves, 0.1, 2)};
  recipe.own_weight = 0.5;
  Play play(recipe, {2, 6});
  play.start_from({0, 4});
  play.step();  // z = W S + D = (2 + 2, 2 + 6), x = z − D/2
  EXPECT_EQ(play.x(0), 3);
  EXPECT_EQ(play.x(1), 5);
  play.step();  // z was (4, 8): (6 + 2, 6 + 6), x = (7, 9)
  EXPECT_EQ(play.x(0), 7);
  EXPECT_EQ(play.x(1), 9);
}

TEST(Dance, AMergeMayKeepAShareOfTheProgressMadeInFlight) {
  Recipe recipe = recipe_of(Recipe::Kind::kRotation, 2);
  recipe.rounds = {round_of(kHalves, 0.2, 2)};
  recipe.progress = 0.25;
  Play play(recipe, {2, 6});
  play.start_from({0, 8});
  play.step(2);  // the mean of (0, 8) is 4, and progress was (4, 12)
  EXPECT_EQ(play.x(0), 4 + 1);
  EXPECT_EQ(play.x(1), 4 + 3);
  play.step(2);
  EXPECT_EQ(play.x(0), 6 + 1);
  EXPECT_EQ(play.x(1), 6 + 3);
}

TEST(Dance, ACopyThatLeavesBeforeAMergeHasTheSameShareOfProgress) {
  Recipe recipe = recipe_of(Recipe::Kind::kRotation, 2);
  // Rounds of one step and a half: what was sent at 0 comes at 0.15, is merged at 0.2, and is in
  // what leaves at 0.15.
  recipe.rounds = {round_of(kHalves, 0.15, 2)};
  recipe.progress = 0.5;
  Play play(recipe, {2, 6});
  play.start_from({0, 8});
  play.step();  // (2, 14); what leaves is 4 + (2, 6)/2
  play.step();  // (4, 20): 4 + (4, 12)/2
  EXPECT_EQ(play.x(0), 6);
  EXPECT_EQ(play.x(1), 10);
  play.step();  // (8, 16): the mean of (5, 7) is 6, and 6 + (3, 9)/2
  EXPECT_EQ(play.x(0), 7.5);
  EXPECT_EQ(play.x(1), 10.5);
}

TEST(Dance, WhoRestsGivesNoProgressUp) {
  Recipe recipe = recipe_of(Recipe::Kind::kRotation, 3);
  recipe.rounds = {round_of({0.5, 0.5, 0, 0.5, 0.5, 0, 0, 0, 1}, 0.1, 3)};
  recipe.progress = 0.5;
  Play play(recipe, {2, 6, 1});
  play.start_from({0, 8, 0});
  play.step();
  EXPECT_EQ(play.x(0), 4 + 1);
  EXPECT_EQ(play.x(1), 4 + 3);
  EXPECT_EQ(play.x(2), 1);
}

TEST(Dance, RoundsThatFollowCloselyConserveTheMean) {
  Recipe recipe = recipe_of(Recipe::Kind::kRotation, 2);
  // A round is sent in 0.2 and flies for 0.11: fragments of two rounds are under way at once.
  recipe.fragments = 2;
  recipe.rounds = {{0.2, kHalves, {0, 0.1, 0, 0.1}, {0.19, 0.29, 0.19, 0.29}, true}};
  Play play(recipe, {1, 3}, 2);
  play.start_from({0, 8});
  for (int step = 1; step <= 40; ++step) {
    play.step();
    for (int element = 0; element < 2; ++element)
      EXPECT_NEAR(play.x(0, element) + play.x(1, element), 8 + 4 * step, 1e-4);
  }
  // What is unsettled is the progress of the steps that are under way.
  EXPECT_NEAR(play.x(1, 0) - play.x(0, 0), 4, 1e-4);
  EXPECT_NEAR(play.dance().account().cycle, 0.2, 1e-12);
}

TEST(Dance, MomentumAtTheSenderIsOnItsOwnIncrements) {
  Recipe recipe = recipe_of(Recipe::Kind::kRotation, 2);
  recipe.rounds = {round_of(kHalves, 0.1, 2)};
  recipe.momentum = 0.5;
  recipe.momentum_at_sender = true;
  Play play(recipe, {2, 6});
  play.start_from({0, 4});
  // S = (0, 4). After a step x = (2, 10) + (2, −2) = (4, 8); increments (2, 6), v = (2, 6).
  play.step();
  EXPECT_EQ(play.x(0), 4);
  EXPECT_EQ(play.x(1), 8);
  // Sent is (4, 8), mean 6: x = (8, 12). Increments (2, 6), v = (3, 9): sent is (9, 15).
  play.step();
  EXPECT_EQ(play.x(0), 8);
  // Shown with the next merge: x = 8 + 2 + 1 + 12 − 9.
  play.step();
  EXPECT_EQ(play.x(0), 14);
}

TEST(Dance, MomentumAtTheReceiverActsOnAveragesOfEveryone) {
  Recipe recipe = recipe_of(Recipe::Kind::kRotation, 2);
  recipe.rounds = {round_of(kHalves, 0.1, 2)};
  recipe.momentum = 0.5;
  Play play(recipe, {2, 6});
  play.start_from({0, 4});
  play.step();  // θ = 2, x = (4, 8)
  EXPECT_EQ(play.x(0), 4);
  play.step();  // average 6: v = 4, θ = 6, x = 6 + 6 − 4
  EXPECT_EQ(play.x(0), 8);
  play.step();  // S = (8, 12), average 10: v = 2 + 4, θ = 12, x = 10 + 12 − 8
  EXPECT_EQ(play.x(0), 14);
}

TEST(Dance, MissingContributionsKeepRowsStochastic) {
  for (const bool own : {false, true}) {
    Recipe recipe = recipe_of(Recipe::Kind::kRotation, 3);
    recipe.rounds = {round_of(std::vector<double>(9, 1.0 / 3), 0.1, 3)};
    recipe.lost = 0.5;
    recipe.own_for_missing = own;
    Play play(recipe, {0, 0, 0});
    play.start_from({0, 6, 12});
    play.step(1);
    const auto dance = make_dance(recipe);
    bool anything = false;
    for (std::int64_t s = 1; s < 20; ++s)
      for (const VectorMove& move : dance->after(s))
        for (const Term& term : move.terms)
          for (std::size_t row = 0; row * 3 < term.mixing.size(); ++row) {
            const double sum =
                term.mixing[row * 3] + term.mixing[row * 3 + 1] + term.mixing[row * 3 + 2];
            EXPECT_NEAR(sum, 1, 1e-12);
            EXPECT_GT(term.mixing[row * 3 + row], 0);
            anything = anything || std::abs(term.mixing[row * 3 + row] - 1.0 / 3) > 1e-9;
          }
    EXPECT_TRUE(anything);
  }
}

// What islands sent, one round after the other: G(k+1) = W(k) G(k) + Δ(k), with the increments Δ
// binned by each island's own copies of each fragment. Between rounds a state is G + Δ, less a
// correction that waits, or plus one that has come.
TEST(Dance, StatesAreThePortfolioOfGenerations) {
  const std::vector<std::vector<double>> pairs = {{0.5, 0.5, 0, 0.5, 0.5, 0, 0, 0, 1},
                                                  {1, 0, 0, 0, 0.5, 0.5, 0, 0.5, 0.5}};
  for (const int fragments : {1, 4})
    for (const int steps : {57, 58, 59, 60}) {
      Recipe recipe = recipe_of(Recipe::Kind::kRotation, 3);
      recipe.fragments = fragments;
      recipe.rounds = {round_of(pairs[0], 0.37, 3, fragments),
                       round_of(pairs[1], 0.25, 3, fragments)};
      const auto dance = make_dance(recipe);
      PlainVectors vectors(3, 4);
      Random random(7);
      // By island and element: increments before the first copy, and since each.
      std::vector<double> bins[3][4];
      for (auto& island : bins)
        for (auto& element : island) element = {0};
      int merges[3][4] = {};
      for (int step = 0; step < steps; ++step) {
        const auto apply = [&](const std::vector<VectorMove>& moves) {
          for (const VectorMove& move : moves) {
            vectors.apply(move);
            const Span span = span_of(move, 4);
            const bool copies = std::any_of(move.terms.begin(), move.terms.end(),
                                            [](const Term& t) { return t.from == Buffer::kModel; });
            for (const int i : move.islands)
              for (std::int64_t e = span.first; e < span.first + span.count; ++e) {
                if (move.merges)
                  ++merges[i][e];
                else if (copies)
                  bins[i][e].push_back(0);
              }
          }
        };
        apply(dance->after(step));
        const AroundStep around = dance->around(step + 1);
        apply(around.before);
        for (int i = 0; i < 3; ++i)
          for (int e = 0; e < 4; ++e) {
            const auto increment = float(random.between(-8, 8));
            vectors.at(Buffer::kModel, i, e) += increment;
            bins[i][e].back() += increment;
          }
        apply(around.after);
      }
      for (int e = 0; e < 4; ++e) {
        std::size_t rounds = 0;
        for (int i = 0; i < 3; ++i) rounds = std::max(rounds, bins[i][e].size() - 1);
        std::vector<std::vector<double>> sent = {{bins[0][e][0], bins[1][e][0], bins[2][e][0]}},
                                         mixed;
        for (std::size_t k = 0; k < rounds; ++k) {
          const auto& w = pairs[k % 2];
          mixed.emplace_back(3);
          sent.emplace_back(3);
          for (std::size_t i = 0; i < 3; ++i) {
            for (std::size_t j = 0; j < 3; ++j) mixed[k][i] += w[i * 3 + j] * sent[k][j];
            sent[k + 1][i] = mixed[k][i] + (k + 1 < bins[i][e].size() ? bins[i][e][k + 1] : 0);
          }
        }
        for (int i = 0; i < 3; ++i) {
          const auto ui = std::size_t(i);
          ASSERT_GE(bins[i][e].size(), 3u);
          const std::size_t k = bins[i][e].size() - 2;  // the last round it has copied
          double expected = bins[i][e].back() + sent[k][ui];
          if (merges[i][e] == int(k) + 1) expected += mixed[k][ui] - sent[k][ui];
          if (merges[i][e] == int(k) - 1) expected -= mixed[k - 1][ui] - sent[k - 1][ui];
          ASSERT_LE(std::abs(merges[i][e] - int(k)), 1);
          EXPECT_NEAR(vectors.at(Buffer::kModel, i, e), expected, 1e-3);
        }
      }
    }
}

TEST(Dance, ACopyCarriesACorrectionThatStillWaits) {
  Recipe recipe = recipe_of(Recipe::Kind::kRotation, 2);
  recipe.rounds = {round_of(kHalves, 0.15, 2)};
  Play play(recipe, {1, 3});
  play.start_from({0, 8});
  // At 0.15 the average 4 has come: (1, 11) + (4, −4) leaves as (5, 7). It is merged after step 2.
  play.step(2);
  EXPECT_EQ(play.x(0), 2 + 4);
  EXPECT_EQ(play.x(1), 14 - 4);
  // And the average of those, 6, after step 3.
  play.step();
  EXPECT_EQ(play.x(0), 7 + 1);
  EXPECT_EQ(play.x(1), 13 - 1);
}

TEST(Dance, RoundsShorterThanAStepAreMergedOneAfterTheOther) {
  Recipe recipe = recipe_of(Recipe::Kind::kRotation, 3);
  recipe.rounds = {round_of({0.5, 0.5, 0, 0.5, 0.5, 0, 0, 0, 1}, 0.05, 3),
                   round_of({1, 0, 0, 0, 0.5, 0.5, 0, 0.5, 0.5}, 0.05, 3)};
  Play play(recipe, {0, 0, 0});
  play.start_from({8, 0, 0});
  play.step();  // both rounds: (4, 4, 0), then (4, 2, 2)
  EXPECT_EQ(play.x(0), 4);
  EXPECT_EQ(play.x(1), 2);
  EXPECT_EQ(play.x(2), 2);
}

TEST(Dance, SynchronousAveragesGradientsAndWaits) {
  Recipe recipe = recipe_of(Recipe::Kind::kSynchronous, 2);
  recipe.exchange = 0.4;
  Play play(recipe, {1, 3});
  play.step(2);
  EXPECT_EQ(play.x(0), 4);
  EXPECT_EQ(play.x(1), 4);
  EXPECT_DOUBLE_EQ(play.dance().time_after(2), 1.0);
}

TEST(Dance, LocalStepsAreAveragedEveryFewAndEverybodyWaits) {
  Recipe recipe = recipe_of(Recipe::Kind::kOuter, 2);
  recipe.steps = 2;
  recipe.exchange = 0.4;
  Play play(recipe, {1, 3});
  play.step();
  EXPECT_EQ(play.x(1), 3);
  EXPECT_DOUBLE_EQ(play.dance().time_after(1), 0.1);
  play.step();
  EXPECT_EQ(play.x(0), 4);
  EXPECT_EQ(play.x(1), 4);
  EXPECT_DOUBLE_EQ(play.dance().time_after(2), 0.6);
}

TEST(Dance, DiLoCoTakesANesterovStepFromWhereItWas) {
  Recipe recipe = recipe_of(Recipe::Kind::kOuter, 2);
  recipe.steps = 1;
  recipe.nesterov = true;
  recipe.outer_rate = 0.5;
  recipe.momentum = 0.5;
  Play play(recipe, {1, 3});
  play.step();  // g = 0 − 2, v = −2, θ = 0 + 0.5·(2 + 1)
  EXPECT_EQ(play.x(0), 1.5);
  play.step();  // g = 1.5 − 3.5, v = −1 − 2, θ = 1.5 + 0.5·(2 + 1.5)
  EXPECT_EQ(play.x(0), 3.25);
  EXPECT_EQ(play.x(1), 3.25);
}

TEST(Dance, StreamingDiLoCoMergesFragmentsAfterTheirFlight) {
  Recipe recipe = recipe_of(Recipe::Kind::kStreaming, 2);
  recipe.steps = 2;
  recipe.fragments = 2;
  recipe.overlap = 1;
  recipe.nesterov = true;
  recipe.keep = 0.5;
  Play play(recipe, {1, 3}, 2);
  play.step();  // the second fragment is copied: θ − x is (−1, −3)
  EXPECT_EQ(play.x(0, 1), 1);
  play.step();  // θ = 2; x = (2 + 2)/2 and (6 + 2)/2. The first is copied: (−2, −6)
  EXPECT_EQ(play.x(0, 1), 2);
  EXPECT_EQ(play.x(1, 1), 4);
  EXPECT_EQ(play.x(0, 0), 2);
  play.step();  // θ = 4; x = (3 + 4)/2 and (9 + 4)/2
  EXPECT_EQ(play.x(0, 0), 3.5);
  EXPECT_EQ(play.x(1, 0), 6.5);
  EXPECT_DOUBLE_EQ(play.dance().time_after(2), 0.2);
}

TEST(Dance, FragmentsOfStreamingDiLoCoThatLeaveTogetherPassOneAfterTheOther) {
  Recipe recipe = recipe_of(Recipe::Kind::kStreaming, 2);
  recipe.steps = 4;
  recipe.fragments = 8;
  recipe.latency = 0.06;
  recipe.serialisation = 0.32;
  recipe.overlap = 2;
  // Two leave after each step; 60 + 40 ms is a step, 60 + 80 ms are two.
  const ClockSummary account = make_dance(recipe)->account();
  EXPECT_NEAR(account.delay_mean, 0.15, 1e-12);
  EXPECT_NEAR(account.delay_max, 0.2, 1e-12);
  EXPECT_NEAR(account.cycle, 0.4, 1e-12);
  const auto copies = [&](std::int64_t steps) {
    int count = 0;
    for (const VectorMove& move : make_dance(recipe)->after(steps))
      count += move.into == Buffer::kSentEven || move.into == Buffer::kSentOdd;
    return count;
  };
  for (std::int64_t steps = 1; steps < 20; ++steps) EXPECT_EQ(copies(steps), 2) << steps;
}

TEST(Dance, RoundingOnTheWireIsNotProgressLost) {
  Recipe recipe = recipe_of(Recipe::Kind::kRotation, 2);
  recipe.rounds = {round_of(kHalves, 0.1, 2)};
  recipe.wire = WireFormat::kBf16;
  Play play(recipe, {0, 0});
  // 1 + 2⁻⁸ travels as 1; what was rounded off stays where it was.
  play.start_from({1.00390625F, 3});
  play.step();
  EXPECT_EQ(play.x(0), 2.00390625F);
  EXPECT_EQ(play.x(1), 2);
  // 256 + 1 does not fit into eight bits: the sum comes as 256, and both become 128.
  Play large(recipe, {0, 0});
  large.start_from({256, 1});
  large.step();
  EXPECT_EQ(large.x(0), 128);
  EXPECT_EQ(large.x(1), 128);
  recipe.wire = WireFormat::kI32;
  Play grid(recipe, {0, 0});
  grid.start_from({256, 1});
  grid.step();
  EXPECT_EQ(grid.x(0), 128.5);
  EXPECT_EQ(on_wire(0.3F, WireFormat::kI32), std::round(0.3F * 16777216.0F) / 16777216.0F);
  EXPECT_EQ(on_wire(-3.0F, WireFormat::kI32), -3);
}

TEST(Dance, MomentsTravelByFragmentsInTurn) {
  Recipe recipe = recipe_of(Recipe::Kind::kRotation, 2);
  recipe.fragments = 2;
  recipe.rounds = {round_of(kHalves, 0.4, 2, 2)};
  recipe.moments = 2;
  recipe.moments_every = 2;
  const auto dance = make_dance(recipe);
  PlainVectors rows(2, 2);
  for (std::int64_t e = 0; e < 2; ++e) {
    rows.at(Buffer::kMomentTwo, 0, e) = 2;
    rows.at(Buffer::kMomentTwo, 1, e) = 6;
    rows.at(Buffer::kMomentOne, 0, e) = 1;
    rows.at(Buffer::kMomentOne, 1, e) = 3;
  }
  for (std::int64_t steps = 0; steps <= 4; ++steps) {
    for (const VectorMove& move : dance->after(steps)) rows.apply(move);
    // The optimizer goes on: m keeps what comes meanwhile, v is replaced.
    if (steps == 1) rows.at(Buffer::kMomentOne, 0, 0) += 10, rows.at(Buffer::kMomentTwo, 0, 0) = 9;
  }
  EXPECT_EQ(rows.at(Buffer::kMomentTwo, 0, 0), 4);
  EXPECT_EQ(rows.at(Buffer::kMomentTwo, 1, 0), 4);
  EXPECT_EQ(rows.at(Buffer::kMomentOne, 0, 0), 12);
  EXPECT_EQ(rows.at(Buffer::kMomentOne, 1, 0), 2);
  EXPECT_EQ(rows.at(Buffer::kMomentTwo, 0, 1), 2);  // its turn is the next round
  for (std::int64_t steps = 5; steps <= 8; ++steps)
    for (const VectorMove& move : dance->after(steps)) rows.apply(move);
  EXPECT_EQ(rows.at(Buffer::kMomentTwo, 0, 1), 4);
}

TEST(Dance, FragmentsThatAreTreatedAlikeAreOneMove) {
  Recipe recipe = recipe_of(Recipe::Kind::kRotation, 2);
  recipe.fragments = 8;
  RecipeRound round{0.2, kHalves, {}, {}, true};
  round.leaves.assign(16, 0.0);
  round.arrives.assign(16, 0.2);
  recipe.rounds = {round};
  const std::vector<VectorMove> moves = make_dance(recipe)->after(2);
  ASSERT_EQ(moves.size(), 3u);  // merged; copied, and averaged at once
  EXPECT_EQ(moves[0].count, 8);
  EXPECT_EQ(span_of(moves[0], 80).count, 80);
}

TEST(Dance, EagerDiLoCoIsFreshAboutItselfAndLateAboutOthers) {
  Recipe recipe = recipe_of(Recipe::Kind::kEager, 2);
  recipe.steps = 1;
  recipe.exchange = 0.25;
  recipe.nesterov = true;
  Play play(recipe, {2, 6});
  play.step();  // only half of one's own: (1, 3)
  EXPECT_EQ(play.x(0), 1);
  EXPECT_EQ(play.x(1), 3);
  play.step();  // and half of the other's last: 1 + 1 + 3, 3 + 3 + 1
  EXPECT_EQ(play.x(0), 5);
  EXPECT_EQ(play.x(1), 7);
  EXPECT_DOUBLE_EQ(play.dance().time_after(2), 0.5);
}

TEST(Dance, NoLoCoPullsAPairTogether) {
  Recipe recipe = recipe_of(Recipe::Kind::kPairs, 3);
  recipe.steps = 1;
  recipe.outer_rate = 0.5;
  recipe.momentum = 0.5;
  recipe.pull = 1;
  recipe.rounds = {round_of({0.5, 0.5, 0, 0.5, 0.5, 0, 0, 0, 1}, 0.3, 3)};
  Play play(recipe, {2, 6, 4});
  play.start_from({0, 4, 1});
  // v = 0.5·4 − (0 − 2), θ = 0 + 4; v = 0.5·4 − 2, θ = 4 + 0; alone v = 0.5·4, θ = 3.
  play.step();
  EXPECT_EQ(play.x(0), 4);
  EXPECT_EQ(play.x(1), 4);
  EXPECT_EQ(play.x(2), 3);
  EXPECT_DOUBLE_EQ(play.dance().time_after(1), 0.4);
}

TEST(Dance, DPsgdMixesWhatIslandsHadWhenTheStepBegan) {
  Recipe recipe = recipe_of(Recipe::Kind::kGossip, 2);
  recipe.steps = 1;
  recipe.rounds = {round_of({0.75, 0.25, 0.25, 0.75}, 0.3, 2)};
  Play play(recipe, {1, 3});
  play.start_from({0, 8});
  play.step();  // W x + update: 2 + 1, 6 + 3
  EXPECT_EQ(play.x(0), 3);
  EXPECT_EQ(play.x(1), 9);
  EXPECT_DOUBLE_EQ(play.dance().time_after(1), 0.3);
}

TEST(Dance, RegionsAverageOftenAndTheGlobalServerPullsThemLater) {
  Recipe recipe = recipe_of(Recipe::Kind::kServers, 3);
  recipe.steps = 1;
  recipe.every = 2;
  recipe.overlap = 1;
  recipe.outer_rate = 1;
  recipe.momentum = 0.5;
  recipe.server_weight = 0.5;
  recipe.exchange = 0.05;
  recipe.rounds = {round_of({0.5, 0.5, 0, 0.5, 0.5, 0, 0, 0, 1}, 0.05, 3)};
  Play play(recipe, {1, 3, 8});
  play.step();
  EXPECT_EQ(play.x(0), 2);
  EXPECT_EQ(play.x(1), 2);
  EXPECT_EQ(play.x(2), 8);
  play.step();  // regions send 4, 4, 16
  EXPECT_EQ(play.x(2), 16);
  // The mean is 8 and momentum 4: the global model is 12; regions at 6 and 24 go halfway.
  play.step();
  EXPECT_EQ(play.x(0), 9);
  EXPECT_EQ(play.x(2), 18);
  EXPECT_NEAR(play.dance().time_after(3), 0.45, 1e-12);
}

}  // namespace
}  // namespace cotillion
