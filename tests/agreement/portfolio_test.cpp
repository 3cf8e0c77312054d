// The paper's portfolio of generations, carried by packets. Every island adds made-up increments
// while rounds go on; what it holds in the end must be X = Σ Φ_s Δ_s, with the increments binned by
// the island's own snapshot instants of each fragment. Exact in i32, to rounding in f32 and bf16.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "base/random.hpp"
#include "plan/named_schedule.hpp"
#include "tests/support/plan/maps.hpp"
#include "tests/support/protocol/protocol_net.hpp"

namespace cotillion {
namespace {

using testing::NetSettings;
using testing::ProtocolNet;

constexpr int kRounds = 10;
constexpr int kElements = 1000;
constexpr Instant ms(double count) {
  return {std::int64_t(count * 1e9)};
}

std::vector<std::vector<int>> cliques_of(const Round& round) {
  std::vector<std::vector<int>> cliques;
  for (const Clique& clique : round.cliques)
    cliques.emplace_back(clique.islands.begin(), clique.islands.end());
  return cliques;
}

class Portfolio {
 public:
  Portfolio(const Schedule& schedule, int islands, Element element, Exchange exchange)
      : schedule_(schedule), islands_(islands) {
    NetSettings settings;
    settings.islands = islands;
    settings.job = {.id = 7, .element = element, .elements = kElements, .beats = 1};
    settings.job.fragments = exchange == Exchange::kStreamed ? 8 : 1;
    settings.exchange = exchange;
    settings.rate = {1e6};  // 4 KB take 33 ms, so that fragments really leave one by one
    job_ = settings.job;
    net_ = std::make_unique<ProtocolNet>(settings);
    bins_.assign(islands,
                 std::vector<std::vector<double>>(kRounds + 1, std::vector<double>(kElements)));
    bin_.assign(islands, std::vector<int>(kElements));
    merged_ = bin_;
    unit_ = unit();
  }

  void play(std::uint64_t seed) {
    Random random(seed);
    net_->on_snapshot = [&](int i, RoundId round, std::uint64_t first, std::size_t count) {
      for (std::uint64_t e = first; e < first + count; ++e) {
        ASSERT_EQ(merged_[i][e], bin_[i][e]) << "a merge came after the next snapshot";
        bin_[i][e] = int(round);
      }
    };
    net_->before_merge = [&](int i, RoundId round, int fragment) {
      for (std::uint64_t e = first_element(job_, first_chunk(job_, fragment));
           e < kElements && e < first_element(job_, first_chunk(job_, fragment + 1)); ++e) {
        ASSERT_EQ(bin_[i][e], int(round)) << "a merge came before its own snapshot";
        merged_[i][e] = int(round);
      }
    };
    const double length = 120;
    for (int k = 1; k <= kRounds; ++k)
      net_->open_round(RoundId(k), cliques_of(schedule_.rounds[(k - 1) % schedule_.rounds.size()]),
                       ms(length * k), ms(length * (k + 1)));
    for (int i = 0; i < islands_; ++i)
      for (double t = 3 + i; t < length * (kRounds + 1); t += 17)
        net_->at(ms(t), [this, i, &random] { step(i, random); });
    net_->run_until(ms(length * (kRounds + 3)));
  }

  // Σ Φ_s Δ_s at one island, for one element.
  [[nodiscard]] double expected(int island, int element) const {
    std::vector<double> row(bins_.size());  // of Φ_s, from the last round backwards
    row[island] = 1;
    double sum = 0;
    for (int s = kRounds; s >= 0; --s) {
      for (int j = 0; j < islands_; ++j) sum += row[j] * bins_[j][s][element];
      if (s > 0) row = times_mixing(row, s);
    }
    return sum;
  }

  [[nodiscard]] float held(int island, int element) { return net_->model(island)[element]; }
  [[nodiscard]] double largest() const { return largest_; }

 private:
  void step(int island, Random& random) {
    for (int e = 0; e < kElements; ++e) {
      const double increment = unit_ * double(random.between(-1, 1));
      net_->model(island)[e] += float(increment);
      bins_[island][bin_[island][e]][e] += increment;
      largest_ = std::max(largest_, std::abs(double(net_->model(island)[e])));
    }
  }

  [[nodiscard]] std::vector<double> times_mixing(const std::vector<double>& row, int round) const {
    std::vector<double> product(row.size());
    for (const Clique& clique : schedule_.rounds[(round - 1) % schedule_.rounds.size()].cliques) {
      double sum = 0;
      for (const IslandId i : clique.islands) sum += row[i];
      for (const IslandId i : clique.islands) product[i] = sum / clique.size();
    }
    return product;
  }

  // The smallest increment that every average of ten rounds leaves whole: follows one unit from
  // each island in each generation, as fractions.
  [[nodiscard]] double unit() const {
    std::int64_t unit = 1;
    for (int start = 0; start < kRounds; ++start)
      for (int i = 0; i < islands_; ++i) unit = std::lcm(unit, denominator(i, start));
    return double(unit);
  }
  [[nodiscard]] std::int64_t denominator(int island, int start) const {
    std::vector<std::int64_t> state(bins_.size());
    std::int64_t over = 1;
    state[island] = 1;
    for (int k = start; k < kRounds; ++k) {
      std::int64_t factor = 1;
      const Round& round = schedule_.rounds[k % schedule_.rounds.size()];
      std::vector<std::int64_t> sums;
      for (const Clique& clique : round.cliques) {
        std::int64_t sum = 0;
        for (const IslandId i : clique.islands) sum += state[i];
        factor = std::lcm(factor, clique.size() / std::gcd(sum, std::int64_t(clique.size())));
        sums.push_back(sum);
      }
      over *= factor;
      for (std::size_t c = 0; c < sums.size(); ++c)
        for (const IslandId i : round.cliques[c].islands)
          state[i] = sums[c] * factor / round.cliques[c].size();
    }
    return over;
  }

  const Schedule& schedule_;
  int islands_;
  double unit_ = 1;
  JobSpec job_;
  std::unique_ptr<ProtocolNet> net_;
  std::vector<std::vector<std::vector<double>>> bins_;  // island, generation, element
  std::vector<std::vector<int>> bin_;                   // island, element: which generation
  std::vector<std::vector<int>> merged_;                // island, element: the last round merged
  double largest_ = 0;
};

class Portfolios : public ::testing::TestWithParam<std::tuple<std::string, Exchange, Element>> {};

TEST_P(Portfolios, StatesAreThePortfolioOfGenerations) {
  const auto& [name, exchange, element] = GetParam();
  const auto fixture = testing::fixture_of(testing::example_map("nine-cities"));
  const auto schedule = named_schedule(name, fixture->map, fixture->routes);
  ASSERT_TRUE(schedule.has_value());
  Portfolio portfolio(*schedule, 9, element, exchange);
  portfolio.play(20261115);
  // A float keeps 24 bits and bf16 eight; each of ten rounds rounds a sum of up to nine, an average
  // and the state itself, and every rounding of a state is passed on whole to later rounds.
  const double bits = element == Element::kBf16 ? 8 : 24;
  const double bound = element == Element::kI32
                           ? 0
                           : (9 + 3) * kRounds * std::ldexp(portfolio.largest(), int(-bits));
  ASSERT_GT(portfolio.largest(), 0);
  if (element == Element::kI32) {
    ASSERT_LT(portfolio.largest(), 1 << 24) << "not exact in float";
  }
  double worst = 0;
  for (int i = 0; i < 9; ++i)
    for (int e = 0; e < kElements; ++e)
      worst = std::max(worst, std::abs(portfolio.held(i, e) - portfolio.expected(i, e)));
  // Σ Φ Δ itself is added up in double.
  EXPECT_LE(worst, bound + std::ldexp(portfolio.largest(), -44));
}

INSTANTIATE_TEST_SUITE_P(
    TenRounds, Portfolios,
    ::testing::Combine(::testing::Values("all-to-all", "pairs", "triangles", "regional",
                                         "grid:3x3"),
                       ::testing::Values(Exchange::kWhole, Exchange::kStreamed),
                       ::testing::Values(Element::kF32, Element::kBf16, Element::kI32)),
    [](const auto& which) {
      std::string name = std::get<0>(which.param);
      for (char& c : name)
        if (c == '-' || c == ':') c = '_';
      return name + (std::get<1>(which.param) == Exchange::kWhole ? "_whole_" : "_streamed_") +
             name_of(std::get<2>(which.param));
    });

}  // namespace
}  // namespace cotillion
