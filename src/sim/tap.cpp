#include "sim/tap.hpp"

#include "protocol/capture.hpp"

namespace cotillion {

Tap::Tap(const Map& map, const std::vector<LaneId>& lanes, std::size_t most)
    : lanes_(std::size_t(map.lane_count())), most_(most) {
  for (const LaneId lane : lanes) lanes_[std::size_t(lane)] = true;
  begin_capture(file_);
}

void Tap::on_passage(const Passage& passage, ByteView packet) {
  if (passage.lost) return;
  if (file_.size() + packet.size() > most_) {
    ++left_out_;
    return;
  }
  const auto header = read_header(packet);
  const Route::Step& step = *passage.step;
  const Route::Step* end = &step;  // where an edge's packets are bound for
  while (end->island < 0 && end->next_count > 0) end = end->next;
  ++packets_;
  if (step.sender >= 0)
    append_to_capture(file_, passage.arrival, island_address(step.sender),
                      group_address(step.sender, header ? header->clique() : 0), packet);
  else if (step.own_edge >= 0)
    append_to_capture(file_, passage.arrival, island_address(step.own_edge),
                      edge_address(step.own_edge), packet);
  else
    append_to_capture(file_, passage.arrival, edge_address(end->island),
                      island_address(end->island), packet);
}

}  // namespace cotillion
