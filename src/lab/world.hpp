// The lab, built: namespaces, wires, emulated links and multicast routes of a plan. All of it lives
// in descriptors and processes of the process that made it, and is gone with it. Make it within
// confined(): nothing here touches the namespace in which other programs of this machine are.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/blueprint.hpp"
#include "lab/children.hpp"
#include "lab/network_space.hpp"
#include "lab/wan_emulator.hpp"

namespace cotillion {

struct WorldSettings {
  Duration queue{100'000'000'000};  // the longest wait at a link, then its tail is dropped
  Faults faults;
  std::uint64_t seed = 1;
};

class World {
 public:
  // Of a plan for these wires (scale.hpp). The plan must outlive it.
  [[nodiscard]] static Result<std::unique_ptr<World>> make(const PlanFile& plan,
                                                           const WorldSettings& settings);
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  // Ends the programs in it at once; call children().end() first to let them take their leave.
  ~World();

  [[nodiscard]] const PlanFile& plan() const { return plan_; }
  [[nodiscard]] const MulticastGroups& groups() const { return groups_; }
  [[nodiscard]] const Blueprint& blueprint() const { return print_; }
  [[nodiscard]] WanEmulator& emulator() { return *emulator_; }
  [[nodiscard]] Duration queue() const { return queue_; }
  // The largest datagram that no wire cuts up.
  [[nodiscard]] std::size_t mtu() const { return mtu_; }

  // For threads that play: the calling one is there from now on, or while the visit lasts.
  [[nodiscard]] Result<void> enter(NamespaceRole role) const { return space(role).enter(); }
  [[nodiscard]] Result<Visit> visit(NamespaceRole role) const { return Visit::to(space(role)); }
  // Under a name for programs that change places by themselves: a file that only those see who see
  // the folder, and that must be within private_folder().
  [[nodiscard]] Result<void> show(NamespaceRole role, const std::string& path) const {
    return space(role).show(path);
  }
  // A program that is started there.
  [[nodiscard]] Result<pid_t> spawn(NamespaceRole role, const Program& program) {
    return children_.start(space(role), program);
  }
  [[nodiscard]] Children& children() { return children_; }

  // Multicast that a kernel had no entry for, in sentences.
  [[nodiscard]] std::vector<std::string> strays();

 private:
  World(const PlanFile& plan, MulticastGroups groups, Blueprint print);
  [[nodiscard]] const NetworkSpace& space(NamespaceRole role) const {
    return spaces_[std::size_t(print_.space_of(role))];
  }
  [[nodiscard]] Result<void> build(const WorldSettings& settings);
  [[nodiscard]] Result<void> configure(int space);  // addresses, unicast and multicast routes
  [[nodiscard]] Result<void> wait_for_wires() const;
  [[nodiscard]] Result<Descriptor> tun(const Wire::End& end);
  [[nodiscard]] WanLinkSettings way_of(LaneId lane, const WorldSettings& settings) const;

  const PlanFile& plan_;
  MulticastGroups groups_;
  Blueprint print_;
  std::size_t mtu_ = 0;
  Duration queue_{0};
  std::vector<NetworkSpace> spaces_;                // as in the blueprint
  std::map<std::size_t, MulticastRouter> routers_;  // by space
  std::vector<Descriptor> tuns_;
  std::unique_ptr<WanEmulator> emulator_;
  Children children_;
  Descriptor awake_;  // processors are, as long as this is open
};

}  // namespace cotillion
