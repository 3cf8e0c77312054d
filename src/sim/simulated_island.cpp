#include "sim/simulated_island.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.hpp"
#include "sim/event_queue.hpp"

namespace cotillion {
namespace {

constexpr BootId kFirstBoot = 1;
constexpr std::size_t kStreamsInHand = 2;

RoleSettings role_of(const SimulatedIslandSettings& settings) {
  return {settings.payloads, settings.exponent, settings.round_trip_margin};
}

}  // namespace

SimulatedIsland::SimulatedIsland(const Turn& turn, RoutedOutbox& network,
                                 const Observers& observers, const PlanFile& plan,
                                 const JobAssignment& assignment,
                                 const SimulatedIslandSettings& settings, IslandId self)
    : turn_(turn),
      network_(network),
      observers_(observers),
      job_(assignment.job()),
      settings_(settings),
      self_(self),
      sending_(sender_role(assignment)),
      receiving_(receiver_role(plan, assignment, role_of(settings), self)),
      aggregating_(edge_role(plan, assignment, role_of(settings), self)),
      resend_(edge_of(plan, self).resend),
      ingress_(Route::into(plan.ingress[self], self)),
      requests_(Route::of_requests(plan.map, self)),
      overlapped_(plan.plan.overlapped),
      accepted_(plan.map.islands.size() * rounds_told_apart(), kNever) {
  if (settings.payloads == Payloads::kReal) model_.resize(job_.elements);
  make_island();
  edge_ = make_edge();
  aggregation_ = edge_->job(job_.id);
  if (settings_.step_time.ps > 0) step_due_ = kOrigin + step_length();
}

void SimulatedIsland::make_island() {
  snapshots_ = std::make_unique<Snapshots>(job_, Grid(settings_.exponent), receiving_.live_rounds,
                                           settings_.payloads);
  merge_ = std::make_unique<Merge>(job_, settings_.merge);
  sender_ = std::make_unique<Sender>(sending_, *snapshots_, *this, sealed(island_boot_));
  receiver_ = std::make_unique<Receiver>(receiving_, *snapshots_, *merge_, sealed(island_boot_),
                                         sealed(edge_boot_));
}

// Boot ids are handed out before the first round, as a coordinator would.
std::unique_ptr<Edge> SimulatedIsland::make_edge() const {
  AggregationSeals seals{sealed(edge_boot_), sealed(island_boot_), {}};
  for (int source = 0; source < receiving_.islands; ++source)
    seals.sources.push_back(sealed(kFirstBoot));
  const Bytes sums{std::int64_t(footprint(aggregating_).sums)};
  std::vector<EdgeJob> jobs;
  jobs.push_back({aggregating_, std::move(seals)});
  auto edge = Edge::build({.memory = sums, .resend = std::max(resend_, Bytes{1 << 20})}, {0},
                          std::move(jobs));
  COTILLION_CHECK(edge.has_value());
  return std::make_unique<Edge>(std::move(*edge));
}

Instant SimulatedIsland::own_time(Instant now) const {
  if (ahead_.ps == 0 && drift_ == 0) return now;
  return now + ahead_ + Duration{std::llround(double(now.ps) * drift_)};
}

Instant SimulatedIsland::true_time(Instant own) const {
  if (own == kNever || (ahead_.ps == 0 && drift_ == 0)) return own;
  // The first instant at which the island's clock shows that much, to the picosecond: waking it a
  // moment early would wake it for nothing, for ever.
  Instant guess{std::llround(double((own - ahead_).ps) / (1 + drift_)) - 2};
  while (own_time(guess) < own) ++guess.ps;
  return guess;
}

void SimulatedIsland::set_clock(Duration ahead, double drift) {
  ahead_ = ahead;
  drift_ = drift;
  note_island();
}

void SimulatedIsland::slow_down(double factor, Duration late) {
  ++slow_;
  factor_ = factor;
  late_ = late;
  note_island();
}

void SimulatedIsland::speed_up() {
  if (--slow_ > 0) return;
  factor_ = 1;
  late_ = {0};
  note_island();
}

void SimulatedIsland::die() {
  ++deaths_;
  dead_ = true;
  step_due_ = kNever;
  note_island();
}

void SimulatedIsland::revive(Instant now) {
  if (--deaths_ > 0) return;
  received_earlier_ = receiver_counters();
  sent_earlier_ = sender_counters();
  ++island_boot_;
  make_island();
  dead_ = false;
  streams_.clear();
  if (settings_.step_time.ps > 0) step_due_ = now + step_length();
  note_island();
}

Duration SimulatedIsland::step_length() const {
  return {std::llround(double(settings_.step_time.ps) * factor_)};
}

void SimulatedIsland::note_island() {
  island_due_ =
      dead_ ? kNever
            : true_time(std::min(late_by(sender_->next_deadline()), receiver_->next_deadline()));
}

void SimulatedIsland::open_round(Instant now, const RoundAssignment& part, const Route* stream) {
  open_.push_back(part.spec);
  if (open_.size() > std::size_t(receiving_.live_rounds)) open_.erase(open_.begin());
  COTILLION_CHECK(edge_->open_round(now, job_.id, part.spec, *this).has_value());
  note_edge();
  if (dead_) return;
  COTILLION_CHECK(receiver_->open_round(own_time(now), part.receiver, *this, *this).has_value());
  if (part.sends) {
    streams_.emplace_back(part.stream.round, stream);
    if (streams_.size() > kStreamsInHand) streams_.erase(streams_.begin());
    sender_->open_round(part.stream);
  }
  note_island();
}

void SimulatedIsland::restart_edge(Instant now) {
  const Aggregation& ended = *aggregation_;
  earlier_.add(ended.counters());
  earlier_peak_ = std::max(earlier_peak_, ended.open_slots_peak());
  ++edge_boot_;
  edge_ = make_edge();
  aggregation_ = edge_->job(job_.id);
  for (const RoundSpec& spec : open_)
    COTILLION_CHECK(edge_->open_round(now, job_.id, spec, *this).has_value());
  note_edge();
}

void SimulatedIsland::hear_stream(Instant now, SourceId source, ByteView packet) {
  const EdgeCounters& counters = aggregation_->counters();
  const std::uint64_t before = counters[EdgeCount::kAccepted];
  edge_->on_packet(now, source, packet, *this);
  if (counters[EdgeCount::kAccepted] != before) {
    Little32 round;
    std::memcpy(&round, packet.data() + offsetof(Header, round), sizeof round);
    accepted_[acceptance(source, round)] = now;
  }
  note_edge();
}

void SimulatedIsland::hear_request(Instant now, ByteView packet) {
  edge_->on_packet(now, kOwnIsland, packet, *this);
  note_edge();
}

void SimulatedIsland::hear_sum(Instant now, ByteView packet) {
  if (dead_) return;
  receiver_->on_packet(own_time(now), packet, *this, *this);
  note_island();
}

void SimulatedIsland::on_time(Instant now) {
  if (edge_due_ <= now) {
    edge_->on_time(now, *this);
    note_edge();
  }
  if (step_due_ <= now) {
    ++steps_;
    for (SimulationObserver* who : observers_) who->on_step(*this, steps_);
    step_due_ = step_due_ + step_length();
  }
  if (dead_ || island_due_ > now) return;
  const Instant own = own_time(now);
  receiver_->on_time(own, *this, *this);  // a merge comes before the next copy
  const bool waiting = !sender_->all_sent();
  sender_->on_time(own - late_, *this);
  if (waiting && settings_.job_settings.exchange == Exchange::kStreamed)
    receiver_->on_time(own, *this, *this);  // which may have waited for that copy
  note_island();
}

void SimulatedIsland::snapshot(RoundId round, std::uint64_t first, std::span<float> values) {
  for (SimulationObserver* who : observers_) who->on_copy_due(*this, round, first, values.size());
  std::copy_n(model_.begin() + std::ptrdiff_t(first), values.size(), values.begin());
  merge_->to_sent(first, values);
  for (SimulationObserver* who : observers_) who->on_copied(*this, round, first, values);
}

bool SimulatedIsland::keep(RoundId round, int fragment) {
  for (SimulationObserver* who : observers_)
    who->on_fragment_copied(turn_.now, *this, round, fragment);
  return false;  // the model goes on; its copy is stored
}

std::span<float> SimulatedIsland::elements(int fragment) {
  const std::uint64_t first = first_element(job_, first_chunk(job_, fragment));
  const std::uint64_t last =
      std::min<std::uint64_t>(job_.elements, first_element(job_, first_chunk(job_, fragment + 1)));
  return std::span(model_).subspan(first, last - first);
}

void SimulatedIsland::fragment_ready(RoundId round, int fragment) {
  for (SimulationObserver* who : observers_) who->on_merge_due(*this, round, fragment);
  if (snapshots_->counted())
    receiver_->skip(round, fragment);
  else
    receiver_->merge(round, fragment, elements(fragment));
  for (SimulationObserver* who : observers_) who->on_merged(*this, round, fragment);
}

void SimulatedIsland::late_ready(RoundId round, int fragment) {
  if (snapshots_->counted())
    receiver_->skip_late(round, fragment);
  else
    receiver_->merge_late(round, fragment, elements(fragment));
  for (SimulationObserver* who : observers_) who->on_late_merged(*this, round, fragment);
}

void SimulatedIsland::round_closed(RoundId round, std::span<const Absence> absences) {
  for (SimulationObserver* who : observers_)
    who->on_round_closed(turn_.now, *this, round, absences);
}

void SimulatedIsland::send(Towards towards, ByteView packet) {
  switch (towards) {
    case Towards::kGroup:
      return network_.carry(route_of(sender_->speaks_for()), packet);
    case Towards::kIsland:
      return network_.carry(ingress_, packet);
    case Towards::kOwnEdge:
      return network_.carry(requests_, packet);
  }
}

const Route& SimulatedIsland::route_of(RoundId round) const {
  const auto found = std::find_if(streams_.begin(), streams_.end(),
                                  [&](const auto& stream) { return stream.first == round; });
  COTILLION_CHECK(found != streams_.end());
  return *found->second;
}

EdgeCounters SimulatedIsland::edge_counters() const {
  EdgeCounters all = earlier_;
  all.add(aggregation_->counters());
  return all;
}

ReceiverCounters SimulatedIsland::receiver_counters() const {
  ReceiverCounters all = received_earlier_;
  all.add(receiver_->counters());
  return all;
}

SenderCounters SimulatedIsland::sender_counters() const {
  SenderCounters all = sent_earlier_;
  all.add(sender_->counters());
  return all;
}

EdgeState SimulatedIsland::edge_state() const {
  return {self_, aggregation_->open_slots(), edge_counters()};
}

std::size_t SimulatedIsland::open_slots_peak() const {
  return std::max(earlier_peak_, aggregation_->open_slots_peak());
}

}  // namespace cotillion
