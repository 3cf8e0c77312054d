#include "daemon/injector.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cotillion {

Result<InjectorSettings> checked(const InjectorSettings& settings) {
  const std::pair<const char*, double> chances[] = {{"loss", settings.loss},
                                                    {"duplication", settings.duplication},
                                                    {"delay", settings.delay},
                                                    {"corruption", settings.corruption}};
  for (const auto& [name, chance] : chances)
    if (!(chance >= 0 && chance <= 1))
      return failure(fmt::format("{} {} is no probability; between 0 and 1", name, chance));
  if (settings.delay_max.ps < 0) return failure("a negative delay; packets cannot come early");
  return settings;
}

Injector::Injector(const InjectorSettings& settings)
    : settings_(settings),
      random_(settings.seed),
      held_(settings.delay > 0 ? settings.held_max : 0) {
  COTILLION_CHECK(checked(settings).has_value());
}

// One bit, anywhere in the packet.
ByteView Injector::damaged(ByteView packet) {
  if (packet.empty()) return packet;
  ++counts_.damaged;
  scratch_.assign(packet.begin(), packet.end());
  const auto bit = std::size_t(random_.between(0, std::int64_t(packet.size()) * 8 - 1));
  scratch_[bit / 8] ^= std::byte(1u << bit % 8);
  return scratch_;
}

void Injector::hold(Instant now, std::uint64_t place, ByteView packet) {
  const auto room = std::find_if(held_.begin(), held_.end(),
                                 [](const Held& held) { return held.when == kNever; });
  if (room == held_.end()) {
    ++counts_.lost;
    return;
  }
  ++counts_.delayed;
  room->when = now + Duration{random_.between(0, settings_.delay_max.ps)};
  room->place = place;
  room->bytes.assign(packet.begin(), packet.end());
  due_ = std::min(due_, room->when);
}

void Injector::note_due() {
  due_ = kNever;
  for (const Held& held : held_) due_ = std::min(due_, held.when);
}

}  // namespace cotillion
