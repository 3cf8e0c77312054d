// From a plan's trees to what routers must know: which group each stream goes to, and at every
// place where it comes from and where copies of it go. Whoever sends, listens, routes or captures
// takes groups from here, so that a stream crosses the links of its own tree and no others.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "plan/file/plan_loader.hpp"
#include "protocol/address.hpp"

namespace cotillion {

// Streams of one sender that take the same lanes to the same receivers, in however many rounds of
// the period they do. Two ways of one sender are two groups: a router cannot tell rounds apart.
struct MulticastGroup {
  IslandId sender = 0;
  int number = 0;  // among the sender's own, in the order in which a period needs them
  Ipv4Address address = 0;
  std::vector<LaneId> tree;         // as in the plan: the sender's up lane first
  std::vector<IslandId> receivers;  // ascending
  std::vector<int> phases;          // rounds of the period, from 0
};

class MulticastGroups {
 public:
  explicit MulticastGroups(const Plan& plan);

  // By sender, then by number.
  [[nodiscard]] const std::vector<MulticastGroup>& all() const { return groups_; }
  // Where a sender's stream goes in a round of the period, from 0; null when it sits out.
  [[nodiscard]] const MulticastGroup* of(std::size_t phase, IslandId sender) const;

 private:
  std::vector<MulticastGroup> groups_;
  std::vector<IdVector<IslandId, int>> by_phase_;  // [phase][sender]: index into groups_, or -1
};

// What a router is joined to, seen from itself.
struct Port {
  enum class Kind {
    kLink,    // one of the map's links, for both of its directions
    kIsland,  // the island at this place
    kEdge,    // what sums streams at this place
  };
  Kind kind = Kind::kLink;
  int link = -1;  // index into Map::links

  friend auto operator<=>(const Port&, const Port&) = default;
};

// The neighbour's name, "its island" or "its edge".
[[nodiscard]] std::string port_name(const Map& map, PlaceId place, const Port& port);
[[nodiscard]] std::vector<Port> link_ports(const Map& map, PlaceId place);
[[nodiscard]] std::optional<PlaceId> find_place(const Map& map, const std::string& name);

// One (S,G) entry: what comes from this sender for this group enters here and leaves there.
struct MulticastRoute {
  const MulticastGroup* group = nullptr;
  Port in;
  std::vector<Port> out;  // ascending; never empty
};

// Whether a plan's streams are multicast at all, with the reason where they are not.
[[nodiscard]] Result<MulticastGroups> groups_of(const Plan& plan);

// The entries of one router, in the order of the groups. Groups must be those of the same plan,
// and are pointed into.
[[nodiscard]] std::vector<MulticastRoute> routes_at(const PlanFile& plan,
                                                    const MulticastGroups& groups, PlaceId place);

}  // namespace cotillion
