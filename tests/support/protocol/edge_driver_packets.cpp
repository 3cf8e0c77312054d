// The packets of a driven edge: right as a network should carry them, or wrong in one way.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "tests/support/protocol/edge_driver.hpp"

namespace cotillion::testing {

void EdgeDriver::deliver(const Event& event) {
  World& world = worlds_[event.job];
  switch (event.what) {
    case What::kOpen:
      (void)checker_->open_round(event.when, world.spec.job.id, world.rounds[event.round]);
      break;
    case What::kTick:
      checker_->on_time(event.when);
      break;
    case What::kRequest:
      deliver_request(event);
      break;
    case What::kSum:
      deliver_sum(event);
      break;
    default:
      deliver_announcement(event);
  }
}

// The same contribution has the same values in every packet that carries it.
std::size_t EdgeDriver::write_payload(const World& world, const Event& event, bool& zero) {
  const JobSpec& job = world.spec.job;
  const RoundSpec& round = world.rounds[event.round];
  const std::size_t bytes = payload_bytes(job, event.chunk);
  const std::size_t count = bytes / bytes_of(job.element);
  std::array<float, 128> floats{};
  std::array<std::uint32_t, 128> integers{};
  zero = true;
  for (ContributorMask left = event.mask; left != 0; left &= left - 1) {
    const auto bit = unsigned(std::countr_zero(left));
    Random values(std::uint64_t(round.round) << 40 ^ std::uint64_t(event.chunk) << 20 ^ bit << 8 ^
                  event.job);
    const std::uint64_t kind = values.next() % 16;
    if (kind == 0) continue;  // zeros
    zero = false;
    const std::uint32_t coefficient = event.type == PacketType::kData ? 1 : round.coefficient[bit];
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t drawn = values.next();
      integers[i] += std::uint32_t(drawn) * coefficient;
      const int scale = kind < 3 ? int(drawn % 120) - 60 : 0;
      float value = std::ldexp(float(std::int32_t(drawn >> 32)), scale - 31);
      if (job.element == Element::kBf16)
        value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xffff0000u);
      floats[i] += value * float(coefficient);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::byte* at = packet_.data() + kHeaderBytes + i * bytes_of(job.element);
    const Little32 word =
        job.element == Element::kI32 ? integers[i] : std::bit_cast<std::uint32_t>(floats[i]);
    const Little16 half = std::uint16_t(std::uint32_t(word) >> 16);
    if (job.element == Element::kBf16)
      std::memcpy(at, &half, sizeof half);
    else
      std::memcpy(at, &word, sizeof word);
  }
  return bytes;
}

void EdgeDriver::deliver_sum(const Event& event) {
  World& world = worlds_[event.job];
  const JobSpec& job = world.spec.job;
  const RoundSpec& round = world.rounds[event.round];
  Header header;
  header.set_type(event.type);
  header.job = job.id;
  header.round = round.round;
  header.chunk = event.chunk;
  header.sequence = event.order;
  header.mask = event.mask;
  std::uint32_t weight = 0;
  for (ContributorMask left = event.mask; left != 0; left &= left - 1) {
    const auto bit = std::size_t(std::countr_zero(left));
    weight += round.weight[bit] * (event.type == PacketType::kData ? 1 : round.coefficient[bit]);
  }
  header.weight = weight;
  const bool grid = job.element == Element::kI32;
  header.set_content(job.element, job.operation, grid ? world.spec.grid.exponent(event.chunk) : 0);
  header.set_meeting(round.epoch, round.clique);
  bool zero = false;
  std::size_t payload = write_payload(world, event, zero);
  header.flags =
      std::uint8_t((grid ? flag::kGrid : 0) | (chance(0.9) ? 0 : pick(0, 63) & ~flag::kZero));
  if (zero && chance(0.8)) {
    header.flags |= flag::kZero;
    payload = 0;
  }
  if (event.damage != Damage::kNone) spoil(world, event, header, payload);
  ByteSpan packet = ByteSpan(packet_).first(packet_bytes(payload));
  write_header(header, packet);

  SourceId source = event.source;
  SourceId sealer = source;
  if (event.damage == Damage::kOtherStream) source = SourceId(pick(-3, world.sources));
  if (event.damage == Damage::kOtherSource) sealer = SourceId(pick(0, world.sources - 1));
  Seal& seal = world.seals[sealer];
  const BootId boot = world.boot[sealer];
  if (event.damage == Damage::kEarlierBoot) seal.set_boot(boot - 1);
  if (event.damage == Damage::kLaterBoot) seal.set_boot(boot + 1);
  seal.close(packet);
  seal.set_boot(boot);

  hand_damaged(event, source, packet.size());
}

// After it was sealed: whole, or with bytes that are not what they were.
void EdgeDriver::hand_damaged(const Event& event, SourceId source, std::size_t sealed) {
  Trailer trailer = Trailer::kOfSomeone;
  std::size_t size = sealed;
  if (event.damage >= Damage::kFlippedBits) trailer = Trailer::kBroken;
  if (event.damage == Damage::kFlippedBits) {
    const std::int64_t first = pick(0, std::int64_t(size) * 8 - 1);
    for (std::int64_t flip = pick(0, 2); flip >= 0; --flip) {
      auto bit = std::size_t(first + flip * 11) % (size * 8);
      if (bit == offsetof(Header, flags) * 8) ++bit;  // RESENT is outside the seal
      packet_[bit / 8] ^= std::byte(1u << (bit % 8));
    }
  } else if (event.damage == Damage::kTruncated) {
    size =
        std::size_t(chance(0.5) ? pick(0, std::int64_t(size) - 1) : std::int64_t(packet_bytes(0)));
    if (size == sealed) trailer = Trailer::kOfSomeone;
  } else if (event.damage == Damage::kExtended) {
    size += std::size_t(chance(0.5) ? pick(1, 70) : kBeatBytes);
  }
  hand_over(event, source, size, trailer);
}

// Before it is sealed: a packet that is right in every way but one.
void EdgeDriver::spoil(const World& world, const Event& event, Header& header,
                       std::size_t& payload) {
  const JobSpec& job = world.spec.job;
  switch (event.damage) {
    case Damage::kEpoch:
      header.set_meeting(int(pick(0, 15)), header.clique());
      break;
    case Damage::kClique:
      header.set_meeting(header.epoch(), int(pick(0, 4)));
      break;
    case Damage::kExponent:
      header.exponent_byte = std::uint8_t(pick(0, 255));
      break;
    case Damage::kWeight:
      header.weight = std::uint32_t(header.weight + pick(-1, 1));
      break;
    case Damage::kMask:
      header.mask = chance(0.5) ? header.mask ^ (ContributorMask(1) << unsigned(pick(0, 63)))
                                : random_.next();
      break;
    case Damage::kContent:
      header.element_operation = std::uint8_t(pick(0, 255));
      break;
    case Damage::kType:
      header.version_type = std::uint8_t(chance(0.5) ? 0x10 | pick(0, 15) : pick(0, 255));
      break;
    case Damage::kChunk:
      header.chunk = std::uint32_t(chance(0.5) ? chunk_count(job) + pick(0, 3) : random_.next());
      break;
    case Damage::kGridFlag:
      header.flags ^= flag::kGrid;
      break;
    case Damage::kLength:
      payload = kBeatBytes * std::size_t(pick(0, 5));
      break;
    case Damage::kJob:
      header.job = std::uint16_t(chance(0.5) ? pick(0, 3) : 700);
      break;
    case Damage::kRound:
      header.round = std::uint32_t(header.round + pick(-4, 4));
      break;
    case Damage::kNotFinite:
      if (payload != 0 && job.element != Element::kI32) {
        const std::size_t at = std::size_t(pick(0, std::int64_t(payload / 4) - 1)) * 4;
        const Little32 bits = chance(0.5) ? 0x7f800000u : 0xff810000u;
        std::memcpy(packet_.data() + kHeaderBytes + at, &bits, sizeof bits);
      }
      break;
    default:
      break;
  }
}

void EdgeDriver::deliver_announcement(const Event& event) {
  World& world = worlds_[event.job];
  const RoundSpec& round = world.rounds[event.round];
  const bool island = event.source == kOwnIsland;
  Seal& seal = island ? world.island : world.seals[event.source];
  Header header;
  header.set_type(event.what == What::kHeartbeat ? PacketType::kHeartbeat
                  : event.what == What::kGone    ? PacketType::kGone
                                                 : PacketType::kEnd);
  header.job = world.spec.job.id;
  header.round = round.round;
  header.chunk = std::uint32_t(pick(0, 300));
  header.sequence = event.order;
  header.mask = event.mask;
  header.set_meeting(chance(0.98) ? round.epoch : int(pick(0, 15)), round.clique);
  if (event.damage == Damage::kMask) header.mask = random_.next();
  const bool restart = event.what == What::kHeartbeat && event.damage == Damage::kLaterBoot;
  if (restart && !island) seal.set_boot(world.boot[event.source] += BootId(pick(1, 1000)));
  const std::size_t payload = event.what == What::kEnd ? 0 : kBeatBytes;
  const ByteSpan packet = ByteSpan(packet_).first(packet_bytes(payload));
  std::fill(packet.begin(), packet.end(), std::byte(0));
  write_header(header, packet);
  const Little64 boot = event.what == What::kGone ? random_.next() : seal.boot();
  if (payload != 0) std::memcpy(payload_of(packet).data(), &boot, sizeof boot);
  seal.close(packet);
  const bool broken = event.damage >= Damage::kFlippedBits;
  if (broken) packet_[kHeaderBytes] ^= std::byte(4);
  hand_over(event, event.source, packet.size(), broken ? Trailer::kBroken : Trailer::kOfSomeone);
}

void EdgeDriver::deliver_request(const Event& event) {
  World& world = worlds_[event.job];
  const RoundSpec& round = world.rounds[event.round];
  const std::uint32_t next = checker_->next_sequence(world.spec.job.id);
  Header header;
  header.set_type(chance(0.7)   ? PacketType::kNak
                  : chance(0.9) ? PacketType::kAck
                                : PacketType::kEnd);
  header.job = world.spec.job.id;
  header.round = round.round;
  header.sequence = event.order;
  header.set_meeting(round.epoch, round.clique);
  const bool ack = header.type() == PacketType::kAck;
  header.chunk = std::uint32_t(chance(0.95) ? next - std::uint32_t(pick(-5, ack ? 100 : 400))
                                            : random_.next());
  const std::size_t payload = ack ? 0 : kBeatBytes * std::size_t(pick(0, 3));
  const ByteSpan packet = ByteSpan(packet_).first(packet_bytes(payload));
  const auto density = unsigned(pick(0, 2));
  for (std::byte& byte : packet) {
    auto bits = random_.next();
    for (unsigned i = 0; i < density; ++i) bits &= random_.next();
    byte = std::byte(bits);
  }
  write_header(header, packet);
  world.island.close(packet);
  const bool broken = chance(0.05);
  if (broken) packet_[std::size_t(pick(2, std::int64_t(packet.size()) - 1))] ^= std::byte(1);
  hand_over(event, kOwnIsland, packet.size(), broken ? Trailer::kBroken : Trailer::kOfSomeone);
}

void EdgeDriver::hand_over(const Event& event, SourceId source, std::size_t size, Trailer trailer) {
  checker_->on_packet(event.when, source, ByteView(packet_).first(size), trailer);
}

}  // namespace cotillion::testing
