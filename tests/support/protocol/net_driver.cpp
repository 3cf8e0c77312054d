// Networks, rounds and faults.
#include "tests/support/protocol/net_driver.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace cotillion::testing {
namespace {

constexpr std::int64_t kMs = 1'000'000'000;

}  // namespace

void NetDriver::make_settings() {
  settings_.islands = int(pick(2, 9));
  JobSpec& job = settings_.job;
  job.element = Element(pick(1, 3));
  job.beats = int(pick(1, 2));
  const auto each = std::int64_t(elements_per_chunk(job));
  const std::int64_t chunks = chance(0.8) ? pick(1, 12) : pick(1, 60);
  job.elements = std::uint64_t((chunks - 1) * each + pick(1, each));
  job.fragments = int(pick(1, std::min<std::int64_t>(chunks, 3)));
  if (chance(0.5)) {
    job.operation = Operation::kWeightedSum;
    for (int i = 0; i < settings_.islands; ++i)
      settings_.weights.push_back(std::uint32_t(pick(1, 9)));
  } else {
    settings_.weights.assign(std::size_t(settings_.islands), 1);
  }
  job_ = job;
  settings_.exponent = job.element == Element::kI32 ? int(pick(-20, 0)) : 0;
  const bool rough = weather_ == Weather::kRough;
  settings_.exchange = rough && chance(0.5) ? Exchange::kStreamed : Exchange::kWhole;
  settings_.merge.missing = chance(0.5) ? Missing::kMeanOfPresent : Missing::kOwnForMissing;
  settings_.slots = std::size_t(chance(0.5) ? pick(1, 4) : pick(16, 64));
  settings_.resend_packets = std::size_t(rough ? pick(1, 128) : 1024);
  settings_.gaps.window = std::uint32_t(settings_.resend_packets);
  settings_.authenticated = chance(0.05);
  settings_.rate = {double(pick(1, 100)) * 1e6};
  const auto spread = std::uint64_t(pick(1, 20) * kMs);
  settings_.latency = [spread](int from, int to) {
    Random of_pair(std::uint64_t(from * 100 + to));
    return Duration{std::int64_t(kMs + of_pair.next() % spread)};
  };
  settings_.wire = [this](Hop hop, int from, int, std::vector<std::byte>& packet) {
    return carry(hop, from, packet);
  };
  if (weather_ == Weather::kCalm) return;
  jitter_ = pick(0, 2 * kMs);
  copies_ = random_.unit() * 0.2;
  for (const Hop hop : {Hop::kToIsland, Hop::kFromIsland})
    loss_[std::size_t(hop)] = rough && chance(0.3) ? random_.unit() * 0.5 : 0.05;
  if (!rough) return;
  if (chance(0.5)) loss_[std::size_t(Hop::kToEdge)] = random_.unit() * 0.3;
  if (chance(0.5)) damage_ = random_.unit() * 0.1;
  if (chance(0.5)) far_ = random_.unit() * 0.1;
  if (chance(0.2)) regrouped_ = random_.unit() * 0.3;
}

void NetDriver::make_rounds() {
  const int islands = settings_.islands;
  const std::int64_t count = pick(2, 5);
  // Rough rounds may be too short for their streams.
  const std::int64_t length =
      weather_ == Weather::kRough && chance(0.3) ? pick(10, 40) : pick(100, 150);
  for (std::int64_t r = 0; r < count; ++r) {
    std::vector<std::vector<int>> cliques(std::size_t(pick(1, std::max(1, islands / 2))));
    for (int i = 0; i < islands; ++i)
      cliques[std::size_t(pick(0, std::int64_t(cliques.size()) - 1))].push_back(i);
    std::erase_if(cliques, [](const auto& members) { return members.empty(); });
    rounds_.push_back({cliques, {r * length * kMs + kMs}, {(r + 1) * length * kMs + kMs / 2}});
  }
  records_.resize(std::size_t(islands));
  edge_boot_.assign(std::size_t(islands), 1);
  known_boot_.assign(std::size_t(islands), 0);
  x_.resize(std::size_t(islands));
  x_bound_.resize(std::size_t(islands));
  for (int i = 0; i < islands; ++i) {
    const double scale = std::ldexp(1.0, settings_.exponent);
    for (float& x : net_->model(i))
      x = float(double(pick(-100'000, 100'000)) * (job_.element == Element::kI32 ? scale : 1e-3));
    x_[std::size_t(i)].assign(net_->model(i).begin(), net_->model(i).end());
    x_bound_[std::size_t(i)].assign(job_.elements, 0.0);
  }
}

// Everything that this test hears of the network comes in here.
void NetDriver::watch() {
  net_->before_merge = [this](int island, RoundId round, int fragment) {
    before_merge(island, round, fragment);
  };
  net_->on_snapshot = [this](int island, RoundId round, std::uint64_t first, std::size_t count) {
    note_copied(island, round, first, count);
  };
  net_->on_output = [this](int island, ByteView packet) { put_out(island, packet); };
  for (std::size_t r = 0; r < rounds_.size(); ++r) {
    const auto number = RoundId(r + 1);
    net_->at({rounds_[r].start.ps - 1}, [this, number] {
      for (int i = 0; i < settings_.islands; ++i) compare(i);
      for (RoundId old = newest_; old > 0 && old + 2 > newest_; --old) compare_averages(old);
      newest_ = number;
      for (const auto& members : rounds_[number - 1].cliques)
        for (std::size_t own = 0; own < members.size(); ++own) {
          Record fresh;
          fresh.members = members;
          fresh.own = int(own);
          fresh.expected =
              ((ContributorMask(1) << members.size()) - 1) & ~(ContributorMask(1) << own);
          fresh.masks.resize(chunk_count(job_));
          fresh.came.resize(chunk_count(job_));
          fresh.sent.resize(chunk_count(job_));
          records_[std::size_t(members[own])][number] = fresh;
        }
    });
    net_->open_round(number, rounds_[r].cliques, rounds_[r].start, rounds_[r].end);
  }
  const Instant end = rounds_.back().end;
  if (weather_ == Weather::kRough)
    for (std::int64_t i = pick(-3, 3); i > 0; --i)
      net_->at({pick(2 * kMs, end.ps)}, [this] {
        const auto island = std::size_t(pick(0, settings_.islands - 1));
        ++edge_boot_[island];
        ++tally_.restarts;
        for (auto& [number, record] : records_[island]) record.put_out.clear();
        net_->restart_edge(int(island));
      });
  // Training goes on meanwhile.
  for (std::int64_t i = pick(0, 20); i > 0; --i)
    net_->at({pick(0, end.ps)}, [this] {
      const auto island = std::size_t(pick(0, settings_.islands - 1));
      const auto e = std::size_t(pick(0, std::int64_t(job_.elements) - 1));
      float& x = net_->model(int(island))[e];
      const float before = x;
      x += 0.5f;
      x_[island][e] += double(x) - double(before);
    });
}

Copies NetDriver::carry(Hop hop, int from, std::vector<std::byte>& packet) {
  const BootId boot = edge_boot_[std::size_t(from)];
  if (hop == Hop::kToEdge) note_sent(from, packet);
  Copies copies;
  ++tally_.packets;
  // Unless the weather is rough, nothing overtakes the heartbeats that make parties known.
  const bool punctual =
      weather_ != Weather::kRough && read_header(packet)->type() == PacketType::kHeartbeat;
  if (chance(loss_[std::size_t(hop)]) && !punctual) return copies;
  do {
    copies.push_back({jitter_ == 0 || punctual ? 0 : pick(0, jitter_)});
    if (chance(far_)) copies.back().ps += pick(0, 300 * kMs);  // into rounds to come
  } while (chance(copies_));
  if (hop == Hop::kToIsland && chance(regrouped_)) regroup(from, boot, packet);
  const bool damaged = chance(damage_);
  if (damaged && chance(0.3)) {
    packet.resize(std::size_t(pick(0, std::int64_t(packet.size()) - 1)));
  } else if (damaged) {
    auto bit = std::size_t(pick(0, std::int64_t(packet.size()) * 8 - 1));
    if (bit == offsetof(Header, flags) * 8) ++bit;  // RESENT is outside the seal
    packet[bit / 8] ^= std::byte(1u << (bit % 8));
  }
  if (hop == Hop::kToIsland && !damaged)
    for (const Duration extra : copies)
      net_->at(net_->now() + settings_.last_hop + extra,
               [this, from, boot, packet] { arrives(from, boot, packet); });
  return copies;
}

// Another grouping of the same contributions, as an edge might send that forgot what it said.
void NetDriver::regroup(int island, BootId boot, std::vector<std::byte>& packet) {
  Header header = *read_header(packet);
  if (!carries_sum(header.type()) || header.round + 2 <= newest_ || settings_.authenticated) return;
  const Record& here = record(island, header.round);
  const ContributorMask mask = here.expected & random_.next();
  std::vector<double> sum(payload_bytes(job_, header.chunk) / bytes_of(job_.element));
  for (ContributorMask left = mask; left != 0; left &= left - 1) {
    const int member = here.members[std::size_t(std::countr_zero(left))];
    const Values& sent = record(member, header.round).sent[header.chunk];
    if (sent.empty()) return;
    for (std::size_t e = 0; e < sum.size(); ++e) sum[e] += sent[e];
  }
  if (mask == 0) return;
  header.set_type(PacketType::kPartial);
  header.flags &= std::uint8_t(~flag::kZero);
  header.mask = mask;
  header.weight = std::uint32_t(weight(here, mask));
  packet.assign(packet_bytes(payload_bytes(job_, header.chunk)), std::byte(0));
  write_header(header, packet);
  for (std::size_t e = 0; e < sum.size(); ++e) {
    std::uint32_t bits = job_.element == Element::kI32
                             ? std::uint32_t(std::int32_t(sum[e]))
                             : std::bit_cast<std::uint32_t>(float(sum[e]));
    if (job_.element == Element::kBf16) bits = (bits + 0x8000u) >> 16u;
    std::memcpy(packet.data() + kHeaderBytes + e * bytes_of(job_.element), &bits,
                bytes_of(job_.element));
  }
  Seal seal;
  seal.set_boot(boot);
  seal.close(packet);
}

}  // namespace cotillion::testing
