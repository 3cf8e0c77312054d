#include "policy/close_rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "plan/file/plan_file.hpp"

namespace cotillion {
namespace {

constexpr double kCloseRounding = 1e-9;
constexpr int kPeriodsToSettle = 4;  // queues that are never more than full settle within two

// An island's turn in a round, seconds from its start.
struct Turn {
  double passes = 0;  // so long its stream leaves, and the sum of everyone's comes in;
  double comes = 0;   // and when that begins
};

std::vector<Turn> turns_of(const PlannedRound& round, std::size_t islands) {
  std::vector<Turn> turns(islands);
  for (const PlannedClique& clique : round.cliques) {
    for (const Stream& stream : clique.streams) {
      turns[stream.sender].passes = clique.serialisation.seconds();
      for (const Arrival& arrival : stream.receivers) {
        double& comes = turns[arrival.receiver].comes;
        comes = std::max(comes, RealDuration(arrival.latency).seconds());
      }
    }
  }
  return turns;
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
    if (sum > lane_rate(network.map(), lane).value * (1 + kCloseRounding)) return lane;
  }
  return std::nullopt;
}

// Why these rounds cannot be moved at all; empty where they can.
std::string why_not_movable(const NetworkModel& network, const Plan& plan) {
  if (plan.settings.whole_steps || !plan.settings.egress_most.empty())
    return "this plan's rounds are longer than their exchanges on purpose";
  const Map& map = network.map();
  for (IslandId island = 0; island < map.island_count(); ++island) {
    const std::string& name = map.islands[island].name;
    if (!network.aggregates(island))
      return fmt::format("{} has no edge that holds back what comes early", name);
    if (network.memory(island) < 2 * double(network.payload().count))
      return fmt::format("the edge of {} cannot hold two payloads", name);
  }
  for (const PlannedRound& round : plan.rounds)
    for (const PlannedClique& clique : round.cliques)
      for (const Stream& stream : clique.streams)
        if (stream.offset.ps > 0) return "some islands wait before they send, for want of memory";
  return "";
}

// The rounds of a plan on their way closer together.
class MovedRounds {
 public:
  MovedRounds(const NetworkModel& network, const Plan& plan, std::vector<RecipeRound> rounds,
              int fragments)
      : plan_(plan),
        rounds_(std::move(rounds)),
        islands_(network.map().islands.size()),
        fragments_(std::size_t(fragments)) {
    for (const PlannedRound& round : plan.rounds) turns_.push_back(turns_of(round, islands_));
  }

  // Each is as long as its bytes take to leave.
  void shorten() {
    for (std::size_t r = 0; r < rounds_.size(); ++r) {
      double length = 0;
      for (const Turn& turn : turns_[r]) length = std::max(length, turn.passes);
      rounds_[r].length = length + plan_.settings.slack.seconds();
      for (std::size_t i = 0; i < islands_; ++i)
        if (turns_[r][i].passes == 0) rest(rounds_[r], i);
      starts_.push_back(starts_.back() + rounds_[r].length);
    }
  }
  // Into an island one sum comes after the other. Returns how long one waits at an edge for the
  // round before it to come in.
  double queue() {
    double waits = 0;
    for (std::size_t i = 0; i < islands_; ++i) {
      double free = 0;
      for (int p = 0; p < kPeriodsToSettle; ++p)
        for (std::size_t r = 0; r < rounds_.size(); ++r) {
          const Turn& turn = turns_[r][i];
          if (turn.passes == 0) continue;
          const double start = p * starts_.back() + starts_[r];
          const double begins = std::max(start + turn.comes, free);
          free = begins + turn.passes;
          waits = std::max(waits, begins - start - turn.comes);
          for (std::size_t f = 0; f < fragments_; ++f)
            rounds_[r].arrives[i * fragments_ + f] =
                begins - start + double(f + 1) * turn.passes / double(fragments_);
        }
    }
    return waits;
  }
  // Whether a fragment would leave again before it has come.
  [[nodiscard]] bool overtake() const {
    for (std::size_t r = 0; r < rounds_.size(); ++r) {
      const RecipeRound& next = rounds_[(r + 1) % rounds_.size()];
      for (std::size_t at = 0; at < rounds_[r].arrives.size(); ++at)
        if (rounds_[r].arrives[at] > (rounds_[r].length + next.leaves[at]) * (1 + kCloseRounding))
          return true;
    }
    return false;
  }

  [[nodiscard]] double period() const { return starts_.back(); }
  [[nodiscard]] std::vector<RecipeRound> take() { return std::move(rounds_); }

 private:
  void rest(RecipeRound& round, std::size_t island) const {
    for (std::size_t f = 0; f < fragments_; ++f)
      for (auto* times : {&round.leaves, &round.arrives})
        (*times)[island * fragments_ + f] = round.length;
  }

  const Plan& plan_;
  std::vector<RecipeRound> rounds_;
  const std::size_t islands_, fragments_;
  std::vector<std::vector<Turn>> turns_;  // by round, then island
  std::vector<double> starts_ = {0};
};

}  // namespace

Result<CloseRounds> close_rounds(const NetworkModel& network, const Plan& plan,
                                 std::vector<RecipeRound> rounds, int fragments) {
  COTILLION_CHECK(rounds.size() == plan.rounds.size());
  if (const std::string why = why_not_movable(network, plan); !why.empty())
    return failure("rounds=close: " + why);
  for (std::size_t r = 0; r < plan.rounds.size(); ++r) {
    const std::size_t after = (r + 1) % plan.rounds.size();
    if (const auto lane = overloaded(network, plan.rounds[r], plan.rounds[after]))
      return failure(fmt::format("rounds=close: {} cannot carry rounds {} and {} at once",
                                 lane_name(network.map(), *lane), r + 1, after + 1));
  }
  MovedRounds moved(network, plan, std::move(rounds), fragments);
  moved.shorten();
  const double waits = moved.queue();
  if (moved.overtake())
    return failure(
        "rounds=close: flights are longer than sending takes; fragments would leave again before "
        "they have come");
  CloseRounds closed;
  const double period = moved.period();
  closed.rounds = moved.take();
  std::vector<RealDuration> lengths;
  double planned = 0;
  for (std::size_t r = 0; r < closed.rounds.size(); ++r) {
    lengths.push_back(RealDuration::from_ps(closed.rounds[r].length * kPicosecondsPerSecond));
    planned += plan.rounds[r].length.seconds();
  }
  const RealDuration delay =
      plan.streamed_delay + RealDuration::from_ps(waits * kPicosecondsPerSecond);
  for (const Objective objective : kObjectives)
    closed.objectives.push_back(staleness(objective, plan.mixing, lengths, delay));
  closed.faster = planned / period;
  return closed;
}

}  // namespace cotillion
