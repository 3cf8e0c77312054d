#include "lab/crossings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "base/text.hpp"
#include "topology/lane_walk.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kCrossingProblemsSaid = 20;

class Audit {
 public:
  Audit(const PlanFile& plan, const WanCounters& counters) : plan_(plan), counters_(counters) {
    COTILLION_CHECK(counters.lanes.size() == std::size_t(plan.map.lane_count()));
  }

  // Its number is that of its counts in the counters.
  void follow(const MulticastGroup& group, std::size_t number, bool expected) {
    COTILLION_CHECK(!group.tree.empty() &&
                    number < counters_of(group.tree.front()).by_group.size());
    const std::uint64_t sent = counters_of(group.tree.front()).by_group[number];
    if (sent > 0) ++found.streams;
    if (sent == 0 && expected) say(group, "sent nothing", group.tree.front());
    for (LaneId lane = 0; lane < LaneId(counters_.lanes.size()); ++lane) {
      const std::uint64_t seen = counters_of(lane).by_group[number];
      found.packets += seen;
      if (seen > 0) crossed_[lane] = true;
      if (!crosses(plan_, group, lane)) {
        if (seen > 0) say(group, fmt::format("has no business, {} packets of it,", seen), lane);
        continue;
      }
      const LaneId before = lane_before(plan_.map, group.tree, lane);
      if (before == lane) continue;
      const std::uint64_t left = counters_of(before).left_by_group[number];
      if (seen != left)
        say(group,
            fmt::format("came {} times, having left {} {} times,", seen,
                        lane_name(plan_.map, before), left),
            lane);
    }
  }

  Crossings take() {
    found.links = std::size_t(std::count(crossed_.begin(), crossed_.end(), true));
    if (said_ > kCrossingProblemsSaid)
      found.problems.push_back(
          fmt::format("and {} more crossings that are wrong", said_ - kCrossingProblemsSaid));
    return std::move(found);
  }

  Crossings found;

 private:
  [[nodiscard]] const LaneCounters& counters_of(LaneId lane) const { return counters_.lanes[lane]; }

  void say(const MulticastGroup& group, const std::string& what, LaneId lane) {
    if (++said_ > kCrossingProblemsSaid) return;
    found.problems.push_back(fmt::format("{}'s stream for {} {} on {}",
                                         plan_.map.islands[group.sender].name,
                                         to_text(group.address), what, lane_name(plan_.map, lane)));
  }

  const PlanFile& plan_;
  const WanCounters& counters_;
  IdVector<LaneId, bool> crossed_ = IdVector<LaneId, bool>(counters_.lanes.size(), false);
  std::size_t said_ = 0;
};

}  // namespace

bool crosses(const PlanFile& plan, const MulticastGroup& group, LaneId lane) {
  if (std::find(group.tree.begin(), group.tree.end(), lane) != group.tree.end()) return true;
  return std::any_of(group.receivers.begin(), group.receivers.end(), [&](IslandId island) {
    const Ingress& ingress = plan.ingress[island];
    return ingress.edge == kNoAggregator && lane == lane_down(plan.map, island);
  });
}

Crossings crossings_of(const PlanFile& plan, const MulticastGroups& groups,
                       const WanCounters& counters, std::size_t rounds,
                       const std::vector<IslandId>& silent) {
  Audit audit(plan, counters);
  const auto& all = groups.all();
  for (std::size_t number = 0; number < all.size(); ++number) {
    const MulticastGroup& group = all[number];
    const bool dead = std::find(silent.begin(), silent.end(), group.sender) != silent.end();
    const bool played = std::any_of(group.phases.begin(), group.phases.end(),
                                    [&](int phase) { return std::size_t(phase) < rounds; });
    audit.follow(group, number, played && !dead);
  }
  return audit.take();
}

std::string crossings_text(const Crossings& crossings) {
  const std::string size =
      fmt::format("{} on {}, {}", counted(crossings.streams, "stream"),
                  counted(crossings.links, "link"), counted(crossings.packets, "packet"));
  if (crossings.problems.empty())
    return fmt::format(
        "Multicast is real: {}; each stream crossed each link of its tree once, and no other link.",
        size);
  return fmt::format("Not every stream crossed its tree once and nothing else ({}):\n  {}", size,
                     fmt::join(crossings.problems, "\n  "));
}

Json crossings_json(const Crossings& crossings) {
  return {{"is_real", crossings.problems.empty()},
          {"streams", crossings.streams},
          {"links", crossings.links},
          {"packets", crossings.packets},
          {"problems", crossings.problems}};
}

}  // namespace cotillion
