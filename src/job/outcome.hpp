// The outcome of a run, as plain data: what happened when a plan was played, in virtual time by the
// simulator or in real time by the daemons, and what the plan says of it. It is complete when the
// run ends (job/complete_outcome); reports and writers add nothing.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/absence.hpp"
#include "plan/ledger.hpp"
#include "plan/plan.hpp"
#include "protocol/counters.hpp"
#include "protocol/receiver.hpp"

namespace cotillion {

// When the last chunk of a stream reached an edge, from the round's start; zero if none did.
struct ArrivalOutcome {
  IslandId sender = 0;
  IslandId receiver = 0;
  Duration planned;
  Duration measured;
};

struct CliqueOutcome {
  std::vector<IslandId> islands;
  Duration planned;      // its price
  Duration measured;     // from the round's start to the last chunk placed at a member
  bool complete = true;  // nothing was missing anywhere when the round was closed
  std::vector<ArrivalOutcome> arrivals = {};  // of every stream at every edge, where they are kept
  // Of its last planned arrival: what whole packets add on the way, and how late an emulator of the
  // links was there, at the median.
  Duration store_and_forward = {};
  Duration emulator = {};
};

// Of somebody's contribution; of one's own: no account was given of the round, because the island
// was dead.
struct AbsenceOutcome : Absence {
  IslandId receiver = 0;  // whose sums lack it
};

struct RoundOutcome {
  RoundId round = 0;
  Duration planned;
  Duration measured;
  std::vector<CliqueOutcome> cliques;
  std::vector<AbsenceOutcome> absences;
  // Ŵ, row by row: from whom each island's state came, mean over chunks, own weight included.
  std::vector<double> mixing;
};

struct EdgeOutcome {
  IslandId island = 0;
  Bytes memory_peak;     // of open slots
  Bytes memory_planned;  // the largest of the rounds played
  EdgeCounters counters;
  // What explains its memory. `late` is the most that a stream can have come late, at its
  // sender and on its way; in that time it brings `late_packets`, and as many slots stay open.
  Bytes slot = {};  // memory of one packet
  int streams = 0;  // at most, in a round
  Duration late = {};
  double late_packets = 0;
};

struct LaneOutcome {
  LaneId lane = 0;
  Bytes bytes;
  Bytes bytes_planned;  // in the rounds played
  std::uint64_t packets = 0;
  std::uint64_t lost = 0;
  Duration queue_longest;
  Duration packet = {};  // that one whole packet takes on it
  // How late an emulator of the link was itself, packet by packet.
  Duration late_median = {}, late_p99 = {}, late_most = {};
};

// Staleness counted from every copy and every merge, of the exchange that was played.
struct ExactOutcome {
  ExactStaleness planned;
  std::optional<ExactStaleness> lived = {};  // as it really was
  std::size_t rounds_needed = 0;             // to say so; fewer: nothing lived
};

struct Outcome {
  // How it was played, for people: "grace", "1ms".
  std::vector<std::pair<std::string, std::string>> settings;
  Duration added_slack;  // to every round of the plan, for whole packets and grace
  std::vector<RoundOutcome> rounds;
  IdVector<IslandId, EdgeOutcome> edges;
  IdVector<IslandId, ReceiverCounters> receivers;
  IdVector<IslandId, SenderCounters> senders;
  IdVector<IslandId, std::uint64_t> steps;  // zeros when islands did not compute
  std::vector<LaneOutcome> lanes;           // that carried anything, or should have
  std::uint64_t hops = 0;                   // packets over lanes
  std::uint64_t events = 0;
  Duration played;                         // virtual time
  std::optional<ExactOutcome> exact = {};  // nothing: islands never connect, or nobody counted
  double planned_loss = 0;                 // Σ_k Σ_h e_k(h) of the plan over as many rounds
};

}  // namespace cotillion
