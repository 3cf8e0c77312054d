// Drives one edge with whatever a network can do to it, all of it decided by a seed: random jobs
// and rounds, streams in any order and grouping, copies, losses, replays, damage of every kind,
// islands that ask and acknowledge, packets that nobody has a use for.
#pragma once

#include <memory>
#include <vector>

#include "base/random.hpp"
#include "tests/support/protocol/edge_checker.hpp"

namespace cotillion::testing {

// What is wrong with a packet. Up to kOtherSource its maker seals it as it is.
enum class Damage : std::uint8_t {
  kNone,
  kEpoch,
  kClique,
  kExponent,
  kWeight,
  kMask,
  kContent,
  kType,
  kChunk,
  kGridFlag,
  kLength,
  kJob,
  kRound,
  kNotFinite,
  kOtherStream,  // comes in on a stream that is not its own
  kOtherSource,  // sealed by another source
  kEarlierBoot,
  kLaterBoot,
  kFlippedBits,
  kTruncated,
  kExtended,
  kCount
};

enum class What : std::uint8_t { kSum, kHeartbeat, kEnd, kGone, kRequest, kOpen, kTick };

struct Event {
  Instant when;
  std::uint32_t order = 0;
  What what = What::kSum;
  std::uint8_t job = 0;
  Damage damage = Damage::kNone;
  PacketType type = PacketType::kData;
  SourceId source = 0;
  std::uint32_t round = 0;  // index
  ChunkId chunk = 0;
  ContributorMask mask = 0;
};

// Everything that one seed decides about one job.
struct World {
  AggregationSpec spec;
  bool authenticated = false;
  int sources = 1;
  std::vector<RoundSpec> rounds;
  IdVector<SourceId, Seal> seals;   // of sources, as they seal
  IdVector<SourceId, BootId> boot;  // of sources
  Seal island;
};

class EdgeDriver {
 public:
  explicit EdgeDriver(std::uint64_t seed);

  // Until the first thing that does not hold.
  const EdgeChecker& run();

 private:
  bool chance(double probability) { return random_.unit() < probability; }
  std::int64_t pick(std::int64_t low, std::int64_t high) { return random_.between(low, high); }
  bool fine() const { return checker_->wrong().empty(); }

  void make_job(int number);
  RoundSpec make_round(const World& world, RoundId number, Instant start, Duration span);
  void make_streams(std::uint8_t job);
  void make_stream(std::uint8_t job, std::uint32_t round, SourceId source, Instant start,
                   Duration pace);
  void add(Event event);
  AggregationSeals edge_seals(const AggregationSpec& spec);

  void deliver(const Event& event);
  void deliver_sum(const Event& event);
  void deliver_announcement(const Event& event);
  void deliver_request(const Event& event);
  std::size_t write_payload(const World& world, const Event& event, bool& zero);
  void spoil(const World& world, const Event& event, Header& header, std::size_t& payload);
  void hand_damaged(const Event& event, SourceId source, std::size_t sealed);
  void hand_over(const Event& event, SourceId source, std::size_t size, Trailer trailer);

  Random random_;
  std::vector<World> worlds_;
  std::vector<Event> events_;
  std::unique_ptr<EdgeChecker> checker_;
  std::array<std::byte, 1024> packet_{};
  bool punctual_ = chance(0.7);
  // How rough the network is.
  double loss_ = chance(0.5) ? 0 : random_.unit() * 0.3;
  double copies_ = chance(0.3) ? 0 : random_.unit() * 0.3;
  double damage_ = chance(0.3) ? 0 : random_.unit() * 0.3;
  double far_ = chance(0.4) ? 0 : random_.unit() * 0.2;  // reordering beyond any window
};

}  // namespace cotillion::testing
