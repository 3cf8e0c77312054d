// What was really delivered, and what must have come of it.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "tests/support/protocol/net_driver.hpp"

namespace cotillion::testing {

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

// What a copy of the model must become on the wire.
void NetDriver::note_copied(int island, RoundId round, std::uint64_t first, std::size_t count) {
  const auto chunk = ChunkId(first / elements_per_chunk(job_));
  const std::uint32_t weight = settings_.weights[std::size_t(island)];
  Values& sent = record(island, round).sent[chunk];
  expect(sent.empty(), "a chunk is copied twice");
  sent.assign(payload_bytes(job_, chunk) / bytes_of(job_.element), 0.0);
  for (std::size_t e = 0; e < count; ++e) {
    const float x = net_->model(island)[first + e];
    auto bits = std::bit_cast<std::uint32_t>(x * float(weight));
    if (job_.element == Element::kBf16) bits = (bits + 0x7fffu + (bits >> 16u & 1u)) & 0xffff0000u;
    sent[e] = job_.element == Element::kI32
                  ? std::nearbyint(std::ldexp(double(x), -settings_.exponent)) * weight
                  : double(std::bit_cast<float>(bits));
  }
}

void NetDriver::note_sent(int island, const std::vector<std::byte>& packet) {
  const Header header = *read_header(packet);
  if (header.type() != PacketType::kData) return;
  const Values& sent = record(island, header.round).sent[header.chunk];
  const Values values = values_of(payload_of(ByteView(packet)));
  if (header.has(flag::kZero))
    expect(std::all_of(sent.begin(), sent.end(), [](double v) { return v == 0; }), "no zeros");
  else
    expect(values == sent, "what is sent is not what was copied");
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
      expect(absence.contributor == int(bit) && absence.chunks == lacking &&
                 absence.first_chunk == first,
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
  net_->run_until(rounds_.back().end + Duration{150'000'000'000});
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

}  // namespace cotillion::testing
