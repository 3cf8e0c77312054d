#include "plan/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"

namespace cotillion {
namespace {

std::string names_of(const Map& map, const std::vector<IslandId>& islands) {
  std::string text;
  for (std::size_t i = 0; i < islands.size(); ++i) {
    if (i > 0) text += i + 1 == islands.size() ? " and " : ", ";
    text += map.islands[islands[i]].name;
  }
  return text;
}

const Stream& stream_from(const PlannedClique& clique, IslandId sender) {
  return *std::find_if(clique.streams.begin(), clique.streams.end(),
                       [&](const Stream& stream) { return stream.sender == sender; });
}

// To four digits, never below: what is advised must suffice.
Bytes rounded_up(double bytes) {
  double unit = 1;
  while (bytes / unit >= 10'000) unit *= 10;
  return {std::int64_t(std::ceil(bytes / unit) * unit)};
}

Duration flight_of(const PlannedClique& clique, IslandId receiver, IslandId sender) {
  for (const Arrival& arrival : stream_from(clique, sender).receivers)
    if (arrival.receiver == receiver) return arrival.latency;
  return {};
}

// Where rounds overlap, times follow from all rounds together.
std::string explain_overlapped(const NetworkModel& network, const PlannedClique& clique) {
  std::size_t last = 0;
  for (std::size_t i = 0; i < clique.sums.size(); ++i)
    if (clique.sums[i] > clique.sums[last]) last = i;
  return fmt::format(
      "Each stream takes {} to pass at {}, limited by {}. The last sum begins to reach {} {} after "
      "the round begins and has come in after {}; the next round does not wait for it.",
      to_text(clique.serialisation), to_text(clique.rate), binding_phrase(network, clique),
      network.map().islands[clique.islands[last]].name, to_text(clique.sums[last]),
      to_text(clique.price));
}

std::string explain_infeasible(const NetworkModel& network, const PlannedClique& clique) {
  const Map& map = network.map();
  const Binding& binding = clique.binding;
  std::string text = fmt::format("{} cannot meet without memory: ", names_of(map, clique.islands));
  for (const Wait& wait : binding.cycle) {
    const double gap =
        (network.latency(wait.receiver, wait.leader) - network.latency(wait.receiver, wait.waiter))
            .ms();
    text +=
        fmt::format("at {}, {} must send {:.1f} ms {} than {}, ", map.islands[wait.receiver].name,
                    map.islands[wait.waiter].name, std::fabs(gap), gap >= 0 ? "later" : "earlier",
                    map.islands[wait.leader].name);
  }
  const double mean = double(binding.cycle_excess.ps) / double(binding.cycle.size());
  const double window = mean / ps_per_byte(binding.bound) / network.wire_factor();
  // From bytes of weights to accumulator memory, of an edge that may serve several islands.
  double memory = 0;
  for (const Wait& wait : binding.cycle) {
    const Aggregator& edge = map.aggregators[network.edge(wait.receiver)];
    memory = std::max(memory, window * double(edge.spec.slot.count) /
                                  double(edge.spec.chunk.count) * double(edge.serves.size()));
  }
  text += fmt::format(
      "which is {} too much in one turn round the circle. Any memory at these edges makes it "
      "feasible at a lower rate; {} each allow the full {}.",
      to_text(binding.cycle_excess), to_text(rounded_up(memory)), to_text(binding.bound));
  return text;
}

}  // namespace

std::string lane_phrase(const Map& map, LaneId lane, int streams, std::string_view noun) {
  const BitsPerSecond rate = lane_rate(map, lane);
  const std::string share = fmt::format("{} of {} each", to_text(rate / streams), to_text(rate));
  if (!is_access(map, lane)) {
    if (streams == 1)
      return fmt::format("rate of link {} ({})", lane_name(map, lane), to_text(rate));
    return fmt::format("{} on link {} ({})", counted(streams, noun), lane_name(map, lane), share);
  }
  const bool down = enters_island(map, lane);
  const std::string island = down ? lane_to(map, lane) : lane_from(map, lane);
  if (streams == 1) return fmt::format("access rate of {} ({})", island, to_text(rate));
  return fmt::format("{} {} {} ({})", counted(streams, noun), down ? "into" : "out of", island,
                     share);
}

std::string binding_phrase(const NetworkModel& network, const PlannedClique& clique) {
  const Binding& binding = clique.binding;
  switch (binding.kind) {
    case Binding::Kind::kNothing:
      return "sits out";
    case Binding::Kind::kInfeasible:
      return "no memory to absorb unequal latencies";
    case Binding::Kind::kMemory:
      return fmt::format("edge memory (throttled to {} from {})", to_text(clique.rate),
                         to_text(binding.bound));
    case Binding::Kind::kAccess:
    case Binding::Kind::kLink:
      break;
  }
  return lane_phrase(network.map(), binding.lane, binding.lane_streams, "stream");
}

std::string explain_price(const NetworkModel& network, const PlannedClique& clique) {
  const Map& map = network.map();
  const Binding& binding = clique.binding;
  if (clique.islands.size() == 1)
    return fmt::format("{} sits out.", map.islands[clique.islands[0]].name);
  if (!clique.feasible) return explain_infeasible(network, clique);
  if (!clique.sums.empty()) return explain_overlapped(network, clique);

  const auto name = [&](IslandId island) -> const std::string& { return map.islands[island].name; };
  std::string text;
  if (binding.chain.empty()) {
    text = fmt::format("{} sends at once. ", name(binding.last_sender));
  } else {
    text = fmt::format("{} sends at once. ", name(binding.chain.front().leader));
    for (const Wait& wait : binding.chain) {
      const double memory = network.memory(wait.receiver);
      text += fmt::format(
          "{} waits until {:.1f} ms so that at {} it {} {}. ", name(wait.waiter),
          stream_from(clique, wait.waiter).offset.ms(), name(wait.receiver),
          memory == 0 ? "meets the stream of"
                      : fmt::format("is at most {} ahead of", to_text(Bytes{std::int64_t(memory)})),
          name(wait.leader));
    }
  }
  const Stream& last = stream_from(clique, binding.last_sender);
  const Duration flight = flight_of(clique, binding.last_receiver, binding.last_sender);
  text += fmt::format(
      "Its stream then flies {} to {} and takes {} to pass at {}, limited by {}: "
      "{:.1f} + {:.1f} + {:.1f} = {}.",
      to_text(flight), name(binding.last_receiver), to_text(clique.serialisation),
      to_text(clique.rate), binding_phrase(network, clique), last.offset.ms(), flight.ms(),
      clique.serialisation.ms(), to_text(clique.price));
  if (binding.kind == Binding::Kind::kLink && binding.lane_senders.size() > 1)
    text += fmt::format(" The streams on {} are those of {}.", lane_name(map, binding.lane),
                        names_of(map, binding.lane_senders));
  return text;
}

}  // namespace cotillion
