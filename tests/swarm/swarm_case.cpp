#include "tests/swarm/swarm_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.hpp"
#include "tests/swarm/swarm_draw.hpp"

namespace cotillion::testing {
namespace {

constexpr RoundId kRoundsMost = 60;  // of a world

// Until what was born in whole periods has spread and staleness can be counted from what was
// copied and merged; none where it spreads too slowly.
std::optional<RoundId> rounds_to_count(const Modelled& network) {
  const Plan& plan = network.plan.plan;
  std::size_t settles = std::size_t(plan.mixing.settles_after.value_or(0));
  for (const PhaseCurves& phase : plan.mixing.phases) {
    if (plan.mixing.settles_after) break;
    const std::vector<double>& left = phase.absolute.values;
    const auto spread = std::find_if(left.begin(), left.end(), [](double e) { return e < 1e-3; });
    if (spread == left.end()) return {};
    settles = std::max(settles, std::size_t(spread - left.begin()));
  }
  const auto live = std::size_t(job_assignment_of(network).live_rounds());
  return RoundId(2 * plan.rounds.size() + settles + live);
}

class WorldMaker {
 public:
  explicit WorldMaker(std::uint64_t seed) : draw_(seed, Purpose::kWorld) {
    world_.seed = seed;
    make_places();
    make_links();
    make_edges();
    make_schedule();
    make_exchange();
    relax();
    make_steps();
  }
  SwarmCase take() { return std::move(world_); }

 private:
  BitsPerSecond rate() { return {double(draw_.spread(10, 5000)) * 1e6}; }

  void make_places() {
    const auto islands = int(draw_.pick(3, 9));
    const int routers = std::max(0, int(draw_.pick(-2, 3)));
    world_.map.name = fmt::format("swarm {}", world_.seed);
    for (int i = 0; i < islands; ++i) {
      Island island;
      island.name = fmt::format("I{}", i);
      island.up = rate();
      island.down = draw_.chance(0.5) ? island.up : rate();
      world_.map.islands.push_back(island);
    }
    for (int r = 0; r < routers; ++r)
      world_.map.routers.push_back({fmt::format("R{}", r), std::nullopt});
  }

  // A random tree over all places, and some links more.
  void make_links() {
    constexpr std::int64_t kScales[][2] = {{2, 200}, {100, 5'000}, {2'000, 60'000}};
    const auto& scale = kScales[draw_.pick(0, 2)];
    const auto link = [&](PlaceId a, PlaceId b) {
      Link made;
      made.ends[0] = a;
      made.ends[1] = b;
      for (int way = 0; way < 2; ++way) {
        made.latency[way] = Duration{draw_.spread(scale[0], scale[1]) * kMicrosecond.ps};
        made.rate[way] = rate();
      }
      if (draw_.chance(0.6)) made.latency[1] = made.latency[0];
      if (draw_.chance(0.6)) made.rate[1] = made.rate[0];
      world_.map.links.push_back(made);
    };
    const int places = world_.map.place_count();
    std::vector<PlaceId> order(std::size_t(places), 0);
    std::iota(order.begin(), order.end(), PlaceId(0));
    for (int i = places - 1; i > 0; --i) std::swap(order[i], order[draw_.pick(0, i)]);
    for (int i = 1; i < places; ++i) link(order[draw_.pick(0, i - 1)], order[i]);
    for (auto more = draw_.pick(0, places); more > 0; --more) {
      const auto a = PlaceId(draw_.pick(0, places - 1)), b = PlaceId(draw_.pick(0, places - 1));
      const bool joined =
          std::any_of(world_.map.links.begin(), world_.map.links.end(), [&](const Link& other) {
            return std::minmax(a, b) == std::minmax(other.ends[0], other.ends[1]);
          });
      if (a != b && !joined) link(a, b);
    }
  }

  void make_edges() {
    Map& map = world_.map;
    world_.element = Element(draw_.pick(1, 3));
    EdgeSpec& edge = map.edge;
    edge.chunk = {64 * draw_.pick(1, 6)};
    // Sums of bf16 are twice as wide as what they are sums of.
    edge.slot = world_.element == Element::kBf16 || draw_.chance(0.2) ? 2 * edge.chunk : edge.chunk;
    edge.framing = draw_.chance(0.5) ? Bytes{0} : Bytes{draw_.pick(20, 120)};
    edge.resend = {draw_.spread(1 << 10, 1 << 18)};
    const std::int64_t chunks = draw_.spread(2, map.island_count() > 6 ? 90 : 160);
    map.payload = {
        4 * draw_.pick((chunks - 1) * edge.chunk.count / 4 + 1, chunks * edge.chunk.count / 4)};
    switch (draw_.pick(0, 3)) {
      case 0:
        edge.memory = {0};
        break;
      case 1:
        edge.memory = draw_.pick(1, 8) * edge.slot;
        break;
      case 2:
        edge.memory = (chunks / 2 + 1) * edge.slot;
        break;
      default:
        edge.memory = 4 * chunks * edge.slot;
    }
    // Some stand elsewhere, and may serve several islands.
    std::vector<IslandId> unserved;
    for (IslandId i = 0; i < map.island_count(); ++i)
      if (draw_.chance(0.25)) unserved.push_back(i);
    while (!unserved.empty()) {
      Aggregator remote;
      remote.spec = edge;
      if (draw_.chance(0.3)) remote.spec.memory = draw_.pick(1, 2 * chunks) * edge.slot;
      remote.place =
          PlaceId(draw_.pick(draw_.chance(0.7) && !map.routers.empty() ? map.island_count() : 0,
                             map.place_count() - 1));
      for (auto serves = draw_.pick(1, 3); serves > 0 && !unserved.empty(); --serves) {
        remote.serves.push_back(unserved.back());
        unserved.pop_back();
      }
      std::sort(remote.serves.begin(), remote.serves.end());
      map.aggregators.push_back(std::move(remote));
    }
    const auto served = aggregator_of_islands(map);
    for (IslandId i = 0; i < map.island_count(); ++i)
      if (served[i] == kNoAggregator) map.aggregators.push_back({i, edge, {i}});
  }

  // Random partitions; whoever is in no clique rests.
  void make_schedule() {
    const int islands = world_.map.island_count();
    world_.schedule.name = "swarm";
    for (auto rounds = draw_.pick(1, 4); rounds > 0; --rounds) {
      std::vector<Clique> cliques(std::size_t(draw_.pick(1, std::max(1, islands / 2))));
      for (IslandId i = 0; i < islands; ++i) {
        if (draw_.chance(0.15)) continue;
        cliques[std::size_t(draw_.pick(0, std::int64_t(cliques.size()) - 1))].islands.push_back(i);
      }
      std::erase_if(cliques, [](const Clique& clique) { return clique.islands.empty(); });
      world_.schedule.rounds.push_back(completed(std::move(cliques), islands));
    }
    const auto meets = [](const Round& round) {
      return std::any_of(round.cliques.begin(), round.cliques.end(),
                         [](const Clique& clique) { return clique.size() > 1; });
    };
    if (std::none_of(world_.schedule.rounds.begin(), world_.schedule.rounds.end(), meets))
      world_.schedule.rounds.front() = completed({{{0, 1}, {}}}, islands);
  }

  void make_exchange() {
    world_.ships_state = draw_.chance(0.1);
    world_.slack = draw_.chance(0.5) ? Duration{0} : draw_.time({5'000'000'000});
    world_.exponent = world_.element == Element::kI32 ? -int(draw_.pick(6, 25)) : 0;
    if (draw_.chance(0.5)) {
      world_.exchange = Exchange::kStreamed;
      world_.fragments = int(draw_.pick(1, std::min<std::int64_t>(8, chunks())));
    }
    if (draw_.chance(0.3)) world_.missing = Missing::kOwnForMissing;
    world_.grace = Duration{draw_.spread(50, 5'000) * kMicrosecond.ps};
    world_.rounds = int(draw_.pick(2, 5));
    if (draw_.chance(0.1)) world_.memory = draw_.pick(0, 8) * world_.map.edge.slot;
    // Without memory some cliques cannot be done at all; with little they are slow.
    if (!modelled(world_).has_value()) add_memory(8);
  }

  // A third of all worlds, most of them with rounds that overlap.
  void relax() {
    Draw draw(world_.seed, Purpose::kRelaxed);
    if (!draw.chance(1.0 / 3)) return;
    world_.relax = {draw.chance(0.5), draw.chance(0.85), draw.chance(0.5)};
    if (!world_.relax.any()) world_.relax = {true, true, true};
    const bool squared = draw.chance(0.2);
    world_.objective = squared ? Objective::kSquared : Objective::kPaper;
    // Two rounds need more memory than one; and some must go on without it.
    if (draw.chance(0.6)) add_memory(4 * chunks());
    if (world_.exchange == Exchange::kStreamed && draw.chance(0.8))
      world_.objective = squared ? Objective::kSquaredStreamed : Objective::kPaperStreamed;
    if (!world_.relax.overlap) return;
    world_.exchange = Exchange::kStreamed;
    world_.fragments = int(draw.pick(1, std::min<std::int64_t>(16, chunks())));
    if (draw.chance(0.8))
      world_.objective = squared ? Objective::kSquaredStreamed : Objective::kPaperStreamed;
    if (draw.chance(0.5)) world_.headroom = int(draw.pick(1, 10));
    world_.rounds = int(draw.pick(2, 8));
    const auto network = modelled(world_);
    if (!network) {
      world_.refused = network.error().message;
      world_.relax.overlap = false;
      world_.headroom = 0;
    } else if (network->plan.plan.overlapped && draw.chance(0.5)) {
      play_long_enough(*network);
    }
  }

  // Until what was born in a whole period has spread, so that staleness can be counted.
  void play_long_enough(const Modelled& network) {
    const auto enough = rounds_to_count(network);
    if (enough && *enough <= kRoundsMost) world_.rounds = int(*enough);
  }

  void make_steps() {
    const auto network = modelled(world_);
    COTILLION_CHECK(network.has_value());
    const std::int64_t round = std::llround(network->plan.plan.mean_length().ps);
    if (draw_.chance(0.3)) world_.step_time = Duration{1 + round / draw_.pick(1, 4)};
  }

  [[nodiscard]] std::int64_t chunks() const {
    const std::int64_t chunk = world_.map.edge.chunk.count;
    return (world_.map.payload.count * (world_.ships_state ? 2 : 1) + chunk - 1) / chunk;
  }

  void add_memory(std::int64_t slots) {
    for (Aggregator& aggregator : world_.map.aggregators)
      aggregator.spec.memory =
          std::max(aggregator.spec.memory,
                   slots * std::int64_t(aggregator.serves.size()) * world_.map.edge.slot);
  }

  Draw draw_;
  SwarmCase world_;
};

}  // namespace

SwarmCase world_of(std::uint64_t seed) {
  return WorldMaker(seed).take();
}

SwarmCase swarm_case(std::uint64_t seed) {
  SwarmCase drawn = world_of(seed);
  const auto weather = Draw(seed, Purpose::kWeather).pick(0, 99);
  const int calm = drawn.relax.any() ? 30 : 12;  // what overlaps has more that must be as planned
  if (weather >= calm && weather < calm + 28) add_harmless_faults(drawn, seed);
  if (weather >= calm + 28) add_any_faults(drawn, seed);
  return drawn;
}

}  // namespace cotillion::testing
