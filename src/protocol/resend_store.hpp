// What an edge sent to its island, kept for resending. Packets are built here, sent from here and
// found by sequence, so nothing is copied and nothing searched. A packet stays for t_resend at
// least (or an overrun is counted: the store is too small for the rate), and until its round is
// acknowledged at most; what is no longer here is answered with GONE, never with silence.
#pragma once

#include <vector>

#include "base/units.hpp"
#include "protocol/aligned_bytes.hpp"
#include "protocol/packet.hpp"

namespace cotillion {

class ResendStore {
 public:
  ResendStore(std::size_t packets, std::size_t payload, Duration resend);

  // Room for the next packet, whose sequence is next(): a header, that much payload, a trailer.
  [[nodiscard]] ByteSpan claim(Instant now, std::size_t payload);
  [[nodiscard]] std::uint32_t next() const { return std::uint32_t(next_); }

  // The packet as it was sent; empty when it is gone. Marks it as resent.
  [[nodiscard]] ByteSpan fetch(Instant now, std::uint32_t sequence);
  // Whether it was resent so lately that the same request must have crossed the answer.
  [[nodiscard]] bool just_resent(Instant now, std::uint32_t sequence, Duration within) const;

  void acknowledge_below(std::uint32_t sequence);
  [[nodiscard]] std::uint64_t overruns() const { return overruns_; }
  // For hosts that place large tables with care.
  [[nodiscard]] ByteSpan memory() { return {bytes_.at(0), bytes_.size()}; }
  [[nodiscard]] static std::size_t bytes(std::size_t packets, std::size_t payload);

 private:
  struct Record {
    Instant sent;
    Instant resent;
    std::uint32_t length = 0;
  };
  // Sequences count modulo 2³² on the wire; in here they never wrap.
  [[nodiscard]] std::uint64_t unwrapped(std::uint32_t sequence) const {
    return next_ - std::uint32_t(std::uint32_t(next_) - sequence);
  }
  [[nodiscard]] bool holds(std::uint32_t sequence) const;

  std::size_t packets_;
  std::size_t stride_;
  Duration resend_;
  std::uint64_t next_ = 0;
  std::uint64_t oldest_ = 0;  // below: overwritten or acknowledged
  std::uint64_t overruns_ = 0;
  std::vector<Record> records_;
  AlignedBytes bytes_;
};

}  // namespace cotillion
