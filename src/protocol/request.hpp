// Bitmaps of many numbers in one packet: what a NAK asks for and a GONE refuses. One gap at a
// time would cost a round trip each: 76 gaps at 200 ms are 15 s.
#pragma once

#include <vector>

#include "protocol/packet.hpp"

namespace cotillion {

// Collects numbers into as few packets as their order allows. Allocates once.
class RequestWriter {
 public:
  // At most `beats` of bitmap in a packet.
  explicit RequestWriter(int beats);

  [[nodiscard]] bool empty() const { return bits_ == 0; }
  // False when the number does not fit beside those already here: send, clear, add again.
  [[nodiscard]] bool add(std::uint32_t number);
  // The same, sending first where it does not fit.
  template <class Send>
  void add_or(std::uint32_t number, Send send) {
    if (add(number)) return;
    send();
    clear();
    (void)add(number);
  }
  // The packet so far, with `header` in front (its `chunk` is set here) and room for the trailer.
  [[nodiscard]] ByteSpan packet(Header header);
  void clear();

 private:
  std::vector<std::byte> bytes_;
  std::uint32_t capacity_;  // numbers
  std::uint32_t first_ = 0;
  std::uint32_t bits_ = 0;  // up to the last number added
};

// Calls visit(number) for each that is asked for. Numbers count modulo 2³².
template <class Visit>
void for_each_requested(const Header& header, ByteView payload, Visit visit) {
  for (std::size_t at = 0; at < payload.size(); ++at)
    for (auto byte = std::uint8_t(payload[at]); byte != 0; byte = std::uint8_t(byte & (byte - 1)))
      visit(std::uint32_t(header.chunk) + std::uint32_t(at) * 8 +
            std::uint32_t(std::countr_zero(byte)));
}

}  // namespace cotillion
