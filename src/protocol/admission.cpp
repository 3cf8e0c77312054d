#include "protocol/admission.hpp"

#include <algorithm>

#include "protocol/announcement.hpp"

namespace cotillion {

bool RateLimit::lets_pass(Instant now, std::size_t bytes) {
  if (rate_.value <= 0) return true;
  const Duration passed = std::max(now - at_, Duration{0});  // hosts' clocks may step back
  tokens_ += RealDuration(passed).seconds() * bytes_per_second(rate_);
  tokens_ = std::min(tokens_, burst_);
  at_ = now;
  if (tokens_ < double(bytes)) return false;
  tokens_ -= double(bytes);
  return true;
}

Admission::Admission(const AggregationSpec& spec, Seal island, IdVector<SourceId, Seal> sources)
    : accumulator_(accumulator(spec.job.element)),
      chunks_(chunk_count(spec.job)),
      island_(std::move(island)),
      sources_(std::move(sources)),
      rate_(spec.rate_max, spec.burst) {}

int Admission::stranger_in(const RoundSpec& round) const {
  for (int bit = 0; bit < round.members; ++bit) {
    const SourceId source = round.source[std::size_t(bit)];
    if ((round.expected >> unsigned(bit) & 1) != 0 && !sources_.has(source)) return bit;
  }
  return -1;
}

Seal* Admission::seal_of(SourceId source) {
  if (source == kOwnIsland) return &island_;
  if (!sources_.has(source)) return nullptr;
  return &sources_[source];
}

std::optional<EdgeCount> Admission::refusal(Instant now, const AggregationSpec& spec,
                                            const EdgeRound& round, const HeardPacket& heard) {
  if (!is_planned(spec, round, heard)) return EdgeCount::kUnexpected;
  Seal& seal = sources_[heard.source];
  if (seal.boot() == 0) return EdgeCount::kUnknownBoot;
  if (!seal.holds(heard.packet)) return EdgeCount::kForged;
  if (!rate_.lets_pass(now, heard.packet.size())) return EdgeCount::kOverRate;
  const ByteView payload = payload_of(heard.packet);
  if (carries_sum(heard.header.type()) && !payload.empty() &&
      !accumulator_.finite(payload.data(), payload.size() / bytes_of(spec.job.element)))
    return EdgeCount::kNotFinite;
  return {};
}

bool Admission::is_planned(const AggregationSpec& spec, const EdgeRound& round,
                           const HeardPacket& heard) const {
  const RoundSpec& plan = round.spec;
  const Header& header = heard.header;
  const ContributorMask mask = header.mask;
  if (header.epoch() != plan.epoch || header.clique() != plan.clique) return false;
  if (mask == 0 || (mask & ~plan.expected) != 0) return false;
  const auto bit = std::size_t(std::countr_zero(mask));
  if (plan.source[bit] != heard.source || (mask & ~round.together[bit]) != 0) return false;
  if (header.type() == PacketType::kEnd) return true;

  const JobSpec& job = spec.job;
  if (!carries_sum(header.type()) || header.chunk >= chunks_) return false;
  if (header.element() != job.element || header.operation() != job.operation) return false;
  const bool grid = job.element == Element::kI32;
  if (header.has(flag::kGrid) != grid) return false;
  if (header.exponent() != (grid ? spec.grid.exponent(header.chunk) : 0)) return false;
  const std::size_t payload = payload_of(heard.packet).size();
  if (payload != (header.has(flag::kZero) ? 0 : payload_bytes(job, header.chunk)) ||
      (payload != 0 && spec.payloads == Payloads::kCounted))
    return false;
  if (header.type() == PacketType::kData)
    return std::has_single_bit(mask) && header.weight == plan.weight[bit];
  return header.weight == weight_of(plan, mask);
}

std::optional<EdgeCount> Admission::refusal_of_request(const HeardPacket& heard) {
  if (island_.boot() == 0) return EdgeCount::kUnknownBoot;
  if (!island_.holds(heard.packet)) return EdgeCount::kForged;
  return {};
}

std::optional<EdgeCount> Admission::hear_heartbeat(const HeardPacket& heard) {
  Seal* seal = seal_of(heard.source);
  // A source says whose contributions it sends; the island sends none.
  const bool nobody = heard.source != kOwnIsland && heard.header.mask == 0;
  if (seal == nullptr || nobody) return EdgeCount::kUnexpected;
  if (!believe(*seal, heard.packet)) return EdgeCount::kForged;
  return {};
}

}  // namespace cotillion
