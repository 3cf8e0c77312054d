// Drives a whole network through several rounds of random cliques with random faults on all hops,
// all decided by a seed. An independent record of what every wire really delivered says what each
// island must hold, report and merge; the first difference is kept in wrong().
#pragma once

#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "tests/support/protocol/protocol_net.hpp"

namespace cotillion::testing {

// How a network misbehaves.
enum class Weather : std::uint8_t {
  kCalm,        // nothing happens: nothing may be missing
  kRepairable,  // losses on the last hop, copies and reordering everywhere: still nothing
  kRough,       // anything
};

struct Tally {
  std::uint64_t packets = 0, merges = 0, late = 0, missing = 0, whole_chunks = 0, restarts = 0;
};

class NetDriver {
 public:
  explicit NetDriver(std::uint64_t seed) : random_(seed * 2 + 1) {
    make_settings();
    net_ = std::make_unique<ProtocolNet>(settings_);
    make_rounds();
    watch();
  }
  void run();

  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  [[nodiscard]] const Tally& tally() const { return tally_; }

 private:
  using Values = std::vector<double>;  // of a chunk, as they lie on the wire
  struct Round {
    std::vector<std::vector<int>> cliques;
    Instant start, end;
  };
  // What one island should know of one round.
  struct Record {
    std::vector<int> members;
    int own = 0;
    ContributorMask expected = 0;
    std::vector<ContributorMask> masks;          // by chunk
    std::vector<std::array<Instant, 9>> came;    // by chunk and bit
    std::vector<Values> sent;                    // by chunk: its own contribution
    std::set<int> merged;                        // fragments
    std::map<ChunkId, ContributorMask> put_out;  // by its edge, since its last start
  };

  bool chance(double probability) { return random_.unit() < probability; }
  std::int64_t pick(std::int64_t low, std::int64_t high) { return random_.between(low, high); }
  void expect(bool holds, const std::string& what) {
    if (!holds && wrong_.empty()) wrong_ = what + " at " + std::to_string(net_->now().ps) + " ps";
  }
  static std::string name(int island, RoundId round, ChunkId chunk) {
    return "island " + std::to_string(island) + " round " + std::to_string(round) + " chunk " +
           std::to_string(chunk);
  }

  void make_settings();
  void make_rounds();
  void watch();
  Copies carry(Hop hop, int from, std::vector<std::byte>& packet);
  void regroup(int island, BootId boot, std::vector<std::byte>& packet);
  void note_copied(int island, RoundId round, std::uint64_t first, std::size_t count);
  void note_sent(int island, const std::vector<std::byte>& packet);
  void arrives(int island, BootId boot, const std::vector<std::byte>& packet);
  void put_out(int island, ByteView packet);
  void before_merge(int island, RoundId round, int fragment);
  void move(int island, ChunkId chunk, const Values& by, const Values& bound);
  void compare(int island);
  void compare_averages(RoundId round);
  [[nodiscard]] Values values_of(ByteView payload) const;
  [[nodiscard]] double weight(const Record& record, ContributorMask mask) const;
  // The average for these contributors; `bound` is how far rounding may take it.
  Values average(const Record& record, RoundId round, ChunkId chunk, ContributorMask present,
                 Values& bound);
  Record& record(int island, RoundId round) { return records_[std::size_t(island)].at(round); }

  Random random_;
  Weather weather_ = Weather(pick(0, 9) < 1 ? 0 : pick(0, 9) < 2 ? 1 : 2);
  NetSettings settings_;
  JobSpec job_;
  std::unique_ptr<ProtocolNet> net_;
  std::vector<Round> rounds_;  // number 1 is the first
  RoundId newest_ = 0;
  std::vector<std::map<RoundId, Record>> records_;  // by island
  std::vector<BootId> edge_boot_, known_boot_;      // by island
  std::vector<std::vector<double>> x_, x_bound_;    // by island: the model as it should be
  double loss_[4] = {}, copies_ = 0, damage_ = 0, far_ = 0, regrouped_ = 0;
  std::int64_t jitter_ = 0;
  std::string wrong_;
  Tally tally_;
};

}  // namespace cotillion::testing
