// What happened when a plan was played, as plain data: in virtual time by the simulator, in real
// time by the daemons. Reports put it beside the plan.
#pragma once

#include <vector>

#include "plan/plan.hpp"
#include "protocol/counters.hpp"
#include "protocol/receiver.hpp"

namespace cotillion {

// Of a stream's last contribution at a receiver's edge, from the round's start.
struct ArrivalOutcome {
  IslandId sender = 0;
  IslandId receiver = 0;
  Duration planned;
  Duration measured;  // negative: nothing was accepted
};

struct CliqueOutcome {
  std::vector<IslandId> islands;
  Duration planned;      // its price
  Duration measured;     // from the round's start to the last chunk placed at a member
  bool complete = true;  // nothing was missing anywhere when the round was closed
  std::vector<ArrivalOutcome> arrivals;
};

struct AbsenceOutcome {
  IslandId receiver = 0;
  IslandId contributor = 0;
  ChunkId chunks = 0;
  ChunkId first_chunk = 0;
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
};

struct LaneOutcome {
  LaneId lane = 0;
  Bytes bytes;
  std::uint64_t packets = 0;
  std::uint64_t lost = 0;
  Duration queue_longest;
};

struct Outcome {
  Duration added_slack;  // to every round of the plan, for whole packets and patience
  std::vector<RoundOutcome> rounds;
  std::vector<EdgeOutcome> edges;           // by island
  std::vector<ReceiverCounters> receivers;  // by island
  std::vector<SenderCounters> senders;      // by island
  std::vector<std::uint64_t> steps;         // by island; empty when islands did not compute
  std::vector<LaneOutcome> lanes;           // that carried anything
  std::uint64_t hops = 0;                   // packets over lanes
  std::uint64_t events = 0;
  Duration played;  // virtual time
};

}  // namespace cotillion
