#include "daemon/control_messages.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

namespace cotillion {
namespace {

using CountList = google::protobuf::RepeatedPtrField<control::Count>;

constexpr std::array<std::pair<const char*, std::uint64_t SenderCounters::*>, 9> kSenderCounts = {{
    {"sent", &SenderCounters::sent},
    {"resent", &SenderCounters::resent},
    {"zero", &SenderCounters::zero},
    {"clamped", &SenderCounters::clamped},
    {"withheld", &SenderCounters::withheld},
    {"forged", &SenderCounters::forged},
    {"unexpected", &SenderCounters::unexpected},
    {"slipped_ps", &SenderCounters::slipped_ps},
    {"late_ps", &SenderCounters::late_ps},
}};

control::Role role_of(Role role) {
  return role == Role::kIsland ? control::ROLE_ISLAND : control::ROLE_EDGE;
}

bool read(control::Role role, Role& into) {
  into = role == control::ROLE_EDGE ? Role::kEdge : Role::kIsland;
  return role == control::ROLE_ISLAND || role == control::ROLE_EDGE;
}

void write(const Who& who, control::Who* into) {
  into->set_island(who.island);
  into->set_role(role_of(who.role));
}

bool read(const control::Who& who, Who& into) {
  into.island = IslandId(who.island());
  return who.island() >= 0 && read(who.role(), into.role);
}

void write(const ClockEstimate& clock, control::Clock* into) {
  into->set_ahead_ns(clock.ahead_ns);
  if (clock.known()) into->set_error_ns(clock.error_ns);
}

ClockEstimate read(const control::Clock& clock) {
  ClockEstimate estimate;
  estimate.ahead_ns = clock.ahead_ns();
  if (clock.has_error_ns()) estimate.error_ns = clock.error_ns();
  return estimate;
}

void add(CountList* list, const char* name, std::uint64_t count) {
  if (count == 0) return;
  control::Count* entry = list->Add();
  entry->set_name(name);
  entry->set_count(count);
}

template <class Which, std::size_t kSize>
void write(const Counters<Which, kSize>& counters, CountList* list) {
  for (std::size_t i = 0; i < kSize; ++i) add(list, name_of(Which(i)), counters[Which(i)]);
}

// Counters that this version does not know are passed over.
template <class Which, std::size_t kSize>
void read(const CountList& list, Counters<Which, kSize>& into) {
  for (const control::Count& entry : list)
    for (std::size_t i = 0; i < kSize; ++i)
      if (entry.name() == name_of(Which(i))) into.add(Which(i), entry.count());
}

struct Writer {
  control::Envelope& envelope;

  void operator()(const Hello& hello) const {
    auto* into = envelope.mutable_hello();
    into->set_island(hello.island);
    into->set_role(role_of(hello.role));
    into->set_boot(hello.boot);
    into->set_address(hello.address);
    write(hello.clock, into->mutable_clock());
    into->set_version(hello.version);
    into->set_plan(hello.plan);
  }
  void operator()(const Refusal& refusal) const {
    envelope.mutable_refusal()->set_reason(refusal.reason);
  }
  void operator()(const Ping& ping) const {
    envelope.mutable_ping()->set_number(ping.number);
    envelope.mutable_ping()->set_sent_ns(std::uint64_t(ping.sent));
  }
  void operator()(const Pong& pong) const {
    auto* into = envelope.mutable_pong();
    into->set_number(pong.number);
    into->set_ping_sent_ns(std::uint64_t(pong.ping_sent));
    into->set_ping_came_ns(std::uint64_t(pong.ping_came));
    into->set_sent_ns(std::uint64_t(pong.sent));
  }
  void operator()(const Assignment& assignment) const {
    auto* into = envelope.mutable_assignment();
    into->set_job(assignment.job);
    into->set_epoch(assignment.epoch);
    into->set_rounds(assignment.rounds);
    write(assignment.you, into->mutable_you());
    into->set_plan(assignment.plan);
    into->set_plan_text(assignment.plan_text);
    into->set_exponent(assignment.exponent);
    into->set_shards(assignment.shards);
    into->set_port(assignment.port);
    into->set_progress(assignment.progress);
    into->set_own_for_missing(assignment.missing == Missing::kOwnForMissing);
    for (const MemberEntry& member : assignment.members) {
      auto* entry = into->add_members();
      write(member.who, entry->mutable_who());
      entry->set_boot(member.boot);
      entry->set_address(member.address);
    }
    auto* settings = into->mutable_job_settings();
    settings->set_job(assignment.job_settings.job);
    settings->set_element(std::uint32_t(assignment.job_settings.element));
    settings->set_streamed(assignment.job_settings.exchange == Exchange::kStreamed);
    settings->set_fragments(assignment.job_settings.fragments);
    settings->set_grace_ps(assignment.job_settings.grace.ps);
    if (assignment.job_settings.memory)
      settings->set_memory_bytes(assignment.job_settings.memory->count);
  }
  void operator()(const Ready&) const { envelope.mutable_ready(); }
  void operator()(const Start& start) const {
    envelope.mutable_start()->set_origin_ns(std::uint64_t(start.origin));
    write(start.clock, envelope.mutable_start()->mutable_clock());
  }
  void operator()(const RoundReport& report) const {
    auto* into = envelope.mutable_report();
    into->set_round(report.round);
    into->set_measured_ps(report.measured.ps);
    for (const Absence& absence : report.absences) {
      auto* entry = into->add_absences();
      entry->set_contributor(absence.contributor);
      entry->set_chunks(absence.chunks);
      entry->set_first_chunk(absence.first_chunk);
    }
    into->mutable_mixing()->Add(report.mixing.begin(), report.mixing.end());
    into->set_steps(report.steps);
    for (const auto& [name, count] : kSenderCounts)
      add(into->mutable_sender(), name, report.sender.*count);
    write(report.receiver, into->mutable_receiver());
    for (const ReportedArrival& arrival : report.arrivals) {
      auto* entry = into->add_arrivals();
      entry->set_sender(arrival.sender);
      entry->set_measured_ps(arrival.measured.ps);
    }
    for (const ReportedMove& move : report.moves) {
      auto* entry = into->add_moves();
      entry->set_round(move.round);
      entry->set_fragment(move.fragment);
      entry->set_merged(move.merged);
      entry->set_at_ps(move.at.ps);
    }
    into->set_memory_peak_bytes(report.memory_peak.count);
    write(report.edge, into->mutable_edge());
  }
  void operator()(const Stop& stop) const {
    envelope.mutable_stop()->set_after(stop.after);
    envelope.mutable_stop()->set_failed(stop.failed);
    envelope.mutable_stop()->set_reason(stop.reason);
  }
  void operator()(const Stopped& stopped) const {
    envelope.mutable_stopped()->set_after(stopped.after);
    envelope.mutable_stopped()->set_reason(stopped.reason);
  }
};

Result<Message> read(const control::Hello& from) {
  Hello hello{from.island(),  {},         from.boot(), from.address(), read(from.clock()),
              from.version(), from.plan()};
  if (!read(from.role(), hello.role)) return failure("Hello says neither island nor edge");
  return Message(std::move(hello));
}

Result<Message> read(const control::Assignment& from) {
  Assignment into;
  into.job = JobId(from.job());
  into.epoch = from.epoch();
  into.rounds = from.rounds();
  into.plan = from.plan();
  into.plan_text = from.plan_text();
  into.exponent = from.exponent();
  into.shards = from.shards();
  into.port = std::uint16_t(from.port());
  if (from.has_progress()) into.progress = from.progress();
  if (from.own_for_missing()) into.missing = Missing::kOwnForMissing;
  bool good = read(from.you(), into.you) && from.job() == into.job && from.rounds() >= 1 &&
              from.shards() >= 1 && from.shards() <= kShardsMax && from.port() >= 1 &&
              from.port() + std::uint32_t(from.shards()) <= 65'536 && into.progress >= 0 &&
              into.progress <= 1;
  for (const control::MemberEntry& member : from.members()) {
    into.members.push_back({{}, member.boot(), member.address()});
    good = good && read(member.who(), into.members.back().who);
  }
  const control::JobSettings& settings = from.job_settings();
  into.job_settings.job = JobId(settings.job());
  into.job_settings.element = Element(settings.element());
  into.job_settings.exchange = settings.streamed() ? Exchange::kStreamed : Exchange::kWhole;
  into.job_settings.fragments = settings.fragments();
  into.job_settings.grace = {settings.grace_ps()};
  if (settings.has_memory_bytes()) into.job_settings.memory = Bytes{settings.memory_bytes()};
  good = good && settings.job() == into.job_settings.job && settings.grace_ps() >= 0 &&
         settings.element() >= std::uint32_t(Element::kF32) &&
         settings.element() <= std::uint32_t(Element::kI32) && settings.memory_bytes() >= 0;
  if (!good) return failure("an Assignment with numbers that cannot be");
  return Message(std::move(into));
}

Result<Message> read(const control::RoundReport& from) {
  RoundReport into;
  into.round = from.round();
  into.measured = {from.measured_ps()};
  for (const control::Absence& absence : from.absences())
    into.absences.push_back({absence.contributor(), absence.chunks(), absence.first_chunk()});
  into.mixing.assign(from.mixing().begin(), from.mixing().end());
  into.steps = from.steps();
  for (const control::Count& entry : from.sender())
    for (const auto& [name, count] : kSenderCounts)
      if (entry.name() == name) into.sender.*count = entry.count();
  read(from.receiver(), into.receiver);
  for (const control::Arrival& arrival : from.arrivals())
    into.arrivals.push_back({IslandId(arrival.sender()), {arrival.measured_ps()}});
  for (const control::Move& move : from.moves())
    into.moves.push_back({move.round(), move.fragment(), move.merged(), {move.at_ps()}});
  into.memory_peak = {from.memory_peak_bytes()};
  read(from.edge(), into.edge);
  if (into.measured.ps < 0 || into.memory_peak.count < 0)
    return failure("a RoundReport with times or sizes below zero");
  return Message(std::move(into));
}

}  // namespace

control::Envelope to_envelope(const Message& message) {
  control::Envelope envelope;
  std::visit(Writer{envelope}, message);
  return envelope;
}

Result<Message> from_envelope(const control::Envelope& envelope) {
  switch (envelope.message_case()) {
    case control::Envelope::kHello:
      return read(envelope.hello());
    case control::Envelope::kRefusal:
      return Message(Refusal{envelope.refusal().reason()});
    case control::Envelope::kPing:
      return Message(Ping{envelope.ping().number(), WallClock(envelope.ping().sent_ns())});
    case control::Envelope::kPong: {
      const control::Pong& pong = envelope.pong();
      return Message(Pong{pong.number(), WallClock(pong.ping_sent_ns()),
                          WallClock(pong.ping_came_ns()), WallClock(pong.sent_ns())});
    }
    case control::Envelope::kAssignment:
      return read(envelope.assignment());
    case control::Envelope::kReady:
      return Message(Ready{});
    case control::Envelope::kStart:
      return Message(
          Start{WallClock(envelope.start().origin_ns()), read(envelope.start().clock())});
    case control::Envelope::kReport:
      return read(envelope.report());
    case control::Envelope::kStop:
      return Message(
          Stop{envelope.stop().after(), envelope.stop().failed(), envelope.stop().reason()});
    case control::Envelope::kStopped:
      return Message(Stopped{envelope.stopped().after(), envelope.stopped().reason()});
    case control::Envelope::MESSAGE_NOT_SET:
      break;
  }
  return failure("an empty envelope, or a message that this version does not know");
}

}  // namespace cotillion
