#include "daemon/edge_shard.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cotillion {
namespace {

constexpr std::size_t kPopulatedMax = std::size_t(1) << 30u;  // larger tables cost what is in them
constexpr Duration kOverflowsEvery{100'000'000'000};

constexpr std::uint64_t place_of(const Endpoint& to) {
  return std::uint64_t(to.address) << 16u | to.port;
}
constexpr Endpoint endpoint_at(std::uint64_t place) {
  return {Ipv4Address(place >> 16u), std::uint16_t(place)};
}

std::size_t packets_in(const HeardPiece& arrival) {
  return (arrival.bytes.size() + arrival.segment - 1) / arrival.segment;
}

ByteView first_packet(const HeardPiece& arrival) {
  return arrival.bytes.first(std::min(arrival.segment, arrival.bytes.size()));
}

std::size_t smallest_store(const Edge& edge) {
  std::size_t packets = SIZE_MAX;
  for (const Aggregation& job : edge.jobs()) packets = std::min(packets, job.spec().resend_packets);
  return packets;
}

}  // namespace

Result<std::unique_ptr<EdgeShard>> EdgeShard::make(const EdgeHostSettings& settings, int shard,
                                                   Edge edge) {
  UdpSettings hearing;
  hearing.bind.port = std::uint16_t(settings.port + shard);
  hearing.interface = settings.interface;
  hearing.shared = true;  // several edges on one machine hear the same groups
  hearing.receive_buffer = settings.receive_buffer;
  auto groups = UdpSocket::open(hearing);
  if (!groups) return Unexpected<Error>{groups.error().within("hearing groups")};
  for (const HeardGroup& heard : settings.groups)
    if (const auto joined = groups->join(heard.group, heard.from); !joined)
      return Unexpected<Error>{joined.error().within("hearing groups")};

  UdpSettings asking;
  asking.bind = settings.own;
  if (asking.bind.port != 0) asking.bind.port = std::uint16_t(asking.bind.port + shard);
  asking.shared = true;  // the groups may use the same port
  auto requests = UdpSocket::open(asking);
  if (!requests) return Unexpected<Error>{requests.error().within("hearing requests")};
  std::optional<XdpSocket> direct;
  if (settings.direct) {
    XdpSettings passing;
    passing.interface = settings.interface;
    passing.port = hearing.bind.port;
    auto opened = XdpSocket::open(passing);
    if (!opened) return Unexpected<Error>{opened.error().within("hearing groups by AF_XDP")};
    direct.emplace(std::move(*opened));
  }
  return std::unique_ptr<EdgeShard>(new EdgeShard(settings, shard, std::move(edge),
                                                  std::move(*groups), std::move(*requests),
                                                  std::move(direct)));
}

EdgeShard::EdgeShard(const EdgeHostSettings& settings, int shard, Edge edge, UdpSocket groups,
                     UdpSocket requests, std::optional<XdpSocket> direct)
    : clock_(settings.clock),
      spin_(settings.spin),
      island_{settings.island.address, std::uint16_t(settings.island.port + shard)},
      heard_(settings.groups),
      edge_(std::move(edge)),
      stays_(smallest_store(edge_)),
      groups_(std::move(groups)),
      requests_(std::move(requests)),
      direct_(std::move(direct)),
      streams_(settings.batch),
      questions_(4),
      out_(requests_),
      on_receive_(settings.on_receive),
      on_send_(settings.on_send),
      loop_(settings.clock, "edge shard",
            settings.cores.empty() ? -1 : settings.cores[std::size_t(shard)]) {
  std::sort(heard_.begin(), heard_.end(),
            [](const HeardGroup& a, const HeardGroup& b) { return a.group < b.group; });
  int sources = 0;
  for (const HeardGroup& heard : heard_) sources = std::max(sources, heard.source + 1);
  for (auto& accepted : accepted_) accepted.assign(std::size_t(sources), kNever);
  for (const ByteSpan table : edge_.tables()) {
    prefer_huge_pages(table);
    if (table.size() <= kPopulatedMax) populate(table);
  }
}

void EdgeShard::open_round(JobId job, const RoundSpec& round) {
  send_mail({job, round});
}

void EdgeShard::account_for(RoundId round) {
  Mail mail;
  mail.round.round = round;
  mail.account = true;
  send_mail(mail);
}

void EdgeShard::send_mail(const Mail& mail) {
  mail_.put(mail);
  loop_.tell_of_mail();
}

template <class Source>
bool EdgeShard::hear_groups(const Source& heard, int came) {
  if (came == 0) return false;
  const Instant now = clock_.now();
  heard_at_ = now;
  counted_.host.add(HostCount::kBatches);
  for (int i = 0; i < came; ++i) {
    const HeardPiece& arrival = heard[i];
    const std::size_t packets = packets_in(arrival);
    counted_.host.add(HostCount::kPieces);
    counted_.host.add(HostCount::kPackets, packets);
    counted_.host.add(HostCount::kBytes, arrival.bytes.size());
    const HeardGroup* group = find(arrival.to);
    if (arrival.truncated || group == nullptr) {
      counted_.host.add(group == nullptr ? HostCount::kStrangers : HostCount::kTruncated, packets);
      continue;
    }
    const ByteView after = i + 1 < came ? first_packet(heard[i + 1]) : ByteView{};
    const SourceId source = group->source;
    for_each_packet(arrival, after, [&](ByteView packet, ByteView next) {
      edge_.expect(next);
      hear(now, source, packet);
    });
  }
  out_.flush();
  return came == heard.capacity();
}

void EdgeShard::run() {
  loop_.run(*this, {groups_.fd(), direct_ ? direct_->fd() : -1, requests_.fd()});
  read_mail();
  edge_.flush(clock_.now(), *this);
  out_.flush();
  overflows_at_ = kLongAgo;
  count_overflows(clock_.now());
  publish();
}

bool EdgeShard::receive() {
  bool more = false;
  if (direct_) {
    const int came = direct_->receive();
    counted_.host.add(HostCount::kDirect, std::uint64_t(came));
    more = hear_groups(*direct_, came);
  }
  // What the driver did not take out for us, for want of room or on another queue, comes here.
  return more || hear_groups(streams_, streams_.receive(groups_));
}

bool EdgeShard::on_time() {
  meet_deadlines();
  publish();
  return false;
}

// With a core of its own it stays awake for a while after the last packet.
Instant EdgeShard::next_deadline(Instant now) const {
  if (now - heard_at_ < spin_) return now;
  return std::min({edge_.next_deadline(), on_receive_.next_deadline(), on_send_.next_deadline()});
}

void EdgeShard::read_mail() {
  mail_.take(came_);
  for (const Mail& mail : came_) {
    if (mail.account) {
      IdVector<SourceId, Instant>& accepted = accepted_[mail.round.round % accepted_.size()];
      accounts_.put({mail.round.round, accepted});
      std::fill(accepted.begin(), accepted.end(), kNever);
      continue;
    }
    const auto opened = edge_.open_round(clock_.now(), mail.job, mail.round, *this);
    counted_.host.add(opened ? HostCount::kRoundsOpened : HostCount::kRoundsRefused);
  }
  came_.clear();
  out_.flush();
}

void EdgeShard::hear(Instant now, SourceId source, ByteView packet) {
  if (!on_receive_.on()) return pass_on(now, source, packet);
  on_receive_.pass(now, std::uint64_t(source), packet, [&](std::uint64_t place, ByteView passed) {
    pass_on(now, SourceId(std::int64_t(place)), passed);
  });
}

void EdgeShard::pass_on(Instant now, SourceId source, ByteView packet) {
  const EdgeCounters& counters = edge_.jobs().front().counters();
  const std::uint64_t before = counters[EdgeCount::kAccepted];
  edge_.on_packet(now, source, packet, *this);
  if (source < 0 || counters[EdgeCount::kAccepted] == before) return;
  if (const auto header = read_header(packet); header)
    accepted_[header->round % accepted_.size()][source] = now;
}

void EdgeShard::receive_requests() {
  const int came = questions_.receive(requests_);
  const Instant now = clock_.now();
  for (int i = 0; i < came; ++i) {
    const HeardPiece& arrival = questions_[i];
    const std::size_t packets = packets_in(arrival);
    counted_.host.add(HostCount::kPackets, packets);
    counted_.host.add(HostCount::kBytes, arrival.bytes.size());
    // Only roughly: addresses are easily forged, and seals decide.
    if (arrival.truncated || arrival.from.address != island_.address) {
      counted_.host.add(HostCount::kStrangers, packets);
      continue;
    }
    counted_.host.add(HostCount::kRequests, packets);
    for_each_packet(arrival, {}, [&](ByteView packet, ByteView) { hear(now, kOwnIsland, packet); });
  }
  out_.flush();
}

void EdgeShard::meet_deadlines() {
  const Instant now = clock_.now();
  count_overflows(now);
  on_receive_.due(now, [&](std::uint64_t place, ByteView packet) {
    pass_on(now, SourceId(std::int64_t(place)), packet);
    out_.flush();
  });
  if (edge_.next_deadline() <= now) edge_.on_time(now, *this);
  on_send_.due(now, [&](std::uint64_t place, ByteView packet) {
    out_.add_copy(endpoint_at(place), packet);
  });
  out_.flush();
}

// A question to the kernel, so not for every packet.
void EdgeShard::count_overflows(Instant now) {
  if (now - overflows_at_ < kOverflowsEvery) return;
  overflows_at_ = now;
  overflows_ = std::uint64_t(groups_.overflows()) + requests_.overflows();
}

void EdgeShard::publish() {
  EdgeReading reading = counted_;
  reading.host.add(HostCount::kOverflowed, overflows_);
  reading.host.add(HostCount::kMalformed, edge_.malformed());
  reading.host.add(HostCount::kForeign, edge_.foreign());
  reading.host.add(HostCount::kSent, out_.counts().packets);
  reading.host.add(HostCount::kSentBytes, out_.counts().bytes);
  reading.host.add(HostCount::kUnsent, out_.counts().dropped);
  reading.host.add(HostCount::kInjected, on_receive_.counts().total() + on_send_.counts().total());
  for (const Aggregation& job : edge_.jobs()) {
    reading.edge.add(job.counters());
    reading.host.add(HostCount::kOpenSlots, job.open_slots());
    reading.host.add(HostCount::kOpenSlotsPeak, job.open_slots_peak());
    reading.host.add(HostCount::kResendOverruns, job.resend_overruns());
  }
  published_.publish(reading);
}

void EdgeShard::send(Towards, ByteView packet) {
  if (on_send_.on())
    return on_send_.pass(
        clock_.now(), place_of(island_), packet,
        [&](std::uint64_t place, ByteView passed) { out_.add_copy(endpoint_at(place), passed); });
  // What is sent again may lie anywhere in the store, and the next sum takes the oldest place.
  const auto header = read_header(packet);
  if (header && carries_sum(header->type()) && !header->has(flag::kResent))
    out_.add(island_, packet);
  else
    out_.add_copy(island_, packet);
  if (out_.waiting() >= stays_) out_.flush();
}

const HeardGroup* EdgeShard::find(Ipv4Address group) const {
  const auto found = std::lower_bound(
      heard_.begin(), heard_.end(), group,
      [](const HeardGroup& heard, Ipv4Address wanted) { return heard.group < wanted; });
  return found != heard_.end() && found->group == group ? &*found : nullptr;
}

}  // namespace cotillion
