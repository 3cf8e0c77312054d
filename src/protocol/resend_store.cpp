#include "protocol/resend_store.hpp"

#include "base/check.hpp"

namespace cotillion {
namespace {

constexpr Instant kNotYet{INT64_MIN / 2};

}  // namespace

ResendStore::ResendStore(std::size_t packets, std::size_t payload, Duration resend)
    : packets_(packets),
      stride_(whole_lines(packet_bytes(payload))),
      resend_(resend),
      records_(packets),
      line_(packets),
      bytes_(packets * stride_) {
  COTILLION_CHECK(packets > 0);
}

std::size_t ResendStore::bytes(std::size_t packets, std::size_t payload) {
  return packets * (whole_lines(packet_bytes(payload)) + sizeof(Record) + sizeof(std::uint32_t));
}

bool ResendStore::holds(std::uint32_t sequence) const {
  const std::uint64_t number = unwrapped(sequence);
  return number >= oldest_ && number < next_;
}

ByteSpan ResendStore::claim(Instant now, std::size_t payload) {
  if (next_ - oldest_ == packets_) {
    if (now - records_[oldest_ % packets_].sent < resend_) ++overruns_;
    ++oldest_;
  }
  const std::size_t place = next_++ % packets_;
  records_[place] = {now, kNotYet, std::uint32_t(packet_bytes(payload)), false};
  return {bytes_.at(place * stride_), records_[place].length};
}

ByteSpan ResendStore::fetch(Instant now, std::uint32_t sequence) {
  if (!holds(sequence)) return {};
  const std::size_t place = unwrapped(sequence) % packets_;
  records_[place].resent = now;
  return {bytes_.at(place * stride_), records_[place].length};
}

bool ResendStore::just_resent(Instant now, std::uint32_t sequence, Duration within) const {
  if (!holds(sequence)) return false;
  const Instant resent = records_[unwrapped(sequence) % packets_].resent;
  return resent != kNotYet && resent <= now && now - resent < within;  // clocks may step back
}

bool ResendStore::line_up(std::uint32_t sequence) {
  Record& record = records_[unwrapped(sequence) % packets_];
  if (record.in_line) return false;
  if (in_line_ == line_.size()) forget_the_gone();
  record.in_line = true;
  line_[(line_first_ + in_line_++) % line_.size()] = sequence;
  return true;
}

// Whoever is held stands there once at most: in a full line that lacks one, somebody is gone.
void ResendStore::forget_the_gone() {
  std::size_t left = 0;
  for (std::size_t i = 0; i < in_line_; ++i) {
    const std::uint32_t sequence = line_[(line_first_ + i) % line_.size()];
    if (holds(sequence)) line_[(line_first_ + left++) % line_.size()] = sequence;
  }
  in_line_ = left;
}

std::optional<std::uint32_t> ResendStore::next_in_line() {
  while (in_line_ > 0) {
    const std::uint32_t sequence = line_[line_first_];
    line_first_ = (line_first_ + 1) % line_.size();
    --in_line_;
    if (!holds(sequence)) continue;
    Record& record = records_[unwrapped(sequence) % packets_];
    if (!record.in_line) continue;
    record.in_line = false;
    return sequence;
  }
  return {};
}

void ResendStore::acknowledge_below(std::uint32_t sequence) {
  const std::uint64_t number = unwrapped(sequence);
  if (number > oldest_ && number <= next_) oldest_ = number;
}

}  // namespace cotillion
