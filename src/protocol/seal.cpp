#include "protocol/seal.hpp"

#include <isa-l/crc.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <bit>
#include <cstring>

#include "base/check.hpp"

namespace cotillion {
namespace {

using Trailer = std::array<std::byte, kTrailerBytes>;

// ISA-L leaves the two inversions of the standard to its caller, so that pieces can be chained.
std::uint32_t crc32c(ByteView bytes, std::uint32_t state) {
  // The function does not write; its signature predates const.
  auto* data = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data()));
  return crc32_iscsi(data, int(bytes.size()), state);
}

std::array<std::byte, kHeaderBytes> sealed_header(ByteView packet) {
  std::array<std::byte, kHeaderBytes> header{};
  std::memcpy(header.data(), packet.data(), kHeaderBytes);
  header[offsetof(Header, flags)] &= ~std::byte(flag::kResent);
  return header;
}

// For a header ISA-L's way in costs more than the work, so that is done with the processor's own
// instruction, in registers: a byte changed in memory would have to settle before it is read.
#if defined(__SSE4_2__)
std::uint32_t crc32c_of_header(ByteView packet, std::uint32_t state) {
  std::array<std::uint64_t, kHeaderBytes / 8> words;
  std::memcpy(words.data(), packet.data(), kHeaderBytes);
  words[0] &= ~(std::uint64_t(flag::kResent) << (8 * offsetof(Header, flags)));
  std::uint64_t wide = state;
  for (const std::uint64_t word : words) wide = __builtin_ia32_crc32di(wide, word);
  return std::uint32_t(wide);
}
std::uint32_t crc32c_of_nonce(std::uint32_t nonce, std::uint32_t state) {
  return __builtin_ia32_crc32si(state, nonce);
}
#else
std::uint32_t crc32c_of_header(ByteView packet, std::uint32_t state) {
  return crc32c(sealed_header(packet), state);
}
std::uint32_t crc32c_of_nonce(std::uint32_t nonce, std::uint32_t state) {
  const Little32 wire = nonce;
  return crc32c(std::as_bytes(std::span(&wire, 1)), state);
}
#endif

// Without authentication: CRC32C and the low half of the boot id.
using CheckSum = std::array<Little32, 2>;
static_assert(sizeof(CheckSum) == kTrailerBytes);

inline CheckSum check_sum(ByteView packet, BootId boot) {
  const auto nonce = std::uint32_t(boot);
  std::uint32_t state = crc32c_of_header(packet, 0xffffffffu);
  if (const ByteView payload = payload_of(packet); !payload.empty()) state = crc32c(payload, state);
  return {~crc32c_of_nonce(nonce, state), nonce};
}

// Type and chunk share four bytes: 4 + 28 bits.
std::array<std::uint8_t, 12> nonce_of(ByteView packet) {
  Header header;
  std::memcpy(&header, packet.data(), kHeaderBytes);
  const Little32 type_chunk =
      std::uint32_t(header.type()) << 28u | (std::uint32_t(header.chunk) & (kChunksMax - 1));
  std::array<std::uint8_t, 12> nonce{};
  std::memcpy(nonce.data(), &type_chunk, 4);
  std::memcpy(nonce.data() + 4, &header.round, 4);
  std::memcpy(nonce.data() + 8, &header.sequence, 4);
  return nonce;
}

struct FreeContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;

}  // namespace

Key derive_key(const Key& secret, JobId job, int epoch, SourceName source, BootId boot) {
  struct Label {
    std::array<char, 16> purpose{'c', 'o', 't', 'i', 'l', 'l', 'i',
                                 'o', 'n', '-', 's', 'e', 'a', 'l'};
    Little16 job;
    std::uint8_t epoch = 0;
    Little32 source;
    Little64 boot;
  } label;
  static_assert(sizeof(Label) == 31);
  label.job = job;
  label.epoch = std::uint8_t(epoch % kEpochs);
  label.source = source;
  label.boot = boot;
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  COTILLION_CHECK(HMAC(EVP_sha256(), secret.data(), int(secret.size()),
                       reinterpret_cast<const unsigned char*>(&label), sizeof label, digest.data(),
                       &length) != nullptr);
  Key key{};
  std::memcpy(key.data(), digest.data(), key.size());
  return key;
}

// Two epochs are alive while one plan gives way to the next; their parity tells them apart.
struct Seal::Keys {
  struct OfEpoch {
    int epoch = -1;
    BootId boot = 0;
    Context context;
  };

  Key secret{};
  JobId job = 0;
  SourceName source = 0;
  std::array<OfEpoch, 2> epochs;
  OfEpoch candidate;  // for boots that are only claimed: strangers must not put out the live keys

  EVP_CIPHER_CTX* context(int epoch, BootId boot, bool claimed) {
    OfEpoch& entry = claimed ? candidate : epochs[std::size_t(epoch & 1)];
    if (entry.epoch != epoch || entry.boot != boot) {
      const Key key = derive_key(secret, job, epoch, source, boot);
      COTILLION_CHECK(EVP_EncryptInit_ex(entry.context.get(), EVP_aes_128_gcm(), nullptr,
                                         key.data(), nullptr) == 1);
      entry.epoch = epoch;
      entry.boot = boot;
    }
    return entry.context.get();
  }
};

Seal::Seal() = default;
Seal::Seal(Seal&&) noexcept = default;
Seal& Seal::operator=(Seal&&) noexcept = default;
Seal::~Seal() = default;

Seal::Seal(const Key& secret, JobId job, SourceName source) : keys_(std::make_unique<Keys>()) {
  keys_->secret = secret;
  keys_->job = job;
  keys_->source = source;
  for (auto* entry : {&keys_->epochs[0], &keys_->epochs[1], &keys_->candidate}) {
    entry->context.reset(EVP_CIPHER_CTX_new());
    COTILLION_CHECK(entry->context != nullptr);
  }
}

void Seal::set_boot(BootId boot) {
  boot_ = boot;
}

std::array<std::byte, kTrailerBytes> Seal::trailer(ByteView packet) {
  COTILLION_CHECK(packet.size() >= kHeaderBytes + kTrailerBytes);
  if (!authenticated()) return std::bit_cast<Trailer>(check_sum(packet, boot_));
  Header header;
  std::memcpy(&header, packet.data(), kHeaderBytes);
  EVP_CIPHER_CTX* context = keys_->context(header.epoch(), boot_, claimed_);
  const auto nonce = nonce_of(packet);
  const auto first = sealed_header(packet);
  const ByteView payload = payload_of(packet);
  int written = 0;
  std::array<unsigned char, 16> tag{};
  const bool done =
      EVP_EncryptInit_ex(context, nullptr, nullptr, nullptr, nonce.data()) == 1 &&
      EVP_EncryptUpdate(context, nullptr, &written,
                        reinterpret_cast<const unsigned char*>(first.data()),
                        int(first.size())) == 1 &&
      EVP_EncryptUpdate(context, nullptr, &written,
                        reinterpret_cast<const unsigned char*>(payload.data()),
                        int(payload.size())) == 1 &&
      EVP_EncryptFinal_ex(context, tag.data(), &written) == 1 &&
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, int(tag.size()), tag.data()) == 1;
  COTILLION_CHECK(done);
  Trailer trailer{};
  std::memcpy(trailer.data(), tag.data(), trailer.size());
  return trailer;
}

void Seal::close(ByteSpan packet) {
  auto& flags = packet[offsetof(Header, flags)];
  flags = authenticated() ? flags | std::byte(flag::kMac) : flags & ~std::byte(flag::kMac);
  const Trailer made = trailer(packet);
  std::memcpy(packet.data() + packet.size() - kTrailerBytes, made.data(), kTrailerBytes);
}

bool Seal::holds(ByteView packet) {
  const bool tagged = (packet[offsetof(Header, flags)] & std::byte(flag::kMac)) != std::byte(0);
  if (tagged != authenticated()) return false;
  const std::byte* found = packet.data() + packet.size() - kTrailerBytes;
  if (!tagged) {
    CheckSum sum;
    std::memcpy(&sum, found, sizeof sum);
    const CheckSum right = check_sum(packet, boot_);
    return sum[0] == right[0] && sum[1] == right[1];
  }
  // A tag must not be guessed byte by byte from the time that a refusal takes.
  return CRYPTO_memcmp(trailer(packet).data(), found, kTrailerBytes) == 0;
}

bool Seal::adopt(ByteView heartbeat, BootId boot) {
  if (boot <= boot_) return false;
  const BootId before = boot_;
  boot_ = boot;
  claimed_ = true;
  const bool held = holds(heartbeat);
  claimed_ = false;
  if (!held) boot_ = before;
  return held;
}

Seal sealed(BootId boot) {
  Seal seal;
  seal.set_boot(boot);
  return seal;
}

}  // namespace cotillion
