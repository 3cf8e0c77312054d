// Multicast routes for people and their routers: the entries of one place, the groups of a plan for
// a network that builds its trees by PIM, and the same as lines of FRR's configuration.
#pragma once

#include <string>
#include <vector>

#include "job/multicast_routes.hpp"
#include "plan/file/plan_file.hpp"

namespace cotillion {

struct RoutesStudy {
  const PlanFile& plan;
  const MulticastGroups& groups;
  std::vector<Ipv4Address> sources;  // by island: what it sends from
};

// Of one router: where each stream comes from and where it goes.
[[nodiscard]] std::string routes_text(const RoutesStudy& study, PlaceId place);
[[nodiscard]] Json routes_json(const RoutesStudy& study, PlaceId place);

// Who sends to each group and where it is listened to.
[[nodiscard]] std::string groups_text(const RoutesStudy& study);
// Groups, sources, receivers and the entries of every router.
[[nodiscard]] Json groups_json(const RoutesStudy& study);

// For FRR's pimd, router by router: memberships at the last hops, for which PIM then builds trees;
// or the trees themselves as static routes. Interfaces are called to-HKG, to-island and to-edge.
[[nodiscard]] std::string frr_memberships(const RoutesStudy& study);
[[nodiscard]] std::string frr_static_routes(const RoutesStudy& study);

// PIM looks for a source in one direction only. Places at which streams of one source come from
// two, so that PIM cannot build these trees, as "AMS: streams of TYO from LON and FRA".
[[nodiscard]] std::vector<std::string> two_ways_to_a_source(const RoutesStudy& study);

// Where streams come from elsewhere than the latency-shortest way, in trees that were decided. PIM
// needs a static route for reverse paths there, as long as all streams of the source come that way.
struct OtherWay {
  PlaceId at;
  IslandId sender;
  Port in;
};
[[nodiscard]] std::vector<OtherWay> other_ways(const RoutesStudy& study);

}  // namespace cotillion
