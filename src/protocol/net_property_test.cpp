// Whole networks under random faults on all hops, several rounds of random cliques. An independent
// record of what every wire really delivered says what each island must hold, report and merge.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

#include "base/random.hpp"
#include "tests/support/edge_checker.hpp"
#include "tests/support/protocol_net.hpp"

namespace cotillion {
namespace {

using testing::Copies;
using testing::Hop;
using testing::NetSettings;
using testing::ProtocolNet;

constexpr std::int64_t kMs = 1'000'000'000;

// How a network misbehaves.
enum class Weather : std::uint8_t {
  kCalm,        // nothing happens: nothing may be missing
  kRepairable,  // losses on the last hop, copies and reordering everywhere: still nothing
  kRough,       // anything
};

struct Tally {
  std::uint64_t packets = 0, merges = 0, late = 0, missing = 0, whole_chunks = 0, restarts = 0;
};

class NetDriver {
 public:
  explicit NetDriver(std::uint64_t seed) : random_(seed * 2 + 1) {
    make_settings();
    net_ = std::make_unique<ProtocolNet>(settings_);
    make_rounds();
    watch();
  }
  void run();

  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  [[nodiscard]] const Tally& tally() const { return tally_; }

 private:
  using Values = std::vector<double>;  // of a chunk, as they lie on the wire
  struct Round {
    std::vector<std::vector<int>> cliques;
    Instant start, end;
  };
  // What one island should know of one round.
  struct Record {
    std::vector<int> members;
    int own = 0;
    ContributorMask expected = 0;
    std::vector<ContributorMask> masks;          // by chunk
    std::vector<std::array<Instant, 9>> came;    // by chunk and bit
    std::vector<Values> copied, sent;            // by chunk: its own contribution
    std::set<int> merged;                        // fragments
    std::map<ChunkId, ContributorMask> put_out;  // by its edge, since its last start
  };

  bool chance(double probability) { return random_.unit() < probability; }
  std::int64_t pick(std::int64_t low, std::int64_t high) { return random_.between(low, high); }
  void expect(bool holds, const std::string& what) {
    if (!holds && wrong_.empty()) wrong_ = what + " at " + std::to_string(net_->now().ps) + " ps";
  }
  static std::string name(int island, RoundId round, ChunkId chunk) {
    return "island " + std::to_string(island) + " round " + std::to_string(round) + " chunk " +
           std::to_string(chunk);
  }

  void make_settings();
  void make_rounds();
  void watch();
  Copies carry(Hop hop, int from, std::vector<std::byte>& packet);
  void regroup(int island, BootId boot, std::vector<std::byte>& packet);
  void note_sent(int island, const std::vector<std::byte>& packet);
  void arrives(int island, BootId boot, const std::vector<std::byte>& packet);
  void put_out(int island, ByteView packet);
  void before_merge(int island, RoundId round, int fragment);
  void move(int island, ChunkId chunk, const Values& by, const Values& bound);
  void compare(int island);
  void compare_averages(RoundId round);
  [[nodiscard]] Values values_of(ByteView payload) const;
  [[nodiscard]] double weight(const Record& record, ContributorMask mask) const;
  // The average for these contributors; `bound` is how far rounding may take it.
  Values average(const Record& record, RoundId round, ChunkId chunk, ContributorMask present,
                 Values& bound);
  Record& record(int island, RoundId round) { return records_[std::size_t(island)].at(round); }

  Random random_;
  Weather weather_ = Weather(pick(0, 9) < 1 ? 0 : pick(0, 9) < 2 ? 1 : 2);
  NetSettings settings_;
  JobSpec job_;
  std::unique_ptr<ProtocolNet> net_;
  std::vector<Round> rounds_;  // number 1 is the first
  RoundId newest_ = 0;
  std::vector<std::map<RoundId, Record>> records_;  // by island
  std::vector<BootId> edge_boot_, known_boot_;      // by island
  std::vector<std::vector<double>> x_, x_bound_;    // by island: the model as it should be
  double loss_[4] = {}, copies_ = 0, damage_ = 0, far_ = 0, regrouped_ = 0;
  std::int64_t jitter_ = 0;
  std::string wrong_;
  Tally tally_;
};

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
  settings_.repair = chance(0.3);
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
  if (chance(0.5)) loss_[std::size_t(Hop::kRepair)] = random_.unit() * 0.3;
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
    const auto x = net_->model(island).begin() + std::ptrdiff_t(first);
    record(island, round)
        .copied[first / elements_per_chunk(job_)]
        .assign(x, x + std::ptrdiff_t(count));
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
          fresh.copied.resize(chunk_count(job_));
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

NetDriver::Values NetDriver::values_of(ByteView payload) const {
  Values values(payload.size() / bytes_of(job_.element));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, payload.data() + i * bytes_of(job_.element), bytes_of(job_.element));
    if (job_.element == Element::kBf16) bits <<= 16u;
    values[i] = job_.element == Element::kI32 ? double(std::int32_t(bits))
                                              : double(std::bit_cast<float>(bits));
  }
  return values;
}

void NetDriver::note_sent(int island, const std::vector<std::byte>& packet) {
  const Header header = *read_header(packet);
  if (header.type() != PacketType::kData) return;
  Values& sent = record(island, header.round).sent[header.chunk];
  Values values = values_of(payload_of(ByteView(packet)));
  if (header.has(flag::kZero))
    values.assign(payload_bytes(job_, header.chunk) / bytes_of(job_.element), 0.0);
  expect(sent.empty() || sent == values, "two contributions of one island");
  const Values& copied = record(island, header.round).copied[header.chunk];
  const double weight = settings_.weights[std::size_t(island)];
  const double scale = std::ldexp(1.0, settings_.exponent);
  for (std::size_t e = 0; e < copied.size(); ++e) {
    const double right = copied[e] * weight;
    double bound = std::fabs(right) * (job_.element == Element::kF32 ? 0x1p-24 : 0x1p-8);
    if (job_.element == Element::kI32) bound = scale * weight / 2;
    expect(std::fabs(values[e] * scale - right) <= bound, "what is sent is not what was copied");
  }
  sent = std::move(values);
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

double NetDriver::weight(const Record& record, ContributorMask mask) const {
  double sum = 0;
  for (; mask != 0; mask &= mask - 1) {
    const int island = record.members[std::size_t(std::countr_zero(mask))];
    sum += settings_.weights[std::size_t(island)];
  }
  return sum;
}

// An edge's word, as it leaves: disjoint from what it said before, and the sum that it claims.
void NetDriver::put_out(int island, ByteView packet) {
  const Header header = *read_header(packet);
  if (header.has(flag::kResent)) return;
  Record& here = record(island, header.round);
  ContributorMask& out = here.put_out[header.chunk];
  const ContributorMask mask = header.mask;
  expect(mask != 0 && (mask & out) == 0, "an edge said something twice");
  out |= mask;
  expect(header.weight == weight(here, mask), "the weight is not the mask's");
  if (header.has(flag::kZero)) return;
  const Values values = values_of(payload_of(packet));
  Values sum(values.size()), magnitude(values.size());
  for (ContributorMask left = mask; left != 0; left &= left - 1) {
    const int member = here.members[std::size_t(std::countr_zero(left))];
    const Values& sent = record(member, header.round).sent[header.chunk];
    for (std::size_t e = 0; e < sum.size(); ++e) {
      sum[e] += sent[e];
      magnitude[e] += std::fabs(sent[e]);
    }
  }
  for (std::size_t e = 0; e < sum.size(); ++e) {
    double bound = 12 * 0x1p-24 * magnitude[e];
    if (job_.element == Element::kBf16) bound += 0x1p-8 * magnitude[e];
    if (job_.element == Element::kI32) bound = 0;
    expect(std::fabs(values[e] - sum[e]) <= bound, "an edge said a wrong sum");
  }
}

NetDriver::Values NetDriver::average(const Record& here, RoundId round, ChunkId chunk,
                                     ContributorMask present, Values& bound) {
  const std::size_t count = elements_in(job_, chunk);
  const ContributorMask own = ContributorMask(1) << unsigned(here.own);
  const double everyone = weight(here, here.expected | own), there = weight(here, present | own);
  const bool fill = settings_.merge.missing == Missing::kOwnForMissing;
  const double scale = std::ldexp(1.0, settings_.exponent);
  Values mean(count);
  bound.assign(count, 0.0);
  for (std::size_t e = 0; e < count; ++e) {
    double total = 0, magnitude = 0;
    for (ContributorMask left = present | own; left != 0; left &= left - 1) {
      const int member = here.members[std::size_t(std::countr_zero(left))];
      const double value = record(member, round).sent[chunk].at(e);
      total += value;
      magnitude += std::fabs(value);
    }
    const double snapshot = here.sent[chunk][e] / weight(here, own);
    mean[e] = fill ? (total + (everyone - there) * snapshot) / everyone : total / there;
    if (present == 0) mean[e] = snapshot;
    mean[e] *= scale;
    if (job_.element == Element::kI32 || present == 0) continue;
    bound[e] = 30 * 0x1p-24 * magnitude;
    if (job_.element == Element::kBf16) bound[e] += 0x1p-8 * magnitude;
  }
  return mean;
}

// Just before the receiver gets the same packet.
void NetDriver::arrives(int island, BootId boot, const std::vector<std::byte>& packet) {
  const Header header = *read_header(packet);
  if (header.round == 0 || header.round > newest_ || header.round + 2 <= newest_) return;
  BootId& known = known_boot_[std::size_t(island)];
  if (header.type() == PacketType::kHeartbeat) known = std::max(known, boot);
  if (!carries_sum(header.type()) || boot != known) return;
  Record& here = record(island, header.round);
  ContributorMask& seen = here.masks[header.chunk];
  const ContributorMask mask = header.mask;
  if ((mask & seen) != 0) return;
  const bool late = here.merged.contains(fragment_of(job_, header.chunk));
  Values bound, before, after;
  if (late) before = average(here, header.round, header.chunk, seen, bound);
  seen |= mask;
  for (ContributorMask left = mask; left != 0; left &= left - 1)
    here.came[header.chunk][std::size_t(std::countr_zero(left))] = net_->now();
  if (!late) return;
  ++tally_.late;
  after = average(here, header.round, header.chunk, seen, bound);
  for (std::size_t e = 0; e < after.size(); ++e) after[e] -= before[e];
  for (double& b : bound) b *= 2;
  move(island, header.chunk, after, bound);
}

void NetDriver::before_merge(int island, RoundId round, int fragment) {
  Record& here = record(island, round);
  expect(here.merged.insert(fragment).second, "a fragment is merged twice");
  ++tally_.merges;
  for (ChunkId chunk = first_chunk(job_, fragment); chunk < first_chunk(job_, fragment + 1);
       ++chunk) {
    Values bound;
    Values by = average(here, round, chunk, here.masks[chunk], bound);
    const double scale = std::ldexp(1.0, settings_.exponent);
    const double own = weight(here, ContributorMask(1) << unsigned(here.own));
    for (std::size_t e = 0; e < by.size(); ++e) by[e] -= here.sent[chunk][e] / own * scale;
    move(island, chunk, by, bound);
  }
}

void NetDriver::move(int island, ChunkId chunk, const Values& by, const Values& bound) {
  for (std::size_t e = 0; e < by.size(); ++e) {
    const std::size_t at = first_element(job_, chunk) + e;
    double& x = x_[std::size_t(island)][at];
    x += by[e];
    x_bound_[std::size_t(island)][at] += bound[e] + 0x1p-23 * std::fabs(x) + 0x1p-149;
  }
}

// The model, who is in which average, and what is said to be missing, against the record.
void NetDriver::compare(int island) {
  const auto i = std::size_t(island);
  for (std::size_t e = 0; e < job_.elements; ++e)
    if (!(std::fabs(net_->model(island)[e] - x_[i][e]) <= x_bound_[i][e]))
      return expect(false, "island " + std::to_string(island) + " element " + std::to_string(e) +
                               " is " + std::to_string(net_->model(island)[e]) + " and should be " +
                               std::to_string(x_[i][e]));
  for (RoundId round = newest_; round > 0 && round + 2 > newest_; --round) {
    const auto masks = net_->receiver(island).contributors(round);
    for (ChunkId chunk = 0; chunk < masks.size(); ++chunk)
      expect(masks[chunk] == record(island, round).masks[chunk],
             name(island, round, chunk) + ": contributors are not what came");
  }
  std::set<RoundId> closed;
  for (const ProtocolNet::Account& account : net_->accounts(island)) {
    expect(closed.insert(account.round).second, "a round is accounted for twice");
    const Record& here = record(island, account.round);
    std::size_t listed = 0;
    for (std::size_t bit = 0; bit < here.members.size(); ++bit) {
      ChunkId lacking = 0, first = 0;
      for (ChunkId chunk = chunk_count(job_); chunk-- > 0;) {
        const bool in = (here.masks[chunk] >> bit & 1) != 0;
        if (in && here.came[chunk][bit] <= account.when) continue;
        ++lacking;
        first = chunk;
      }
      if (lacking == 0 || (here.expected >> bit & 1) == 0) continue;
      if (listed >= account.absences.size())
        return expect(false, name(island, account.round, first) + ": an absence is not reported");
      const Absence& absence = account.absences[listed++];
      expect(
          absence.member == int(bit) && absence.chunks == lacking && absence.first_chunk == first,
          name(island, account.round, first) + ": an absence is reported wrong");
    }
    expect(listed == account.absences.size(), "an absence that is none");
  }
}

// Whoever lacks nothing has the same average, to the bit in i32.
void NetDriver::compare_averages(RoundId round) {
  for (const auto& members : rounds_[round - 1].cliques) {
    if (members.size() < 2) continue;
    for (ChunkId chunk = 0; chunk < chunk_count(job_); ++chunk) {
      std::vector<double> all(elements_in(job_, chunk)), mine = all;
      bool any = false;
      for (const int island : members) {
        const Record& here = record(island, round);
        if (here.masks[chunk] != here.expected || here.sent[chunk].empty()) continue;
        net_->receiver(island).average(round, chunk, mine);
        Values bound;
        const Values right = average(here, round, chunk, here.masks[chunk], bound);
        for (std::size_t e = 0; e < mine.size(); ++e)
          expect(std::fabs(mine[e] - right[e]) <= bound[e],
                 name(island, round, chunk) + ": a wrong average");
        if (any && job_.element == Element::kI32)
          expect(std::memcmp(all.data(), mine.data(), all.size() * sizeof(double)) == 0,
                 name(island, round, chunk) + ": not the same bits");
        all = mine;
        any = true;
        ++tally_.whole_chunks;
      }
    }
  }
}

void NetDriver::run() {
  net_->run_until({rounds_.back().end.ps + 150 * kMs});
  for (int i = 0; i < settings_.islands; ++i) {
    compare(i);
    expect(net_->accounts(i).size() == rounds_.size(), "a round is not accounted for");
    for (const ProtocolNet::Account& account : net_->accounts(i))
      tally_.missing += account.absences.size();
  }
  for (RoundId round = newest_; round > 0 && round + 2 > newest_; --round) compare_averages(round);
  if (weather_ != Weather::kRough)
    expect(tally_.missing == 0, weather_ == Weather::kCalm
                                    ? "something is missing"
                                    : "something is missing that could be repaired");
}

TEST(NetProperty, WhatIsDeliveredIsMergedOnceAndWhatIsNotIsReported) {
  Tally all;
  for (const std::uint64_t seed : testing::seeds_to_try(300)) {
    NetDriver driver(seed);
    driver.run();
    ASSERT_EQ(driver.wrong(), "") << "\n  " << testing::replay_command(seed);
    const Tally& tally = driver.tally();
    all.packets += tally.packets;
    all.merges += tally.merges;
    all.late += tally.late;
    all.missing += tally.missing;
    all.whole_chunks += tally.whole_chunks;
    all.restarts += tally.restarts;
  }
  std::printf("%lu packets, %lu averages whole\n", all.packets, all.whole_chunks);
  if (std::getenv("COTILLION_SEED") != nullptr) return;
  EXPECT_GT(all.merges, 0u);
  EXPECT_GT(all.late, 0u);
  EXPECT_GT(all.missing, 0u);
  EXPECT_GT(all.whole_chunks, 0u);
  EXPECT_GT(all.restarts, 0u);
}

}  // namespace
}  // namespace cotillion
