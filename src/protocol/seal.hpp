// The last eight bytes of a packet. With authentication: a 64-bit GMAC tag (AES-128, GHASH) under
// a key that belongs to one source, one epoch and one boot of that source, so that no nonce is
// ever used twice with different bytes: the nonce is type, round, chunk and sequence. Without:
// CRC32C and the low half of the boot id, which keep out flipped bits and packets of an earlier
// boot, and nobody who means harm. RESENT is outside both: a resend repeats its bytes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "protocol/packet.hpp"

namespace cotillion {

using Key = std::array<std::uint8_t, 16>;
using BootId = std::uint64_t;  // larger after every start of a source; 0: not heard of yet
// Who seals, the same number everywhere. Whatever counts sequences for itself has a name of its
// own: a sender, a receiver, an edge towards one island.
using SourceName = std::uint32_t;

// The key of one source in one epoch since one boot. The secret is the source's own: an island
// that holds only its own cannot seal in another's name; edges hold those they serve.
[[nodiscard]] Key derive_key(const Key& secret, JobId job, int epoch, SourceName source,
                             BootId boot);

class Seal {
 public:
  Seal();  // CRC32C and boot nonce
  explicit Seal(const Key& secret, JobId job, SourceName source);
  Seal(Seal&&) noexcept;
  Seal& operator=(Seal&&) noexcept;
  ~Seal();

  [[nodiscard]] bool authenticated() const { return keys_ != nullptr; }
  [[nodiscard]] BootId boot() const { return boot_; }
  // From now on; packets of earlier boots no longer hold.
  void set_boot(BootId boot);

  // All take whole packets (read_header accepts them). Writes the trailer, and sets or clears MAC
  // in the header.
  void close(ByteSpan packet);
  // Whether the trailer is what this source would have written since its boot. A new epoch costs a
  // key derivation, so callers check that the epoch is one they expect first.
  [[nodiscard]] bool holds(ByteView packet);
  // Takes on the boot id that a heartbeat announces, if it is newer and the heartbeat is sealed
  // under it.
  [[nodiscard]] bool adopt(ByteView heartbeat, BootId boot);

 private:
  struct Keys;
  [[nodiscard]] std::array<std::byte, kTrailerBytes> trailer(ByteView packet);

  BootId boot_ = 0;
  bool claimed_ = false;  // the boot is one that a heartbeat only claims so far
  std::unique_ptr<Keys> keys_;
};

// CRC32C, since that boot.
[[nodiscard]] Seal sealed(BootId boot);

}  // namespace cotillion
