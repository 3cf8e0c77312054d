// What an edge sent to its island, kept for resending. Packets are built here, sent from here and
// found by sequence, so nothing is copied and nothing searched. A packet stays for t_resend at
// least (or an overrun is counted: the store is too small for the rate), and until its round is
// acknowledged at most; what is no longer here is answered with GONE, never with silence. What
// cannot be sent again at once stands in line here, first come, first served.
#pragma once

#include <optional>
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

  [[nodiscard]] bool holds(std::uint32_t sequence) const;
  // The packet as it was sent; empty when it is gone. Marks it as resent.
  [[nodiscard]] ByteSpan fetch(Instant now, std::uint32_t sequence);
  // Whether it was resent so lately that the same request must have crossed the answer.
  [[nodiscard]] bool just_resent(Instant now, std::uint32_t sequence, Duration within) const;

  // Puts a packet that is held in line; false when it stands there already.
  [[nodiscard]] bool line_up(std::uint32_t sequence);
  [[nodiscard]] bool anyone_in_line() const { return in_line_ > 0; }
  // Takes the first one out. None is left when all that stood there are gone.
  [[nodiscard]] std::optional<std::uint32_t> next_in_line();

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
    bool in_line = false;
  };
  // Sequences count modulo 2³² on the wire; in here they never wrap.
  [[nodiscard]] std::uint64_t unwrapped(std::uint32_t sequence) const {
    return next_ - std::uint32_t(std::uint32_t(next_) - sequence);
  }

  void forget_the_gone();

  std::size_t packets_;
  std::size_t stride_;
  Duration resend_;
  std::uint64_t next_ = 0;
  std::uint64_t oldest_ = 0;  // below: overwritten or acknowledged
  std::uint64_t overruns_ = 0;
  std::vector<Record> records_;
  std::vector<std::uint32_t> line_;  // a ring of sequences, some of them gone
  std::size_t line_first_ = 0;
  std::size_t in_line_ = 0;
  AlignedBytes bytes_;
};

}  // namespace cotillion
