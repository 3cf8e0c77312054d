#include "tests/peers/ns3_peer.hpp"

#include <ns3/object-factory.h>
#include <ns3/simulator.h>

#include "base/check.hpp"
#include "tests/peers/ns3_round.hpp"

namespace cotillion::testing {

std::optional<Ns3Run> play_in_ns3(const PlanFile& plan, Ns3Way way) {
  if (ns3::Time::GetResolution() != ns3::Time::PS) ns3::Time::SetResolution(ns3::Time::PS);
  // The fastest of its schedulers here: the map that is the default takes a tenth longer with IP
  // and twice as long with events alone.
  ns3::Simulator::SetScheduler(ns3::ObjectFactory("ns3::PriorityQueueScheduler"));
  const auto assignment = JobAssignment::make(plan, {});
  COTILLION_CHECK(assignment.has_value());
  const auto round = way == Ns3Way::kIp       ? ip_round(plan, *assignment)
                     : way == Ns3Way::kFrames ? frames_round(plan, *assignment)
                                              : events_round(plan, *assignment);
  const Ns3Run run = round->play();
  ns3::Simulator::Destroy();
  return run;
}

}  // namespace cotillion::testing
