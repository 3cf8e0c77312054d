#include "plan/policies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/random.hpp"
#include "plan/explain.hpp"
#include "plan/named_schedule.hpp"
#include "plan/overlap.hpp"
#include "plan/rivals.hpp"

namespace cotillion {
namespace {

const RealDuration kUnending = RealDuration::from_ps(std::numeric_limits<double>::infinity());

constexpr const char* kPipelined = "; the next begins while one flies";

// Random pairs are an expectation: so many seeds, each of so many rounds, less on large maps
// where one draw already averages over many islands.
struct Draws {
  int seeds, rounds;
};
Draws draws_for(int islands) {
  if (islands <= 20) return {32, 48};
  if (islands <= 100) return {8, 24};
  return {4, 8};
}

class Scorer {
 public:
  Scorer(const NetworkModel& network, const CompareSettings& settings, MixingMemory& memory)
      : network_(network),
        settings_(settings),
        memory_(memory),
        unicast_(network.map(), network.routes(),
                 {{false, false}, network.settings().ships_state}) {}

  std::vector<Policy> all() {
    schedules();
    overlapped_rivals();
    blocking_rivals();
    sort_best_first(policies_, settings_.plan.objective);
    return std::move(policies_);
  }

  // Only those that train while they exchange.
  std::vector<Policy> rivals() {
    overlapped_rivals();
    sort_best_first(policies_, settings_.plan.objective);
    return std::move(policies_);
  }

 private:
  void say(const std::string& what) const {
    if (settings_.progress) settings_.progress(what);
  }

  void overlapped_rivals() {
    rings();
    say("butterfly all-reduce");
    direct_ = butterfly(unicast_, memory_);
    const char* two_phases = "direct reduce-scatter and all-gather";
    std::vector<Policy> direct{overlapped("butterfly all-reduce", direct_, two_phases)};
    if (settings_.plan.relax.overlap)
      direct.push_back(
          overlapped("butterfly all-reduce",
                     streamed_butterfly(unicast_, overlap_fragments(settings_.plan), memory_),
                     std::string(two_phases) + kPipelined));
    keep_best(std::move(direct));
    streaming();
    say("one-peer exponential");
    policies_.push_back(best_lengths_of(
        "one-peer exponential",
        one_peer_exponential(unicast_, exponential_order(unicast_), memory_),
        network_.map().island_count() <= kExponentialExactMax ? "best order, by trying all"
                                                              : "order by local search"));
    pairs_at_random();
    say("unicast schedules");
    unicast("unicast all-to-all", "all-to-all");
    unicast("unicast grid", "grid");
  }

  // Where routes may be decided, also around full lanes; where exchanges may overlap, one after
  // the other.
  void rings() {
    say("ring all-reduce");
    const RingOrder order =
        settings_.ring_order.empty() ? best_ring(unicast_) : RingOrder{settings_.ring_order, false};
    rings_ = {ring(unicast_, order.order, memory_)};
    if (settings_.plan.relax.routes)
      for (RivalExchange& around : rerouted_rings(unicast_, order.order, memory_))
        rings_.push_back(std::move(around));
    const std::string note = ring_note(order);
    std::vector<Policy> choices;
    for (const RivalExchange& around : rings_) {
      const std::string routed = note + routed_note(around);
      choices.push_back(overlapped("ring all-reduce", around, routed));
      if (settings_.plan.relax.overlap)
        choices.push_back(overlapped("ring all-reduce",
                                     streamed_ring(around, overlap_fragments(settings_.plan)),
                                     routed + kPipelined));
    }
    keep_best(std::move(choices));
    const auto fastest = std::min_element(
        rings_.begin(), rings_.end(),
        [](const RivalExchange& a, const RivalExchange& b) { return a.time < b.time; });
    fastest_ring_ = *fastest;
    ring_note_ = note + routed_note(*fastest);
  }
  [[nodiscard]] const char* routed_note(const RivalExchange& around) const {
    return &around == &rings_.front() ? "" : "; around full lanes";
  }

  // By the chosen objective; ties go to what streams sooner, then to what the paper would take.
  void keep_best(std::vector<Policy> choices) {
    const auto rank = [&](const Policy& policy) {
      return std::pair(policy.objective(settings_.plan.objective),
                       policy.objective(Objective::kPaperStreamed));
    };
    policies_.push_back(std::move(
        *std::min_element(choices.begin(), choices.end(),
                          [&](const Policy& a, const Policy& b) { return rank(a) < rank(b); })));
  }

  void blocking_rivals() {
    blocking("synchronous SGD, ring", fastest_ring_, 1, ring_note_);
    blocking("synchronous SGD, butterfly", direct_, 1, "");
    synchronous_with_hardware();
    blocking(fmt::format("local SGD, H = {}", settings_.local_steps), direct_,
             settings_.local_steps, "blocks for a butterfly every H steps");
    blocking(fmt::format("DiLoCo, H = {}", settings_.diloco_steps), direct_, settings_.diloco_steps,
             "blocks for a butterfly every H steps");
  }

  void schedules() {
    for (const ScheduleName& name : schedule_names()) {
      say(std::string(name.name));
      const auto schedule = named_schedule(name.name, network_.map(), network_.routes());
      if (schedule) policies_.push_back(policy_of(network_, plan_on(network_, *schedule)));
    }
  }

  [[nodiscard]] Plan plan_on(const NetworkModel& network, const Schedule& schedule) {
    const Mixing& mixing = memory_.recall(schedule.name, schedule, network.map().island_count());
    return make_plan(network, schedule, settings_.plan, &mixing);
  }

  // A rival that trains while it exchanges, once every round.
  [[nodiscard]] Policy overlapped(const std::string& name, const RivalExchange& exchange,
                                  const std::string& note) const {
    return overlapped(name, {exchange, delay_of(exchange)}, note);
  }
  [[nodiscard]] Policy overlapped(const std::string& name, const StreamedExchange& streamed,
                                  const std::string& note) const {
    const RivalExchange& exchange = streamed.cycle;
    Policy policy = from_exchange(name, exchange, note);
    policy.cycle = round_length(exchange.time, settings_.plan);
    policy.area = exchange.mixing.area;
    policy.settles_after = exchange.mixing.settles_after;
    const std::vector<RealDuration> lengths(std::max<std::size_t>(exchange.mixing.phases.size(), 1),
                                            policy.cycle);
    for (const Objective objective : kObjectives)
      policy.objectives.push_back(staleness(objective, exchange.mixing, lengths, streamed.delay));
    add_traffic(policy, exchange.payloads_out);
    return policy;
  }
  [[nodiscard]] RealDuration delay_of(const RivalTime& round) const {
    return round.time - round.serialisation * (1 - 1.0 / settings_.plan.fragments);
  }

  // With rounds of one length, or each as long as it needs where that is allowed and better.
  [[nodiscard]] Policy best_lengths_of(const std::string& name, const RivalExchange& exchange,
                                       const std::string& note) const {
    Policy policy = overlapped(name, exchange, note);
    if (!settings_.plan.relax.lengths || exchange.rounds.size() != exchange.mixing.phases.size())
      return policy;
    Policy own = policy;
    std::vector<RealDuration> lengths, delays;
    own.cycle = {};
    for (const RivalTime& round : exchange.rounds) {
      lengths.push_back(round_length(round.time, settings_.plan));
      delays.push_back(delay_of(round));
      own.cycle = own.cycle + lengths.back() * (1.0 / double(exchange.rounds.size()));
    }
    for (std::size_t k = 0; k < kObjectives.size(); ++k)
      own.objectives[k] = staleness(kObjectives[k], exchange.mixing, lengths, delays);
    add_traffic(own, exchange.payloads_out);
    const Objective objective = settings_.plan.objective;
    return own.objective(objective) < policy.objective(objective) ? own : policy;
  }

  // Over whichever all-reduce serves it better.
  void streaming() {
    say("Streaming DiLoCo");
    const int fragments = settings_.plan.fragments;
    std::vector<Policy> choices{
        streaming_over("a butterfly", streamed_butterfly(unicast_, fragments, memory_))};
    for (const RivalExchange& around : rings_)
      choices.push_back(streaming_over(std::string("a ring") + routed_note(around),
                                       streamed_ring(around, fragments)));
    keep_best(std::move(choices));
  }
  [[nodiscard]] Policy streaming_over(const std::string& what,
                                      const StreamedExchange& streamed) const {
    const RealDuration cycle = round_length(streamed.cycle.time, settings_.plan);
    std::string note = fmt::format("{} fragments over {}, each copied every {:.1f} ms",
                                   settings_.plan.fragments, what, cycle.ms());
    if (settings_.plan.step_time.ps > 0)
      note += fmt::format(" ({:.2f} steps)", cycle / settings_.plan.step_time);
    note += fmt::format(" and merged {:.1f} ms later", streamed.delay.ms());
    return overlapped("Streaming DiLoCo", streamed, note);
  }

  // A rival whose GPUs wait: H steps, then the exchange. A step's update waits for the steps that
  // are left before the exchange, (H − 1)/2 on average; nobody trains meanwhile.
  void blocking(const std::string& name, const RivalExchange& exchange, int steps,
                const std::string& note) {
    Policy policy = from_exchange(name, exchange, note);
    block(policy, steps);
    add_traffic(policy, exchange.payloads_out);
    policies_.push_back(std::move(policy));
  }

  void block(Policy& policy, int steps) const {
    const RealDuration training = settings_.plan.step_time * steps;
    policy.blocking = true;
    policy.area.reset();
    policy.settles_after = 1;
    policy.cycle = training + policy.exchange;
    policy.utilisation = policy.feasible ? training / policy.cycle : 0;
    policy.objectives.assign(
        kObjectives.size(),
        policy.feasible ? settings_.plan.step_time * ((steps - 1) / 2.0) : kUnending);
  }

  void synchronous_with_hardware() {
    const auto schedule = named_schedule("all-to-all", network_.map(), network_.routes());
    const Plan plan = plan_on(network_, *schedule);
    Policy policy = policy_of(network_, plan);
    const RealDuration before = policy.cycle;
    policy.kind = Policy::Kind::kRival;
    policy.name = fmt::format("synchronous SGD, {}", network_.technology() == Technology{}
                                                         ? "multicast + edges"
                                                         : "all-to-all as set");
    block(policy, 1);
    for (double& rate : policy.egress) rate *= policy.feasible ? before / policy.cycle : 0;
    for (double& rate : policy.ingress) rate *= policy.feasible ? before / policy.cycle : 0;
    policies_.push_back(std::move(policy));
  }

  void unicast(const std::string& name, const char* schedule_name) {
    const auto schedule = named_schedule(schedule_name, network_.map(), network_.routes());
    if (!schedule) return;
    Policy policy = policy_of(unicast_, plan_on(unicast_, *schedule));
    policy.kind = Policy::Kind::kRival;
    policy.name = name;
    policies_.push_back(std::move(policy));
  }

  void pairs_at_random() {
    const Draws draws = draws_for(network_.map().island_count());
    std::vector<Policy> drawn;
    Random seeds(settings_.seed);
    for (int i = 0; i < draws.seeds; ++i) {
      say(fmt::format("random pairs, draw {} of {}", i + 1, draws.seeds));
      drawn.push_back(best_lengths_of(
          "random pairs", random_pairs(unicast_, seeds.next(), draws.rounds, memory_),
          fmt::format("mean over {} draws of {} rounds", draws.seeds, draws.rounds)));
    }
    policies_.push_back(mean_of(drawn));
  }

  // With the standard error of the chosen objective in the note.
  [[nodiscard]] Policy mean_of(const std::vector<Policy>& drawn) const {
    Policy mean = drawn.front();
    const double share = 1.0 / double(drawn.size());
    const auto average = [&](const auto& field) {
      double total = 0;
      for (const Policy& policy : drawn) total += field(policy) * share;
      return total;
    };
    mean.exchange = RealDuration::from_ps(average([](const Policy& p) { return p.exchange.ps; }));
    mean.cycle = RealDuration::from_ps(average([](const Policy& p) { return p.cycle.ps; }));
    mean.area = average([](const Policy& p) { return *p.area; });
    mean.settles_after.reset();
    const auto staleness_ms = [&](const Policy& p) {
      return p.objective(settings_.plan.objective).ms();
    };
    const double middle = average(staleness_ms);
    const double variance =
        average([&](const Policy& p) { return std::pow(staleness_ms(p) - middle, 2); });
    mean.note += fmt::format("; staleness ± {:.0f} ms", std::sqrt(variance * share));
    for (std::size_t k = 0; k < mean.objectives.size(); ++k)
      mean.objectives[k] =
          RealDuration::from_ps(average([&](const Policy& p) { return p.objectives[k].ps; }));
    for (std::size_t i = 0; i < mean.egress.size(); ++i) {
      mean.egress[i] = average([&](const Policy& p) { return p.egress[i]; });
      mean.ingress[i] = average([&](const Policy& p) { return p.ingress[i]; });
    }
    return mean;
  }

  [[nodiscard]] Policy from_exchange(const std::string& name, const RivalExchange& exchange,
                                     const std::string& note) const {
    Policy policy;
    policy.kind = Policy::Kind::kRival;
    policy.name = name;
    policy.note = note;
    policy.exchange = exchange.time;
    if (exchange.limit.lane >= 0)
      policy.binding =
          lane_phrase(network_.map(), exchange.limit.lane, exchange.limit.flows, "flow");
    return policy;
  }

  void add_traffic(Policy& policy, double payloads) const {
    const double bytes = payloads * double(network_.payload().count) * network_.wire_factor();
    const double rate = policy.cycle.ps > 0 ? bytes / policy.cycle.seconds() : 0;
    policy.egress.assign(network_.map().islands.size(), rate);
    policy.ingress = policy.egress;
  }

  [[nodiscard]] std::string ring_note(const RingOrder& ring_order) const {
    std::string text = !settings_.ring_order.empty() ? "order as given:"
                       : ring_order.exact            ? "best order, exact:"
                                                     : "order by heuristic:";
    if (ring_order.order.size() > 16) return text.substr(0, text.size() - 1);
    for (const IslandId island : ring_order.order)
      text += " " + network_.map().islands[island].name;
    return text;
  }

  const NetworkModel& network_;
  const CompareSettings& settings_;
  MixingMemory& memory_;
  NetworkModel unicast_;
  std::vector<RivalExchange> rings_;  // on shortest ways, then around full lanes
  RivalExchange fastest_ring_, direct_;
  std::string ring_note_;  // of the fastest
  std::vector<Policy> policies_;
};

}  // namespace

std::optional<Policy> best_rival(const NetworkModel& network, const CompareSettings& settings) {
  MixingMemory memory;
  std::vector<Policy> rivals = Scorer(network, settings, memory).rivals();
  const RealDuration best = rivals.front().objective(settings.plan.objective);
  if (!rivals.front().feasible || !std::isfinite(best.ps)) return std::nullopt;
  return std::move(rivals.front());
}

std::vector<Policy> score_policies(const NetworkModel& network, const CompareSettings& settings,
                                   MixingMemory& memory) {
  return Scorer(network, settings, memory).all();
}

}  // namespace cotillion
