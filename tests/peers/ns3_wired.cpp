#include <ns3/drop-tail-queue.h>
#include <ns3/inet-socket-address.h>
#include <ns3/internet-stack-helper.h>
#include <ns3/ipv4-list-routing-helper.h>
#include <ns3/ipv4-static-routing-helper.h>
#include <ns3/ipv4.h>
#include <ns3/mac48-address.h>
#include <ns3/node-container.h>
#include <ns3/point-to-point-channel.h>
#include <ns3/point-to-point-net-device.h>
#include <ns3/udp-socket-factory.h>

#include "base/check.hpp"
#include "tests/peers/ns3_round.hpp"

namespace cotillion::testing {
namespace {

using ns3::Ptr;

constexpr std::uint16_t kPort = 4242;
constexpr std::uint16_t kIpv4Frames = 0x0800;  // PPP knows two kinds of frames; both are numbers
constexpr std::uint32_t kPppBytes = 2;
constexpr std::uint32_t kUdpIpBytes = 28;

// Devices and channels. Places are the first nodes, islands follow.
class WiredRound : public Ns3Round {
 protected:
  WiredRound(const PlanFile& plan, const JobAssignment& assignment)
      : Ns3Round(plan, assignment), lanes_(std::size_t(map_.lane_count())) {
    nodes_.Create(std::uint32_t(map_.place_count() + map_.island_count()));
    for (std::size_t k = 0; k < map_.links.size(); ++k) {
      COTILLION_CHECK(map_.links[k].latency[0] == map_.links[k].latency[1]);
      join(lane_of_link(int(k), 0), map_.links[k].ends[0], map_.links[k].ends[1]);
    }
    for (IslandId island = 0; island < map_.island_count(); ++island)
      join(lane_up(map_, island), map_.place_count() + island, island);
  }

  // The device that sends into a lane, and the one that receives from it.
  [[nodiscard]] const Ptr<ns3::PointToPointNetDevice>& into(LaneId lane) const {
    return lanes_[lane];
  }
  [[nodiscard]] const Ptr<ns3::PointToPointNetDevice>& from(LaneId lane) const {
    return lanes_[lane ^ 1];
  }
  [[nodiscard]] const ns3::NodeContainer& nodes() const { return nodes_; }

 private:
  void join(LaneId lane, int begin, int end) {
    const auto channel = ns3::CreateObject<ns3::PointToPointChannel>();
    channel->SetAttribute("Delay", ns3::TimeValue(ns3::PicoSeconds(lane_latency(map_, lane).ps)));
    for (const LaneId each : {lane, LaneId(lane ^ 1)}) {
      const auto device = ns3::CreateObject<ns3::PointToPointNetDevice>();
      device->SetAddress(ns3::Mac48Address::Allocate());
      device->SetMtu(65535);
      device->SetDataRate(ns3::DataRate(std::uint64_t(lane_rate(map_, each).value)));
      const auto queue = ns3::CreateObject<ns3::DropTailQueue<ns3::Packet>>();
      queue->SetMaxSize(ns3::QueueSize("1000000000p"));
      device->SetQueue(queue);
      nodes_.Get(std::uint32_t(each == lane ? begin : end))->AddDevice(device);
      device->Attach(channel);
      lanes_[each] = device;
    }
  }

  // Queues count what goes through them, so nothing needs to be traced.
  [[nodiscard]] std::uint64_t hops() const override {
    std::uint64_t sum = 0;
    for (const auto& device : lanes_) sum += device->GetQueue()->GetTotalReceivedPackets();
    return sum;
  }

  ns3::NodeContainer nodes_;
  std::vector<Ptr<ns3::PointToPointNetDevice>> lanes_;
};

class IpRound final : public WiredRound {
 public:
  IpRound(const PlanFile& plan, const JobAssignment& assignment) : WiredRound(plan, assignment) {
    // The list hands multicast to the node itself too; static routes alone only pass it on.
    ns3::Ipv4ListRoutingHelper routing;
    routing.Add(static_routing_, 0);
    ns3::InternetStackHelper internet;
    internet.SetRoutingHelper(routing);
    internet.SetIpv6StackInstall(false);
    internet.Install(nodes());
    for (LaneId lane = 0; lane < map_.lane_count(); ++lane) give_address(lane);
    for (IslandId island = 0; island < map_.island_count(); ++island) lay_routes(island);
    for (PlaceId place = 0; place < map_.place_count(); ++place) {
      places_.push_back(open_socket(place));
      places_.back()->SetRecvCallback(ns3::MakeBoundCallback(&IpRound::at_place, this, place));
    }
    for (IslandId island = 0; island < map_.island_count(); ++island) {
      islands_.push_back(open_socket(map_.place_count() + island));
      islands_.back()->SetRecvCallback(ns3::MakeBoundCallback(&IpRound::at_island, this));
      groups_.push_back(ns3::InetSocketAddress(group_of(island), kPort));
      down_.push_back(ns3::InetSocketAddress(address_of(lane_up(map_, island)), kPort));
    }
  }

 private:
  static constexpr std::uint32_t kHeaders = kPppBytes + kUdpIpBytes;

  // Of the device that sends into a lane; both ends of a link are one network.
  [[nodiscard]] static ns3::Ipv4Address address_of(LaneId lane) {
    return ns3::Ipv4Address(0x0a000000u + std::uint32_t(lane / 2 * 4 + lane % 2 + 1));
  }
  [[nodiscard]] static ns3::Ipv4Address group_of(IslandId sender) {
    return ns3::Ipv4Address(0xef010000u + std::uint32_t(sender));
  }

  // Without the address helper no queue discipline is put before the device.
  void give_address(LaneId lane) const {
    const auto ip = into(lane)->GetNode()->GetObject<ns3::Ipv4>();
    const std::uint32_t interface = ip->AddInterface(into(lane));
    ip->AddAddress(interface, ns3::Ipv4InterfaceAddress(address_of(lane), "255.255.255.252"));
    ip->SetUp(interface);
  }

  void lay_routes(IslandId sender) {
    static_routing_.SetDefaultMulticastRoute(
        nodes().Get(std::uint32_t(map_.place_count() + sender)), into(lane_up(map_, sender)));
    for (PlaceId place = 0; place < map_.place_count(); ++place) {
      const Branch& here = branch(sender, place);
      if (here.next.empty()) continue;
      ns3::NetDeviceContainer out;
      for (const LaneId lane : here.next) out.Add(into(lane));
      static_routing_.AddMulticastRoute(nodes().Get(std::uint32_t(place)),
                                        address_of(lane_up(map_, sender)), group_of(sender),
                                        from(here.from), out);
    }
  }

  [[nodiscard]] Ptr<ns3::Socket> open_socket(int node) const {
    auto socket = ns3::Socket::CreateSocket(nodes().Get(std::uint32_t(node)),
                                            ns3::UdpSocketFactory::GetTypeId());
    COTILLION_CHECK(socket->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), kPort)) == 0);
    return socket;
  }

  static void at_place(IpRound* round, PlaceId place, Ptr<ns3::Socket> socket) {
    while (const auto heard = socket->Recv()) {
      Title title;
      heard->PeekHeader(title);
      round->hear(title, place);
    }
  }
  static void at_island(IpRound* round, Ptr<ns3::Socket> socket) {
    while (socket->Recv()) round->land();
  }

  void send(IslandId sender, ChunkId chunk) override {
    islands_[sender]->SendTo(packet({sender, chunk}, kHeaders), 0, groups_[sender]);
  }
  void send_sum(IslandId island, ChunkId chunk) override {
    places_[island]->SendTo(packet({kSums, chunk}, kHeaders), 0, down_[island]);
  }

  ns3::Ipv4StaticRoutingHelper static_routing_;
  std::vector<Ptr<ns3::Socket>> places_, islands_;
  std::vector<ns3::Address> groups_, down_;  // by island
};

class FramesRound final : public WiredRound {
 public:
  FramesRound(const PlanFile& plan, const JobAssignment& assignment)
      : WiredRound(plan, assignment) {
    for (LaneId lane = 0; lane < map_.lane_count(); ++lane)
      if (enters_island(map_, lane))
        from(lane)->SetReceiveCallback(ns3::MakeBoundCallback(&FramesRound::at_island, this));
      else
        from(lane)->SetReceiveCallback(
            ns3::MakeBoundCallback(&FramesRound::at_place, this, end_of(lane)));
  }

 private:
  static bool at_place(FramesRound* round, PlaceId place, Ptr<ns3::NetDevice>,
                       Ptr<const ns3::Packet> frame, std::uint16_t, const ns3::Address&) {
    Title title;
    frame->PeekHeader(title);
    for (const LaneId lane : round->branch(title.stream, place).next)
      round->put(lane, frame->Copy());
    round->hear(title, place);
    return true;
  }
  static bool at_island(FramesRound* round, Ptr<ns3::NetDevice>, Ptr<const ns3::Packet>,
                        std::uint16_t, const ns3::Address&) {
    round->land();
    return true;
  }

  void put(LaneId lane, const Ptr<ns3::Packet>& frame) const {
    into(lane)->Send(frame, nowhere_, kIpv4Frames);
  }
  void send(IslandId sender, ChunkId chunk) override {
    put(lane_up(map_, sender), packet({sender, chunk}, kPppBytes));
  }
  void send_sum(IslandId island, ChunkId chunk) override {
    put(lane_down(map_, island), packet({kSums, chunk}, kPppBytes));
  }

  const ns3::Address nowhere_ = ns3::Mac48Address::GetBroadcast();
};

}  // namespace

std::unique_ptr<Ns3Round> ip_round(const PlanFile& plan, const JobAssignment& assignment) {
  return std::make_unique<IpRound>(plan, assignment);
}

std::unique_ptr<Ns3Round> frames_round(const PlanFile& plan, const JobAssignment& assignment) {
  return std::make_unique<FramesRound>(plan, assignment);
}

}  // namespace cotillion::testing
