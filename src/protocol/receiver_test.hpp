// What tests of a receiver share: island 0 of four. The edge is played by the test, which says what
// comes, and when.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <tuple>
#include <vector>

#include "protocol/announcement.hpp"
#include "protocol/receiver.hpp"

namespace cotillion {
namespace {

constexpr ChunkId kChunks = 8;  // of 16 floats
constexpr Instant kEnd{100'000};
constexpr ContributorMask kAll = 0b1110;
using Numbers = std::vector<std::uint32_t>;
using enum ReceiverCount;
using Ready = std::tuple<RoundId, int, std::int64_t>;  // fragment, when
struct Sent {
  Instant when;
  Header header;
  Numbers numbers;  // of a request
};

Header header_of(PacketType type, RoundId round) {
  Header header;
  header.set_type(type);
  header.job = 1;
  header.round = round;
  return header;
}
Header sum_of(RoundId round, ChunkId chunk, ContributorMask mask, std::uint32_t sequence) {
  Header header = header_of(mask == kAll ? PacketType::kResult : PacketType::kPartial, round);
  header.chunk = chunk;
  header.mask = mask;
  header.weight = std::uint32_t(std::popcount(mask));
  header.sequence = sequence;
  header.set_content(Element::kF32, Operation::kSum, 0);
  return header;
}

// Island 0 of 4. Chunk c is due at 10,000 + 10,000·c, and given up 5,000 later. Its own copy is 2
// everywhere.
struct Island final : Outbox, ReceiverEvents {
  explicit Island(Exchange exchange = Exchange::kWhole, std::size_t late_chunks = 64)
      : job{.elements = 128, .beats = 1, .fragments = exchange == Exchange::kWhole ? 1 : 4},
        snapshots(job, Grid(0), 2),
        merge(job, {}),
        receiver({.exchange = exchange,
                  .gaps = {.window = 64, .round_trip = {100}, .requests_max = 4},
                  .heartbeat = {1'000'000},
                  .late_chunks = late_chunks,
                  .islands = 4,
                  .keep_merged = false},
                 snapshots, merge, sealed(1), Seal()),
        edge(sealed(1)),
        x(job.elements) {}

  void open(RoundId round, Instant merge_at = kEnd, std::int64_t shift = 0) {
    RoundSpec spec = equal_round(round, 4, 0);
    spec.first_deadline = {shift + 10'000};
    spec.last_deadline = {shift + 80'000};
    ASSERT_TRUE(receiver.open_round(now, {spec, merge_at, {5'000}}, *this, *this).has_value());
  }
  void copy(ChunkId from, ChunkId to, RoundId round = 7) {
    const std::vector<float> own(16, 2.0f);
    for (ChunkId chunk = from; chunk < to; ++chunk) snapshots.take(round, chunk, own, {});
  }
  // The usual beginning: round 7 is open and copied, and the edge has announced itself.
  void begin() {
    open(7);
    copy(0, kChunks);
    announce(PacketType::kHeartbeat, 7, 0, 0);
  }
  void announce(PacketType type, RoundId round, std::uint32_t first, std::uint32_t next) {
    Header header = header_of(type, round);
    header.weight = first;
    header.chunk = next;
    Announcement room;
    receiver.on_packet(now, write_announcement(room, header, edge), *this, *this);
  }
  void deliver(const Header& header, float value = 10) {
    std::vector<std::byte> packet(packet_bytes(header.has(flag::kZero) ? 0 : kBeatBytes));
    write_header(header, packet);
    const std::vector<float> values(16, value);
    std::memcpy(packet.data() + kHeaderBytes, values.data(), packet.size() - packet_bytes(0));
    edge.close(packet);
    receiver.on_packet(now, packet, *this, *this);
  }
  // The usual sum: of round 7, numbered like its chunk.
  void sum(ChunkId chunk, ContributorMask mask = kAll, float value = 10) {
    deliver(sum_of(7, chunk, mask, chunk), value);
  }
  void run(Instant until) {
    for (; receiver.next_deadline() <= until; receiver.on_time(now, *this, *this))
      now = std::max(now, receiver.next_deadline());
    now = until;
  }
  [[nodiscard]] std::vector<Sent> of(PacketType type) const {
    std::vector<Sent> found;
    for (const Sent& one : sent)
      if (one.header.type() == type) found.push_back(one);
    return found;
  }
  [[nodiscard]] std::uint64_t count(ReceiverCount which) const {
    return receiver.counters()[which];
  }
  double average(ChunkId chunk) {
    std::vector<double> values(16);
    receiver.average(7, chunk, values);
    return values[15];
  }

  void send(Towards, ByteView packet) override {
    sent.push_back({now, *read_header(packet), {}});
    for_each_requested(sent.back().header, payload_of(packet),
                       [&](auto number) { sent.back().numbers.push_back(number); });
  }
  void fragment_ready(RoundId round, int fragment) override {
    ready.emplace_back(round, fragment, now.ps);
    if (merges) receiver.merge(round, fragment, x);
  }
  void late_ready(RoundId, int) override {}
  void round_closed(RoundId round, std::span<const Absence> absences) override {
    closed.emplace_back(round, now.ps);
    absent.assign(absences.begin(), absences.end());
  }

  JobSpec job;
  Instant now{0};
  bool merges = true;
  std::vector<Sent> sent;
  std::vector<Ready> ready;
  std::vector<std::pair<RoundId, std::int64_t>> closed;  // when
  std::vector<Absence> absent;
  Snapshots snapshots;
  Merge merge;
  Receiver receiver;
  Seal edge;
  std::vector<float> x;
};

}  // namespace
}  // namespace cotillion
