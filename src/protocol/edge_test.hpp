// What tests of an edge share: one edge in a clique of four, the packets that come to it, and what
// it sends.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "protocol/edge.hpp"

namespace cotillion {
namespace {

using ::testing::HasSubstr;
using enum EdgeCount;

constexpr ChunkId kChunks = 8;  // of 16 elements; chunk c is due at 10,000·(c + 1)
constexpr ContributorMask kAll = 0b1110;

AggregationSpec spec_of(JobId id = 1, std::size_t slots = 8, Element element = Element::kF32) {
  AggregationSpec spec;
  spec.job = {id, element, Operation::kWeightedSum, 16 * kChunks, 1, 1};
  spec.slots = slots;
  spec.resend_packets = 64;
  spec.heartbeat = {1'000'000};
  return spec;
}
// Sources 0 to 3 are on boots 10 to 13, the edge on 1, its island on 2.
Result<Edge> build(const std::vector<AggregationSpec>& specs, Bytes memory = {4096},
                   Bytes margin = {0}) {
  std::vector<EdgeJob> jobs;
  for (const AggregationSpec& spec : specs) {
    jobs.push_back({spec, {sealed(1), sealed(2), {}}});
    for (BootId boot = 10; boot < 14; ++boot) jobs.back().seals.sources.push_back(sealed(boot));
  }
  return Edge::build({.memory = memory}, margin, std::move(jobs));
}
RoundSpec round_of(RoundId round = 7) {
  RoundSpec spec = equal_round(round, 4, 0);
  spec.first_deadline = {10'000};
  spec.last_deadline = {80'000};
  return spec;
}

struct Output {
  std::vector<std::byte> bytes;
  Header header;
  [[nodiscard]] PacketType type() const { return header.type(); }
  [[nodiscard]] float value() const {
    float first = 0;
    std::memcpy(&first, bytes.data() + kHeaderBytes, 4);
    return first;
  }
};

// Island 0's edge in a clique of four.
struct Site final : Outbox {
  explicit Site(const AggregationSpec& spec = spec_of(), const RoundSpec& round = round_of())
      : Site(std::vector{spec}, round) {}
  Site(const std::vector<AggregationSpec>& specs, const RoundSpec& round)
      : edge(std::move(*build(specs))) {
    for (const AggregationSpec& spec : specs)
      EXPECT_TRUE(edge.open_round({0}, spec.job.id, round, *this).has_value());
    sent.clear();
  }
  void send(Towards, ByteView packet) override {
    sent.push_back({{packet.begin(), packet.end()}, *read_header(packet)});
  }
  Header header_of(PacketType type, ChunkId chunk, ContributorMask mask) {
    Header header;
    header.set_type(type);
    header.job = 1;
    header.round = 7;
    header.chunk = chunk;
    header.mask = mask;
    header.weight = std::uint32_t(std::popcount(mask));
    header.set_content(Element::kF32, Operation::kWeightedSum, 0);
    return header;
  }
  void deliver(SourceId source, const Header& header, float value, Seal seal) {
    std::vector<std::byte> packet(packet_bytes(header.has(flag::kZero) ? 0 : kBeatBytes));
    write_header(header, packet);
    const std::vector<float> values(16, value);
    std::memcpy(packet.data() + kHeaderBytes, values.data(), packet.size() - packet_bytes(0));
    seal.close(packet);
    edge.on_packet(now, source, packet, *this);
  }
  void data(int bit, ChunkId chunk, float value = 1, std::uint8_t flags = 0, JobId job = 1) {
    Header header = header_of(PacketType::kData, chunk, ContributorMask(1) << unsigned(bit));
    header.flags = flags;
    header.job = job;
    deliver(SourceId(bit), header, value, sealed(10 + BootId(bit)));
  }
  void all(ChunkId chunk) {
    for (int bit = 1; bit < 4; ++bit) data(bit, chunk);
  }
  void from_island(PacketType type, std::uint32_t first) {
    Header header = header_of(type, first, 0);
    header.flags = type == PacketType::kAck ? flag::kZero : 0;  // without a bitmap
    deliver(kOwnIsland, header, 1.4e-45f, sealed(2));           // whose only bits: 0, 32, 64 …
  }
  [[nodiscard]] std::uint64_t count(EdgeCount which, JobId job = 1) const {
    return edge.job(job)->counters()[which];
  }
  [[nodiscard]] const Output& last() const { return sent.back(); }

  Instant now{0};
  std::vector<Output> sent;
  Edge edge;
};

}  // namespace
}  // namespace cotillion
