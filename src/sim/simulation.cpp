#include "sim/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <queue>

#include "base/check.hpp"
#include "sim/agenda.hpp"
#include "sim/lane.hpp"

namespace cotillion {
namespace {

constexpr Instant kOrigin{1'000'000'000};  // the first round starts 1 ms into the play
constexpr Duration kAhead{100'000'000};    // rounds are announced 0.1 ms before they start
constexpr std::uint64_t kEventsOfALook = 1 << 16;

class Simulation final : public Stagehand {
 public:
  Simulation(const PlanFile& plan, const Casting& casting, const SimulationSettings& settings)
      : map_(plan.map),
        plan_(plan.plan),
        casting_(casting),
        settings_(settings),
        dice_(settings.faults, plan.map.lane_count(), settings.seed),
        agenda_(plan.map.lane_count() + plan.map.island_count() + 2) {
    for (LaneId lane = 0; lane < map_.lane_count(); ++lane)
      lanes_.emplace_back(lane, lane_rate(map_, lane), lane_latency(map_, lane));
    for (const PlannedRound& round : plan_.rounds) {
      auto& streams = routes_.emplace_back(map_.islands.size());
      for (const PlannedClique& clique : round.cliques)
        for (const Stream& stream : clique.streams)
          streams[std::size_t(stream.sender)] = stream_route(map_, plan.ingress, stream);
    }
    for (IslandId island = 0; island < map_.island_count(); ++island) {
      actors_.push_back(std::make_unique<Actor>(*this, map_, plan.ingress[std::size_t(island)],
                                                casting_, settings_.actors, island));
      if (settings_.fill) settings_.fill(island, actors_.back()->model());
    }
    write_script();
  }

  Outcome play() {
    const Instant end = casting_.start_of(RoundId(settings_.rounds + 1), kOrigin) +
                        casting_.hops_max() + settings_.actors.casting.patience;
    while (agenda_.next_time() <= end) {
      now_ = agenda_.next_time();
      const int place = agenda_.next_place();
      if (++outcome_.events % kEventsOfALook == 0 && settings_.progress &&
          settings_.progress(now_ - kOrigin, end - kOrigin))
        break;
      if (place < map_.lane_count())
        arrive(place);
      else if (place < aside_place())
        wake(place - map_.lane_count());
      else if (place == aside_place())
        arrive_aside();
      else
        follow_script();
    }
    return account();
  }

  void carry(const Route& route, ByteView packet) override {
    put(route, 0, pool_.add(packet, wire_bytes(packet)));
  }

  void fragment_merged(IslandId island, RoundId round, int fragment) override {
    if (settings_.before_merge)
      settings_.before_merge(*actors_[std::size_t(island)], island, round, fragment);
  }

  void round_closed(IslandId island, RoundId round, std::span<const Absence> absences) override {
    RoundOutcome& seen = outcome_.rounds[round - 1];
    const Part part = casting_.part(round, island, kOrigin);
    CliqueOutcome& clique = seen.cliques[std::size_t(part.spec.clique)];
    for (const Absence& absence : absences) {
      clique.complete = false;
      seen.absences.push_back(
          {island, part.clique[std::size_t(absence.member)], absence.chunks, absence.first_chunk});
    }
    if (part.spec.expected == 0) return;
    const Instant last = actors_[std::size_t(island)]->receiver().last_placed(round);
    clique.measured = std::max(clique.measured, last - casting_.start_of(round, kOrigin));
    seen.measured = std::max(seen.measured, clique.measured);
  }

 private:
  struct Cue {
    Instant when;
    std::function<void()> then;
  };
  struct Later {
    bool operator()(const std::pair<InFlight, std::uint64_t>& a,
                    const std::pair<InFlight, std::uint64_t>& b) const {
      return a.first.arrival != b.first.arrival ? a.first.arrival > b.first.arrival
                                                : a.second > b.second;
    }
  };

  [[nodiscard]] int aside_place() const { return map_.lane_count() + map_.island_count(); }
  [[nodiscard]] int script_place() const { return aside_place() + 1; }

  // Weights and framing. A plan without framing counts weights alone: rates are goodput.
  [[nodiscard]] double wire_bytes(ByteView packet) const {
    const auto header = read_header(packet);
    const double framing = double(casting_.framing().count);
    if (!carries_sum(header->type()))
      return framing == 0 ? 0 : double(payload_of(packet).size()) + framing;
    if (settings_.actors.payloads == Payloads::kCounted)
      return double(payload_bytes(casting_.job(), header->chunk)) + framing;
    return double(payload_of(packet).size()) + framing;
  }

  void put(const Route& route, int step, PacketId packet) {
    const LaneId id = route.steps[std::size_t(step)].lane;
    Lane& lane = lanes_[std::size_t(id)];
    ++outcome_.hops;
    const InFlight item{lane.pass(now_, pool_.wire_bytes(packet)), packet, &route, step};
    if (dice_.any(id)) return put_at_risk(id, item);
    if (lane.empty()) agenda_.set(id, item.arrival);
    lane.push(item);
  }

  void put_at_risk(LaneId id, InFlight item) {
    const Fate fate = dice_.cast(id, now_ - kOrigin);
    if (fate.copied) {
      pool_.hold(item.packet);
      put_aside({item.arrival + fate.copy_after, item.packet, item.route, item.step});
    }
    if (fate.lost) {
      ++lanes_[std::size_t(id)].seen().lost;
      return pool_.drop(item.packet);
    }
    if (fate.corrupt || fate.truncated) item.packet = spoiled(id, item.packet, fate);
    item.arrival = item.arrival + fate.delay;
    put_aside(item);  // lanes with faults may deliver out of order
  }

  void put_aside(const InFlight& item) {
    aside_.emplace(item, order_++);
    agenda_.set(aside_place(), aside_.top().first.arrival);
  }

  PacketId spoiled(LaneId lane, PacketId packet, const Fate& fate) {
    const ByteView before = pool_.bytes(packet);
    std::vector<std::byte> bytes(before.begin(), before.end());
    const double wire = pool_.wire_bytes(packet);
    Random& random = dice_.random(lane);
    if (fate.corrupt) {
      const auto bit = std::size_t(random.between(0, std::int64_t(bytes.size() * 8 - 1)));
      bytes[bit / 8] ^= std::byte(1u << (bit % 8));
    }
    if (fate.truncated)
      bytes.resize(std::size_t(random.between(0, std::int64_t(bytes.size() - 1))));
    pool_.drop(packet);
    return pool_.add(bytes, wire);
  }

  void arrive(LaneId id) {
    Lane& lane = lanes_[std::size_t(id)];
    const InFlight item = lane.front();
    lane.pop();
    agenda_.set(id, lane.empty() ? kNever : lane.front().arrival);
    if (!lane.empty()) pool_.expect(lane.front().packet);  // many other events come before it
    deliver(item);
  }

  void arrive_aside() {
    const InFlight item = aside_.top().first;
    aside_.pop();
    agenda_.set(aside_place(), aside_.empty() ? kNever : aside_.top().first.arrival);
    deliver(item);
  }

  void deliver(const InFlight& item) {
    const Route::Step& step = item.route->steps[std::size_t(item.step)];
    for (const int next : step.next) {
      pool_.hold(item.packet);
      put(*item.route, next, item.packet);
    }
    // What is heard may be answered, and the pool may move then.
    const ByteView kept = pool_.bytes(item.packet);
    std::array<std::byte, 64> copy;
    ByteView packet = kept;
    if (kept.size() <= copy.size()) {
      std::copy(kept.begin(), kept.end(), copy.begin());
      packet = ByteView(copy).first(kept.size());
    }
    for (const IslandId island : step.edges) {
      actors_[std::size_t(island)]->hear_stream(now_, item.route->sender, packet);
      note(island);
    }
    if (step.own_edge >= 0) {
      actors_[std::size_t(step.own_edge)]->hear_request(now_, packet);
      note(step.own_edge);
    }
    if (step.island >= 0) {
      actors_[std::size_t(step.island)]->hear_sum(now_, packet);
      note(step.island);
    }
    pool_.drop(item.packet);
  }

  void wake(IslandId island) {
    actors_[std::size_t(island)]->on_time(now_);
    note(island);
  }

  void note(IslandId island) {
    agenda_.set(map_.lane_count() + island,
                std::max(actors_[std::size_t(island)]->next_deadline(), now_));
  }

  // Rounds and faults, in order of time.
  void write_script() {
    for (int k = 1; k <= settings_.rounds; ++k)
      script_.push_back(
          {casting_.start_of(RoundId(k), kOrigin) - kAhead, [this, k] { open_round(RoundId(k)); }});
    for (const IslandFault& fault : settings_.faults.islands) {
      Actor& actor = *actors_[std::size_t(fault.island)];
      switch (fault.kind) {
        case IslandFault::Kind::kDead:
          script_.push_back({kOrigin + fault.from, [&actor] { actor.die(); }});
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
    agenda_.set(script_place(), script_.front().when);
  }

  void follow_script() {
    script_[cue_++].then();
    for (IslandId island = 0; island < map_.island_count(); ++island) note(island);
    agenda_.set(script_place(), cue_ < script_.size() ? script_[cue_].when : kNever);
  }

  void open_round(RoundId round) {
    if (round > 2) note_mixing(round - 2);  // its places are about to be taken
    const PlannedRound& planned = plan_.rounds[casting_.phase_of(round)];
    RoundOutcome seen;
    seen.round = round;
    seen.planned = {std::llround(planned.planned.ps)};
    for (const PlannedClique& clique : planned.cliques)
      seen.cliques.push_back({clique.islands, {std::llround(clique.price.ps)}, {}, true});
    outcome_.rounds.push_back(std::move(seen));
    for (IslandId island = 0; island < map_.island_count(); ++island)
      actors_[std::size_t(island)]->open_round(
          now_, casting_.part(round, island, kOrigin),
          &routes_[casting_.phase_of(round)][std::size_t(island)]);
  }

  void note_mixing(RoundId round) {
    const std::size_t n = map_.islands.size();
    std::vector<double>& mixing = outcome_.rounds[round - 1].mixing;
    mixing.assign(n * n, 0);
    for (std::size_t i = 0; i < n; ++i) {
      const Part part = casting_.part(round, IslandId(i), kOrigin);
      const auto masks = actors_[i]->receiver().contributors(round);
      const double share = 1.0 / double(casting_.job_chunks());
      for (ChunkId chunk = 0; chunk < casting_.job_chunks(); ++chunk) {
        const ContributorMask mask = masks.empty() ? 0 : masks[chunk];
        const double each = share / (1 + std::popcount(mask));
        mixing[i * n + i] += each;
        for (ContributorMask left = mask; left != 0; left &= left - 1)
          mixing[i * n + std::size_t(part.clique[std::size_t(std::countr_zero(left))])] += each;
      }
    }
  }

  Outcome account() {
    for (RoundId round = RoundId(std::max(1, int(outcome_.rounds.size()) - 1));
         round <= outcome_.rounds.size(); ++round)
      note_mixing(round);
    for (IslandId island = 0; island < map_.island_count(); ++island) {
      const Actor& actor = *actors_[std::size_t(island)];
      EdgeOutcome seen{island, {}, {}, actor.edge_counters()};
      seen.memory_peak = {std::int64_t(actor.open_slots_peak() * slot_bytes(casting_.job()))};
      outcome_.edges.push_back(seen);
      outcome_.receivers.push_back(actor.receiver().counters());
      outcome_.senders.push_back(actor.sender().counters());
    }
    note_planned_memory();
    for (const Lane& lane : lanes_)
      if (lane.seen().packets > 0) outcome_.lanes.push_back(lane.seen());
    outcome_.played = now_ - kOrigin;
    outcome_.added_slack = casting_.added_slack();
    return std::move(outcome_);
  }

  // An edge's peak is the plan's for all islands it serves together.
  void note_planned_memory() {
    for (const PlannedRound& round : plan_.rounds)
      for (const EdgeUse& use : round.edges)
        for (const IslandId island : map_.aggregators[std::size_t(use.aggregator)].serves) {
          Bytes& planned = outcome_.edges[std::size_t(island)].memory_planned;
          planned = std::max(planned, use.memory_peak);
        }
  }

  const Map& map_;
  const Plan& plan_;
  const Casting& casting_;
  const SimulationSettings& settings_;
  FaultDice dice_;
  Instant now_{0};
  Agenda agenda_;
  PacketPool pool_;
  std::vector<Lane> lanes_;
  std::priority_queue<std::pair<InFlight, std::uint64_t>,
                      std::vector<std::pair<InFlight, std::uint64_t>>, Later>
      aside_;
  std::uint64_t order_ = 0;
  std::vector<std::vector<Route>> routes_;  // by phase and sender
  std::vector<std::unique_ptr<Actor>> actors_;
  std::vector<Cue> script_;
  std::size_t cue_ = 0;
  Outcome outcome_;
};

}  // namespace

Result<Outcome> simulate(const PlanFile& plan, const SimulationSettings& settings) {
  if (settings.rounds < 1) return failure("no rounds to play; at least one");
  for (const Ingress& ingress : plan.ingress)
    if (ingress.edge == kNoAggregator || plan.plan.stage.technology != Technology{})
      return failure(
          "only plans with multicast and an edge in front of every island can be played");
  const auto casting = Casting::make(plan.map, plan.plan, settings.actors.casting);
  if (!casting) return Unexpected<Error>{casting.error()};
  return Simulation(plan, *casting, settings).play();
}

}  // namespace cotillion
