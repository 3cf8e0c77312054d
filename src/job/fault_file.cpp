// Scenario files of faults, in TOML.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "job/faults.hpp"
#include "topology/toml_fields.hpp"

namespace cotillion {
namespace {

struct Kind {
  std::string_view name;
  Mishap mishap;
  bool rated;    // has a rate
  bool delayed;  // has `by`
};
constexpr Kind kKinds[] = {
    {"loss", Mishap::kLoss, true, false},       {"duplicate", Mishap::kDuplicate, true, true},
    {"reorder", Mishap::kReorder, true, true},  {"jitter", Mishap::kJitter, false, true},
    {"corrupt", Mishap::kCorrupt, true, false}, {"truncate", Mishap::kTruncate, true, false},
    {"replay", Mishap::kReplay, true, true},    {"down", Mishap::kDown, false, false},
};
constexpr std::string_view kOnExample = "on = \"core\"";

class FaultReader {
 public:
  FaultReader(std::string_view text, const std::string& file, const PlanFile& plan,
              FaultPlayer player)
      : plan_(plan), player_(player), problems_(file) {
    const auto root = parse_toml(text, problems_);
    if (!root) return;
    Fields top(*root, "", problems_);
    for (const Kind& kind : kKinds)
      for (Fields& fields : top.tables(kind.name, Need::kOptional, "[[loss]]"))
        read_lane_fault(kind, fields);
    for (Fields& fields : top.tables("dead", Need::kOptional, "[[dead]]"))
      read_island_fault(IslandFault::Kind::kDead, fields);
    for (Fields& fields : top.tables("slow", Need::kOptional, "[[slow]]"))
      read_island_fault(IslandFault::Kind::kSlow, fields);
    for (Fields& fields : top.tables("clock", Need::kOptional, "[[clock]]"))
      read_island_fault(IslandFault::Kind::kClock, fields);
    for (Fields& fields : top.tables("restart", Need::kOptional, "[[restart]]"))
      read_island_fault(IslandFault::Kind::kRestart, fields);
    top.finish();
  }

  Expected<Faults, Diagnostics> result() {
    if (!problems_.empty()) return Unexpected<Diagnostics>{problems_.take()};
    return std::move(faults_);
  }

 private:
  template <class Fault>
  void read_span(Fields& fields, Fault& fault) {
    fault.from = fields.duration("from", Need::kOptional).value_or(fault.from);
    fault.until = fields.duration("until", Need::kOptional).value_or(fault.until);
    if (fault.until <= fault.from)
      fields.problem("until", "ends before it begins", "times count from the first round's start");
  }

  void read_lane_fault(const Kind& kind, Fields& fields) {
    LaneFault fault;
    fault.kind = kind.mishap;
    if (const auto on = fields.text("on", Need::kRequired, kOnExample))
      find_lanes(fields, *on, fault);
    if (kind.rated) {
      fault.rate = fields.number("rate", Need::kRequired, "rate = 0.01").value_or(0);
      if (!(fault.rate >= 0 && fault.rate <= 1))
        fields.problem("rate", fmt::format("{} of all packets", fault.rate), "between 0 and 1");
    }
    if (kind.mishap == Mishap::kLoss) {
      fault.burst = fields.number("burst", Need::kOptional, "burst = 10").value_or(1);
      if (!(fault.burst >= 1 && fault.burst <= 1e6))
        fields.problem("burst", fmt::format("bursts of {}", fault.burst),
                       "packets in a row, from 1");
    }
    if (kind.delayed) fault.by = fields.duration("by", Need::kRequired).value_or(Duration{0});
    read_span(fields, fault);
    fields.finish();
    faults_.lanes.push_back(std::move(fault));
  }

  void read_island_fault(IslandFault::Kind kind, Fields& fields) {
    IslandFault fault;
    fault.kind = kind;
    if (const auto name = fields.text("island", Need::kRequired, "island = \"TYO\"")) {
      const auto island = find_island(plan_.map, *name);
      if (island)
        fault.island = *island;
      else
        fields.problem(
            "island", fmt::format("unknown island \"{}\"", *name),
            "islands are " + fmt::format("{}", fmt::join(island_names(plan_.map), ", ")));
    }
    if (kind == IslandFault::Kind::kSlow) {
      fault.by = fields.duration("late", Need::kOptional).value_or(Duration{0});
      fault.factor = fields.number("factor", Need::kOptional, "factor = 2").value_or(1);
      if (!(fault.factor >= 1 && fault.factor <= 1e6))
        fields.problem("factor", fmt::format("steps {} times as long", fault.factor), "from 1");
    }
    if (kind == IslandFault::Kind::kClock) {
      fault.by = fields.duration("ahead", Need::kOptional).value_or(Duration{0});
      if (const auto behind = fields.duration("behind", Need::kOptional)) {
        if (fault.by.ps != 0)
          fields.problem("behind", "ahead and behind at once", "give one of the two");
        fault.by = Duration{0} - *behind;
      }
      fault.drift =
          fields.number("drift_ppm", Need::kOptional, "drift_ppm = 20").value_or(0) * 1e-6;
      if (!(std::abs(fault.drift) <= 0.01))
        fields.problem("drift_ppm", "a clock that runs that wild", "at most 10,000");
    }
    if (kind == IslandFault::Kind::kRestart)
      fault.from = fields.duration("from", Need::kRequired).value_or(Duration{0});
    else if (kind != IslandFault::Kind::kClock)  // a clock is wrong from beginning to end
      read_span(fields, fault);
    fields.finish();
    if (player_ == FaultPlayer::kLab) refuse_in_lab(kind, fields);
    faults_.islands.push_back(fault);
  }

  static void refuse_in_lab(IslandFault::Kind kind, Fields& fields) {
    const auto refuse = [&](std::initializer_list<const char*> keys, const char* why,
                            const char* remedy) {
      const auto given =
          std::find_if(keys.begin(), keys.end(), [&](const char* key) { return fields.has(key); });
      fields.problem(given == keys.end() ? "island" : *given, why, remedy);
    };
    constexpr const char* kElsewhere = "take it out, or play it with cotillion simulate";
    switch (kind) {
      case IslandFault::Kind::kDead:
        if (fields.has("until"))
          refuse({"until"}, "an island that dies in a lab does not come back",
                 "leave `until` out, or play it with cotillion simulate");
        return;
      case IslandFault::Kind::kSlow:
        return refuse({"late", "factor"}, "a lab slows no island down", kElsewhere);
      case IslandFault::Kind::kClock:
        return refuse({"ahead", "behind", "drift_ppm"},
                      "all islands of a lab have this machine's clock", kElsewhere);
      case IslandFault::Kind::kRestart:
        return refuse({"from"}, "an edge that ends in a lab does not come back", kElsewhere);
    }
  }

  void find_lanes(Fields& fields, const std::string& on, LaneFault& fault) {
    fault.lanes = lanes_named(plan_.map, on);
    if (fault.lanes.empty())
      fields.problem("on", fmt::format("no link \"{}\" in the plan", on), std::string(kLaneForms));
  }

  const PlanFile& plan_;
  FaultPlayer player_;
  Problems problems_;
  Faults faults_;
};

}  // namespace

std::vector<LaneId> lanes_named(const Map& map, const std::string& on) {
  std::vector<LaneId> lanes;
  const int core = int(2 * map.links.size());
  for (LaneId lane = 0; lane < map.lane_count(); ++lane) {
    const bool down = enters_island(map, lane);
    if (on == "everywhere" || (on == "core" && lane < core) ||
        (on == "last-hops" && lane >= core && down) ||
        (on == "first-hops" && lane >= core && !down))
      lanes.push_back(lane);
  }
  if (!lanes.empty()) return lanes;
  for (LaneId lane = 0; lane < core; ++lane) {
    const std::string from = lane_from(map, lane), to = lane_to(map, lane);
    if (on == fmt::format("{}>{}", from, to) || on == fmt::format("{}-{}", from, to) ||
        on == fmt::format("{}-{}", to, from))
      lanes.push_back(lane);
  }
  if (const auto island = find_island(map, on); lanes.empty() && island)
    lanes = {lane_up(map, *island), lane_down(map, *island)};
  return lanes;
}

Expected<Faults, Diagnostics> read_faults(std::string_view text, const std::string& file,
                                          const PlanFile& plan, FaultPlayer player) {
  return FaultReader(text, file, plan, player).result();
}

}  // namespace cotillion
