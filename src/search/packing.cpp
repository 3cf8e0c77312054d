#include "search/packing.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace cotillion {
namespace {

constexpr int kTries = 24;  // of partners for each place in a clique

}  // namespace

Packer::Packer(const PairPrices& pairs, CliqueCache& cache)
    : pairs_(pairs),
      cache_(cache),
      n_(cache.network().map().island_count()),
      meetings_(std::size_t(n_), 0) {}

// Whether a clique, grown from `before`, leaves every lane it uses fast enough for itself. Others
// on these lanes are as fast as it is there, and are checked against the same time.
bool Packer::fits(const std::vector<IslandId>& clique, const KnownClique* before,
                  double price_most) {
  KnownClique& known = cache_.find(clique);
  if (before != nullptr)
    for (const LaneLoad& load : before->loads) {
      streams_[load.lane] -= load.streams;
      COTILLION_CHECK(streams_[load.lane] >= 0);
    }
  double pace = 0;
  for (const LaneLoad& load : known.loads)
    pace = std::max(pace, cache_.pace(load.lane, streams_[load.lane] + load.streams));
  const bool fit = cache_.cost(known, pace).price <= price_most;
  for (const LaneLoad& load : fit ? known.loads : before != nullptr ? before->loads : known.loads)
    if (fit || before != nullptr) streams_[load.lane] += load.streams;
  return fit;
}

bool Packer::are_strangers(const std::vector<IslandId>& clique, IslandId partner) const {
  for (const std::vector<int>& round : met_)
    for (const IslandId member : clique)
      if (round[member] == round[partner]) return false;
  return true;
}

Round Packer::pack(int size, double price_most, Random& random) {
  streams_.assign(std::size_t(cache_.network().map().lane_count()), 0);
  struct Founder {
    int met = 0;  // rounds in which it was not alone
    int choice = 0;
    std::uint64_t draw = 0;
    IslandId island = 0;
    auto operator<=>(const Founder&) const = default;
  };
  std::vector<Founder> founders;
  for (IslandId i = 0; i < n_; ++i) {
    int choice = 0;
    for (IslandId j = 0; j < n_; ++j) choice += i != j && pairs_.price(i, j) <= price_most ? 1 : 0;
    // Who can choose among a tenth of all is in no hurry.
    founders.push_back({meetings_[i], std::min(choice, n_ / 10), random.next(), i});
  }
  std::sort(founders.begin(), founders.end());
  std::vector<int> which(std::size_t(n_), -1);
  std::vector<Clique> cliques;
  std::vector<IslandId> candidates;
  for (const Founder& founder : founders) {
    if (which[founder.island] >= 0) continue;
    candidates.clear();
    for (IslandId j = 0; j < n_; ++j)
      if (j != founder.island && which[j] < 0 && pairs_.price(founder.island, j) <= price_most)
        candidates.push_back(j);
    std::vector<IslandId> clique{founder.island};
    which[founder.island] = int(cliques.size());
    const KnownClique* before = nullptr;
    // Strangers are asked first, then anyone: better than nobody.
    const int tries = std::min(kTries * (size - 1), 4 * int(candidates.size()));
    for (int k = 0; k < tries && int(clique.size()) < size; ++k) {
      const IslandId partner =
          candidates[std::size_t(random.between(0, std::int64_t(candidates.size()) - 1))];
      if (which[partner] >= 0 || (2 * k < tries && !are_strangers(clique, partner))) continue;
      std::vector<IslandId> larger = clique;
      larger.insert(std::lower_bound(larger.begin(), larger.end(), partner), partner);
      if (!fits(larger, before, price_most)) continue;
      clique = std::move(larger);
      before = &cache_.find(clique);
      which[partner] = int(cliques.size());
    }
    if (clique.size() > 1)
      for (const IslandId member : clique) ++meetings_[member];
    cliques.push_back({std::move(clique), {}});
  }
  COTILLION_CHECK(std::none_of(which.begin(), which.end(), [](int clique) { return clique < 0; }));
  met_.push_back(std::move(which));
  return completed(std::move(cliques), n_);
}

}  // namespace cotillion
