#include "protocol/round_spec.hpp"

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/wide.hpp"

namespace cotillion {

RoundSpec equal_round(RoundId round, int members, int own) {
  COTILLION_CHECK(members >= 1 && members <= kCliqueMembersMax && own < members);
  RoundSpec spec;
  spec.round = round;
  spec.members = members;
  spec.own = own;
  spec.expected = spec.everyone();
  if (own >= 0) spec.expected &= ~(ContributorMask(1) << unsigned(own));
  for (int bit = 0; bit < members; ++bit) {
    spec.weight[std::size_t(bit)] = 1;
    spec.coefficient[std::size_t(bit)] = 1;
    spec.source[std::size_t(bit)] = SourceId(bit);
  }
  return spec;
}

Instant chunk_deadline(const RoundSpec& round, const JobSpec& job, ChunkId chunk) {
  const ChunkId last = chunk_count(job) - 1;
  if (last == 0) return round.last_deadline;
  const Duration span = round.last_deadline - round.first_deadline;
  return {round.first_deadline.ps + std::int64_t(Int128(span.ps) * chunk / last)};
}

std::uint32_t weight_of(const RoundSpec& round, ContributorMask mask) {
  std::uint32_t sum = 0;
  for (; mask != 0; mask &= mask - 1) {
    const auto bit = std::size_t(std::countr_zero(mask));
    sum += round.weight[bit] * round.coefficient[bit];
  }
  return sum;
}

Result<RoundSpec> checked(const RoundSpec& round, const JobSpec& job) {
  const auto wrong = [&](const std::string& what) {
    return failure(fmt::format("round {}, clique {}: {}", round.round, round.clique, what));
  };
  if (round.members < 1 || round.members > kCliqueMembersMax)
    return wrong(
        fmt::format("{} members; a packet has bits for {}", round.members, kCliqueMembersMax));
  if (round.own >= round.members) return wrong("the island's own bit is not among the members");
  if ((round.expected & ~round.everyone()) != 0)
    return wrong("expects contributors that are no members");
  if (round.own >= 0 && (round.expected >> unsigned(round.own) & 1) != 0)
    return wrong("expects the island's own contribution, which never crosses the network");
  if (round.epoch < 0 || round.epoch >= kEpochs)
    return wrong(fmt::format("epoch {}; the wire counts modulo {}", round.epoch, kEpochs));
  if (round.clique < 0 || round.clique >= kCliquesMax)
    return wrong(fmt::format("clique number beyond {}", kCliquesMax - 1));
  if (round.last_deadline < round.first_deadline)
    return wrong("the last chunk is due before the first");
  if (round.held_until > round.first_deadline)
    return wrong("sums are held for longer than they are waited for");
  std::uint64_t total = 0;
  for (int bit = 0; bit < round.members; ++bit) {
    const std::uint64_t weight = round.weight[std::size_t(bit)];
    const std::uint64_t coefficient = round.coefficient[std::size_t(bit)];
    if (weight == 0 || coefficient == 0)
      return wrong(fmt::format("member {} has no weight; weights are whole numbers from 1", bit));
    if (job.operation == Operation::kSum && weight * coefficient != 1)
      return wrong(fmt::format("member {} weighs {}; a plain sum weighs everyone 1", bit,
                               weight * coefficient));
    if (weight * coefficient > INT32_MAX) return wrong("weights exceed 31 bits; scale them down");
    total += weight * coefficient;
  }
  if (total > INT32_MAX) return wrong("weights sum to more than 31 bits; scale them down");
  return round;
}

}  // namespace cotillion
