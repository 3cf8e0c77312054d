// What goes wrong in a world.
#include "base/check.hpp"
#include "tests/swarm/swarm_case.hpp"
#include "tests/swarm/swarm_draw.hpp"

namespace cotillion::testing {
namespace {

class FaultMaker {
 public:
  FaultMaker(SwarmCase& world, std::uint64_t seed, Purpose purpose)
      : draw_(seed, purpose), world_(world) {
    const auto network = modelled(world);
    COTILLION_CHECK(network.has_value());
    const JobAssignment assignment = job_assignment_of(*network);
    const Instant origin{0};
    play_ = assignment.start_of(RoundId(world.rounds + 1), origin) - origin;
    round_ = Duration{play_.ps / world.rounds};
  }

  void harmless() {
    const auto places = std::int64_t(world_.map.place_count());
    const Duration little{world_.grace.ps / (4 * places)};
    for (auto count = draw_.pick(1, 4); count > 0; --count) {
      SwarmFault fault;
      switch (draw_.pick(0, 5)) {
        case 0:
          fault = on_lanes(FaultKind::kDuplicate);
          fault.rate = draw_.rate(0.001, 0.05);
          fault.by = draw_.time(world_.grace);
          break;
        case 1:
          fault = on_lanes(FaultKind::kReplay);
          fault.rate = draw_.rate(0.001, 0.05);
          fault.by = draw_.time(Duration{3 * round_.ps});
          break;
        case 2:
          fault = on_lanes(FaultKind::kReorder);
          fault.rate = draw_.rate(0.01, 0.3);
          fault.by = draw_.time(little);
          break;
        case 3:
          fault = on_lanes(FaultKind::kJitter);
          fault.by = draw_.time(little);
          break;
        case 4:
          fault = of_island(FaultKind::kSlow);
          fault.by = draw_.time(Duration{world_.grace.ps / 8});
          fault.factor = int(draw_.pick(1, 3));
          break;
        default:
          fault = of_island(FaultKind::kClock);
          fault.by = draw_.time(Duration{world_.grace.ps / 8});
          if (draw_.chance(0.5)) fault.by = Duration{0} - fault.by;
          fault.drift_ppm = int(draw_.pick(-20, 20));
      }
      world_.faults.push_back(fault);
    }
  }

  void any() {
    for (auto count = draw_.pick(1, 5); count > 0; --count) {
      const auto kind = FaultKind(draw_.pick(0, int(FaultKind::kClock)));
      SwarmFault fault = kind < FaultKind::kDead ? on_lanes(kind) : of_island(kind);
      fault.rate = draw_.chance(0.2) ? draw_.rate(0.05, 1) : draw_.rate(0.001, 0.05);
      switch (kind) {
        case FaultKind::kLoss:
          if (draw_.chance(0.4)) fault.burst = double(draw_.pick(2, 20));
          break;
        case FaultKind::kDuplicate:
        case FaultKind::kReorder:
        case FaultKind::kJitter:
          fault.by = draw_.time(draw_.chance(0.2) ? round_ : Duration{2 * world_.grace.ps});
          break;
        case FaultKind::kReplay:
          fault.by = draw_.time(Duration{3 * round_.ps});
          break;
        case FaultKind::kDown:
          fault.from = draw_.time(play_);
          fault.until = fault.from + kMicrosecond + draw_.time(round_);
          break;
        case FaultKind::kDead:
          fault.from = draw_.time(play_);
          if (draw_.chance(0.6)) fault.until = fault.from + kMicrosecond + draw_.time(play_);
          break;
        case FaultKind::kRestart:
          fault.from = draw_.time(play_);
          break;
        case FaultKind::kSlow:
          fault.by = draw_.time(draw_.chance(0.2) ? Duration{2 * round_.ps}
                                                  : Duration{3 * world_.grace.ps});
          fault.factor = int(draw_.pick(1, 5));
          fault.from = draw_.time(play_);
          if (draw_.chance(0.6)) fault.until = fault.from + kMicrosecond + draw_.time(play_);
          break;
        case FaultKind::kClock:
          fault.by = draw_.time(draw_.chance(0.2) ? Duration{2 * round_.ps}
                                                  : Duration{3 * world_.grace.ps});
          if (draw_.chance(0.5)) fault.by = Duration{0} - fault.by;
          fault.drift_ppm = int(draw_.chance(0.3) ? draw_.pick(-10'000, 10'000) : 0);
          break;
        case FaultKind::kCorrupt:
        case FaultKind::kTruncate:
          break;
      }
      if (!fault.of_an_island() && kind != FaultKind::kDown && draw_.chance(0.3)) {
        fault.from = draw_.time(play_);
        fault.until = fault.from + kMicrosecond + draw_.time(play_);
      }
      world_.faults.push_back(fault);
    }
  }

 private:
  SwarmFault on_lanes(FaultKind kind) {
    constexpr const char* kSets[] = {"everywhere", "core", "first-hops", "last-hops"};
    SwarmFault fault;
    fault.kind = kind;
    const auto form = draw_.pick(0, 6);
    if (form < 4) {
      fault.on = kSets[form];
    } else if (form == 4) {
      fault.on = world_.map.islands[IslandId(draw_.pick(0, world_.map.island_count() - 1))].name;
    } else {
      const auto link = std::size_t(draw_.pick(0, std::int64_t(world_.map.links.size()) - 1));
      const PlaceId* ends = world_.map.links[link].ends;
      fault.on = place_name(world_.map, ends[0]) + (form == 5 ? "-" : ">") +
                 place_name(world_.map, ends[1]);
    }
    return fault;
  }

  SwarmFault of_island(FaultKind kind) {
    SwarmFault fault;
    fault.kind = kind;
    fault.on = world_.map.islands[IslandId(draw_.pick(0, world_.map.island_count() - 1))].name;
    return fault;
  }

  Draw draw_;
  SwarmCase& world_;
  Duration round_, play_;
};

}  // namespace

void add_harmless_faults(SwarmCase& world, std::uint64_t seed) {
  FaultMaker(world, seed, Purpose::kHarmless).harmless();
}

void add_any_faults(SwarmCase& world, std::uint64_t seed) {
  FaultMaker(world, seed, Purpose::kAny).any();
}

}  // namespace cotillion::testing
