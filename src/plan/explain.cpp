#include "plan/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

std::string lane_phrase(const Stage& stage, const Binding& binding) {
  const Map& map = stage.map();
  const std::string rate = to_text(lane_rate(map, binding.lane));
  if (is_access(map, binding.lane)) {
    const bool down = binding.lane % 2 == 1;
    const std::string& island = down ? lane_to(map, binding.lane) : lane_from(map, binding.lane);
    if (binding.lane_streams == 1) return fmt::format("access rate of {} ({})", island, rate);
    return fmt::format("{} streams {} {} ({} of {} each)", binding.lane_streams,
                       down ? "into" : "out of", island, to_text(binding.bound), rate);
  }
  if (binding.lane_streams == 1)
    return fmt::format("rate of link {} ({})", lane_name(map, binding.lane), rate);
  return fmt::format("{} streams on link {} ({} of {} each)", binding.lane_streams,
                     lane_name(map, binding.lane), to_text(binding.bound), rate);
}

std::string explain_infeasible(const Stage& stage, const PlannedClique& clique) {
  const Map& map = stage.map();
  const Binding& binding = clique.binding;
  std::string text = fmt::format("{} cannot meet without memory: ", names_of(map, clique.islands));
  for (const Wait& wait : binding.cycle) {
    const double gap =
        (stage.latency(wait.receiver, wait.leader) - stage.latency(wait.receiver, wait.waiter))
            .ms();
    text +=
        fmt::format("at {} {} must send {:.1f} ms {} than {}, ", map.islands[wait.receiver].name,
                    map.islands[wait.waiter].name, std::fabs(gap), gap >= 0 ? "later" : "earlier",
                    map.islands[wait.leader].name);
  }
  const double mean = double(binding.cycle_excess.ps) / double(binding.cycle.size());
  const double full_rate = mean / ps_per_byte(binding.bound) / stage.wire_factor();
  text += fmt::format(
      "which is {} too much in one turn round the circle. Any memory at these edges makes it "
      "feasible at a lower rate; {} each allow the full {}.",
      to_text(binding.cycle_excess), to_text(Bytes{std::int64_t(std::ceil(full_rate))}),
      to_text(binding.bound));
  return text;
}

}  // namespace

std::string binding_phrase(const Stage& stage, const PlannedClique& clique) {
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
  return lane_phrase(stage, binding);
}

std::string explain_price(const Stage& stage, const PlannedClique& clique) {
  const Map& map = stage.map();
  const Binding& binding = clique.binding;
  if (clique.islands.size() == 1)
    return fmt::format("{} sits out.", map.islands[clique.islands[0]].name);
  if (!clique.feasible) return explain_infeasible(stage, clique);

  const auto name = [&](IslandId island) -> const std::string& { return map.islands[island].name; };
  std::string text;
  if (binding.chain.empty()) {
    text = fmt::format("{} sends at once. ", name(binding.last_sender));
  } else {
    text = fmt::format("{} sends at once. ", name(binding.chain.front().leader));
    for (const Wait& wait : binding.chain) {
      const double memory = stage.memory(wait.receiver);
      text += fmt::format(
          "{} waits until {:.1f} ms so that at {} it {} {}. ", name(wait.waiter),
          stream_from(clique, wait.waiter).offset.ms(), name(wait.receiver),
          memory == 0 ? "meets the stream of"
                      : fmt::format("is at most {} ahead of", to_text(Bytes{std::int64_t(memory)})),
          name(wait.leader));
    }
  }
  const Stream& last = stream_from(clique, binding.last_sender);
  const Duration flight = stage.latency(binding.last_receiver, binding.last_sender);
  text += fmt::format(
      "Its stream then flies {} to {} and takes {} to pass at {}, limited by {}: "
      "{:.1f} + {:.1f} + {:.1f} = {}.",
      to_text(flight), name(binding.last_receiver), to_text(clique.serialisation),
      to_text(clique.rate), binding_phrase(stage, clique), last.offset.ms(), flight.ms(),
      clique.serialisation.ms(), to_text(clique.price));
  if (binding.kind == Binding::Kind::kLink && binding.lane_senders.size() > 1)
    text += fmt::format(" The streams on {} are those of {}.", lane_name(map, binding.lane),
                        names_of(map, binding.lane_senders));
  return text;
}

}  // namespace cotillion
