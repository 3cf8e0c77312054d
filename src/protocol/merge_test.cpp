// What an average does to the running model: weights, absences, lateness, own weight, momentum.
#include "protocol/merge.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.hpp"
#include "tests/support/protocol/protocol_net.hpp"

namespace cotillion {
namespace {

using testing::Copies;
using testing::Hop;
using testing::NetSettings;
using testing::ProtocolNet;

constexpr int kElements = 64;
constexpr Instant ms(double count) {
  return {std::int64_t(count * 1e9)};
}

JobSpec small_job() {
  return {.id = 1, .element = Element::kF32, .elements = kElements, .beats = 1};
}

NetSettings three_islands() {
  NetSettings settings;
  settings.job = small_job();
  return settings;
}

void set(ProtocolNet& net, const std::vector<float>& values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    std::fill(net.model(int(i)).begin(), net.model(int(i)).end(), values[i]);
}

bool is_data_from(int island, int from, ByteView packet) {
  return from == island && read_header(packet)->type() == PacketType::kData;
}

TEST(Merge, ProgressMadeDuringTheRoundStays) {
  ProtocolNet net(three_islands());
  set(net, {3, 6, 9});
  net.open_round(1, {{0, 1, 2}}, ms(1), ms(100));
  net.at(ms(50), [&] { net.model(1)[5] += 100; });
  net.run_until(ms(120));
  EXPECT_EQ(net.model(1)[5], 106);
  EXPECT_EQ(net.model(0)[5], 6);
  EXPECT_EQ(net.model(1)[4], 6);
}

TEST(Merge, AShareOfProgressStaysWhereItIsAskedFor) {
  NetSettings settings = three_islands();
  settings.merge.progress = 0.25;
  ProtocolNet net(settings);
  set(net, {3, 6, 9});
  net.open_round(1, {{0, 1, 2}}, ms(1), ms(100));
  net.at(ms(50), [&] { net.model(1)[5] += 100; });
  net.run_until(ms(120));
  EXPECT_EQ(net.model(1)[5], 31);
  EXPECT_EQ(net.model(0)[5], 6);
  EXPECT_EQ(net.model(1)[4], 6);
}

TEST(Merge, WhoHearsNobodyGivesNothingUp) {
  NetSettings settings = three_islands();
  settings.merge.progress = 0.25;
  settings.wire = [](Hop hop, int from, int to, std::vector<std::byte>& packet) {
    const bool others = is_data_from(1, from, packet) || is_data_from(2, from, packet);
    return hop == Hop::kToEdge && to == 0 && others ? Copies{} : Copies{{0}};
  };
  ProtocolNet net(settings);
  set(net, {3, 6, 9});
  net.open_round(1, {{0, 1, 2}}, ms(1), ms(100));
  net.at(ms(50), [&] { net.model(0)[5] += 100; });
  net.run_until(ms(120));
  EXPECT_EQ(net.model(0)[5], 103);
  EXPECT_EQ(net.model(0)[4], 3);
}

TEST(Merge, OwnWeightIsARuleOfItsOwn) {
  const auto refused = [](const MergeSettings& settings) {
    return !checked(settings, true).has_value();
  };
  EXPECT_FALSE(refused({.progress = 0}));
  EXPECT_TRUE(refused({.progress = -0.1}));
  EXPECT_TRUE(refused({.progress = 1.1}));
  EXPECT_TRUE(refused({.progress = 0.5, .own_weight = 0.5}));
  EXPECT_TRUE(refused({.own_weight = 0.5, .momentum_at = MomentumAt::kSender, .momentum = 0.1}));
  EXPECT_FALSE(refused({.progress = 0.5, .momentum_at = MomentumAt::kSender, .momentum = 0.1}));
  EXPECT_TRUE(refused({.progress = 0.5, .momentum_at = MomentumAt::kReceiver, .momentum = 0.1}));
}

TEST(Merge, IslandsWeighWhatTheyAreGiven) {
  for (const Element element : {Element::kF32, Element::kBf16, Element::kI32}) {
    NetSettings settings = three_islands();
    settings.job.element = element;
    settings.job.operation = Operation::kWeightedSum;
    settings.exponent = element == Element::kI32 ? -8 : 0;
    settings.weights = {1, 2, 5};
    ProtocolNet net(settings);
    set(net, {8, 16, 24});
    net.open_round(1, {{0, 1, 2}}, ms(1), ms(100));
    net.run_until(ms(120));
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(net.model(i)[63], (8 + 2 * 16 + 5 * 24) / 8.0f) << name_of(element);
  }
}

// Island 2's contribution never reaches island 0.
ProtocolNet& with_a_loss(Missing policy, std::unique_ptr<ProtocolNet>& net) {
  NetSettings settings = three_islands();
  settings.merge.missing = policy;
  settings.wire = [](Hop hop, int from, int to, std::vector<std::byte>& packet) {
    const bool lost = hop == Hop::kToEdge && to == 0 && is_data_from(2, from, packet);
    return lost ? Copies{} : Copies{{0}};
  };
  net = std::make_unique<ProtocolNet>(settings);
  set(*net, {3, 6, 12});
  net->open_round(1, {{0, 1, 2}}, ms(1), ms(100));
  net->run_until(ms(120));
  return *net;
}

TEST(Merge, TheMissingAreLeftOutOfTheMean) {
  std::unique_ptr<ProtocolNet> owner;
  ProtocolNet& net = with_a_loss(Missing::kMeanOfPresent, owner);
  EXPECT_EQ(net.model(0)[0], 4.5f);
  EXPECT_EQ(net.model(1)[0], 7);
}

TEST(Merge, OrTheOwnValueStandsInForThem) {
  std::unique_ptr<ProtocolNet> owner;
  ProtocolNet& net = with_a_loss(Missing::kOwnForMissing, owner);
  EXPECT_EQ(net.model(0)[0], (3 + 6 + 3) / 3.0f);
  EXPECT_EQ(net.model(1)[0], 7);
}

TEST(Merge, WhatIsMissingIsNamed) {
  std::unique_ptr<ProtocolNet> owner;
  ProtocolNet& net = with_a_loss(Missing::kMeanOfPresent, owner);
  ASSERT_EQ(net.accounts(0).size(), 1u);
  ASSERT_EQ(net.accounts(0)[0].absences.size(), 1u);
  const Absence absence = net.accounts(0)[0].absences[0];
  EXPECT_EQ(absence.contributor, 2);
  EXPECT_EQ(absence.chunks, 4u);  // 64 floats in packets of 16
  EXPECT_EQ(absence.first_chunk, 0u);
  for (const ContributorMask mask : net.receiver(0).contributors(1)) EXPECT_EQ(mask, 0b010u);
  EXPECT_TRUE(net.accounts(1)[0].absences.empty());
}

TEST(Merge, AModelAloneIsNotMovedByRounding) {
  NetSettings settings = three_islands();
  settings.wire = [](Hop hop, int, int, std::vector<std::byte>&) {
    return hop == Hop::kToEdge ? Copies{} : Copies{{0}};
  };
  ProtocolNet net(settings);
  set(net, {0.1f, 0.7f, 1e-8f});
  net.open_round(1, {{0, 1, 2}}, ms(1), ms(100));
  net.run_until(ms(120));
  EXPECT_EQ(net.model(0)[0], 0.1f);
  EXPECT_EQ(net.model(2)[0], 1e-8f);
}

// Island 2's packets reach island 0 only after the merge; both policies end where they would have.
TEST(Merge, ALateCorrectionIsAddedAgainstItsOwnSnapshot) {
  for (const Missing policy : {Missing::kMeanOfPresent, Missing::kOwnForMissing}) {
    NetSettings settings = three_islands();
    settings.merge.missing = policy;
    settings.wire = [](Hop hop, int from, int to, std::vector<std::byte>& packet) {
      const bool late = hop == Hop::kToEdge && to == 0 && is_data_from(2, from, packet);
      return Copies{late ? Duration{100'000'000'000} : Duration{0}};
    };
    ProtocolNet net(settings);
    set(net, {3, 6, 12});
    net.open_round(1, {{0, 1, 2}}, ms(1), ms(100));
    net.at(ms(105), [&] {
      for (float& x : net.model(0)) x += 1000;
    });
    net.run_until(ms(150));
    EXPECT_EQ(net.model(0)[0], 1007);
    EXPECT_EQ(net.receiver(0).counters()[ReceiverCount::kLate], 4u);
    EXPECT_EQ(net.edge_counters(0)[EdgeCount::kLate], 4u);
  }
}

// Two rounds of everyone with own weight a: z ← W z + D is what is sent, x = z − (1−a)·D is shown.
TEST(Merge, OwnWeightHidesFreshProgressFromTheOptimizerOnly) {
  constexpr double kOwn = 0.25;
  NetSettings settings = three_islands();
  settings.islands = 2;
  settings.merge.own_weight = kOwn;
  ProtocolNet net(settings);
  std::vector<double> z = {8, 16};
  set(net, {8, 16});
  for (int k = 1; k <= 3; ++k) {
    const std::vector<double> progress = {4.0 * k, -2.0 * k};
    net.open_round(RoundId(k), {{0, 1}}, ms(100 * k), ms(100 * k + 90));
    net.at(ms(100 * k + 50), [&net, progress] {
      for (int i = 0; i < 2; ++i)
        for (float& x : net.model(i)) x += float(progress[std::size_t(i)]);
    });
    net.run_until(ms(100 * k + 95));
    const double mean = (z[0] + z[1]) / 2;
    for (std::size_t i = 0; i < 2; ++i) {
      z[i] = mean + progress[i];
      EXPECT_NEAR(net.model(int(i))[7], z[i] - (1 - kOwn) * progress[i], 1e-5) << k;
    }
  }
}

// A late correction is nobody's own progress: own weight must not hide it again at the next merge.
TEST(Merge, OwnWeightHidesNothingThatCameLate) {
  Merge merge(small_job(), {.own_weight = 0.5});
  std::vector<float> x = {10}, sent = {10};
  merge.to_sent(0, sent);
  merge.apply_late(0, x, std::vector<double>{8});
  merge.apply(0, x, std::vector<double>{10}, std::vector<double>{10});
  EXPECT_EQ(x[0], 18);
}

TEST(Momentum, AtTheReceiverCountsWhatCameLate) {
  Merge on_time(small_job(), {.momentum_at = MomentumAt::kReceiver, .momentum = 0.5});
  Merge late(small_job(), {.momentum_at = MomentumAt::kReceiver, .momentum = 0.5});
  std::vector<float> a = {0}, b = {0};
  const auto step = [](Merge& merge, std::vector<float>& x, double average) {
    merge.apply(0, x, std::vector<double>{average}, std::vector<double>{x[0]});
  };
  step(on_time, a, 0), step(late, b, 0);
  step(on_time, a, 8), step(late, b, 4);
  late.apply_late(0, b, std::vector<double>{4});
  step(on_time, a, a[0]), step(late, b, b[0]);
  EXPECT_EQ(a[0], b[0]);
}

TEST(Momentum, AtTheReceiverIsRefusedByTheRoundThatRotates) {
  const JobSpec job = small_job();
  Snapshots snapshots(job, Grid(), 2);
  Merge merge(job, {.momentum_at = MomentumAt::kReceiver, .momentum = 0.9});
  Seal own;
  own.set_boot(1);
  ReceiverSettings settings;
  settings.islands = 9;
  Receiver receiver(settings, snapshots, merge, std::move(own), Seal());
  struct Nobody final : Outbox, ReceiverEvents {
    void send(Towards, ByteView) override {}
    void fragment_ready(RoundId, int) override {}
    void late_ready(RoundId, int) override {}
    void round_closed(RoundId, std::span<const Absence>) override {}
  } nobody;
  EXPECT_FALSE(receiver.open_round({}, {equal_round(1, 3, 0), {}, {}}, nobody, nobody).has_value());
  EXPECT_TRUE(receiver.open_round({}, {equal_round(1, 9, 0), {}, {}}, nobody, nobody).has_value());
}

// The paper's sentence: the recurrence is linear with a constant coefficient, so it commutes with
// averaging. Momentum at every sender, then the average; or averages first, then one momentum.
TEST(Momentum, AtTheSenderCommutesWithAveragingInAFixedClique) {
  constexpr double kMomentum = 0.75;
  for (const Exchange exchange : {Exchange::kWhole, Exchange::kStreamed}) {
    NetSettings settings = three_islands();
    settings.exchange = exchange;
    settings.job.fragments = exchange == Exchange::kStreamed ? 4 : 1;
    settings.merge.momentum_at = MomentumAt::kSender;
    settings.merge.momentum = kMomentum;
    ProtocolNet net(settings);
    Random random(5);
    std::vector<double> increments(kElements), velocity(kElements), mean(kElements);
    constexpr int kRounds = 8;
    for (int k = 1; k <= kRounds; ++k) {
      net.open_round(RoundId(k), {{0, 1, 2}}, ms(100 * k), ms(100 * k + 90));
      // After the merge and before the next copy, so that `whole` and `streamed` share their bins.
      net.at(ms(100 * k + 95), [&, k] {
        for (int e = 0; e < kElements; ++e) {
          double sum = 0;
          for (int i = 0; i < 3; ++i) {
            const double increment = double(random.between(-64, 64));
            net.model(i)[std::size_t(e)] += float(increment);
            sum += increment;
          }
          // One momentum on the mean of the increments; the last ones are not sent any more.
          const std::size_t at = std::size_t(e);
          if (k < kRounds) {
            velocity[at] = kMomentum * velocity[at] + sum / 3;
            mean[at] += velocity[at];
          } else {
            mean[at] += sum / 3;
          }
        }
      });
    }
    net.run_until(ms(100 * kRounds + 99));
    for (std::size_t e = 0; e < kElements; ++e) {
      double held = 0;
      for (int i = 0; i < 3; ++i) held += net.model(i)[e] / 3.0;
      EXPECT_NEAR(held, mean[e], 1e-2) << e;  // values reach 2,000: a float has 1e-4 there
    }
  }
}

TEST(Momentum, AtTheReceiverIsRefusedUnderRotationWithTheReason) {
  const MergeSettings settings{.momentum_at = MomentumAt::kReceiver, .momentum = 0.9};
  EXPECT_TRUE(checked(settings, true).has_value());
  const auto refused = checked(settings, false);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("does not converge"), std::string::npos);
  EXPECT_NE(refused.error().message.find("0.949"), std::string::npos);
  MergeSettings only = settings;
  only.momentum_only_with_everyone = true;
  EXPECT_TRUE(checked(only, false).has_value());
}

TEST(Momentum, AtTheSenderIsSafeUnderRotation) {
  const MergeSettings settings{.momentum_at = MomentumAt::kSender, .momentum = 0.9};
  EXPECT_TRUE(checked(settings, false).has_value());
}

TEST(Momentum, NeverReachesOne) {
  EXPECT_FALSE(checked({.momentum_at = MomentumAt::kSender, .momentum = 1}, true).has_value());
  EXPECT_FALSE(checked({.own_weight = 1.5}, true).has_value());
  EXPECT_FALSE(checked({.own_weight = std::nan("")}, true).has_value());
}

// Why it is refused. Merged states with velocity at each island: θ_i is moved by what its own
// average moved; no increments at all, only disagreement at the start.
double disagreement_after(const std::vector<std::vector<std::vector<int>>>& rounds, int islands,
                          double momentum, int count) {
  std::vector<double> state, theta, velocity;
  for (int i = 0; i < islands; ++i) state.push_back(i % 3 - 1);
  velocity.resize(state.size());
  theta = state;
  for (int k = 0; k < count; ++k)
    for (const auto& clique : rounds[std::size_t(k) % rounds.size()]) {
      double mean = 0;
      for (const int i : clique) mean += state[std::size_t(i)] / double(clique.size());
      for (const int i : clique) {
        const auto at = std::size_t(i);
        velocity[at] = momentum * velocity[at] + (mean - theta[at]);
        theta[at] += velocity[at];
        state[at] = theta[at];
      }
    }
  double mean = 0, sum = 0;
  for (const double x : state) mean += x / islands;
  for (const double x : state) sum += (x - mean) * (x - mean);
  return std::sqrt(sum);
}

TEST(Momentum, AtTheReceiverLetsDisagreementLingerUnderRotation) {
  // Eight islands in the three rounds of a hypercube: without momentum one period settles them.
  const std::vector<std::vector<std::vector<int>>> cube = {{{0, 1}, {2, 3}, {4, 5}, {6, 7}},
                                                           {{0, 2}, {1, 3}, {4, 6}, {5, 7}},
                                                           {{0, 4}, {1, 5}, {2, 6}, {3, 7}}};
  EXPECT_NEAR(disagreement_after(cube, 8, 0, 3), 0, 1e-12);
  EXPECT_GT(disagreement_after(cube, 8, 0.9, 30), 0.1);
}

// The real thing: in a fixed clique of everyone the receiver's momentum is the outer optimizer's.
TEST(Momentum, AtTheReceiverActsOnTheAverage) {
  NetSettings settings = three_islands();
  settings.merge.momentum_at = MomentumAt::kReceiver;
  settings.merge.momentum = 0.5;
  ProtocolNet net(settings);
  set(net, {3, 6, 9});
  double theta = 6, velocity = 0, mean = 6;
  for (int k = 1; k <= 4; ++k) {
    net.open_round(RoundId(k), {{0, 1, 2}}, ms(100 * k), ms(100 * k + 90));
    net.run_until(ms(100 * k + 95));
    if (k > 1) {
      velocity = 0.5 * velocity + (mean - theta);
      theta += velocity;
    }
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(net.model(i)[9], theta, 1e-5) << k;
      for (float& x : net.model(i)) x += 12;  // the same progress everywhere
    }
    mean = theta + 12;
  }
}

}  // namespace
}  // namespace cotillion
