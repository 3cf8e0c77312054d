#include "daemon/edge_reading.hpp"

#include "base/check.hpp"

namespace cotillion {

const char* name_of(HostCount count) {
  constexpr std::array<const char*, kHostCounts> kNames = {
      "packets",       "bytes",          "pieces",     "batches",         "direct",
      "overflowed",    "requests",       "strangers",  "truncated",       "malformed",
      "foreign",       "sent",           "sent_bytes", "unsent",          "injected",
      "rounds_opened", "rounds_refused", "open_slots", "open_slots_peak", "resend_overruns"};
  COTILLION_CHECK(count < HostCount::kCount);
  return kNames[std::size_t(count)];
}

}  // namespace cotillion
