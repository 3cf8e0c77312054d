#include "lab/probe.hpp"

#include <fmt/format.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>

#include "exchange/clock.hpp"
#include "lab/confinement.hpp"
#include "lab/probe_parts.hpp"
#include "lab/steady.hpp"

namespace cotillion {
namespace {

constexpr std::uint16_t kTrainPort = kUdpPort + 1;
constexpr Duration kBetweenLanes{2'000'000'000};
constexpr Duration kProbeLook{2'000'000'000};
constexpr double kNanosecondsPerMillisecond = 1e6;

void sleep_for(Duration time) {
  const timespec wait = timespec_of(time);
  (void)::nanosleep(&wait, nullptr);
}

// The trains over one lane.
struct Train {
  LaneId lane = 0;
  std::optional<UdpSocket> socket;
  Endpoint to;
  std::size_t packets = 0;
  double packet_ns = 0;  // on the wire
  Duration takes;        // until the last of them is there
};

Ipv4Address first_address(const Space& space) {
  return space.addresses.front().address;
}

}  // namespace

ErrorSpread error_spread(std::vector<double> errors) {
  ErrorSpread spread;
  spread.count = errors.size();
  if (errors.empty()) return spread;
  const auto nth = [&](double share) {
    const auto at = std::min(errors.size() - 1, std::size_t(share * double(errors.size())));
    std::nth_element(errors.begin(), errors.begin() + std::ptrdiff_t(at), errors.end());
    return errors[at];
  };
  spread.median = nth(0.5);
  for (double& error : errors) error = std::abs(error);
  spread.p99 = nth(0.99);
  spread.worst = *std::max_element(errors.begin(), errors.end());
  return spread;
}

bool wait_until_heard(const ProbeReceivers& receivers, std::size_t expected, Duration timeout) {
  const Instant deadline = steady_now() + timeout;
  while (receivers.heard_so_far() < expected && steady_now() < deadline) {
    if (asked_to_end()) return false;
    sleep_for(kProbeLook);
  }
  return true;
}

namespace {

// One receiver in every namespace but the control one.
Result<void> open_receivers(World& world, ProbeReceivers& receivers) {
  for (const Space& space : world.blueprint().spaces) {
    if (space.role.kind == NamespaceRole::Kind::kControl) continue;
    const auto visit = world.visit(space.role);
    if (!visit) return Unexpected<Error>{visit.error()};
    auto socket = UdpSocket::open({.bind = {0, kTrainPort}, .coalesce = false});
    if (!socket) return Unexpected<Error>{socket.error()};
    if (const auto receiver = receivers.add(std::move(*socket)); !receiver)
      return Unexpected<Error>{receiver.error()};
  }
  return {};
}

// A socket at the start of a lane that sends by that lane alone.
Result<UdpSocket> open_sender(World& world, const Blueprint::Passage& passage) {
  const auto visit = world.visit(world.blueprint().spaces[std::size_t(passage.from.space)].role);
  if (!visit) return Unexpected<Error>{visit.error()};
  auto socket = UdpSocket::open({.bind = {0, 0}, .coalesce = false});
  if (!socket) return socket;
  const std::string& out = passage.from.interface;
  if (::setsockopt(socket->fd(), SOL_SOCKET, SO_BINDTODEVICE, out.c_str(), socklen_t(out.size())) !=
      0)
    return failure(fmt::format("SO_BINDTODEVICE {}: {}", out, std::strerror(errno)));
  return socket;
}

Result<std::vector<Train>> open_trains(World& world, const ProbeSettings& settings) {
  const Map& map = world.plan().map;
  const Blueprint& print = world.blueprint();
  const Bytes wire{std::int64_t(chunk_of(map)) + framing_of(map).count};
  std::vector<Train> trains;
  for (LaneId lane = 0; lane < map.lane_count(); ++lane) {
    const Blueprint::Passage passage = print.passage(lane);
    auto socket = open_sender(world, passage);
    if (!socket) return Unexpected<Error>{socket.error()};
    Train train;
    train.lane = lane;
    train.socket = std::move(*socket);
    train.to = {first_address(print.spaces[std::size_t(passage.to.space)]), kTrainPort};
    const double packet_ps = transfer_time(wire, lane_rate(map, lane)).ps;
    // As many as the queue holds, for the last of them waits for all others.
    train.packets = std::size_t(std::clamp(double(settings.train.ps) / packet_ps, 4.0, 64.0));
    train.packets = std::min(train.packets, 1 + std::size_t(double(world.queue().ps) / packet_ps));
    train.packet_ns = packet_ps / 1000;
    train.takes =
        lane_latency(map, lane) + Duration{std::int64_t(packet_ps * double(train.packets))};
    trains.push_back(std::move(train));
  }
  return trains;
}

// Every train as often as asked; who comes late is waited for after each turn.
Result<void> send_trains(World& world, const ProbeSettings& settings,
                         const std::vector<Train>& trains, const ProbeReceivers& receivers) {
  const Map& map = world.plan().map;
  Duration longest{0};
  for (const Train& train : trains) longest = std::max(longest, train.takes);
  std::vector<std::byte> packet = probe_packet(chunk_of(map));
  std::size_t sent = 0;
  for (int turn = 0; turn < settings.trains; ++turn) {
    for (const Train& train : trains) {
      if (asked_to_end()) return failure("stopped");
      for (std::size_t sequence = 0; sequence < train.packets; ++sequence)
        if (!send_probe(*train.socket, train.to, packet,
                        {0, std::uint32_t(train.lane),
                         std::uint32_t(std::size_t(turn) * train.packets + sequence)}))
          return failure(fmt::format("{}: {}", lane_name(map, train.lane), std::strerror(errno)));
      sent += train.packets;
      sleep_for(kBetweenLanes);
    }
    if (!wait_until_heard(receivers, sent, longest + settings.timeout)) return failure("stopped");
  }
  return {};
}

// What became of one lane's trains, of all that was heard.
LaneMeasure measure_of(const Train& train, const std::vector<Heard>& heard, Duration latency) {
  LaneMeasure measure;
  measure.lane = train.lane;
  // By turn: when its first packet was sent, and when which of them came.
  std::map<std::size_t, std::map<std::size_t, const Heard*>> turns;
  for (const Heard& one : heard)
    if (one.mark.stream == std::uint32_t(train.lane)) {
      turns[one.mark.sequence / train.packets].emplace(one.mark.sequence % train.packets, &one);
      ++measure.came;
    }
  std::vector<double> delays, rates;
  const double latency_ns = double(latency.ps) / 1000;
  for (const auto& [turn, packets] : turns) {
    if (!packets.contains(0)) continue;
    const Heard& first = *packets.at(0);
    delays.push_back((double(first.came_ns - first.mark.sent_ns) - train.packet_ns - latency_ns) /
                     kNanosecondsPerMillisecond);
    if (packets.size() != train.packets || train.packets < 2) continue;
    const double took = double(packets.at(train.packets - 1)->came_ns - first.came_ns);
    rates.push_back(train.packet_ns * double(train.packets - 1) / took - 1);
  }
  measure.delay_ms = error_spread(std::move(delays));
  measure.rate = error_spread(std::move(rates));
  return measure;
}

}  // namespace

Result<std::vector<LaneMeasure>> measure_links(World& world, const ProbeSettings& settings) {
  ProbeReceivers receivers;
  if (auto opened = open_receivers(world, receivers); !opened)
    return Unexpected<Error>{opened.error()};
  auto trains = open_trains(world, settings);
  if (!trains) return Unexpected<Error>{trains.error()};
  std::size_t expected = 0;
  for (const Train& train : *trains) expected += train.packets * std::size_t(settings.trains);
  receivers.start(expected);
  if (auto sent = send_trains(world, settings, *trains, receivers); !sent)
    return Unexpected<Error>{sent.error()};
  const std::vector<Heard> heard = receivers.stop();

  std::vector<LaneMeasure> measures;
  for (const Train& train : *trains) {
    measures.push_back(measure_of(train, heard, lane_latency(world.plan().map, train.lane)));
    measures.back().sent = train.packets * std::size_t(settings.trains);
  }
  return measures;
}

Result<ProbeOutcome> probe(World& world, const ProbeSettings& settings) {
  ProbeOutcome outcome;
  outcome.cores = int(::sysconf(_SC_NPROCESSORS_ONLN));
  (void)::getloadavg(&outcome.load, 1);
  wake_on_time();
  world.emulator().open_counters();
  auto links = measure_links(world, settings);
  if (!links) return Unexpected<Error>{links.error()};
  outcome.links = std::move(*links);
  outcome.trains_counters = world.emulator().counters();
  if (const auto sent = send_streams(world, settings, outcome); !sent)
    return Unexpected<Error>{sent.error()};
  return outcome;
}

}  // namespace cotillion
