#include "train/packetised_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "job/roles.hpp"
#include "policy/payload_plan.hpp"
#include "policy/rotation_clock.hpp"

namespace cotillion {
namespace {

// Of a model: a packet should pass in a small part of a round, and there should not be more of them
// than a small machine can pass on in time.
constexpr std::int64_t kChunks = 512;

constexpr int kLengthened = 3;  // times, until steps can tell rounds apart

// Everything has come when the last packet would be given up.
RecipeRound timed(const JobAssignment& assignment, RoundId number, const RecipeRound& planned,
                  int islands, int pace, bool overlaps) {
  const auto seconds = [&](Duration time) {
    return double(time.ps) / kPicosecondsPerSecond / pace;
  };
  const JobSpec& job = assignment.job();
  const Instant start = assignment.start_of(number, {0}),
                end = assignment.start_of(number + 1, {0});
  RecipeRound round = planned;
  round.length = seconds(end - start);
  for (IslandId island = 0; island < islands; ++island) {
    const RoundAssignment part = assignment.part(number, island, {0});
    for (int f = 0; f < job.fragments; ++f) {
      const std::size_t at = std::size_t(island) * std::size_t(job.fragments) + std::size_t(f);
      round.leaves[at] = 0;
      round.arrives[at] = round.length;
      if (!part.sends || assignment.settings().exchange == Exchange::kWhole) continue;
      round.leaves[at] = seconds(
          planned_departure(part.stream, sender_role(assignment), job, first_chunk(job, f)) -
          start);
      const Instant last = chunk_deadline(part.spec, job, first_chunk(job, f + 1) - 1);
      round.arrives[at] = seconds(last + part.receiver.grace - start);
      if (!overlaps) round.arrives[at] = std::min(round.length, round.arrives[at]);
    }
  }
  return round;
}

// Rounds of an assignment as its recipe has them, and how much longer steps want each of them.
double write_rounds(const JobAssignment& assignment, PacketisedPlan& played) {
  RotationRecipe& made = rotation_of(played.recipe);
  for (std::size_t k = 0; k < made.rounds.size(); ++k)
    made.rounds[k] = timed(assignment, RoundId(k + 1), made.rounds[k], island_count(played.recipe),
                           played.pace, played.plan.plan.overlapped);
  return RotationTimes(played.recipe, made).lacking();
}

// The recipe on the clock of packets, in rounds that are longer where steps want them so.
Result<void> put_on_packets(PacketisedPlan& played) {
  for (int again = 0; again < kLengthened; ++again) {
    const auto assignment = JobAssignment::make(played.plan, played.job_settings);
    if (!assignment) return Unexpected<Error>{assignment.error()};
    rotation_of(played.recipe).grain = std::int64_t(elements_per_chunk(assignment->job()));
    const double lacking = write_rounds(*assignment, played);
    if (lacking == 0) return {};
    // What packets need is in the plan then, and not added once more.
    const RealDuration longer(assignment->added_slack());
    played.plan.plan =
        lengthened(std::move(played.plan.plan),
                   longer + RealDuration::from_ps(lacking * played.pace * kPicosecondsPerSecond));
  }
  return failure("packet by packet rounds do not get long enough for these steps");
}

Element element_of(WireFormat wire) {
  return wire == WireFormat::kBf16  ? Element::kBf16
         : wire == WireFormat::kI32 ? Element::kI32
                                    : Element::kF32;
}

}  // namespace

JobSettings job_settings_for(const RotationRecipe& recipe, Exchange exchange, Duration grace) {
  JobSettings job_settings;
  job_settings.element = element_of(recipe.wire);
  job_settings.exchange = exchange;
  job_settings.fragments = recipe.fragments;
  job_settings.grace = grace;
  return job_settings;
}

PlanFile scaled_to(const PlanFile& given, Bytes wanted) {
  PlanFile plan = given;
  Bytes payload = plan.map.payload;
  for (const PlannedRound& round : plan.plan.rounds)
    for (const PlannedClique& clique : round.cliques)
      for (const Stream& stream : clique.streams) payload = stream.payload;
  const double scale = double(wanted.count) / double(payload.count);
  const auto scaled = [&](Bytes bytes) {
    return Bytes{std::int64_t(std::ceil(double(bytes.count) * scale))};
  };
  // Whole beats, few enough to be quick, small enough to be fluid.
  const std::int64_t few = kChunks * std::int64_t(kBeatBytes);
  const std::int64_t beats = (wanted.count + few - 1) / few;
  const auto fit = [&](EdgeSpec& spec, std::size_t islands) {
    spec.memory = scaled(spec.memory) + Bytes{std::int64_t(islands)};  // shares are rounded down
    spec.chunk = Bytes{std::min(spec.chunk.count, beats * std::int64_t(kBeatBytes))};
    spec.slot = spec.chunk;
    spec.framing = Bytes{0};
  };
  plan.map.payload = wanted;
  fit(plan.map.edge, 0);
  for (Aggregator& aggregator : plan.map.aggregators)
    fit(aggregator.spec, plan.plan.overlapped ? aggregator.serves.size() : 0);
  for (Island& island : plan.map.islands) {
    island.up = island.up * scale;
    island.down = island.down * scale;
  }
  for (Link& link : plan.map.links)
    for (BitsPerSecond& rate : link.rate) rate = rate * scale;
  for (PlannedRound& round : plan.plan.rounds) {
    for (LaneUse& use : round.lanes) {
      use.rate = use.rate * scale;
      use.bytes = scaled(use.bytes);
    }
    for (EdgeUse& use : round.edges) use.memory_peak = scaled(use.memory_peak);
    for (PlannedClique& clique : round.cliques) {
      clique.rate = clique.rate * scale;
      clique.binding.bound = clique.binding.bound * scale;
      // Rounds that overlap stand and fall with how long streams pass, and here nothing is framed.
      if (plan.plan.overlapped && !clique.streams.empty())
        clique.rate = {double(wanted.count) * 8 / clique.serialisation.seconds()};
      for (Stream& stream : clique.streams) {
        stream.rate = plan.plan.overlapped ? clique.rate : stream.rate * scale;
        stream.payload = wanted;
      }
    }
  }
  return plan;
}

void slow_down(PlanFile& plan, int pace) {
  const auto slower = [&](BitsPerSecond& rate) { rate = rate / double(pace); };
  const auto longer = [&](RealDuration& time) { time.ps *= pace; };
  for (Island& island : plan.map.islands) {
    slower(island.up);
    slower(island.down);
  }
  for (Link& link : plan.map.links) {
    for (BitsPerSecond& rate : link.rate) slower(rate);
    for (Duration& latency : link.latency) latency.ps *= pace;
  }
  for (Ingress& ingress : plan.ingress) ingress.latency.ps *= pace;
  Plan& made = plan.plan;
  for (RealDuration* time :
       {&made.settings.slack, &made.settings.step_time, &made.round, &made.streamed_delay})
    longer(*time);
  for (RealDuration& objective : made.objectives) longer(objective);
  for (PlannedRound& round : made.rounds) {
    for (RealDuration* time : {&round.start, &round.length, &round.planned}) longer(*time);
    for (LaneUse& use : round.lanes) slower(use.rate);
    for (PlannedClique& clique : round.cliques) {
      longer(clique.price);
      longer(clique.serialisation);
      for (RealDuration& sum : clique.sums) longer(sum);
      slower(clique.rate);
      slower(clique.binding.bound);
      clique.binding.cycle_excess.ps *= pace;
      for (Stream& stream : clique.streams) {
        longer(stream.offset);
        slower(stream.rate);
        for (Arrival& arrival : stream.receivers) arrival.latency.ps *= pace;
      }
    }
  }
}

Faults slowed(Faults faults, int pace) {
  const std::int64_t never = LaneFault{}.until.ps;
  for (LaneFault& fault : faults.lanes)
    for (Duration* time : {&fault.by, &fault.from, &fault.until})
      time->ps = time->ps < never / pace ? time->ps * pace : never;
  return faults;
}

std::string why_not_under(const Faults& faults, const Recipe& recipe) {
  if (!faults.islands.empty()) return kFaultsOfLinksOnly;
  const RotationRecipe& rotation = rotation_of(recipe);
  if (!faults.lanes.empty() && rotation.momentum > 0 && rotation.progress < 1)
    return "momentum with progress= is not trained under --faults: whether anybody was heard is "
           "known too late for what leaves next; leave one of the three out";
  return "";
}

Result<PacketisedPlan> packetised(const PlanFile& plan, const Recipe& recipe, std::int64_t elements,
                                  const PacketSettings& settings) {
  if (!is_a<RotationRecipe>(recipe) || !recipe.policy.starts_with("plan"))
    return failure("only the plan's own policy is played packet by packet, not " + recipe.policy);
  for (const double share : recipe.shares)
    if (std::abs(share - recipe.shares[0]) > 1e-12)
      return failure("islands of unequal weight are trained ideally, not packet by packet");
  const RotationRecipe& rotation = rotation_of(recipe);
  if (rotation.moments > 0) return failure("moments= is for ideal exchanges");
  if (rotation.lost > 0)
    return failure("--lose is for ideal exchanges; here --faults loses packets");
  for (const Link& link : plan.map.links)
    for (const Duration latency : link.latency)
      if (latency.ps > kLatencyMax.ps / settings.pace)
        return failure(fmt::format("at a pace of {} {} is longer than {}; {} is possible",
                                   settings.pace, link_name(plan.map, link), to_text(kLatencyMax),
                                   kLatencyMax.ps / latency.ps));
  PlanFile sent = with_payload_and_steps(plan, recipe.payload, recipe.step_time);
  const bool streamed = sent.plan.overlapped || rotation.fragments > 1 ||
                        rotation.rounds[0].arrives.front() < rotation.rounds[0].length;
  const JobSettings job =
      job_settings_for(rotation, streamed ? Exchange::kStreamed : Exchange::kWhole, settings.grace);
  const Bytes payload{std::int64_t(bytes_of(job.element)) * elements};
  PacketisedPlan played{scaled_to(sent, payload), job, recipe, settings.pace};
  slow_down(played.plan, settings.pace);
  if (auto timed = put_on_packets(played); !timed) return Unexpected<Error>{timed.error()};
  const std::string why = why_not_by_the_clock(played.recipe);
  if (!why.empty()) return failure("packet by packet: " + why);
  return played;
}

int rounds_within(const Recipe& recipe, std::int64_t steps) {
  return int(RotationClock(recipe).rounds_at(steps).last) + 1;
}

}  // namespace cotillion
