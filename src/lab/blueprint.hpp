// The lab on paper: which namespaces there are, what joins them, who has which address, and what
// every kernel must know, all from a plan. Pure, so that tests can walk through it without any
// privilege; world.hpp builds it.
//
// A place is a router. Where the edge of a place sums streams for the island of the same place it
// stands in line: island — access link — edge — router. Any other edge hangs on its router alone,
// and an island without an edge in line hangs on its router by its access link. Core and access
// links are emulated; what joins an edge to its router is no link of the map and has no length.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "daemon/multicast_router.hpp"
#include "job/multicast_routes.hpp"

namespace cotillion {

// Who stands in a namespace.
struct NamespaceRole {
  enum class Kind {
    kRouter,  // of a place
    kEdge,    // all edges of a place
    kIsland,
    kControl,  // the coordinator, joined to every island and edge by wires that are no links
  };
  Kind kind = Kind::kRouter;
  int number = 0;  // the place, or the island; 0 for the control namespace

  friend auto operator<=>(const NamespaceRole&, const NamespaceRole&) = default;
};

struct Space {
  struct Owned {
    std::string interface;
    Ipv4Address address = 0;
  };
  struct Way {
    Ipv4Address to = 0;
    std::string interface;
  };
  NamespaceRole role;
  std::string name;                 // "router TYO"
  bool forwards = false;            // unicast
  std::vector<Owned> addresses;     // a loopback address is on "lo"
  std::vector<Way> ways;            // to single addresses
  std::string way_out;              // the interface for all others; may be empty
  std::vector<KernelRoute> routes;  // of multicast; none where the kernel does not route it
};

struct Wire {
  struct End {
    int space = 0;  // index into Blueprint::spaces
    std::string interface;
  };
  std::array<End, 2> ends;
  // Of an emulated link: from ends[0] to ends[1], and back.
  std::optional<std::array<LaneId, 2>> lanes;
};

struct Blueprint {
  std::vector<Space> spaces;
  std::vector<Wire> wires;

  // Requires that it is there.
  [[nodiscard]] int space_of(NamespaceRole role) const;
  [[nodiscard]] bool has(NamespaceRole role) const;
  // What an island or an edge is called by in the control namespace.
  [[nodiscard]] Ipv4Address control_address_of(NamespaceRole role) const;
  // Where a lane begins and ends.
  struct Passage {
    Wire::End from, to;
  };
  [[nodiscard]] Passage passage(LaneId lane) const;
};

// Groups must be those of the same plan. Refuses plans that no lab can hold.
[[nodiscard]] Result<Blueprint> draw(const PlanFile& plan, const MulticastGroups& groups);

// Where the streams for an island are heard: at its edge, or by itself where nothing sums them.
[[nodiscard]] NamespaceRole listener_of(const PlanFile& plan, IslandId island);

// Islands and edges have the addresses of protocol/address.hpp; edges count by the island they
// serve.
[[nodiscard]] Ipv4Address router_address(PlaceId place);  // 10.2.x.y
[[nodiscard]] Ipv4Address control_address(int space);     // 10.3.x.y: to the control namespace
inline constexpr Ipv4Address kControlAddress = 0x0a03'fffe;

// Names of interfaces: in an island, in an edge, in a router, anywhere.
inline constexpr const char* kNet = "net";  // of islands and edges: towards the WAN
inline constexpr const char* kIslandSide = "island";
inline constexpr const char* kEdgeSide = "edge";
inline constexpr const char* kControlSide = "control";  // to the control namespace
[[nodiscard]] std::string link_interface(int link);     // "link3", in a router

}  // namespace cotillion
