#include "sim/tap.hpp"

#include "protocol/capture.hpp"

namespace cotillion {

Tap::Tap(const PlanFile& plan, const std::vector<LaneId>& lanes, std::size_t most)
    : lanes_(plan.map.lane_count()),
      groups_(plan.plan),
      period_(plan.plan.rounds.size()),
      most_(most) {
  for (const LaneId lane : lanes) lanes_[lane] = true;
  begin_capture(file_);
}

// Of a packet too broken to say which round it is of, or that lies about it, some group.
Ipv4Address Tap::group_of(IslandId sender, ByteView packet) const {
  const auto header = read_header(packet);
  const std::size_t round = header ? std::uint32_t(header->round) : 1;
  const MulticastGroup* group = groups_.of((round + period_ - 1) % period_, sender);
  return group != nullptr ? group->address : group_address(sender, 0);
}

void Tap::on_passage(const Passage& passage, ByteView packet) {
  if (passage.lost) return;
  if (file_.size() + packet.size() > most_) {
    ++left_out_;
    return;
  }
  const Route::Step& step = *passage.step;
  const Route::Step* end = &step;  // where an edge's packets are bound for
  while (end->island < 0 && end->next_count > 0) end = end->next;
  ++packets_;
  if (step.sender >= 0)
    append_to_capture(file_, passage.arrival, island_address(step.sender),
                      group_of(step.sender, packet), packet);
  else if (step.own_edge >= 0)
    append_to_capture(file_, passage.arrival, island_address(step.own_edge),
                      edge_address(step.own_edge), packet);
  else
    append_to_capture(file_, passage.arrival, edge_address(end->island),
                      island_address(end->island), packet);
}

}  // namespace cotillion
