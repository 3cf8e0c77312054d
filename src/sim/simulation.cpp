#include "sim/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/check.hpp"
#include "sim/network.hpp"
#include "sim/partitions.hpp"
#include "topology/lane_walk.hpp"

namespace cotillion {
namespace {

constexpr Duration kAhead{100'000'000};  // rounds are announced 0.1 ms before they start
constexpr std::uint64_t kEventsOfALook = 1 << 16;

// Whether somebody or something takes part that all partitions share, and sees in which order they
// play: spectators, callbacks, and strays off their lanes.
bool seen_from_outside(const SimulationSettings& settings) {
  return settings.together || !settings.spectators.empty() || !settings.faults.lanes.empty() ||
         settings.step || settings.after_copy || settings.before_merge || settings.after_late ||
         settings.after_close;
}

// As the event_queue numbers them: lanes, which belong to where they end, strays, islands.
std::vector<int> partitions_of_places(const Map& map, const Partitions& partitions) {
  std::vector<int> of;
  for (LaneId lane = 0; lane < map.lane_count(); ++lane)
    of.push_back(partitions.of_place(lane_ends(map, lane)));
  of.push_back(0);
  for (IslandId island = 0; island < map.island_count(); ++island)
    of.push_back(partitions.of_place(island));
  return of;
}

class Simulation final : public SimulationObserver, public PacketSink {
 public:
  Simulation(const PlanFile& plan, const JobAssignment& assignment,
             const SimulationSettings& settings)
      : map_(plan.map),
        plan_(plan.plan),
        ingress_(plan.ingress),
        assignment_(assignment),
        settings_(settings),
        edges_watched_(std::any_of(settings.spectators.begin(), settings.spectators.end(),
                                   [](const Spectator* who) { return who->watches_edges(); })),
        last_chunk_(assignment.job_chunks() - 1),
        payload_(std::uint32_t(payload_bytes(assignment.job(), 0))),
        last_payload_(std::uint32_t(payload_bytes(assignment.job(), last_chunk_))),
        partitions_(seen_from_outside(settings) ? Partitions::together(plan.map)
                                                : Partitions(plan.map, plan.ingress)),
        event_queue_(partitions_of_places(plan.map, partitions_)),
        network_(plan.map, settings.faults, settings.seed, settings.spectators, event_queue_,
                 *this) {
    for (const PlannedRound& round : plan_.rounds) {
      auto& streams = routes_.emplace_back(map_.islands.size());
      for (const PlannedClique& clique : round.cliques)
        for (const Stream& stream : clique.streams)
          streams[std::size_t(stream.sender)] = Route::of_stream(map_, plan.ingress, stream);
    }
    for (IslandId island = 0; island < map_.island_count(); ++island) {
      actors_.push_back(
          std::make_unique<SimulatedIsland>(*this, plan, assignment_, settings_.actors, island));
      if (settings_.fill) settings_.fill(island, actors_.back()->model());
    }
    write_script();
    for (IslandId island = 0; island < map_.island_count(); ++island) note(island);
  }

  Outcome play() {
    Instant end = assignment_.start_of(RoundId(settings_.rounds + 1), kOrigin) +
                  assignment_.hops_max() + settings_.actors.job_settings.grace;
    // Until everyone has given its account of the last round, whatever its clock says.
    for (IslandId island = 0; island < map_.island_count(); ++island) {
      const RoundAssignment part = assignment_.part(RoundId(settings_.rounds), island, kOrigin);
      const Instant closes =
          std::max(part.receiver.merge_at, part.spec.last_deadline + part.receiver.grace);
      end = std::max(end, actors_[std::size_t(island)]->true_time(closes));
    }
    for (bool stop = false; !stop;) {
      Instant next = kNever;
      for (int partition = 0; partition < partitions_.count(); ++partition)
        next = std::min(next, event_queue_.next_time(partition));
      if (std::min(next, next_cue()) > end) break;
      if (next_cue() <= next) {  // what happens to someone comes before what it does
        now_ = latest_ = next_cue();
        place_ = -1;
        follow_script();
        continue;
      }
      const Instant until =
          std::min({next + partitions_.lookahead(), next_cue(), end + Duration{1}});
      for (int partition = 0; partition < partitions_.count() && !stop; ++partition)
        stop = play(partition, until, end);
    }
    return account();
  }

  void carry(const Route& route, ByteView packet) override {
    network_.carry(now_, route, packet, wire_bytes(packet));
  }

  void hear(const Route::Step& step, ByteView packet) override {
    for (const IslandId island : step.heard_by()) {
      actors_[std::size_t(island)]->hear_stream(now_, step.sender, packet);
      note_sooner(island);
    }
    if (step.own_edge >= 0) {
      actors_[std::size_t(step.own_edge)]->hear_request(now_, packet);
      note_sooner(step.own_edge);
    }
    if (step.island >= 0) {
      actors_[std::size_t(step.island)]->hear_sum(now_, packet);
      note_sooner(step.island);
    }
  }

  void expect(const Route::Step& step, ByteView packet) override {
    if (packet.size() < kHeaderBytes) return;
    Little32 round, chunk;
    std::memcpy(&round, packet.data() + offsetof(Header, round), sizeof round);
    std::memcpy(&chunk, packet.data() + offsetof(Header, chunk), sizeof chunk);
    for (const IslandId island : step.heard_by())
      actors_[std::size_t(island)]->expect(round, chunk);
  }

  void step_taken(IslandId island, std::uint64_t step) override {
    if (settings_.step) settings_.step(*actors_[std::size_t(island)], island, step);
  }

  void fragment_merged(IslandId island, RoundId round, int fragment) override {
    std::vector<char>& merged = merged_[{round, island}];
    merged.resize(std::size_t(assignment_.job().fragments));
    merged[std::size_t(fragment)] = 1;
    // An island that is far behind merges when a round's places are taken, after its row was noted.
    if (noted_.erase({round, island}) > 0) note_row(round, island);
    if (settings_.before_merge)
      settings_.before_merge(*actors_[std::size_t(island)], island, round, fragment);
  }

  void fragment_done(IslandId island, RoundId round, int fragment) override {
    if (settings_.after_merge)
      settings_.after_merge(*actors_[std::size_t(island)], island, round, fragment);
  }

  void chunk_wanted(IslandId island, RoundId round, std::uint64_t first,
                    std::size_t count) override {
    if (settings_.before_copy)
      settings_.before_copy(*actors_[std::size_t(island)], island, round, first, count);
  }

  void chunk_copied(IslandId island, RoundId round, std::uint64_t first,
                    std::span<const float> values) override {
    if (settings_.after_copy) settings_.after_copy(island, round, first, values);
  }

  void late_merged(IslandId island, RoundId round, int fragment) override {
    if (settings_.after_late)
      settings_.after_late(*actors_[std::size_t(island)], island, round, fragment);
  }

  void round_closed(IslandId island, RoundId round, std::span<const Absence> absences) override {
    if (settings_.after_close)
      settings_.after_close(*actors_[std::size_t(island)], island, round, absences, now_ - kOrigin);
    closed_.insert({round, island});
    RoundOutcome& seen = outcome_.rounds[round - 1];
    const RoundAssignment part = assignment_.part(round, island, kOrigin);
    CliqueOutcome& clique = seen.cliques[std::size_t(part.spec.clique)];
    for (const Absence& absence : absences) {
      clique.complete = false;
      missed_.push_back({now_,
                         place_,
                         round,
                         {island, part.clique[std::size_t(absence.member)], absence.chunks,
                          absence.first_chunk}});
    }
    if (part.spec.expected == 0) return;
    const SimulatedIsland& actor = *actors_[std::size_t(island)];
    const Instant last = actor.true_time(actor.receiver().last_placed(round));
    clique.measured = std::max(clique.measured, last - assignment_.start_of(round, kOrigin));
    seen.measured = std::max(seen.measured, clique.measured);
  }

 private:
  struct Missed {
    Instant when;
    int place = 0;  // on the event_queue, which decides who is first at the same instant
    RoundId round = 0;
    AbsenceOutcome absence;
  };
  struct Cue {
    Instant when;
    std::function<void()> then;
  };

  // Whether to stop.
  bool play(int partition, Instant until, Instant end) {
    while (event_queue_.next_time(partition) < until) {
      now_ = event_queue_.next_time(partition);
      place_ = event_queue_.next_place(partition);
      if (++outcome_.events % kEventsOfALook == 0 && settings_.progress &&
          settings_.progress(now_ - kOrigin, end - kOrigin))
        return true;
      if (place_ < first_island())
        network_.on_time(now_, place_);
      else
        wake(place_ - first_island());
    }
    latest_ = std::max(latest_, now_);
    return false;
  }

  [[nodiscard]] int first_island() const { return Network::places(map_); }
  [[nodiscard]] Instant next_cue() const {
    return cue_ < script_.size() ? script_[cue_].when : kNever;
  }

  // Weights and framing. A plan without framing counts weights alone: rates are goodput.
  [[nodiscard]] std::uint32_t wire_bytes(ByteView packet) const {
    const auto framing = std::uint32_t(assignment_.framing().count);
    const auto payload = std::uint32_t(payload_of(packet).size());
    Header header;
    std::memcpy(&header, packet.data(), kHeaderBytes);
    if (!carries_sum(header.type())) return framing == 0 ? 0 : payload + framing;
    if (settings_.actors.payloads == Payloads::kReal) return payload + framing;
    return (header.chunk == last_chunk_ ? last_payload_ : payload_) + framing;
  }

  void wake(IslandId island) {
    actors_[std::size_t(island)]->on_time(now_);
    note(island);
    if (edges_watched_) show_edge(island);
  }

  void note(IslandId island) {
    event_queue_.set(first_island() + island,
                     std::max(actors_[std::size_t(island)]->next_deadline(), now_));
  }
  // With every packet a deadline moves, nearly always to later. Then the old one is left to stand:
  // waking for nothing now and then is cheaper.
  void note_sooner(IslandId island) {
    const Instant due = actors_[std::size_t(island)]->next_deadline();
    if (due < event_queue_.time_of(first_island() + island)) note(island);
    if (edges_watched_) show_edge(island);
  }
  void show_edge(IslandId island) {
    for (Spectator* who : settings_.spectators)
      who->on_edge(now_, actors_[std::size_t(island)]->edge_state());
  }

  // Rounds and faults, in order of time.
  void write_script() {
    for (int k = 1; k <= settings_.rounds; ++k)
      script_.push_back({assignment_.start_of(RoundId(k), kOrigin) - kAhead,
                         [this, k] { open_round(RoundId(k)); }});
    for (const IslandFault& fault : settings_.faults.islands) {
      SimulatedIsland& actor = *actors_[std::size_t(fault.island)];
      switch (fault.kind) {
        case IslandFault::Kind::kDead:
          script_.push_back({kOrigin + fault.from, [&actor] { actor.die(); }});
          script_.push_back({kOrigin + fault.until, [this, &actor, island = fault.island] {
                               for (const RoundOutcome& round : outcome_.rounds)
                                 note_row(round.round, island);  // its new process knows nothing
                               actor.revive(now_);
                             }});
          break;
        case IslandFault::Kind::kSlow:
          script_.push_back(
              {kOrigin + fault.from, [&actor, fault] { actor.slow_down(fault.factor, fault.by); }});
          script_.push_back({kOrigin + fault.until, [&actor] { actor.speed_up(); }});
          break;
        case IslandFault::Kind::kClock:
          actor.set_clock(fault.by, fault.drift);
          break;
        case IslandFault::Kind::kRestart:
          script_.push_back({kOrigin + fault.from, [this, &actor] { actor.restart_edge(now_); }});
          break;
      }
    }
    std::stable_sort(script_.begin(), script_.end(),
                     [](const Cue& a, const Cue& b) { return a.when < b.when; });
  }

  void follow_script() {
    script_[cue_++].then();
    for (IslandId island = 0; island < map_.island_count(); ++island) note(island);
  }

  void open_round(RoundId round) {
    if (round > 1) note_arrivals(round - 1);
    if (round > 2) note_mixing(round - 2);  // its places are about to be taken
    if (round > 4) merged_.erase(merged_.begin(), merged_.lower_bound({round - 4, 0}));
    const PlannedRound& planned = plan_.rounds[assignment_.phase_of(round)];
    RoundOutcome seen;
    seen.round = round;
    seen.planned = {std::llround(planned.planned.ps)};
    for (const PlannedClique& clique : planned.cliques)
      seen.cliques.push_back({clique.islands, {std::llround(clique.price.ps)}, {}, true, {}});
    outcome_.rounds.push_back(std::move(seen));
    for (IslandId island = 0; island < map_.island_count(); ++island)
      actors_[std::size_t(island)]->open_round(
          now_, assignment_.part(round, island, kOrigin),
          &routes_[assignment_.phase_of(round)][std::size_t(island)]);
  }

  void note_arrivals(RoundId round) {
    const PlannedRound& planned = plan_.rounds[assignment_.phase_of(round)];
    const Instant start = assignment_.start_of(round, kOrigin);
    for (std::size_t c = 0; c < planned.cliques.size(); ++c)
      for (const Stream& stream : planned.cliques[c].streams)
        for (const Arrival& arrival : stream.receivers) {
          const Instant last = actors_[std::size_t(arrival.receiver)]->last_accepted(stream.sender);
          const Duration flight =  // to the edge, not on to the island
              arrival.latency - ingress_[std::size_t(arrival.receiver)].latency;
          const Bytes wire = cotillion::wire_bytes(map_.aggregators.front().spec, stream.payload);
          const RealDuration due =
              stream.offset + RealDuration(flight) + transfer_time(wire, stream.rate);
          outcome_.rounds[round - 1].cliques[c].arrivals.push_back(
              {stream.sender,
               arrival.receiver,
               {std::llround(due.ps)},
               last == kNever ? Duration{0} : last - start});
        }
  }

  void note_mixing(RoundId round) {
    for (IslandId island = 0; island < map_.island_count(); ++island) note_row(round, island);
  }

  // Once.
  void note_row(RoundId round, IslandId island) {
    const std::size_t n = map_.islands.size();
    const auto own = std::size_t(island);
    std::vector<double>& mixing = outcome_.rounds[round - 1].mixing;
    mixing.resize(n * n);
    if (!noted_.insert({round, island}).second) return;
    std::vector<double> row(n);
    const RoundAssignment part = assignment_.part(round, island, kOrigin);
    const auto masks = actors_[own]->receiver().contributors(round);
    const std::vector<char>& merged = merged_[{round, island}];
    const double share = 1.0 / double(assignment_.job_chunks());
    for (ChunkId chunk = 0; chunk < assignment_.job_chunks(); ++chunk) {
      // What came and was not merged, because the island died first, is not in its model.
      const bool in = !masks.empty() && !merged.empty() &&
                      merged[std::size_t(fragment_of(assignment_.job(), chunk))] != 0;
      add_mixing(row, part, settings_.actors.merge.missing, {in ? masks[chunk] : 0, share});
    }
    std::copy(row.begin(), row.end(), mixing.begin() + std::ptrdiff_t(own * n));
  }

  Outcome account() {
    if (!outcome_.rounds.empty()) note_arrivals(RoundId(outcome_.rounds.size()));
    for (RoundId round = RoundId(std::max(1, int(outcome_.rounds.size()) - 1));
         round <= outcome_.rounds.size(); ++round)
      note_mixing(round);
    note_missed();
    note_silence();
    for (IslandId island = 0; island < map_.island_count(); ++island) {
      const SimulatedIsland& actor = *actors_[std::size_t(island)];
      EdgeOutcome seen{island, {}, {}, actor.edge_counters()};
      const EdgeSpec& edge = map_.aggregators[std::size_t(ingress_[std::size_t(island)].edge)].spec;
      seen.memory_peak = {std::int64_t(actor.open_slots_peak()) * edge.slot.count};
      outcome_.edges.push_back(seen);
      outcome_.receivers.push_back(actor.receiver_counters());
      outcome_.senders.push_back(actor.sender_counters());
      outcome_.steps.push_back(actor.steps());
    }
    note_planned_memory();
    outcome_.lanes = network_.lanes();
    outcome_.hops = network_.hops();
    outcome_.played = latest_ - kOrigin;
    outcome_.added_slack = assignment_.added_slack();
    return std::move(outcome_);
  }

  // In the order of time, whoever played first.
  void note_missed() {
    if (partitions_.count() > 1)
      std::stable_sort(missed_.begin(), missed_.end(), [](const Missed& a, const Missed& b) {
        return std::tie(a.when, a.place) < std::tie(b.when, b.place);
      });
    for (const Missed& missed : missed_)
      outcome_.rounds[missed.round - 1].absences.push_back(missed.absence);
  }

  void note_silence() {
    for (RoundOutcome& round : outcome_.rounds)
      for (IslandId island = 0; island < map_.island_count(); ++island) {
        const RoundAssignment part = assignment_.part(round.round, island, kOrigin);
        if (part.spec.expected == 0 || closed_.count({round.round, island}) > 0) continue;
        round.cliques[std::size_t(part.spec.clique)].complete = false;
        round.absences.push_back({island, island, assignment_.job_chunks(), 0});
      }
  }

  // An edge's peak is the plan's for all islands it serves together.
  void note_planned_memory() {
    for (std::size_t phase = 0; phase < std::min(plan_.rounds.size(), outcome_.rounds.size());
         ++phase)
      for (const EdgeUse& use : plan_.rounds[phase].edges)
        for (const IslandId island : map_.aggregators[std::size_t(use.aggregator)].serves) {
          Bytes& planned = outcome_.edges[std::size_t(island)].memory_planned;
          planned = std::max(planned, use.memory_peak);
        }
  }

  const Map& map_;
  const Plan& plan_;
  const std::vector<Ingress>& ingress_;
  const JobAssignment& assignment_;
  const SimulationSettings& settings_;
  const bool edges_watched_;
  const ChunkId last_chunk_;
  const std::uint32_t payload_, last_payload_;  // bytes of a chunk, and of the last one
  Instant now_{0}, latest_{0};
  int place_ = -1;  // on the event_queue, whose turn it is; −1: the script's
  const Partitions partitions_;
  EventQueue event_queue_;
  Network network_;
  std::vector<std::vector<Route>> routes_;  // by phase and sender
  std::vector<std::unique_ptr<SimulatedIsland>> actors_;
  std::vector<Cue> script_;
  std::vector<Missed> missed_;
  std::size_t cue_ = 0;
  std::map<std::pair<RoundId, IslandId>, std::vector<char>> merged_;  // fragments of live rounds
  std::set<std::pair<RoundId, IslandId>> noted_;                      // rows of Ŵ
  std::set<std::pair<RoundId, IslandId>> closed_;                     // accounts that were given
  Outcome outcome_;
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
  const auto assignment = JobAssignment::make(plan, settings.actors.job_settings);
  if (!assignment) return Unexpected<Error>{assignment.error()};
  return Simulation(plan, *assignment, settings).play();
}

}  // namespace cotillion
