#include "daemon/island_shard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "daemon/synthetic_model.hpp"

namespace cotillion {
namespace {

constexpr std::int64_t kAgeMost =
    86'400'000'000'000;  // a day, in nanoseconds: it is training code's word
constexpr Duration kShardPublishEvery{10'000'000'000};
constexpr Duration kMissingEvery{200'000'000'000};  // which takes a look at every chunk

// Memory is for what is in flight.
ReceiverSettings letting_go(ReceiverSettings settings) {
  settings.keep_merged = false;
  return settings;
}

}  // namespace

Result<std::unique_ptr<IslandShard>> IslandShard::make(const IslandHostSettings& settings,
                                                       const ShardJob& part, int shard,
                                                       const ExchangeRegion* region) {
  UdpSettings udp;
  udp.bind = settings.own;
  if (udp.bind.port != 0) udp.bind.port = std::uint16_t(udp.bind.port + shard);
  udp.interface = settings.interface;
  udp.receive_buffer = settings.receive_buffer;
  udp.shared = true;  // an edge on this machine hears groups at the same port
  auto socket = UdpSocket::open(udp);
  if (!socket) return Unexpected<Error>{socket.error().within("hearing sums")};
  return std::unique_ptr<IslandShard>(
      new IslandShard(settings, part, shard, region, std::move(*socket)));
}

IslandShard::IslandShard(const IslandHostSettings& settings, const ShardJob& part, int shard,
                         const ExchangeRegion* region, UdpSocket socket)
    : clock_(settings.clock),
      shard_(shard),
      job_(part.job),
      first_chunk_(part.first_chunk),
      first_element_(part.first_element),
      share_of_chunk_(double(elements_per_chunk(part.job)) / double(settings.elements)),
      islands_(settings.receiving.islands),
      missing_(settings.merging.missing),
      sending_(settings.sending),
      edge_{settings.edge.address, std::uint16_t(settings.edge.port + shard)},
      group_port_(std::uint16_t(settings.port + shard)),
      region_(region),
      self_(settings.self),
      snapshots_(job_, Grid(settings.exponent), settings.receiving.live_rounds, Payloads::kReal,
                 this),
      merge_(job_, settings.merging),
      sender_(settings.sending, snapshots_, *this, sealed(settings.own_boot)),
      receiver_(letting_go(settings.receiving), snapshots_, merge_, sealed(settings.own_boot),
                sealed(settings.edge_boot)),
      socket_(std::move(socket)),
      sums_(16),
      out_(socket_),
      correction_(elements_per_chunk(job_)),
      average_(region == nullptr ? elements_per_chunk(job_) : 0),
      loop_(settings.clock, "island shard",
            settings.cores.empty() ? -1 : settings.cores[std::size_t(shard)]) {
  if (region_ != nullptr) agent_.emplace(*region_, in_region(0), job_.fragments);
}

void IslandShard::open_round(const RoundOpening& opening) {
  mail_.put(opening);
  loop_.tell_of_mail();
}

IslandReading IslandShard::reading() const {
  const std::lock_guard lock(lock_);
  return published_;
}

void IslandShard::run() {
  loop_.run(*this, {.packets = socket_.fd()});
  run_the_last();
  publish(clock_.now());
}

bool IslandShard::on_time() {
  meet_deadlines();
  return run_merges();
}

void IslandShard::read_mail() {
  std::vector<RoundOpening> came;
  mail_.take(came);
  for (RoundOpening& opening : came) {
    if (opening.part.spec.round > RoundId(snapshots_.live_rounds()))
      finish(opening.part.spec.round - RoundId(snapshots_.live_rounds()));
    const Instant now = clock_.now();
    retiring_ = true;  // what has not been merged of the round whose place it takes is merged now
    const auto opened = receiver_.open_round(now, opening.part.receiver, *this, *this);
    retiring_ = false;
    counted_.host.add(opened ? HostCount::kRoundsOpened : HostCount::kRoundsRefused);
    if (!opened) continue;
    parts_.push_back(opening.part);
    if (parts_.size() > std::size_t(snapshots_.live_rounds())) parts_.erase(parts_.begin());
    for (int f = 0; region_ != nullptr && opening.part.sends && f < job_.fragments; ++f)
      if (region_->fragment(in_region(f)).wanted_ns.load() <=
          wall_ns(now))  // else an earlier round's
        note_wanted(opening.part.stream, f);
    upcoming_.push_back(std::move(opening));
  }
}

bool IslandShard::receive() {
  const int came = sums_.receive(socket_);
  if (came == 0) return false;
  const Instant now = clock_.now();
  counted_.host.add(HostCount::kBatches);
  for (int i = 0; i < came; ++i) {
    const HeardPiece& piece = sums_[i];
    const std::size_t packets = (piece.bytes.size() + piece.segment - 1) / piece.segment;
    counted_.host.add(HostCount::kPieces);
    counted_.host.add(HostCount::kPackets, packets);
    counted_.host.add(HostCount::kBytes, piece.bytes.size());
    heard_ += piece.bytes.size();
    if (piece.truncated || piece.from.address != edge_.address) {
      counted_.host.add(piece.truncated ? HostCount::kTruncated : HostCount::kStrangers, packets);
      continue;
    }
    for_each_packet(piece, {}, [&](ByteView packet, ByteView) {
      receiver_.on_packet(now, packet, *this, *this);
    });
  }
  return came == sums_.capacity();
}

void IslandShard::meet_deadlines() {
  const Instant now = clock_.now();
  if (receiver_.next_deadline() <= now) receiver_.on_time(now, *this, *this);
  if (!current_merge_) (void)set_out();  // a merge comes before the next copy
  begin_stream(now);
  const bool sending = !sender_.all_sent();
  if (sender_.next_deadline() <= now) send_what_is_due(now);
  if (sending && sending_.exchange == Exchange::kStreamed)
    receiver_.on_time(now, *this, *this);  // which may have waited for that copy
  out_.flush();
  if (now - published_at_ >= kShardPublishEvery) publish(now);
}

void IslandShard::begin_stream(Instant now) {
  while (!upcoming_.empty()) {
    const RoundOpening& next = upcoming_.front();
    if (next.part.sends && next.part.stream.start > now) return;
    if (next.part.sends) {
      leaving_[0] = leaving_[1];
      leaving_[1] = {next.part.stream.round, {next.group, group_port_}, next.next_stream};
      sender_.open_round(next.part.stream);
    }
    upcoming_.erase(upcoming_.begin());
  }
}

// A copy needs the fragment, and what was to be merged into it before; until then the sender is
// told of no later instant, and makes up for it afterwards as far as it may.
void IslandShard::send_what_is_due(Instant now) {
  now = may_send_until(now);
  for (;;) {
    const Sender::NextCopy copy = sender_.next_copy();
    if (copy.when > now) return sender_.on_time(now, *this);
    if (!agent_) return sender_.on_time(now, *this);
    const int fragment = fragment_of(job_, copy.chunk);
    const int place = in_region(fragment);
    if (waits(fragment) || !agent_->take_hold(fragment)) {
      if (held_up_since_ == kNever) held_up_since_ = now;
      return sender_.on_time(copy.when - Duration{1}, *this);
    }
    if (held_up_since_ != kNever) counted_.held_up = counted_.held_up + (now - held_up_since_);
    held_up_since_ = kNever;
    const std::int64_t age = wall_ns(now) - region_->fragment(place).offered_ns;
    counted_.copy_age_max = std::max(counted_.copy_age_max,
                                     Duration{std::clamp<std::int64_t>(age, 0, kAgeMost) * 1000});
    // Later than a burst may make up for, the sender is told the time, slips, and comes to no other
    // fragment than this one: the next one leaves after more than that.
    const Duration burst = sending_.catch_up;
    const bool slips =
        now - copy.when > burst &&
        (fragment + 1 == job_.fragments ||
         sender_.departure(copy.round, first_chunk(job_, fragment + 1)) - copy.when > burst);
    sender_.on_time(slips ? now : copy.when, *this);
    agent_->let_go(fragment);
    const StreamSpec& next = leaving(copy.round).next;
    if (next.round != 0) note_wanted(next, fragment);
  }
}

Instant IslandShard::may_send_until(Instant now) const {
  if (!current_merge_ || sender_.is_past(current_merge_->round + 1, next_)) return now;
  return std::min(now, sender_.departure(current_merge_->round + 1, next_) - Duration{1});
}

// When training code should have offered a fragment anew, if nothing is late.
void IslandShard::note_wanted(const StreamSpec& stream, int fragment) {
  if (region_ == nullptr) return;
  const Instant when = sending_.exchange == Exchange::kWhole
                           ? stream.start
                           : planned_departure(stream, sending_, job_, first_chunk(job_, fragment));
  region_->fragment(in_region(fragment)).wanted_ns.store(wall_ns(when), std::memory_order_release);
}

bool IslandShard::waits(int fragment) const {
  return std::any_of(pending_merges_.begin(), pending_merges_.end(),
                     [&](const PendingMerge& pending) { return pending.fragment == fragment; });
}

const RoundAssignment* IslandShard::part_of(RoundId round) const {
  const auto found = std::find_if(parts_.begin(), parts_.end(), [&](const RoundAssignment& part) {
    return part.spec.round == round;
  });
  return found == parts_.end() ? nullptr : &*found;
}

std::vector<Absence> IslandShard::absences(const RoundAssignment& part, ChunkId from,
                                           ChunkId to) const {
  std::vector<Absence> list;
  const auto masks = receiver_.contributors(part.spec.round);
  for (int bit = 0; bit < part.spec.members && !masks.empty(); ++bit) {
    if ((part.spec.expected >> unsigned(bit) & 1) == 0) continue;
    Absence absence{part.clique[std::size_t(bit)], 0, 0};
    for (ChunkId chunk = from; chunk < to; ++chunk)
      if ((masks[chunk] >> unsigned(bit) & 1) == 0 && absence.chunks++ == 0)
        absence.first_chunk = first_chunk_ + chunk;
    if (absence.chunks > 0) list.push_back(absence);
  }
  return list;
}

Instant IslandShard::next_deadline(Instant now) const {
  Instant due = std::min(receiver_.next_deadline(), published_at_ + kShardPublishEvery);
  if (held_up_since_ == kNever) due = std::min(due, sender_.next_deadline());
  if (!agent_ && (current_merge_ || !pending_merges_.empty())) due = std::min(due, rest_until_);
  if (!upcoming_.empty()) due = std::min(due, upcoming_.front().part.stream.start);
  if (region_is_held_ || held_up_since_ != kNever) due = std::min(due, now + kRegionRetry);
  return due;
}

void IslandShard::publish(Instant now) {
  published_at_ = now;
  if (now - missing_at_ >= kMissingEvery) {
    missing_at_ = now;
    for (const RoundAssignment& part : parts_)
      if (part.spec.expected != 0 && part.spec.last_deadline <= now) {
        counted_.missing = absences(part, 0, chunk_count(job_));
        counted_.missing_round = part.spec.round;
      }
  }
  IslandReading reading = counted_;
  reading.host.add(HostCount::kOverflowed, socket_.overflows());
  reading.host.add(HostCount::kSent, out_.counts().packets);
  reading.host.add(HostCount::kSentBytes, out_.counts().bytes);
  reading.host.add(HostCount::kUnsent, out_.counts().dropped);
  reading.sender = sender_.counters();
  reading.receiver = receiver_.counters();
  reading.heard = receiver_.heard();
  reading.sums_max = Bytes{std::int64_t(receiver_.most_bytes())};
  const std::lock_guard lock(lock_);
  published_ = std::move(reading);
}

void IslandShard::note_move(RoundId round, int fragment, bool merged) {
  if (const RoundAssignment* part = part_of(round); part != nullptr)
    moves_.push_back({round, in_region(fragment), merged, clock_.now() - part->start});
}

bool IslandShard::keep(RoundId round, int fragment) {
  note_move(round, fragment, false);
  if (agent_) agent_->fly(fragment, round);
  if (agent_) region_->fragment(in_region(fragment)).copied.store(round, std::memory_order_release);
  return true;
}

void IslandShard::snapshot(RoundId round, std::uint64_t first, std::span<float> values) {
  if (!agent_) {
    const SyntheticModel own(self_, round);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = own.at(first_element_ + first + i);
    return;
  }
  const int fragment = fragment_of(job_, ChunkId(first / elements_per_chunk(job_)));
  const std::uint64_t origin = first_element(job_, first_chunk(job_, fragment));
  const auto copy = agent_->flying(fragment, round).subspan(first - origin, values.size());
  std::copy(copy.begin(), copy.end(), values.begin());
}

void IslandShard::round_closed(RoundId round, std::span<const Absence> absent) {
  ShardAccount account;
  account.round = round;
  account.moves = std::exchange(moves_, {});
  account.mixing.resize(std::size_t(islands_));
  if (const RoundAssignment* part = part_of(round); part != nullptr) {
    for (const Absence& absence : absent)
      account.absences.push_back(
          {part->clique[absence.contributor], absence.chunks, first_chunk_ + absence.first_chunk});
    if (part->spec.expected != 0) account.measured = receiver_.last_placed(round) - part->start;
    const auto masks = receiver_.contributors(round);
    for (ChunkId chunk = 0; chunk < chunk_count(job_); ++chunk)
      add_mixing(
          account.mixing, *part, missing_,
          {masks.empty() ? 0 : masks[chunk],
           share_of_chunk_ * double(elements_in(job_, chunk)) / double(elements_per_chunk(job_))});
  }
  accounts_.put(std::move(account));
}

void IslandShard::send(Towards towards, ByteView packet) {
  if (towards == Towards::kGroup)
    out_.add_copy(leaving(sender_.speaks_for()).group, packet);
  else if (towards == Towards::kOwnEdge)
    out_.add_copy(edge_, packet);
}

}  // namespace cotillion
