// Bad networks on demand: loses, doubles, delays and damages packets on their way in or out of a
// daemon, by seeded dice. Off unless somebody asks for it; then it copies, which costs speed.
#pragma once

#include <vector>

#include "base/random.hpp"
#include "base/result.hpp"
#include "base/units.hpp"
#include "protocol/packet.hpp"

namespace cotillion {

struct InjectorSettings {
  double loss = 0, duplication = 0, delay = 0, corruption = 0;  // probabilities, for each packet
  Duration delay_max{10'000'000'000};                           // delays are uniform up to this
  std::size_t held_max = 1024;  // packets that may be under way; further ones are lost
  std::uint64_t seed = 1;

  [[nodiscard]] bool on() const {
    return loss > 0 || duplication > 0 || delay > 0 || corruption > 0;
  }
};
// Settings that make sense, or the one that does not.
[[nodiscard]] Result<InjectorSettings> checked(const InjectorSettings& settings);

struct InjectorCounts {
  std::uint64_t lost = 0, doubled = 0, delayed = 0, damaged = 0;

  [[nodiscard]] std::uint64_t total() const { return lost + doubled + delayed + damaged; }
};

class Injector {
 public:
  explicit Injector(const InjectorSettings& settings);

  [[nodiscard]] bool on() const { return settings_.on(); }
  // Calls deliver(place, packet) as often as the dice say: now, or later from due(). `place` is the
  // caller's note of where the packet belongs. The bytes are the caller's again afterwards, but
  // those given to `deliver` only last for that call.
  template <class Deliver>
  void pass(Instant now, std::uint64_t place, ByteView packet, Deliver deliver) {
    if (roll(settings_.loss)) {
      ++counts_.lost;
      return;
    }
    if (roll(settings_.corruption)) packet = damaged(packet);
    if (roll(settings_.duplication)) {
      ++counts_.doubled;
      deliver(place, packet);
    }
    if (roll(settings_.delay))
      hold(now, place, packet);
    else
      deliver(place, packet);
  }

  [[nodiscard]] Instant next_deadline() const { return due_; }
  template <class Deliver>
  void due(Instant now, Deliver deliver) {
    if (due_ > now) return;
    for (Held& held : held_)
      if (held.when != kNever && held.when <= now) {
        deliver(held.place, ByteView(held.bytes));
        held.when = kNever;
      }
    note_due();
  }

  [[nodiscard]] const InjectorCounts& counts() const { return counts_; }

 private:
  struct Held {
    Instant when = kNever;  // kNever: free
    std::uint64_t place = 0;
    std::vector<std::byte> bytes;
  };
  [[nodiscard]] bool roll(double probability) {
    return probability > 0 && random_.unit() < probability;
  }
  [[nodiscard]] ByteView damaged(ByteView packet);
  void hold(Instant now, std::uint64_t place, ByteView packet);
  void note_due();

  InjectorSettings settings_;
  Random random_;
  std::vector<Held> held_;
  Instant due_ = kNever;
  std::vector<std::byte> scratch_;
  InjectorCounts counts_;
};

}  // namespace cotillion
