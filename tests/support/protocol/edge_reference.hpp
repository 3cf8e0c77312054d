// One job at one edge, slow and clear: the merge rule of docs/understand/protocol.md written a
// second time, with nothing of the first but the packet layout and the seal. It foretells what
// every packet and every instant makes the edge do, hears what the edge does, and keeps the first
// difference in `wrong`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "protocol/aggregation.hpp"

namespace cotillion::testing {

// A sum as it should be: exact integers, or doubles and the sum of their magnitudes.
struct ReferenceSum {
  ChunkKey key = 0;
  ContributorMask mask = 0;
  std::uint32_t weight = 0;
  std::uint8_t flags = 0;
  int payloads = 0;  // in it; all others were zeros
  bool scaled = false;
  std::vector<double> sum, magnitude;
  std::vector<std::uint32_t> integers;
  std::vector<std::byte> first;  // payload

  void start(ChunkKey its_key);
  void add(const Header& header, ByteView payload, Element element, std::uint32_t coefficient);
  // Whether an edge may make this of it.
  [[nodiscard]] bool is(ByteView payload, Element element) const;
};

// What the maker of a packet knows of its trailer.
enum class Trailer : std::uint8_t {
  kOfSomeone,  // someone sealed these bytes as they are; whether it is the right one, look
  kBroken,     // they were changed afterwards: they must not hold
};

[[nodiscard]] std::string to_text(const Header& header);

class EdgeReference {
 public:
  EdgeReference(const AggregationSpec& spec, AggregationSeals seals)
      : spec_(spec),
        chunks_(chunk_count(spec.job)),
        seals_(std::move(seals)),
        slots_(spec.slots),
        store_(spec.resend_packets),
        tokens_(double(spec.burst.count)) {}

  [[nodiscard]] const AggregationSpec& spec() const { return spec_; }
  [[nodiscard]] std::uint32_t next() const { return next_; }

  void advance(Instant now);
  bool open(const RoundSpec& round);
  void take(Instant now, SourceId source, const Header& header, ByteView packet, Trailer trailer);
  void flush() {
    for (auto& [number, round] : live_) expire(round, kNever);
  }
  void hear(Instant now, Towards towards, const Header& header, ByteView packet);
  void settle(const Aggregation& job);
  void finish();

  std::string wrong;

 private:
  struct Round {
    RoundSpec spec;
    std::vector<ContributorMask> accepted, out;  // by chunk
    ChunkId due = 0;                             // chunks below are past their deadlines
    ChunkId complete = 0;
    bool ended = false;
    std::uint8_t flags = 0;
    std::uint32_t first_sequence = 0;
  };
  struct Foretold {
    PacketType type = PacketType::kPartial;
    std::uint8_t flags = 0;
    RoundId round = 0;
    ChunkId chunk = 0;
    ReferenceSum sum;
  };
  struct Stored {
    std::vector<std::byte> bytes;
    Instant resent;
    bool was_resent = false;
  };

  Round* round_of(RoundId number) {
    const auto found = live_.find(number);
    return found == live_.end() ? nullptr : &found->second;
  }
  void count(EdgeCount which) { ++counts_[std::size_t(which)]; }
  void expect(bool holds, const char* what) {
    if (!holds) differ(what, nullptr);
  }
  void expect(bool holds, const char* what, const Header& header) {
    if (!holds) differ(what, &header);
  }
  void differ(const char* what, const Header* header);
  [[nodiscard]] bool epoch_is_live(int epoch) const;
  [[nodiscard]] int exponent(ChunkId chunk) const;
  [[nodiscard]] bool planned(const Round& round, SourceId source, const Header& header,
                             std::size_t payload) const;
  void expire(Round& round, Instant now);
  void put_out(Round& round, ChunkId chunk, const ReferenceSum& sum, bool late);
  void take_heartbeat(SourceId source, const Header& header, ByteView packet);
  void take_request(Instant now, const Header& header, ByteView packet);
  void take_sum(Instant now, SourceId source, const Header& header, ByteView packet, Trailer);
  void merge(Round& round, const Header& header, ByteView payload);
  void hear_sum(const Header& header, ByteView packet);
  void hear_resent(Instant now, const Header& header, ByteView packet);

  AggregationSpec spec_;
  ChunkId chunks_;
  AggregationSeals seals_;
  std::map<RoundId, Round> live_;
  std::vector<Round> leaving_;  // their last outputs are coming
  RoundId newest_ = 0;
  bool any_round_ = false;
  std::vector<ReferenceSum> slots_;
  ReferenceSum passing_;
  std::array<std::uint64_t, kEdgeCounts> counts_{};
  std::uint64_t in_ = 0, taken_ = 0;  // packets; of them, those that are neither sums nor dropped
  std::uint32_t next_ = 0, acknowledged_ = 0;  // sequences
  std::vector<Stored> store_;
  double tokens_;
  Instant tokens_at_{0};
  // Foretold for this event.
  std::vector<Foretold> sums_;
  std::size_t sums_count_ = 0, sums_heard_ = 0;
  std::vector<std::pair<RoundId, std::uint8_t>> ends_;  // with their flags
  std::vector<std::uint32_t> resends_, gone_, gone_heard_;
  std::size_t resends_heard_ = 0;
};

}  // namespace cotillion::testing
