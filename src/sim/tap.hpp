// The packets of chosen lanes as a capture file, at the virtual time at which their last bit
// arrives at the far end. Where payloads are only counted, packets say ZERO.
#pragma once

#include <string>
#include <vector>

#include "job/multicast_routes.hpp"
#include "sim/observer.hpp"

namespace cotillion {

class Tap final : public SimulationObserver {
 public:
  // Ends at `most` bytes, so that a long play does not fill the memory.
  Tap(const PlanFile& plan, const std::vector<LaneId>& lanes, std::size_t most);

  [[nodiscard]] bool watches(LaneId lane) const override { return lanes_[lane]; }
  void on_passage(const Passage& passage, ByteView packet) override;

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::uint64_t packets() const { return packets_; }
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  [[nodiscard]] Ipv4Address group_of(IslandId sender, ByteView packet) const;

  IdVector<LaneId, bool> lanes_;
  MulticastGroups groups_;
  std::size_t period_;
  std::size_t most_;
  std::string file_;
  std::uint64_t packets_ = 0, left_out_ = 0;
};

}  // namespace cotillion
