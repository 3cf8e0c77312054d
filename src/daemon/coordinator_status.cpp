#include "daemon/coordinator_status.hpp"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/text.hpp"
#include "daemon/daemon_metrics.hpp"
#include "plan/file/plan_file.hpp"

namespace cotillion {
namespace {

// In the order of CoordinatorState.
constexpr const char* kKeys[] = {"gathering", "assigned", "measuring", "started",
                                 "playing",   "stopping", "done",      "failed"};
static_assert(std::size(kKeys) == std::size_t(CoordinatorState::kFailed) + 1);

Json milliseconds(const ClockEstimate& clock, std::int64_t nanoseconds) {
  return clock.known() ? Json(double(nanoseconds) / 1e6) : Json(nullptr);
}

}  // namespace

const char* key_of(CoordinatorState state) {
  return kKeys[std::size_t(state)];
}

Metrics to_metrics(const Coordinator& coordinator, const CoordinatorStatus& about) {
  const std::string own = "cotillion_coordinator_";
  const std::vector<MemberView> members = coordinator.members();
  const auto joined = std::count_if(members.begin(), members.end(),
                                    [](const MemberView& member) { return member.joined; });
  Metrics metrics = to_metrics(about.clock.estimate, {});
  for (const char* key : kKeys)
    metrics.push_back(metric_of(own + "state", {{"state", key}},
                                key == std::string_view(key_of(coordinator.state())) ? 1 : 0));
  metrics.push_back(metric_of(own + "rounds", {}, about.rounds));
  metrics.push_back(
      metric_of(own + "rounds_reported_total", {}, double(coordinator.rounds_reported())));
  metrics.push_back(metric_of(own + "members", {}, double(members.size())));
  metrics.push_back(metric_of(own + "members_joined", {}, double(joined)));
  metrics.push_back(metric_of(own + "members_awaited", {}, double(coordinator.awaited().size())));
  metrics.push_back(metric_of(own + "members_lost_total", {}, double(coordinator.losses().size())));
  for (const MemberView& member : members) {
    if (!member.joined || !member.clock.known()) continue;
    const MetricLabels who = {{"island", about.map.islands[member.who.island].name},
                              {"role", name_of(member.who.role)}};
    metrics.push_back(
        metric_of(own + "member_clock_ahead_seconds", who, double(member.clock.ahead_ns) / 1e9));
    metrics.push_back(
        metric_of(own + "member_clock_error_seconds", who, double(member.clock.error_ns) / 1e9));
  }
  return metrics;
}

std::string to_status(const Coordinator& coordinator, const CoordinatorStatus& about) {
  Json members = Json::array(), awaited = Json::array(), losses = Json::array();
  for (const MemberView& member : coordinator.members())
    members.push_back({{"who", to_text(about.map, member.who)},
                       {"joined", member.joined},
                       {"lost", member.lost},
                       {"address", shown(member.address)},
                       {"rounds_reported", member.reported},
                       {"clock_ahead_ms", milliseconds(member.clock, member.clock.ahead_ns)},
                       {"clock_error_ms", milliseconds(member.clock, member.clock.error_ns)}});
  for (const Who& who : coordinator.awaited()) awaited.push_back(to_text(about.map, who));
  for (const Loss& loss : coordinator.losses())
    losses.push_back({{"who", to_text(about.map, loss.who)},
                      {"after_round", loss.after},
                      {"reason", shown(loss.reason, 300)}});
  const ClockEstimate& clock = about.clock.estimate;
  const Json status = {{"daemon", "coordinator"},
                       {"version", about.version},
                       {"plan", about.plan},
                       {"state", key_of(coordinator.state())},
                       {"reason", shown(coordinator.reason(), 300)},
                       {"rounds", about.rounds},
                       {"rounds_reported", coordinator.rounds_reported()},
                       {"clock",
                        {{"source", about.clock.source},
                         {"error_ms", milliseconds(clock, clock.error_ns)},
                         {"detail", about.clock.detail}}},
                       {"awaited", awaited},
                       {"losses", losses},
                       {"members", members}};
  return status.dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace cotillion
