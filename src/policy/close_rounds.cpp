#include "policy/close_rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "plan/file/plan_file.hpp"

namespace cotillion {
namespace {

constexpr double kRounding = 1e-9;
constexpr int kPeriodsToSettle = 4;  // queues that are never more than full settle within two

// An island's turn in a round, seconds from its start.
struct Turn {
  double passes = 0;  // so long its stream leaves, and the sum of everyone's comes in;
  double comes = 0;   // and when that begins
};

std::vector<Turn> parts_of(const PlannedRound& round, std::size_t islands) {
  std::vector<Turn> parts(islands);
  for (const PlannedClique& clique : round.cliques) {
    for (const Stream& stream : clique.streams) {
      parts[std::size_t(stream.sender)].passes = clique.serialisation.seconds();
      for (const Arrival& arrival : stream.receivers) {
        double& comes = parts[std::size_t(arrival.receiver)].comes;
        comes = std::max(comes, RealDuration(arrival.latency).seconds());
      }
    }
  }
  return parts;
}

// The first lane that two rounds together would overload, or none.
std::optional<LaneId> overloaded(const NetworkModel& network, const PlannedRound& round,
                                 const PlannedRound& next) {
  // By sender of a stream, and beyond these by receiver of a sum.
  std::map<LaneId, std::map<int, double>> loads;
  const auto add = [&](LaneId lane, int whose, BitsPerSecond rate) {
    double& load = loads[lane][whose];
    load = std::max(load, rate.value);
  };
  const int islands = network.map().island_count();
  for (const PlannedRound* each : {&round, &next})
    for (const PlannedClique& clique : each->cliques)
      for (const Stream& stream : clique.streams) {
        for (std::size_t l = 0; l < stream.tree.size(); ++l)
          add(stream.tree[l], stream.sender, stream.rate * double(stream.copies[l]));
        for (const LaneId lane : ingress_of(network, stream.sender).lanes)
          add(lane, islands + stream.sender, clique.rate);
      }
  for (const auto& [lane, senders] : loads) {
    double sum = 0;
    for (const auto& sender : senders) sum += sender.second;
    if (sum > lane_rate(network.map(), lane).value * (1 + kRounding)) return lane;
  }
  return std::nullopt;
}

}  // namespace

Result<CloseRounds> close_rounds(const NetworkModel& network, const Plan& plan,
                                 std::vector<RecipeRound> rounds, int fragments) {
  const Map& map = network.map();
  const std::size_t period = plan.rounds.size(), islands = map.islands.size();
  if (plan.settings.whole_steps || !plan.settings.egress_most.empty())
    return failure("rounds=close: this plan's rounds are longer than their exchanges on purpose");
  for (IslandId island = 0; island < map.island_count(); ++island) {
    if (!network.aggregates(island))
      return failure(fmt::format("rounds=close: {} has no edge that holds back what comes early",
                                 map.islands[std::size_t(island)].name));
    if (network.memory(island) < 2 * double(network.payload().count))
      return failure(fmt::format("rounds=close: the edge of {} cannot hold two payloads",
                                 map.islands[std::size_t(island)].name));
  }
  std::vector<std::vector<Turn>> parts;
  for (const PlannedRound& round : plan.rounds) {
    parts.push_back(parts_of(round, islands));
    for (const PlannedClique& clique : round.cliques)
      for (const Stream& stream : clique.streams)
        if (stream.offset.ps > 0)
          return failure("rounds=close: some islands wait before they send, for want of memory");
  }
  std::vector<double> starts = {0};
  for (std::size_t r = 0; r < period; ++r) {
    const std::size_t after = (r + 1) % period;
    if (const auto lane = overloaded(network, plan.rounds[r], plan.rounds[after]))
      return failure(fmt::format("rounds=close: {} cannot carry rounds {} and {} at once",
                                 lane_name(map, *lane), r + 1, after + 1));
    double length = 0;
    for (const Turn& part : parts[r]) length = std::max(length, part.passes);
    rounds[r].length = length + plan.settings.slack.seconds();
    for (std::size_t i = 0; i < islands; ++i)
      if (parts[r][i].passes == 0)
        for (std::size_t f = 0; f < std::size_t(fragments); ++f)
          for (auto* times : {&rounds[r].leaves, &rounds[r].arrives})
            (*times)[i * std::size_t(fragments) + f] = rounds[r].length;  // it rests
    starts.push_back(starts.back() + rounds[r].length);
  }
  double waits = 0;  // of a sum at an edge, for the round before it to come in
  for (std::size_t i = 0; i < islands; ++i) {
    double free = 0;
    for (int p = 0; p < kPeriodsToSettle; ++p)
      for (std::size_t r = 0; r < period; ++r) {
        const Turn& part = parts[r][i];
        if (part.passes == 0) continue;
        const double start = p * starts.back() + starts[r];
        const double begins = std::max(start + part.comes, free);
        free = begins + part.passes;
        waits = std::max(waits, begins - start - part.comes);
        for (int f = 0; f < fragments; ++f)
          rounds[r].arrives[i * std::size_t(fragments) + std::size_t(f)] =
              begins - start + (f + 1) * part.passes / fragments;
      }
  }
  for (std::size_t r = 0; r < period; ++r) {
    const RecipeRound& next = rounds[(r + 1) % period];
    for (std::size_t at = 0; at < rounds[r].arrives.size(); ++at)
      if (rounds[r].arrives[at] > (rounds[r].length + next.leaves[at]) * (1 + kRounding))
        return failure(
            "rounds=close: flights are longer than sending takes; fragments would leave again "
            "before they have come");
  }
  CloseRounds closed;
  std::vector<RealDuration> lengths;
  double planned = 0;
  for (std::size_t r = 0; r < period; ++r) {
    lengths.push_back(RealDuration::from_ps(rounds[r].length * kPicosecondsPerSecond));
    planned += plan.rounds[r].length.seconds();
  }
  const RealDuration delay =
      plan.streamed_delay + RealDuration::from_ps(waits * kPicosecondsPerSecond);
  for (const Objective objective : kObjectives)
    closed.objectives.push_back(staleness(objective, plan.mixing, lengths, delay));
  closed.faster = planned / starts.back();
  closed.rounds = std::move(rounds);
  return closed;
}

}  // namespace cotillion
