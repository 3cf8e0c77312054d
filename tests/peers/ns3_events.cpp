#include <ns3/simulator.h>

#include <algorithm>
#include <cmath>

#include "tests/peers/ns3_round.hpp"

namespace cotillion::testing {
namespace {

class EventsRound final : public Ns3Round {
 public:
  EventsRound(const PlanFile& plan, const JobAssignment& assignment)
      : Ns3Round(plan, assignment), busy_until_(std::size_t(map_.lane_count()), 0) {
    for (LaneId lane = 0; lane < map_.lane_count(); ++lane) {
      ps_per_byte_.push_back(ps_per_byte(lane_rate(map_, lane)));
      latency_.push_back(lane_latency(map_, lane).ps);
      end_.push_back(end_of(lane));
    }
  }

 private:
  void put(LaneId lane, int stream, ChunkId chunk) {
    ++hops_;
    const std::int64_t now = ns3::Simulator::Now().GetPicoSeconds();
    double& busy = busy_until_[lane];
    busy = std::max(busy, double(now)) + wire_bytes(chunk) * ps_per_byte_[lane];
    ns3::Simulator::Schedule(ns3::PicoSeconds(std::llround(busy) + latency_[lane] - now),
                             &EventsRound::arrive, this, lane, stream, chunk);
  }
  void arrive(LaneId lane, int stream, ChunkId chunk) {
    if (stream == kSums) return land();
    const PlaceId place = end_[lane];
    for (const LaneId next : branch(stream, place).next) put(next, stream, chunk);
    hear({stream, chunk}, place);
  }

  void send(IslandId sender, ChunkId chunk) override { put(lane_up(map_, sender), sender, chunk); }
  void send_sum(IslandId island, ChunkId chunk) override {
    put(lane_down(map_, island), kSums, chunk);
  }
  [[nodiscard]] std::uint64_t hops() const override { return hops_; }

  std::vector<double> busy_until_, ps_per_byte_;
  std::vector<std::int64_t> latency_;
  std::vector<PlaceId> end_;
  std::uint64_t hops_ = 0;
};

}  // namespace

std::unique_ptr<Ns3Round> events_round(const PlanFile& plan, const JobAssignment& assignment) {
  return std::make_unique<EventsRound>(plan, assignment);
}

}  // namespace cotillion::testing
