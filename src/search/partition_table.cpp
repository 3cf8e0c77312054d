#include "search/partition_table.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"

namespace cotillion {
namespace {

// How many partitions there are of so many islands (Bell's numbers).
constexpr int kPartitions[] = {1, 1, 2, 5, 15, 52, 203, 877, 4140, 21'147};
static_assert(std::size(kPartitions) == kSmallIslandsMax + 1);

}  // namespace

Connected Connected::joined(const Partition& round) const {
  Connected result = *this;
  for (int c = 0; c < round.count; ++c) {
    // All parts that the clique touches become one.
    std::uint16_t met = 0;
    int kept = 0;
    for (int part = 0; part < result.count_; ++part) {
      const std::uint16_t islands = result.parts_[part];
      if ((islands & round.cliques[c]) != 0)
        met = std::uint16_t(met | islands);
      else
        result.parts_[kept++] = islands;
    }
    result.parts_[kept] = met;
    result.count_ = kept + 1;
  }
  COTILLION_CHECK(result.count_ >= 1 && result.count_ <= count_);
  return result;
}

PartitionTable::PartitionTable(const NetworkModel& network, const Score& score, const Rules& rules)
    : n_(network.map().island_count()), squared_(score.squared()) {
  CliqueCache cache(network, score.settings().fragments);
  const auto& pins = rules.pinned();
  const std::vector<Round> rounds = every_round(n_);
  COTILLION_CHECK(n_ <= kSmallIslandsMax && int(rounds.size()) == kPartitions[n_]);
  for (const Round& round : rounds)
    if (std::find(pins.begin(), pins.end(), round) != pins.end() || rules.allows(round))
      add(round, score.settings(), cache);
  std::sort(partitions_.begin(), partitions_.end(), [](const Partition& a, const Partition& b) {
    return std::pair(a.length, a.e1) < std::pair(b.length, b.e1);
  });
  COTILLION_CHECK(count() <= allowed_ && allowed_ <= std::int64_t(rounds.size()));
  tabulate();
}

void PartitionTable::add(const Round& round, const PlanSettings& settings, CliqueCache& cache) {
  ++allowed_;
  const RoundState state = state_of(round, cache);
  if (!std::isfinite(state.price)) return;
  Partition partition;
  partition.round = round;
  partition.groups = state.groups;
  partition.price = state.price;
  partition.delay = state.delay;
  partition.length = round_length(RealDuration::from_ps(state.price), settings).ps;
  partition.count = state.groups.count();
  for (int c = 0; c < partition.count; ++c)
    for (const IslandId island : state.groups.members(c))
      partition.cliques[c] = std::uint16_t(partition.cliques[c] | 1u << island);
  if (n_ > 1) partition.e1 = e_of_one(state.groups, squared_);
  COTILLION_CHECK(partition.count <= n_ && partition.length >= partition.price * (1 - 1e-12));
  partitions_.push_back(std::move(partition));
}

void PartitionTable::tabulate() {
  for (unsigned set = 0; set < sizes_.size(); ++set)
    sizes_[set] = std::uint8_t(set == 0 ? 0 : sizes_[set >> 1] + (set & 1));
  if (n_ == 1) return;
  for (int both = 0; both <= kSmallIslandsMax; ++both)
    for (int a = 1; a <= kSmallIslandsMax; ++a)
      for (int b = 1; b <= kSmallIslandsMax; ++b) {
        const double product = double(a) * b;
        term_[both][a][b] = squared_ ? double(both) * both / product / (n_ - 1.0)
                                     : std::fabs(both - product / n_) / (2.0 * n_ - 2);
      }
}

// Σ over cliques c of the last and a of the first of | Σ_b |c∩b||b∩a|/|b| − |c||a|/N | / (2N−2),
// b being cliques of the middle one.
double PartitionTable::e3(const Partition& x, const Partition& y, const Partition& z) const {
  double met[kSmallIslandsMax][kSmallIslandsMax];  // |b∩a|/|b|
  for (int b = 0; b < y.count; ++b)
    for (int a = 0; a < x.count; ++a)
      met[b][a] = double(sizes_[y.cliques[b] & x.cliques[a]]) / double(sizes_[y.cliques[b]]);
  double total = squared_ ? -1 : 0;
  for (int c = 0; c < z.count; ++c) {
    double row[kSmallIslandsMax] = {};
    for (int b = 0; b < y.count; ++b) {
      const int both = sizes_[z.cliques[c] & y.cliques[b]];
      if (both == 0) continue;
      for (int a = 0; a < x.count; ++a) row[a] += both * met[b][a];
    }
    for (int a = 0; a < x.count; ++a) {
      const double product = double(sizes_[z.cliques[c]]) * sizes_[x.cliques[a]];
      total += squared_ ? row[a] * row[a] / product : std::fabs(row[a] - product / n_);
    }
  }
  return squared_ ? total / (n_ - 1.0) : total / (2.0 * n_ - 2);
}

}  // namespace cotillion
