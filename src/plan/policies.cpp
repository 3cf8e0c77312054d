#include "plan/policies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/random.hpp"
#include "plan/explain.hpp"
#include "plan/named_schedule.hpp"
#include "plan/rivals.hpp"

namespace cotillion {
namespace {

const RealDuration kUnending = RealDuration::from_ps(std::numeric_limits<double>::infinity());

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
    say("ring all-reduce");
    const RingOrder order =
        settings_.ring_order.empty() ? best_ring(unicast_) : RingOrder{settings_.ring_order, false};
    const RivalExchange around = ring(unicast_, order.order, memory_);
    const std::string found = ring_note(order);
    overlapped("ring all-reduce", around, found);
    say("butterfly all-reduce");
    const RivalExchange direct = butterfly(unicast_, memory_);
    overlapped("butterfly all-reduce", direct, "direct reduce-scatter and all-gather");
    say("one-peer exponential");
    overlapped("one-peer exponential",
               one_peer_exponential(unicast_, exponential_order(unicast_), memory_),
               network_.map().island_count() <= kExponentialExactMax ? "best order, by trying all"
                                                                     : "order by local search");
    pairs_at_random();
    say("unicast schedules");
    unicast("unicast all-to-all", "all-to-all");
    unicast("unicast grid", "grid");
    blocking("synchronous SGD, ring", around, 1, found);
    blocking("synchronous SGD, butterfly", direct, 1, "");
    synchronous_with_hardware();
    blocking(fmt::format("local SGD, H = {}", settings_.local_steps), direct, settings_.local_steps,
             "blocks for a butterfly every H steps");
    blocking(fmt::format("DiLoCo, H = {}", settings_.diloco_steps), direct, settings_.diloco_steps,
             "blocks for a butterfly every H steps");
    sort_best_first(policies_, settings_.plan.objective);
    return std::move(policies_);
  }

 private:
  void say(const std::string& what) const {
    if (settings_.progress) settings_.progress(what);
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
  void overlapped(const std::string& name, const RivalExchange& exchange, const std::string& note) {
    Policy policy = from_exchange(name, exchange, note);
    policy.cycle = round_length(exchange.time, settings_.plan);
    policy.area = exchange.mixing.area;
    policy.settles_after = exchange.mixing.settles_after;
    const double streamed = 1 - 1.0 / settings_.plan.fragments;
    const RealDuration delay = exchange.time - exchange.serialisation * streamed;
    const std::vector<RealDuration> lengths(std::max<std::size_t>(exchange.mixing.phases.size(), 1),
                                            policy.cycle);
    for (const Objective objective : kObjectives)
      policy.objectives.push_back(staleness(objective, exchange.mixing, lengths, delay));
    add_traffic(policy, exchange.payloads_out);
    policies_.push_back(std::move(policy));
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
      overlapped("random pairs", random_pairs(unicast_, seeds.next(), draws.rounds, memory_),
                 fmt::format("mean over {} draws of {} rounds", draws.seeds, draws.rounds));
      drawn.push_back(std::move(policies_.back()));
      policies_.pop_back();
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
  std::vector<Policy> policies_;
};

}  // namespace

Policy policy_of(const NetworkModel& network, const Plan& plan) {
  Policy policy;
  policy.name = plan.schedule;
  policy.feasible = plan.feasible;
  policy.runnable = plan.runnable;
  policy.exchange = plan.feasible ? plan.round : kUnending;
  policy.cycle = plan.feasible ? plan.rounds[0].length : kUnending;
  policy.area = plan.mixing.area;
  policy.objectives = plan.objectives;
  policy.settles_after = plan.mixing.settles_after;
  policy.egress.assign(network.map().islands.size(), 0);
  policy.ingress = policy.egress;
  const PlannedClique* dearest = nullptr;
  double period = 0;
  for (const PlannedRound& round : plan.rounds) {
    period += round.length.seconds();
    for (const PlannedClique& clique : round.cliques)
      if (dearest == nullptr || !clique.feasible ||
          (dearest->feasible && clique.price > dearest->price))
        dearest = &clique;
    for (IslandId i = 0; i < network.map().island_count(); ++i)
      for (const LaneUse& use : round.lanes) {
        if (use.lane == lane_up(network.map(), i)) policy.egress[i] += double(use.bytes.count);
        if (use.lane == lane_down(network.map(), i)) policy.ingress[i] += double(use.bytes.count);
      }
  }
  if (dearest != nullptr) policy.binding = binding_phrase(network, *dearest);
  for (double& rate : policy.egress) rate = plan.feasible && period > 0 ? rate / period : 0;
  for (double& rate : policy.ingress) rate = plan.feasible && period > 0 ? rate / period : 0;
  return policy;
}

void sort_best_first(std::vector<Policy>& policies, Objective objective) {
  const auto rank = [&](const Policy& policy) {
    return std::tuple(!policy.feasible, policy.blocking,
                      policy.blocking ? -policy.utilisation : policy.objective(objective).ps);
  };
  std::stable_sort(policies.begin(), policies.end(),
                   [&](const Policy& a, const Policy& b) { return rank(a) < rank(b); });
}

std::vector<Policy> score_policies(const NetworkModel& network, const CompareSettings& settings,
                                   MixingMemory& memory) {
  return Scorer(network, settings, memory).all();
}

}  // namespace cotillion
