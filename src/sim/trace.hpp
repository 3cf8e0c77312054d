// One round of a play as a trace for Perfetto (ui.perfetto.dev) or chrome://tracing: senders, links
// and edges as tracks. Packets that follow one another closely are one slice, so that a gigabyte
// stays a file that can be looked at; what went wrong is marked packet by packet.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "plan/file/plan_loader.hpp"
#include "sim/observer.hpp"

namespace cotillion {

class Trace final : public SimulationObserver {
 public:
  // Between these instants, counted from the start of the first round.
  Trace(const PlanFile& plan, Duration from, Duration until);

  [[nodiscard]] bool watches(LaneId) const override { return true; }
  [[nodiscard]] bool watches_edges() const override { return true; }
  void on_passage(const Passage& passage, ByteView packet) override;
  void on_edge(Instant now, const EdgeState& state) override;

  // The file; to be called once, at the end.
  [[nodiscard]] std::string json();

 private:
  struct Slice {
    Instant from, until;
    Duration pace{0};  // from packet to packet, as the first two had it
    std::uint64_t packets = 0, bytes = 0;
  };
  struct Track {  // of one stream on one lane, in one round
    LaneId lane = 0;
    IslandId sender = -1;  // −1: requests and sums
    RoundId round = 0;
    auto operator<=>(const Track&) const = default;
  };
  struct EdgeSeen {
    Instant shown{0};
    std::size_t open_slots = 0, shown_slots = 0;
    EdgeCounters counters;
  };

  [[nodiscard]] bool within(Instant when) const { return when >= from_ && when < until_; }
  [[nodiscard]] int number_of(const Track& track) const;
  void end(const Track& track, const Slice& slice);
  void mark(int process, int number, Instant when, const std::string& name);
  void show_memory(IslandId island, Instant when);
  void name_tracks();

  const Map& map_;
  Bytes slot_;
  Instant from_, until_;
  std::map<Track, Slice> open_;
  std::map<int, std::string> links_;  // that were seen, by number: their names
  std::vector<EdgeSeen> edges_;
  Json events_ = Json::array();
  std::uint64_t marks_ = 0;
};

}  // namespace cotillion
