#include "sim/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "base/check.hpp"
#include "sim/network.hpp"
#include "sim/outcome_recorder.hpp"
#include "sim/partitions.hpp"
#include "topology/lane_walk.hpp"

namespace cotillion {
namespace {

constexpr Duration kAhead{100'000'000};  // rounds are announced 0.1 ms before they start
constexpr std::uint64_t kEventsOfALook = 1 << 16;

// Whether somebody takes part, or something, that all partitions share and that sees in which order
// they play: observers, and strays off their lanes.
bool seen_from_outside(const SimulationSettings& settings) {
  return settings.one_partition || !settings.observers.empty() || !settings.faults.lanes.empty();
}

// By place on the event queue: lanes, which belong to where they end, strays, islands.
std::vector<int> partitions_of_places(const Map& map, const Partitions& partitions) {
  std::vector<int> of;
  for (LaneId lane = 0; lane < map.lane_count(); ++lane)
    of.push_back(partitions.of_place(lane_ends(map, lane)));
  of.push_back(0);
  for (IslandId island = 0; island < map.island_count(); ++island)
    of.push_back(partitions.of_place(island));
  return of;
}

class Simulation final : public RoutedOutbox, public PacketSink {
 public:
  Simulation(const PlanFile& plan, const JobAssignment& assignment,
             const SimulationSettings& settings)
      : map_(plan.map),
        plan_(plan.plan),
        assignment_(assignment),
        settings_(settings),
        last_chunk_(assignment.job_chunks() - 1),
        payload_(std::uint32_t(payload_bytes(assignment.job(), 0))),
        last_payload_(std::uint32_t(payload_bytes(assignment.job(), last_chunk_))),
        recorder_(plan, assignment, settings.islands.merge.missing, turn_, islands_),
        partitions_(seen_from_outside(settings) ? Partitions::single(plan.map)
                                                : Partitions(plan.map, plan.ingress)),
        event_queue_(partitions_of_places(plan.map, partitions_)),
        network_(plan.map, settings.faults, settings.seed, settings.observers, event_queue_,
                 *this) {
    observers_.push_back(&recorder_);
    for (SimulationObserver* who : settings.observers) {
      observers_.push_back(who);
      if (who->watches_edges()) edge_watchers_.push_back(who);
    }
    for (const PlannedRound& round : plan_.rounds) {
      auto& streams = routes_.emplace_back(map_.islands.size());
      for (const PlannedClique& clique : round.cliques)
        for (const Stream& stream : clique.streams)
          streams[stream.sender] = Route::of_stream(map_, plan.ingress, stream);
    }
    for (IslandId island = 0; island < map_.island_count(); ++island) {
      islands_.push_back(std::make_unique<SimulatedIsland>(turn_, *this, observers_, plan,
                                                           assignment_, settings_.islands, island));
      if (settings_.fill) settings_.fill(island, islands_.back()->model());
    }
    schedule_calls();
    for (IslandId island = 0; island < map_.island_count(); ++island) note(island);
  }

  // Nothing: it was stopped.
  std::optional<Outcome> play() {
    Instant end = assignment_.start_of(RoundId(settings_.rounds + 1), kOrigin) +
                  assignment_.hops_max() + settings_.islands.job_settings.grace;
    // Until everyone has given its account of the last rounds, whatever its clock says.
    for (int round = std::max(1, settings_.rounds - assignment_.live_rounds() + 1);
         round <= settings_.rounds; ++round)
      for (IslandId island = 0; island < map_.island_count(); ++island) {
        const RoundAssignment part = assignment_.part(RoundId(round), island, kOrigin);
        const Instant closes =
            std::max(part.receiver.merge_at, part.spec.last_deadline + part.receiver.grace);
        end = std::max(end, islands_[island]->true_time(closes));
      }
    for (;;) {
      Instant next = kNever;
      for (int partition = 0; partition < partitions_.count(); ++partition)
        next = std::min(next, event_queue_.next_time(partition));
      if (std::min(next, next_call_time()) > end) break;
      if (next_call_time() <= next) {  // what happens to someone comes before what it does
        turn_.now = latest_ = next_call_time();
        turn_.place = -1;
        make_next_call();
        continue;
      }
      const Instant until =
          std::min({next + partitions_.lookahead(), next_call_time(), end + Duration{1}});
      for (int partition = 0; partition < partitions_.count(); ++partition)
        if (play(partition, until, end)) return std::nullopt;
    }
    if (partitions_.count() > 1) recorder_.sort_absences();
    return recorder_.outcome(network_, latest_ - kOrigin, events_);
  }

  void carry(const Route& route, ByteView packet) override {
    network_.carry(turn_.now, route, packet, wire_bytes(packet));
  }

  void hear(const Route::Step& step, ByteView packet) override {
    for (const IslandId island : step.heard_by()) {
      islands_[island]->hear_stream(turn_.now, source_of(step.sender), packet);
      note_sooner(island);
    }
    if (step.own_edge >= 0) {
      islands_[step.own_edge]->hear_request(turn_.now, packet);
      note_sooner(step.own_edge);
    }
    if (step.island >= 0) {
      islands_[step.island]->hear_sum(turn_.now, packet);
      note_sooner(step.island);
    }
  }

  void expect(const Route::Step& step, ByteView packet) override {
    if (packet.size() < kHeaderBytes) return;
    Little32 round, chunk;
    std::memcpy(&round, packet.data() + offsetof(Header, round), sizeof round);
    std::memcpy(&chunk, packet.data() + offsetof(Header, chunk), sizeof chunk);
    for (const IslandId island : step.heard_by()) islands_[island]->expect(round, chunk);
  }

 private:
  struct TimedCall {
    Instant when;
    std::function<void()> call;
  };

  // Whether to stop.
  bool play(int partition, Instant until, Instant end) {
    while (event_queue_.next_time(partition) < until) {
      turn_.now = event_queue_.next_time(partition);
      turn_.place = event_queue_.next_place(partition);
      if (++events_ % kEventsOfALook == 0 && settings_.progress &&
          settings_.progress(turn_.now - kOrigin, end - kOrigin))
        return true;
      if (turn_.place < first_island())
        network_.on_time(turn_.now, turn_.place);
      else
        wake(IslandId(turn_.place - first_island()));
    }
    latest_ = std::max(latest_, turn_.now);
    return false;
  }

  [[nodiscard]] int first_island() const { return Network::places(map_); }
  [[nodiscard]] Instant next_call_time() const {
    return next_call_ < calls_.size() ? calls_[next_call_].when : kNever;
  }

  // Weights and framing. A plan without framing counts weights alone: rates are goodput.
  [[nodiscard]] std::uint32_t wire_bytes(ByteView packet) const {
    const auto framing = std::uint32_t(assignment_.framing().count);
    const auto payload = std::uint32_t(payload_of(packet).size());
    Header header;
    std::memcpy(&header, packet.data(), kHeaderBytes);
    if (!carries_sum(header.type())) return framing == 0 ? 0 : payload + framing;
    if (settings_.islands.payloads == Payloads::kReal) return payload + framing;
    return (header.chunk == last_chunk_ ? last_payload_ : payload_) + framing;
  }

  void wake(IslandId island) {
    islands_[island]->on_time(turn_.now);
    note(island);
    if (!edge_watchers_.empty()) show_edge(island);
  }

  void note(IslandId island) {
    event_queue_.set(first_island() + island,
                     std::max(islands_[island]->next_deadline(), turn_.now));
  }
  // With every packet a deadline moves, nearly always to later. Then the old one is left to stand:
  // waking for nothing now and then is cheaper.
  void note_sooner(IslandId island) {
    const Instant due = islands_[island]->next_deadline();
    if (due < event_queue_.time_of(first_island() + island)) note(island);
    if (!edge_watchers_.empty()) show_edge(island);
  }
  void show_edge(IslandId island) {
    for (SimulationObserver* who : edge_watchers_)
      who->on_edge(turn_.now, islands_[island]->edge_state());
  }

  // Rounds and faults, in order of time.
  void schedule_calls() {
    for (int k = 1; k <= settings_.rounds; ++k)
      calls_.push_back({assignment_.start_of(RoundId(k), kOrigin) - kAhead,
                        [this, k] { open_round(RoundId(k)); }});
    for (const IslandFault& fault : settings_.faults.islands) {
      SimulatedIsland& island = *islands_[fault.island];
      switch (fault.kind) {
        case IslandFault::Kind::kDead:
          calls_.push_back({kOrigin + fault.from, [&island] { island.die(); }});
          calls_.push_back({kOrigin + fault.until, [this, &island] {
                              recorder_.forget(island.id());
                              island.revive(turn_.now);
                            }});
          break;
        case IslandFault::Kind::kSlow:
          calls_.push_back({kOrigin + fault.from,
                            [&island, fault] { island.slow_down(fault.factor, fault.by); }});
          calls_.push_back({kOrigin + fault.until, [&island] { island.speed_up(); }});
          break;
        case IslandFault::Kind::kClock:
          island.set_clock(fault.by, fault.drift);
          break;
        case IslandFault::Kind::kRestart:
          calls_.push_back(
              {kOrigin + fault.from, [this, &island] { island.restart_edge(turn_.now); }});
          break;
      }
    }
    std::stable_sort(calls_.begin(), calls_.end(),
                     [](const TimedCall& a, const TimedCall& b) { return a.when < b.when; });
  }

  void make_next_call() {
    calls_[next_call_++].call();
    for (IslandId island = 0; island < map_.island_count(); ++island) note(island);
  }

  void open_round(RoundId round) {
    recorder_.open_round(round);
    for (IslandId island = 0; island < map_.island_count(); ++island)
      islands_[island]->open_round(turn_.now, assignment_.part(round, island, kOrigin),
                                   &routes_[assignment_.phase_of(round)][island]);
  }

  const Map& map_;
  const Plan& plan_;
  const JobAssignment& assignment_;
  const SimulationSettings& settings_;
  const ChunkId last_chunk_;
  const std::uint32_t payload_, last_payload_;  // bytes of a chunk, and of the last one
  Turn turn_;
  Instant latest_{0};
  std::uint64_t events_ = 0;
  SimulatedIslands islands_;
  OutcomeRecorder recorder_;
  Observers observers_, edge_watchers_;  // the recorder first
  const Partitions partitions_;
  EventQueue event_queue_;
  Network network_;
  std::vector<std::vector<Route>> routes_;  // by phase and sender
  std::vector<TimedCall> calls_;            // rounds that begin, and faults
  std::size_t next_call_ = 0;
};

}  // namespace

Result<Outcome> simulate(const PlanFile& plan, const SimulationSettings& settings) {
  if (settings.rounds < 1) return failure("no rounds to play; at least one");
  for (const Ingress& ingress : plan.ingress)
    if (ingress.edge == kNoAggregator || plan.plan.network.technology != Technology{})
      return failure(
          "only plans with multicast and an edge in front of every island can be played");
  for (const Aggregator& aggregator : plan.map.aggregators)
    if (aggregator.spec.framing > Bytes{1 << 20})
      return failure("framing of more than 1 MiB for each packet is beyond any network");
  const auto assignment = JobAssignment::make(plan, settings.islands.job_settings);
  if (!assignment) return Unexpected<Error>{assignment.error()};
  auto outcome = Simulation(plan, *assignment, settings).play();
  if (!outcome) return failure("the simulation was stopped");
  return std::move(*outcome);
}

}  // namespace cotillion
