#include "plan/file/planned_cliques.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.hpp"
#include "plan/file/plan_numbers.hpp"

namespace cotillion {
namespace {

constexpr Duration kExcessMax{(std::int64_t{1} << 52) - 1};

}  // namespace

void check_written(const PlanField& field, bool there, RealDuration time, const char* rule) {
  if (!there) {
    (void)field.expect_null("when infeasible");
    return;
  }
  const auto ms = field.number(0, 1e290);
  if (ms && *ms != time.ms() && field.is_faultless())
    field.problem(fmt::format("{} ms, not {}", *ms, time.ms()), rule);
}

CliqueReader::CliqueReader(const PlanNetwork& network, const NetworkModelSettings& settings,
                           bool overlapped)
    : map_(network.map),
      network_(network),
      settings_(settings),
      overlapped_(overlapped),
      members_(network.map, "name islands as network.islands does"),
      streams_(network, settings) {}

PlannedRound CliqueReader::read_round(const PlanField& field) {
  PlannedRound round;
  MemberReader::Members members = members_.read_round(field);
  bool feasible = true;
  for (std::size_t c = 0; c < members.cliques.size() && !field.full(); ++c) {
    if (!members.cliques[c]) continue;
    round.cliques.push_back(read_clique(field.at("cliques")[c], std::move(*members.cliques[c])));
    feasible = feasible && round.cliques.back().feasible;
    round.planned = std::max(round.planned, round.cliques.back().price);
  }
  check_written(field.at("planned_ms"), feasible, round.planned,
                "it is the largest price of its cliques");
  if (!network_.sound) return round;
  read_lanes(field.at("links"), round);
  read_edges(field.at("aggregators"), round);
  return round;
}

PlannedClique CliqueReader::read_clique(const PlanField& field, Clique members) {
  PlannedClique clique;
  clique.islands = std::move(members.islands);
  clique.weights = std::move(members.weights);
  const auto& islands = clique.islands;
  if (!std::is_sorted(islands.begin(), islands.end()))
    field.at("islands").problem("not in the order of network.islands",
                                "name members, streams and weights in that order");
  clique.feasible = field.at("feasible").flag().value_or(true);
  // Only an edge needs to tell contributors apart.
  clique.runnable = islands.size() <= kCliqueMembersMax || !settings_.technology.aggregation;
  const PlanField runnable = field.at("runnable");
  if (runnable.flag().value_or(clique.runnable) != clique.runnable)
    runnable.problem(fmt::format("not so: {} members", islands.size()),
                     fmt::format("edges sum at most {}", kCliqueMembersMax));
  if (clique.feasible)
    clique.price = RealDuration::from_ps(read_billionth(field, "price_ms").value_or(0));
  else
    (void)field.at("price_ms").expect_null("when infeasible");
  if (network_.sound) {
    read_streams(field, clique);
    read_sums(field, clique);
    read_binding(field, clique);
  }
  return clique;
}

void CliqueReader::read_streams(const PlanField& field, PlannedClique& clique) {
  const bool sends = clique.feasible && clique.islands.size() > 1;
  if (sends) {
    clique.rate = {read_positive_billionth(field, "rate_gbps").value_or(1)};
    clique.serialisation =
        RealDuration::from_ps(read_billionth(field, "serialisation_ms").value_or(0));
  } else {
    (void)field.at("rate_gbps").expect_null("where nobody sends");
    (void)field.at("serialisation_ms").expect_null("where nobody sends");
  }
  const PlanField list = field.at("streams"), offsets = field.at("offset_ms");
  const std::size_t expected = sends ? clique.islands.size() : 0;
  if (const auto size = list.list("stream", expected, expected))
    for (std::size_t j = 0; j < *size && !field.full(); ++j)
      clique.streams.push_back(streams_.read(list[j], clique.islands, j, members_));
  const std::size_t shown = clique.islands.size() == 1 ? 1 : expected;
  const auto size = offsets.list("number", shown, shown);
  for (std::size_t j = 0; j < size.value_or(0) && !field.full(); ++j) {
    const double offset = j < clique.streams.size() ? clique.streams[j].offset.ms() : 0;
    const auto ms = offsets[j].number(0, 1e290);
    if (ms && *ms != offset && field.is_faultless())
      offsets[j].problem(fmt::format("{} ms, not {}", *ms, offset),
                         "each member's offset is that of its stream");
  }
}

// Where rounds overlap: a sum begins when everybody's bytes have come, or later.
void CliqueReader::read_sums(const PlanField& field, PlannedClique& clique) {
  const PlanField list = field.maybe("sums");
  if (!overlapped_ || clique.streams.empty()) {
    if (list.is_there())
      list.problem("not expected here", "only cliques that send in plans that overlap have sums");
    return;
  }
  const std::size_t members = clique.islands.size();
  const auto size = field.at("sums").list("sum", members, members);
  std::vector<RealDuration> sums;
  for (std::size_t i = 0; i < size.value_or(0) && !field.full(); ++i) {
    if (!list[i].is_object()) continue;
    const auto named = members_.island(list[i].at("island"));
    if (named && *named != clique.islands[i])
      list[i].at("island").problem(fmt::format("{} where {} belongs", map_.islands[*named].name,
                                               map_.islands[clique.islands[i]].name),
                                   "sums go in the order of the clique's islands");
    sums.push_back(RealDuration::from_ps(read_billionth(list[i], "sum_ms").value_or(0)));
    const RealDuration last = sum_begins(clique, i);
    if (field.is_faultless() && sums.back().ps < last.ps - 1)
      list[i].at("sum_ms").problem(fmt::format("before the last arrival, at {} ms", last.ms()),
                                   "a sum begins when everybody's bytes are there");
  }
  if (sums.size() == members) clique.sums = std::move(sums);
}

void CliqueReader::read_binding(const PlanField& field, PlannedClique& clique) {
  Binding& binding = clique.binding;
  const PlanField limit = field.at("limit"), flight = field.at("last_flight");
  const PlanField excess = field.at("cycle_excess_ms");
  const bool throttled = field.at("throttled").flag().value_or(false);
  binding.chain = read_waits(field.at("chain"), clique);
  binding.cycle = read_waits(field.at("cycle"), clique);
  const bool alone = clique.islands.size() == 1;
  if (alone || !clique.feasible)
    (void)flight.expect_null("where nobody sends");
  else if (flight.is_object()) {
    binding.last_sender = member(flight.at("sender"), clique).value_or(clique.islands[0]);
    binding.last_receiver = member(flight.at("receiver"), clique).value_or(clique.islands[1]);
  }
  if (clique.feasible)
    (void)excess.expect_null("when feasible");
  else if (const auto ps = excess.is_there() ? read_latency(field, "cycle_excess_ms", kExcessMax)
                                             : std::nullopt)
    binding.cycle_excess = *ps;
  if (alone && !clique.feasible)
    field.at("feasible").problem("false for a clique of one", "who sits out needs nothing");
  if (!alone && clique.feasible == !binding.cycle.empty() && field.is_faultless())
    field.at("cycle").problem(counted(binding.cycle.size(), "wait"),
                              "a clique is infeasible because of a cycle, and only then");
  if (alone) {
    (void)limit.expect_null("for a clique of one");
    return;
  }
  if (!limit.is_object()) return;
  binding.lane = LaneId(limit.at("lane").integer(0, map_.lane_count() - 1).value_or(0));
  binding.lane_streams = int(limit.at("streams").integer(1, INT_MAX).value_or(1));
  binding.bound = {read_positive_billionth(limit, "rate_gbps").value_or(1)};
  const PlanField senders = limit.at("senders");
  const auto size = senders.list("island", 0, map_.islands.size());
  for (std::size_t i = 0; i < size.value_or(0) && !field.full(); ++i)
    if (const auto island = members_.island(senders[i])) binding.lane_senders.push_back(*island);
  using Kind = Binding::Kind;
  const Kind kind = is_access(map_, binding.lane) ? Kind::kAccess : Kind::kLink;
  binding.kind = !clique.feasible ? Kind::kInfeasible : throttled ? Kind::kMemory : kind;
}

std::vector<Wait> CliqueReader::read_waits(const PlanField& list, const PlannedClique& clique) {
  std::vector<Wait> waits;
  const auto size = list.list("wait", 0, clique.islands.size());
  for (std::size_t i = 0; i < size.value_or(0) && !list.full(); ++i) {
    if (!list[i].is_object()) continue;
    const auto leader = member(list[i].at("leader"), clique);
    const auto waiter = member(list[i].at("waiter"), clique);
    const auto receiver = member(list[i].at("receiver"), clique);
    if (!leader || !waiter || !receiver) continue;
    waits.push_back({*leader, *waiter, *receiver});
    if (network_.ingress[*receiver].edge == kNoAggregator)
      list[i]
          .at("receiver")
          .problem(fmt::format("{} has no edge", map_.islands[*receiver].name),
                   "streams wait for each other only where they are summed");
  }
  return waits;
}

// One of the clique's islands.
std::optional<IslandId> CliqueReader::member(const PlanField& field, const PlannedClique& clique) {
  const auto island = members_.island(field);
  if (!island || std::count(clique.islands.begin(), clique.islands.end(), *island) > 0)
    return island;
  field.problem(fmt::format("{} is not in this clique", map_.islands[*island].name),
                "name one of its islands");
  return std::nullopt;
}

void CliqueReader::read_lanes(const PlanField& list, PlannedRound& round) const {
  const auto size = list.list("lane", 0, map_.lane_count());
  LaneId last = -1;
  for (std::size_t i = 0; i < size.value_or(0) && !list.full(); ++i) {
    if (!list[i].is_object()) continue;
    LaneUse use;
    const auto lane = list[i].at("lane").integer(last + 1, map_.lane_count() - 1);
    use.lane = last = LaneId(lane.value_or(last));
    use.streams = int(list[i].at("streams").integer(1, INT_MAX).value_or(1));
    use.rate = {read_billionth(list[i], "rate_gbps").value_or(0)};
    use.bytes = {list[i].at("bytes").integer(0, INT64_MAX).value_or(0)};
    round.lanes.push_back(use);
  }
}

void CliqueReader::read_edges(const PlanField& list, PlannedRound& round) const {
  const std::size_t expected = settings_.technology.aggregation ? map_.aggregators.size() : 0;
  const auto size = list.list("aggregator", expected, expected);
  for (const AggregatorId a : all_ids<AggregatorId>(size.value_or(0))) {
    if (list.full()) break;
    if (!list[a].is_object()) continue;
    const PlanField at = list[a].at("at");
    const auto name = at.text();
    if (name && *name != place_name(map_, map_.aggregators[a].place))
      at.problem(fmt::format("'{}' where '{}' belongs", shown(*name),
                             place_name(map_, map_.aggregators[a].place)),
                 "aggregators go in the order of network.aggregators");
    round.edges.push_back(
        {a, Bytes{list[a].at("memory_peak_bytes").integer(0, INT64_MAX).value_or(0)}});
  }
}

}  // namespace cotillion
