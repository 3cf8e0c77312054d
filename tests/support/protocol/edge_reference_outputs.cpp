// What comes out of an edge, held to the invariants and to what was foretold.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "protocol/request.hpp"
#include "tests/support/protocol/edge_reference.hpp"

namespace cotillion::testing {

std::string to_text(const Header& header) {
  return fmt::format("{} round {} chunk {} mask {:x} weight {} flags {:02x} epoch {} clique {}",
                     name_of(header.type()), std::uint32_t(header.round),
                     std::uint32_t(header.chunk), std::uint64_t(header.mask),
                     std::uint32_t(header.weight), header.flags, header.epoch(), header.clique());
}

void EdgeReference::differ(const char* what, const Header* header) {
  if (!wrong.empty()) return;
  wrong = fmt::format("job {}: {}", spec_.job.id, what);
  if (header != nullptr) wrong += ": " + to_text(*header);
}

void EdgeReference::hear(Instant now, Towards towards, const Header& header, ByteView packet) {
  expect(seals_.own.holds(packet), "an output whose seal does not hold", header);
  expect(header.has(flag::kMac) == seals_.own.authenticated(), "MAC is not as it should be",
         header);
  expect(towards == Towards::kIsland, "sent astray", header);
  if (carries_sum(header.type()))
    return header.has(flag::kResent) ? hear_resent(now, header, packet) : hear_sum(header, packet);
  if (header.type() == PacketType::kGone)
    return for_each_requested(header, payload_of(packet),
                              [&](std::uint32_t sequence) { gone_heard_.push_back(sequence); });
  // What is announced: how far this round has come, and in which sequences.
  const bool end = header.type() == PacketType::kEnd;
  expect(end || header.type() == PacketType::kHeartbeat, "an edge has no business to send", header);
  const auto left = std::find_if(leaving_.begin(), leaving_.end(), [&](const Round& round) {
    return round.spec.round == header.round;
  });
  const Round* round = left != leaving_.end() ? &*left : round_of(header.round);
  expect(round != nullptr && header.chunk == next_ && header.weight == round->first_sequence,
         "an announcement of what is not so", header);
  if (!end) {
    Little64 boot;
    std::memcpy(&boot, payload_of(packet).data(), sizeof boot);
    return expect(boot == seals_.own.boot() && header.round == newest_, "a wrong boot or round",
                  header);
  }
  const auto found = std::find_if(ends_.begin(), ends_.end(),
                                  [&](const auto& due) { return due.first == header.round; });
  if (found == ends_.end()) return expect(false, "an END that was not due", header);
  expect((header.flags & ~flag::kMac) == found->second, "END with wrong flags", header);
  ends_.erase(found);
}

void EdgeReference::hear_sum(const Header& header, ByteView packet) {
  // The invariants, from the output alone and what was accepted.
  const auto left = std::find_if(leaving_.begin(), leaving_.end(), [&](const Round& round) {
    return round.spec.round == header.round;
  });
  Round* round = left != leaving_.end() ? &*left : round_of(header.round);
  if (round == nullptr || header.chunk >= chunks_)
    return expect(false, "a sum of a round that is not live", header);
  const ContributorMask mask = header.mask;
  ContributorMask& out = round->out[header.chunk];
  expect(mask != 0 && (mask & out) == 0, "masks are not disjoint", header);
  expect((mask & ~round->accepted[header.chunk]) == 0, "more than was accepted", header);
  std::uint64_t weight = 0;
  for (int bit = 0; bit < kCliqueMembersMax; ++bit)
    if ((mask >> unsigned(bit) & 1) != 0)
      weight += std::uint64_t(round->spec.weight[std::size_t(bit)]) *
                round->spec.coefficient[std::size_t(bit)];
  expect(header.weight == weight, "the weight is not the mask's", header);
  if (header.type() == PacketType::kResult)
    expect(out == 0 && mask == round->spec.expected, "a RESULT that is not whole", header);
  out |= mask;
  expect(header.epoch() == round->spec.epoch && header.clique() == round->spec.clique &&
             header.element() == spec_.job.element && header.operation() == spec_.job.operation &&
             header.exponent() == exponent(header.chunk),
         "not of its round or on its grid", header);
  expect(header.sequence == next_, "a sequence out of order", header);
  Stored& stored = store_[next_++ % store_.size()];
  stored.bytes.assign(packet.begin(), packet.end());
  stored.was_resent = false;

  // The foretelling; deadlines of several rounds may come in any order.
  for (std::size_t i = sums_heard_; i < sums_count_; ++i) {
    const Foretold& foretold = sums_[i];
    if (foretold.round != header.round || foretold.chunk != header.chunk ||
        foretold.sum.mask != mask)
      continue;
    expect(foretold.type == header.type(), "another type was foretold", header);
    expect(foretold.flags == (header.flags & ~flag::kMac), "other flags were foretold", header);
    expect(foretold.sum.is(payload_of(packet), spec_.job.element), "a wrong sum", header);
    if (i != sums_heard_) std::swap(sums_[i], sums_[sums_heard_]);
    ++sums_heard_;
    return;
  }
  expect(false, "a sum that was not foretold", header);
}

void EdgeReference::hear_resent(Instant now, const Header& header, ByteView packet) {
  if (resends_heard_ == resends_.size() || resends_[resends_heard_] != header.sequence)
    return expect(false, "a resend that nobody asked for", header);
  ++resends_heard_;
  Stored& stored = store_[header.sequence % store_.size()];
  stored.was_resent = true;
  stored.resent = now;
  stored.bytes[offsetof(Header, flags)] |= std::byte(flag::kResent);
  expect(std::equal(packet.begin(), packet.end(), stored.bytes.begin(), stored.bytes.end()),
         "a resend with other bytes", header);
}

void EdgeReference::settle(const Aggregation& job) {
  expect(sums_heard_ == sums_count_, "a sum was foretold and did not come");
  expect(ends_.empty(), "an END was due and did not come");
  expect(resends_heard_ == resends_.size(), "a resend was due and did not come");
  expect(gone_ == gone_heard_, "GONE does not name what is gone");
  sums_count_ = sums_heard_ = resends_heard_ = 0;
  resends_.clear();
  gone_.clear();
  gone_heard_.clear();
  for (const Round& round : leaving_)
    expect(round.out == round.accepted, "a round left and kept something back");
  leaving_.clear();
  for (std::size_t i = 0; i < kEdgeCounts; ++i)
    if (job.counters()[EdgeCount(i)] != counts_[i] && wrong.empty())
      wrong = fmt::format("job {}: counter {} is {} and should be {}", spec_.job.id,
                          name_of(EdgeCount(i)), job.counters()[EdgeCount(i)], counts_[i]);
  const auto open = std::count_if(slots_.begin(), slots_.end(),
                                  [](const ReferenceSum& slot) { return slot.mask != 0; });
  expect(job.open_slots() == std::size_t(open), "other slots are open than should be");
  expect(job.open_slots_peak() <= spec_.slots, "more slots than it was given");
}

void EdgeReference::finish() {
  for (const auto& [number, round] : live_)
    expect(round.out == round.accepted, "a flush left something behind");
  std::uint64_t sum = taken_;
  for (const EdgeCount which :
       {EdgeCount::kAccepted, EdgeCount::kDuplicates, EdgeCount::kOverlaps, EdgeCount::kForged,
        EdgeCount::kUnknownBoot, EdgeCount::kUnexpected, EdgeCount::kStaleRound,
        EdgeCount::kNotFinite, EdgeCount::kOverRate})
    sum += counts_[std::size_t(which)];
  expect(sum == in_, "counters do not add up to the packets that came");
}

}  // namespace cotillion::testing
