// A round as ns-3 plays it, apart from how packets find their way: who sends what when, and what
// edges do with it.
#pragma once

#include <ns3/header.h>
#include <ns3/packet.h>

#include <memory>
#include <vector>

#include "job/job_assignment.hpp"
#include "tests/peers/ns3_peer.hpp"

namespace cotillion::testing {

inline constexpr int kSums = -1;  // the stream of an edge to its island

// What a packet must say: the rest of it is a length, without bytes in memory.
class Title final : public ns3::Header {
 public:
  Title() = default;
  Title(int of, ChunkId at) : stream(of), chunk(at) {}
  static ns3::TypeId GetTypeId();
  [[nodiscard]] ns3::TypeId GetInstanceTypeId() const override { return GetTypeId(); }
  [[nodiscard]] std::uint32_t GetSerializedSize() const override { return 8; }
  void Serialize(ns3::Buffer::Iterator to) const override {
    to.WriteU32(std::uint32_t(stream));
    to.WriteU32(chunk);
  }
  std::uint32_t Deserialize(ns3::Buffer::Iterator from) override {
    stream = int(from.ReadU32());
    chunk = from.ReadU32();
    return GetSerializedSize();
  }
  void Print(std::ostream&) const override {}

  int stream = 0;
  ChunkId chunk = 0;
};

class Ns3Round {
 public:
  Ns3Round(const PlanFile& plan, const JobAssignment& assignment);
  virtual ~Ns3Round() = default;
  Ns3Round(const Ns3Round&) = delete;
  Ns3Round& operator=(const Ns3Round&) = delete;

  Ns3Run play();

 protected:
  // What goes on from a place, and who hears it there.
  struct Branch {
    LaneId from = -1;
    std::vector<LaneId> next;
    std::vector<IslandId> edges;
  };
  [[nodiscard]] const Branch& branch(int stream, PlaceId place) const {
    return branches_[std::size_t(stream * map_.place_count() + place)];
  }
  // Where a lane leads that enters no island.
  [[nodiscard]] PlaceId end_of(LaneId lane) const;
  [[nodiscard]] std::uint32_t wire_bytes(ChunkId chunk) const {
    return std::uint32_t(payload_bytes(assignment_.job(), chunk)) +
           std::uint32_t(assignment_.framing().count);
  }
  // As long as ours on the wire once all its headers are before it.
  [[nodiscard]] ns3::Ptr<ns3::Packet> packet(const Title& title, std::uint32_t headers) const;

  void hear(const Title& title, PlaceId place);
  void land();

  const Map& map_;
  const JobAssignment& assignment_;

 private:
  struct Source {
    bool sends = false;
    Duration offset;
    double chunk_ps = 0;
    ChunkId next = 0;
  };
  struct Edge {
    int expected = 0;
    std::vector<std::uint8_t> contributors;  // by chunk
  };

  virtual void send(IslandId sender, ChunkId chunk) = 0;
  virtual void send_sum(IslandId island, ChunkId chunk) = 0;
  [[nodiscard]] virtual std::uint64_t hops() const = 0;

  void note_stream(const Stream& stream);
  [[nodiscard]] std::int64_t departure(IslandId sender) const;
  void depart(IslandId sender);

  std::vector<Branch> branches_;  // by stream and place
  IdVector<IslandId, Source> sources_;
  IdVector<IslandId, Edge> edges_;
  Ns3Run run_;
};

// Both on point-to-point devices and channels.
[[nodiscard]] std::unique_ptr<Ns3Round> ip_round(const PlanFile& plan,
                                                 const JobAssignment& assignment);
[[nodiscard]] std::unique_ptr<Ns3Round> frames_round(const PlanFile& plan,
                                                     const JobAssignment& assignment);
// On nothing but the scheduler.
[[nodiscard]] std::unique_ptr<Ns3Round> events_round(const PlanFile& plan,
                                                     const JobAssignment& assignment);

}  // namespace cotillion::testing
