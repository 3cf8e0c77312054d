// The plan: every decision at the finest grain at which it could one day differ. The paper's
// core model is uniform and fills in equal values (one length for all rounds, one rate for all
// streams of a clique); its appendix is not, and needs no other format. Trees and latencies
// are written out, so that nobody who plays a plan has to route again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/mixing.hpp"
#include "plan/network_model.hpp"
#include "plan/objective.hpp"
#include "plan/relaxations.hpp"

namespace cotillion {

struct PlanSettings {
  RealDuration slack;        // added to every round for jitter, clocks, hops
  RealDuration step_time;    // τ: one local step; zero when unknown
  bool whole_steps = false;  // round lengths up to a multiple of τ
  Objective objective = Objective::kPaper;
  int fragments = 8;  // F of the streamed objectives
  // The most that each island may send, bytes per second; infinite where it does not matter.
  // Rounds are made longer than the exchange rather than exceed it. Empty: nobody has a cap.
  std::vector<double> egress_most;
  Relaxations relax;    // of the core model; none: the paper's
  double headroom = 0;  // where rounds overlap: a share of every lane that is left to resends
};

// Until the next round starts, when the exchange takes `round`: slack added, then whole steps.
[[nodiscard]] RealDuration round_length(RealDuration round, const PlanSettings& settings);

// The same under egress caps, when each island emits so many copies of the payload in a period.
[[nodiscard]] RealDuration round_length(const NetworkModel& network, const PlanSettings& settings,
                                        RealDuration round, const std::vector<int>& sent,
                                        int period);

struct Arrival {
  IslandId receiver = 0;
  Duration latency;  // of flight, by way of the receiver's edge
};

struct Stream {
  IslandId sender = 0;
  RealDuration offset;
  BitsPerSecond rate;  // on the wire, framing included
  Bytes payload;
  std::vector<LaneId> tree;  // the sender's up lane first
  std::vector<int> copies;   // by lane of the tree
  std::vector<Arrival> receivers;
};

// A step of the chain that sets a price (clique_price.hpp), with islands for members.
struct Wait {
  IslandId leader = 0;
  IslandId waiter = 0;
  IslandId receiver = 0;
};

// What keeps a clique from being cheaper.
struct Binding {
  enum class Kind { kNothing, kAccess, kLink, kMemory, kInfeasible };
  Kind kind = Kind::kNothing;          // what sets the pace; kNothing for a clique of one
  LaneId lane = -1;                    // the lane of the rate bound
  int lane_streams = 0;                // that share it, in the whole round
  std::vector<IslandId> lane_senders;  // whose streams they are
  BitsPerSecond bound;                 // what the network would allow
  std::vector<Wait> chain;             // offsets that add up to the price
  IslandId last_sender = -1;           // the flight that ends the exchange
  IslandId last_receiver = -1;
  std::vector<Wait> cycle;  // when infeasible
  Duration cycle_excess;
};

struct PlannedClique {
  std::vector<IslandId> islands;
  std::vector<double> weights;  // as in Clique
  bool feasible = true;
  bool runnable = true;        // at most kCliqueMembersMax members
  RealDuration price;          // T_c
  BitsPerSecond rate;          // of its streams, on the wire
  RealDuration serialisation;  // D/b
  // Where rounds overlap: by member, when the sum into it begins to arrive, from the start of the
  // round. Empty where a round ends before the next begins: a sum then begins with its last
  // arrival.
  std::vector<RealDuration> sums;
  Binding binding;
  std::vector<Stream> streams;  // by sender; none for a clique of one
};

// When the sum into a member begins to reach it, from the start of the round.
[[nodiscard]] RealDuration sum_begins(const PlannedClique& clique, std::size_t member);

struct LaneUse {
  LaneId lane = 0;
  int streams = 0;
  BitsPerSecond rate;  // while all of them flow
  Bytes bytes;         // in the whole round
};

struct EdgeUse {
  AggregatorId aggregator = 0;
  Bytes memory_peak;  // of accumulator memory, slots as wide as the spec says
};

struct PlannedRound {
  RealDuration start;    // from the start of the period
  RealDuration length;   // until the next round starts: T + slack
  RealDuration planned;  // this round's own largest clique price
  std::vector<PlannedClique> cliques;
  std::vector<LaneUse> lanes;
  std::vector<EdgeUse> edges;
};

struct Plan {
  std::string schedule;
  PlanSettings settings;
  NetworkModelSettings network;
  bool feasible = true;
  bool runnable = true;
  RealDuration round;           // T
  RealDuration streamed_delay;  // d
  bool overlapped = false;      // rounds begin before the ones before them have ended
  Mixing mixing;
  std::vector<RealDuration> objectives;  // by kObjectives; infinite when islands never connect
  std::vector<PlannedRound> rounds;
  std::int64_t constraints_checked = 0;  // by the certificate, none of them broken
  double worst_excess = 0;               // by rounding, relative to the constraint's size

  [[nodiscard]] RealDuration objective(Objective which) const {
    return objectives[std::size_t(which)];
  }
  [[nodiscard]] RealDuration staleness() const { return objective(settings.objective); }
  // The mean length of a round in the steady state.
  [[nodiscard]] RealDuration mean_length() const;
  // H: local steps in a round.
  [[nodiscard]] double steps_per_round() const { return mean_length() / settings.step_time; }
};

// Prices every clique of every round, sets T to the dearest, and scores the schedule. An
// infeasible schedule yields a plan that says so and why. The answer has been re-checked
// against every constraint of the paper (certificate.hpp). Mixing depends on the schedule alone:
// give it where it is `known`, and it is not computed again.
[[nodiscard]] Plan make_plan(const NetworkModel& network, const Schedule& schedule,
                             const PlanSettings& settings = {}, const Mixing* known = nullptr);

}  // namespace cotillion
