#include "tests/peers/ns3_round.hpp"

#include <ns3/simulator.h>

#include <cmath>
#include <ctime>

#include "base/check.hpp"

namespace cotillion::testing {

ns3::TypeId Title::GetTypeId() {
  static const ns3::TypeId id =
      ns3::TypeId("cotillion::Title").SetParent<ns3::Header>().AddConstructor<Title>();
  return id;
}

Ns3Round::Ns3Round(const PlanFile& plan, const JobAssignment& assignment)
    : map_(plan.map),
      assignment_(assignment),
      branches_(std::size_t(map_.island_count() * map_.place_count())),
      sources_(map_.islands.size()),
      edges_(map_.islands.size()) {
  // An edge stands at its island's own place here, as on the nine cities.
  for (const Ingress& ingress : plan.ingress) COTILLION_CHECK(ingress.lanes.size() == 1);
  for (const PlannedClique& clique : plan.plan.rounds.front().cliques)
    for (const Stream& stream : clique.streams) note_stream(stream);
  for (Edge& edge : edges_) edge.contributors.assign(assignment_.job_chunks(), 0);
}

void Ns3Round::note_stream(const Stream& stream) {
  const RoundAssignment part = assignment_.part(1, stream.sender, Instant{0});
  sources_[stream.sender] = {true, part.stream.offset,
                             transfer_time(Bytes{std::int64_t(wire_bytes(0))}, part.stream.rate).ps,
                             0};
  const auto at = [&](PlaceId place) -> Branch& {
    return branches_[std::size_t(stream.sender * map_.place_count() + place)];
  };
  at(stream.sender).from = stream.tree.front();
  for (std::size_t k = 1; k < stream.tree.size(); ++k) {
    const LaneId lane = stream.tree[k];
    at(map_.links[lane / 2].ends[lane % 2]).next.push_back(lane);
    at(end_of(lane)).from = lane;
  }
  for (const Arrival& arrival : stream.receivers) {
    at(arrival.receiver).edges.push_back(arrival.receiver);
    ++edges_[arrival.receiver].expected;
  }
}

PlaceId Ns3Round::end_of(LaneId lane) const {
  const int link = lane / 2, links = int(map_.links.size());
  return link < links ? map_.links[std::size_t(link)].ends[1 - lane % 2] : PlaceId(link - links);
}

ns3::Ptr<ns3::Packet> Ns3Round::packet(const Title& title, std::uint32_t headers) const {
  auto made =
      ns3::Create<ns3::Packet>(wire_bytes(title.chunk) - title.GetSerializedSize() - headers);
  made->AddHeader(title);
  return made;
}

Ns3Run Ns3Round::play() {
  for (IslandId island = 0; island < map_.island_count(); ++island)
    if (sources_[island].sends)
      ns3::Simulator::Schedule(ns3::PicoSeconds(departure(island)), &Ns3Round::depart, this,
                               island);
  const std::clock_t begin = std::clock();
  ns3::Simulator::Run();
  run_.seconds = double(std::clock() - begin) / CLOCKS_PER_SEC;
  run_.hops = hops();
  run_.events = ns3::Simulator::GetEventCount();
  return run_;
}

std::int64_t Ns3Round::departure(IslandId sender) const {
  const Source& source = sources_[sender];
  return source.offset.ps + std::llround(source.chunk_ps * double(source.next));
}

void Ns3Round::depart(IslandId sender) {
  Source& source = sources_[sender];
  send(sender, source.next++);
  if (source.next == assignment_.job_chunks()) return;
  ns3::Simulator::Schedule(ns3::PicoSeconds(departure(sender)) - ns3::Simulator::Now(),
                           &Ns3Round::depart, this, sender);
}

void Ns3Round::hear(const Title& title, PlaceId place) {
  for (const IslandId island : branch(title.stream, place).edges) {
    ++run_.heard;
    Edge& edge = edges_[island];
    if (++edge.contributors[title.chunk] == edge.expected) send_sum(island, title.chunk);
  }
}

void Ns3Round::land() {
  ++run_.sums;
  run_.measured = {ns3::Simulator::Now().GetPicoSeconds()};
}

}  // namespace cotillion::testing
