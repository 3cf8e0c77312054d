#include "report/timeline_memory.hpp"

#include <algorithm>

namespace cotillion {

double StreamArrival::arrived(RealDuration now) const {
  if (now <= first) return 0;
  if (now >= last) return payload;
  return payload * ((now - first) / (last - first));
}

std::vector<StreamArrival> arrivals_at(const NetworkModel& network, const PlannedClique& clique,
                                       IslandId island) {
  std::vector<StreamArrival> arrivals;
  for (const Stream& stream : clique.streams) {
    if (stream.sender == island) continue;
    StreamArrival arrival;
    arrival.sender = stream.sender;
    arrival.sent = stream.offset;
    for (const Arrival& there : stream.receivers)
      if (there.receiver == island) arrival.first = stream.offset + RealDuration(there.latency);
    arrival.payload = double(stream.payload.count);
    arrival.last =
        arrival.first +
        RealDuration::from_ps(arrival.payload * ps_per_byte(stream.rate) * network.wire_factor());
    arrivals.push_back(arrival);
  }
  std::stable_sort(
      arrivals.begin(), arrivals.end(),
      [](const StreamArrival& a, const StreamArrival& b) { return a.first < b.first; });
  return arrivals;
}

std::vector<HeldMemory> memory_held(const std::vector<StreamArrival>& arrivals) {
  if (arrivals.size() < 2) return {};
  std::vector<RealDuration> corners;
  for (const StreamArrival& a : arrivals) {
    corners.push_back(a.first);
    corners.push_back(a.last);
    // Where streams of different rates overtake each other the one ahead changes.
    for (const StreamArrival& b : arrivals) {
      const double rate_a = a.payload / (a.last - a.first).ps;
      const double rate_b = b.payload / (b.last - b.first).ps;
      if (!(rate_a > rate_b)) continue;
      const double met = (rate_a * a.first.ps - rate_b * b.first.ps) / (rate_a - rate_b);
      if (met > std::max(a.first, b.first).ps && met < std::min(a.last, b.last).ps)
        corners.push_back(RealDuration::from_ps(met));
    }
  }
  std::sort(corners.begin(), corners.end());
  corners.erase(std::unique(corners.begin(), corners.end()), corners.end());
  std::vector<HeldMemory> held;
  for (const RealDuration corner : corners) {
    double ahead = 0, behind = arrivals[0].payload;
    for (const StreamArrival& arrival : arrivals) {
      ahead = std::max(ahead, arrival.arrived(corner));
      behind = std::min(behind, arrival.arrived(corner));
    }
    held.push_back({corner, ahead - behind});
  }
  return held;
}

}  // namespace cotillion
