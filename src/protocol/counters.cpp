#include "protocol/counters.hpp"

namespace cotillion {
namespace {

constexpr std::array<const char*, kEdgeCounts> kEdgeNames = {
    "accepted",   "results",        "timeouts",   "conflicts",     "completed_partials",
    "late",       "duplicates",     "overlaps",   "forged",        "unknown_boot",
    "unexpected", "stale_round",    "not_finite", "over_rate",     "outputs",
    "resends",    "resends_spared", "gone",       "repairs_asked", "repaired"};

constexpr std::array<const char*, kReceiverCounts> kReceiverNames = {
    "placed",    "whole",  "late",         "too_late",   "duplicates",  "overlaps",
    "malformed", "forged", "unknown_boot", "unexpected", "stale_round", "not_finite",
    "asked",     "gone",   "restarts",     "unmerged",   "overtaken"};

static_assert(kEdgeNames.back() != nullptr && kReceiverNames.back() != nullptr);

}  // namespace

const char* name_of(EdgeCount count) {
  return kEdgeNames[std::size_t(count)];
}
const char* name_of(ReceiverCount count) {
  return kReceiverNames[std::size_t(count)];
}

}  // namespace cotillion
