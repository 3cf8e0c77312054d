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
      bytes_(packets * stride_) {
  COTILLION_CHECK(packets > 0);
}

std::size_t ResendStore::bytes(std::size_t packets, std::size_t payload) {
  return packets * (whole_lines(packet_bytes(payload)) + sizeof(Record));
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
  records_[place] = {now, kNotYet, std::uint32_t(packet_bytes(payload))};
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
  return resent != kNotYet && now - resent < within;
}

void ResendStore::acknowledge_below(std::uint32_t sequence) {
  const std::uint64_t number = unwrapped(sequence);
  if (number > oldest_ && number <= next_) oldest_ = number;
}

}  // namespace cotillion
