// Streams along their trees: who should hear what, and who did.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "exchange/clock.hpp"
#include "lab/confinement.hpp"
#include "lab/crossings.hpp"
#include "lab/probe_parts.hpp"
#include "protocol/packet.hpp"
#include "topology/lane_walk.hpp"

namespace cotillion {
namespace {

constexpr Duration kHeadStart{20'000'000'000};
constexpr double kStreamPicosecondsPerNanosecond = 1000;
constexpr double kStreamNanosecondsPerMillisecond = 1e6;
constexpr std::size_t kStreamProblemsSaid = 20;

struct Sending {
  const MulticastGroup* group = nullptr;
  const Stream* stream = nullptr;
  std::size_t packets = 0;
};

struct Departure {
  Instant when;
  std::uint32_t sending = 0;
  std::uint32_t sequence = 0;
};

class StreamProbe {
 public:
  StreamProbe(World& world, const ProbeSettings& settings, ProbeOutcome& outcome)
      : world_(world),
        plan_(world.plan()),
        map_(plan_.map),
        settings_(settings),
        outcome_(outcome),
        chunk_(std::int64_t(chunk_of(map_))) {}

  Result<void> run() {
    if (auto opened = open(); !opened) return opened;
    const auto& rounds = plan_.plan.rounds;
    outcome_.rounds = settings_.rounds > 0 ? settings_.rounds : int(rounds.size());
    world_.emulator().open_counters(kHeadStart);
    for (int round = 0; round < outcome_.rounds; ++round)
      if (auto played = play(std::size_t(round) % rounds.size()); !played) return played;
    account();
    return {};
  }

 private:
  // Where a stream ends: an edge, or an island that sums for itself.
  struct Ending {
    int receiver = 0;
    double flight_ns = 0;  // latencies, and every hop's time on the wire
  };

  Result<void> open() {
    std::set<NamespaceRole> listeners;
    for (IslandId island = 0; island < map_.island_count(); ++island) {
      listeners.insert(listener_of(plan_, island));
      const auto visit = world_.visit({NamespaceRole::Kind::kIsland, island});
      if (!visit) return Unexpected<Error>{visit.error()};
      auto socket = UdpSocket::open({.bind = {island_address(island), 0},
                                     .interface = island_address(island),
                                     .loop = false,
                                     .coalesce = false});
      if (!socket) return Unexpected<Error>{socket.error()};
      senders_.push_back(std::move(*socket));
    }
    for (const NamespaceRole& role : listeners) {
      const auto visit = world_.visit(role);
      if (!visit) return Unexpected<Error>{visit.error()};
      const Blueprint& print = world_.blueprint();
      const Space& space = print.spaces[std::size_t(print.space_of(role))];
      auto socket = UdpSocket::open(
          {.bind = {0, kUdpPort}, .interface = space.addresses.front().address, .coalesce = false});
      if (!socket) return Unexpected<Error>{socket.error()};
      for (const MulticastGroup& group : world_.groups().all())
        if (std::any_of(group.receivers.begin(), group.receivers.end(),
                        [&](IslandId island) { return listener_of(plan_, island) == role; }))
          if (const auto joined = socket->join(group.address); !joined)
            return Unexpected<Error>{joined.error()};
      const auto receiver = receivers_.add(std::move(*socket));
      if (!receiver) return Unexpected<Error>{receiver.error()};
      receiver_of_[role] = *receiver;
      names_.push_back(space.name);
    }
    return {};
  }

  [[nodiscard]] double on_wire_ns(LaneId lane) const {
    const Bytes wire = Bytes{chunk_} + framing_of(map_);
    return transfer_time(wire, lane_rate(map_, lane)).ps / kStreamPicosecondsPerNanosecond;
  }

  // From the sender to a place, along the tree.
  [[nodiscard]] double hops_ns(const MulticastGroup& group, PlaceId place) const {
    double sum = 0;
    for (const LaneId lane : way_along(map_, group.tree, place))
      sum +=
          on_wire_ns(lane) + double(lane_latency(map_, lane).ps) / kStreamPicosecondsPerNanosecond;
    return sum;
  }

  [[nodiscard]] std::vector<Ending> endings_of(const MulticastGroup& group) const {
    std::map<int, double> by_receiver;
    for (const IslandId island : group.receivers) {
      const Ingress& ingress = plan_.ingress[island];
      double flight = hops_ns(group, ingress.from);
      if (ingress.edge == kNoAggregator)
        for (const LaneId lane : ingress.lanes)
          flight += on_wire_ns(lane) +
                    double(lane_latency(map_, lane).ps) / kStreamPicosecondsPerNanosecond;
      by_receiver.emplace(receiver_of_.at(listener_of(plan_, island)), flight);
    }
    std::vector<Ending> endings;
    for (const auto& [receiver, flight] : by_receiver) endings.push_back({receiver, flight});
    return endings;
  }

  Result<void> play(std::size_t phase) {
    std::vector<Sending> sendings;
    std::vector<Departure> departures;
    std::size_t expected = 0;
    Duration longest{0};
    const RunClock clock = RunClock::starting_now();
    const Instant start = Instant{0} + kHeadStart;
    for (const PlannedClique& clique : plan_.plan.rounds[phase].cliques)
      for (const Stream& stream : clique.streams) {
        Sending sending;
        sending.group = world_.groups().of(phase, stream.sender);
        sending.stream = &stream;
        sending.packets = std::size_t((stream.payload.count + chunk_ - 1) / chunk_);
        const Bytes wire = Bytes{chunk_} + framing_of(map_);
        const double pace = transfer_time(wire, stream.rate).ps;
        for (std::size_t sequence = 0; sequence < sending.packets; ++sequence)
          departures.push_back(
              {start + Duration{std::llround(stream.offset.ps + pace * double(sequence))},
               std::uint32_t(sendings.size()), std::uint32_t(sequence)});
        const auto endings = endings_of(*sending.group);
        expected += endings.size() * sending.packets;
        for (const Ending& ending : endings)
          longest = std::max(longest, Duration{std::llround(ending.flight_ns * 1000)});
        sendings.push_back(sending);
      }
    std::stable_sort(departures.begin(), departures.end(),
                     [](const Departure& a, const Departure& b) { return a.when < b.when; });
    receivers_.start(expected);
    for (const Departure& departure : departures) {
      if (asked_to_end()) return failure("stopped");
      clock.wait_until(departure.when);
      const Sending& sending = sendings[departure.sending];
      late_ms_.push_back((clock.now() - departure.when).ms());
      if (auto sent = send(sending, departure); !sent) return sent;
    }
    if (!wait_until_heard(receivers_, expected, longest + settings_.timeout))
      return failure("stopped");
    hear(sendings, receivers_.stop());
    outcome_.streams += sendings.size();
    outcome_.expected += expected;
    for (const Sending& sending : sendings) sent_[sending.group] += sending.packets;
    return {};
  }

  // The last chunk is as short as the payload leaves it, in whole beats.
  Result<void> send(const Sending& sending, const Departure& departure) {
    const std::int64_t begin = std::int64_t(departure.sequence) * chunk_;
    const std::int64_t left = std::min(chunk_, sending.stream->payload.count - begin);
    const auto beats = (std::size_t(left) + kBeatBytes - 1) / kBeatBytes;
    std::vector<std::byte>& packet = packets_[beats];
    if (packet.empty()) packet = probe_packet(beats * kBeatBytes);
    if (!send_probe(senders_[sending.stream->sender], {sending.group->address, kUdpPort}, packet,
                    {0, departure.sending, departure.sequence}))
      return failure(fmt::format("{} sends to {}: {}", map_.islands[sending.stream->sender].name,
                                 to_text(sending.group->address), std::strerror(errno)));
    ++outcome_.sent;
    return {};
  }

  void hear(const std::vector<Sending>& sendings, const std::vector<Heard>& heard) {
    // By stream and receiver: whole packets only, for the short last one is sooner through.
    struct Reception {
      std::set<std::uint32_t> sequences;
      std::int64_t first_ns = INT64_MAX, last_ns = 0;
      std::uint32_t first = 0, last = 0;
    };
    std::map<std::pair<std::uint32_t, int>, Reception> receptions;
    for (const Heard& one : heard) {
      Reception& reception = receptions[{one.mark.stream, one.receiver}];
      if (!reception.sequences.insert(one.mark.sequence).second)
        problem(fmt::format("{} heard packet {} of {} twice", names_[one.receiver],
                            one.mark.sequence, stream_name(sendings, one.mark.stream)));
      ++outcome_.came;
      if (one.mark.stream >= sendings.size() ||
          one.mark.sequence + 1 >= sendings[one.mark.stream].packets)
        continue;
      if (one.came_ns < reception.first_ns) {
        reception.first_ns = one.came_ns;
        reception.first = one.mark.sequence;
      }
      if (one.came_ns > reception.last_ns) {
        reception.last_ns = one.came_ns;
        reception.last = one.mark.sequence;
      }
    }
    std::vector<std::map<int, double>> flights;
    for (std::uint32_t stream = 0; stream < sendings.size(); ++stream) {
      flights.emplace_back();
      for (const Ending& ending : endings_of(*sendings[stream].group)) {
        flights.back()[ending.receiver] = ending.flight_ns;
        const auto found = receptions.find({stream, ending.receiver});
        const std::size_t came = found == receptions.end() ? 0 : found->second.sequences.size();
        if (came != sendings[stream].packets)
          problem(fmt::format("{} heard {} of {} packets of {}", names_[ending.receiver], came,
                              sendings[stream].packets, stream_name(sendings, stream)));
        if (found == receptions.end() || found->second.last <= found->second.first) continue;
        const Reception& seen = found->second;
        const Bytes wire = Bytes{chunk_} + framing_of(map_);
        const double planned = transfer_time(wire, sendings[stream].stream->rate).ps /
                               kStreamPicosecondsPerNanosecond * double(seen.last - seen.first);
        rates_.push_back(planned / double(seen.last_ns - seen.first_ns) - 1);
      }
    }
    for (const Heard& one : heard) {
      if (one.mark.stream >= flights.size() || !flights[one.mark.stream].contains(one.receiver)) {
        problem(fmt::format("{} heard {}, which is not for it", names_[one.receiver],
                            stream_name(sendings, one.mark.stream)));
        continue;
      }
      if (one.mark.sequence + 1 >= sendings[one.mark.stream].packets) continue;
      delays_.push_back(
          (double(one.came_ns - one.mark.sent_ns) - flights[one.mark.stream][one.receiver]) /
          kStreamNanosecondsPerMillisecond);
    }
  }

  void account() {
    outcome_.delay_ms = error_spread(std::move(delays_));
    outcome_.rate = error_spread(std::move(rates_));
    outcome_.sender_ms = error_spread(std::move(late_ms_));
    outcome_.streams_counters = world_.emulator().counters();
    const auto& groups = world_.groups().all();
    for (LaneId lane = 0; lane < map_.lane_count(); ++lane) {
      const LaneCounters& counters = outcome_.streams_counters.lanes[lane];
      LaneCrossing crossing{.lane = lane};
      crossing.others = counters.others;
      for (std::size_t number = 0; number < groups.size(); ++number) {
        const MulticastGroup& group = groups[number];
        const std::uint64_t seen = counters.by_group[number];
        const std::uint64_t expected = crosses(plan_, group, lane) ? sent_[&group] : 0;
        crossing.expected += expected;
        (crosses(plan_, group, lane) ? crossing.seen : crossing.elsewhere) += seen;
        if (seen != expected)
          problem(fmt::format("{} carried {} packets of {} for {}, and should have carried {}",
                              lane_name(map_, lane), seen, map_.islands[group.sender].name,
                              to_text(group.address), expected));
      }
      outcome_.crossings.push_back(crossing);
    }
    for (const std::string& stray : world_.strays()) problem(stray);
    for (std::size_t receiver = 0; receiver < names_.size(); ++receiver)
      if (const std::uint32_t missed = receivers_.socket(int(receiver)).overflows(); missed > 0)
        problem(
            fmt::format("{}: {} packets came while the probe's own buffer was full; this "
                        "machine is too busy for it",
                        names_[receiver], missed));
    if (problems_ > kStreamProblemsSaid)
      outcome_.problems.push_back(fmt::format("and {} more", problems_ - kStreamProblemsSaid));
  }

  [[nodiscard]] std::string stream_name(const std::vector<Sending>& sendings,
                                        std::uint32_t stream) const {
    if (stream >= sendings.size()) return "an unknown stream";
    const MulticastGroup& group = *sendings[stream].group;
    return fmt::format("{} for {}", map_.islands[group.sender].name, to_text(group.address));
  }

  void problem(const std::string& sentence) {
    if (++problems_ <= kStreamProblemsSaid) outcome_.problems.push_back(sentence);
  }

  World& world_;
  const PlanFile& plan_;
  const Map& map_;
  const ProbeSettings& settings_;
  ProbeOutcome& outcome_;
  std::int64_t chunk_;
  std::vector<UdpSocket> senders_;  // by island
  ProbeReceivers receivers_;
  std::map<NamespaceRole, int> receiver_of_;
  std::vector<std::string> names_;                         // by receiver
  std::map<std::size_t, std::vector<std::byte>> packets_;  // by beats
  std::map<const MulticastGroup*, std::uint64_t> sent_;    // packets
  std::vector<double> delays_, rates_, late_ms_;
  std::size_t problems_ = 0;
};

}  // namespace

Result<void> send_streams(World& world, const ProbeSettings& settings, ProbeOutcome& outcome) {
  return StreamProbe(world, settings, outcome).run();
}

}  // namespace cotillion
