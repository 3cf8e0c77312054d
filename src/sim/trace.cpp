#include "sim/trace.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/event_queue.hpp"

namespace cotillion {
namespace {

enum Process { kSenders = 1, kLinks = 2, kEdges = 3 };
constexpr std::uint64_t kMarksMax = 20'000;  // beyond, they are only counted
constexpr int kSamples = 2'000;              // of an edge's memory over the time traced
// Idle for so many times a stream's usual wait between packets: a new slice begins.
constexpr int kGapPackets = 8;
constexpr Duration kGapMost{1'000'000'000};  // when nothing is usual yet

// What is marked when an edge counts it.
constexpr EdgeCount kWorthAMark[] = {
    EdgeCount::kTimeouts, EdgeCount::kConflicts, EdgeCount::kLate,       EdgeCount::kDuplicates,
    EdgeCount::kOverlaps, EdgeCount::kForged,    EdgeCount::kUnexpected, EdgeCount::kStaleRound,
    EdgeCount::kResends,  EdgeCount::kGone};

double microseconds(Instant when) {
  return double((when - kOrigin).ps) * 1e-6;
}

}  // namespace

Trace::Trace(const PlanFile& plan, Duration from, Duration until)
    : map_(plan.map),
      slot_(plan.map.aggregators.empty() ? plan.map.edge.slot : plan.map.aggregators[0].spec.slot),
      from_(kOrigin + from),
      until_(kOrigin + until),
      edges_(plan.map.islands.size()) {}

int Trace::number_of(const Track& track) const {
  return track.lane * (map_.island_count() + 1) + track.sender + 2;
}

void Trace::on_passage(const Passage& passage, ByteView packet) {
  const auto header = read_header(packet);
  const Instant left = passage.left;
  if (!within(left) || !header || passage.copy) return;
  const Track track{passage.lane, passage.step->sender, header->round};
  if (passage.lost)
    mark(kLinks, number_of(track), left,
         fmt::format("lost: {} {}", name_of(header->type()), std::uint32_t(header->chunk)));
  if (passage.wire_bytes == 0) return;  // not counted by a plan without framing
  const Duration takes{
      std::llround(transfer_time(Bytes{passage.wire_bytes}, lane_rate(map_, passage.lane)).ps)};
  const Slice begun{left - takes, left, {0}, 0, 0};
  auto [entry, first] = open_.try_emplace(track, begun);
  Slice& slice = entry->second;
  if (!first) {
    const Duration since = left - slice.until;
    const Duration most = slice.packets < 2 ? kGapMost : Duration{kGapPackets * slice.pace.ps};
    if (since > std::max(most, Duration{kGapPackets * takes.ps})) {
      end(track, slice);
      slice = begun;
    } else if (slice.packets == 1) {
      slice.pace = since;
    }
  }
  slice.until = std::max(slice.until, left);
  ++slice.packets;
  slice.bytes += passage.wire_bytes;
}

void Trace::end(const Track& track, const Slice& slice) {
  const int number = number_of(track);
  links_.emplace(number, lane_name(map_, track.lane) +
                             (track.sender >= 0 ? " from " + map_.islands[track.sender].name
                                                : std::string(": sums and requests")));
  const auto add = [&](int process, int to) {
    events_.push_back({{"ph", "X"},
                       {"pid", process},
                       {"tid", to},
                       {"name", fmt::format("round {}", track.round)},
                       {"ts", microseconds(slice.from)},
                       {"dur", double((slice.until - slice.from).ps) * 1e-6},
                       {"args", {{"packets", slice.packets}, {"bytes", slice.bytes}}}});
  };
  add(kLinks, number);
  if (track.sender >= 0 && track.lane == lane_up(map_, track.sender))
    add(kSenders, track.sender + 1);
}

void Trace::mark(int process, int number, Instant when, const std::string& name) {
  if (++marks_ > kMarksMax) return;
  events_.push_back({{"ph", "i"},
                     {"s", "t"},
                     {"pid", process},
                     {"tid", number},
                     {"name", name},
                     {"ts", microseconds(when)}});
}

void Trace::on_edge(Instant now, const EdgeState& state) {
  EdgeSeen& seen = edges_[state.island];
  for (const EdgeCount count : kWorthAMark)
    if (const std::uint64_t more = state.counters[count] - seen.counters[count];
        more > 0 && within(now))
      mark(kEdges, state.island + 1, now, fmt::format("{} {}", more, name_of(count)));
  seen.counters = state.counters;
  if (!within(now)) return;
  seen.open_slots = state.open_slots;
  if ((now - seen.shown).ps * kSamples >= (until_ - from_).ps) show_memory(state.island, now);
}

void Trace::show_memory(IslandId island, Instant when) {
  EdgeSeen& seen = edges_[island];
  if (seen.open_slots == seen.shown_slots) return;
  seen.shown = when;
  seen.shown_slots = seen.open_slots;
  events_.push_back({{"ph", "C"},
                     {"pid", int(kEdges)},
                     {"name", map_.islands[island].name + " memory"},
                     {"ts", microseconds(when)},
                     {"args", {{"bytes", std::int64_t(seen.open_slots) * slot_.count}}}});
}

void Trace::name_tracks() {
  const auto name = [&](const char* what, int process, int number, const std::string& text) {
    Json event = {{"ph", "M"}, {"pid", process}, {"name", what}, {"args", {{"name", text}}}};
    if (number > 0) event["tid"] = number;
    events_.push_back(std::move(event));
  };
  name("process_name", kSenders, 0, "senders");
  name("process_name", kLinks, 0, "links");
  name("process_name", kEdges, 0, "edges");
  for (IslandId island = 0; island < map_.island_count(); ++island) {
    name("thread_name", kSenders, island + 1, map_.islands[island].name);
    name("thread_name", kEdges, island + 1, "edge of " + map_.islands[island].name);
  }
  for (const auto& [number, text] : links_) name("thread_name", kLinks, number, text);
}

std::string Trace::json() {
  for (const auto& [track, slice] : open_) end(track, slice);
  open_.clear();
  for (IslandId island = 0; island < map_.island_count(); ++island) show_memory(island, until_);
  if (marks_ > kMarksMax)
    events_.push_back({{"ph", "i"},
                       {"s", "g"},
                       {"pid", int(kEdges)},
                       {"name", fmt::format("{} more marks are not shown", marks_ - kMarksMax)},
                       {"ts", microseconds(until_)}});
  name_tracks();
  const Json file = {{"displayTimeUnit", "ms"},
                     {"otherData", {{"simulated", true}, {"map", map_.name}}},
                     {"traceEvents", std::move(events_)}};
  return file.dump() + "\n";
}

}  // namespace cotillion
