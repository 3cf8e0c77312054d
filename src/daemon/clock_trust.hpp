// How far this host's wall clock is trusted against the true time, and who says so. Those who
// keep a clock are asked, best first: PTP, chrony, the kernel. None is believed more than it can
// know: what is garbled, unsynchronised or without a bound is no answer, and then the coordinator's
// pings alone must tell.
#pragma once

#include <sys/timex.h>

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "job/messages.hpp"

namespace cotillion {

struct ClockTrust {
  ClockEstimate estimate;         // against the true time
  std::string source = "nobody";  // "PTP", "chrony", "kernel"
  std::string detail;             // on what grounds, or why nobody
};
// "chrony says within 1.2 ms of true time (stratum 3, follows 192.0.2.1)".
[[nodiscard]] std::string to_text(const ClockTrust& trust);

struct ClockTrustSettings {
  Duration timeout{2'000'000'000'000};  // with each program that is asked
  std::string chronyc = "chronyc";
  std::string pmc = "pmc";
  std::string ptp4l = "/run/ptp4l";  // its socket; the read-only one beside it is preferred
};
// Asks now. Takes up to twice the timeout: not for threads that others wait for.
[[nodiscard]] ClockTrust ask_clock_trust(const ClockTrustSettings& settings = {});

// What each of them says, from its own words; an Error says why that is no answer.
using ClockAnswer = Result<ClockTrust>;

// `chronyc -c tracking`: what is left to correct, and the root distance of NTP.
[[nodiscard]] ClockAnswer read_chrony(std::string_view csv);

// As adjtimex() returned it. Its bound is believed from programs that also give an estimate:
// systemd-timesyncd sets both to zero, however far its server is away.
[[nodiscard]] ClockAnswer read_kernel(int state, const timex& kernel);

// `pmc GET …` of the sets below. ptp4l knows the network card's clock: that the system's follows it
// is for the kernel to confirm.
inline constexpr const char* kPtpSets[] = {"GET TIME_STATUS_NP", "GET CURRENT_DATA_SET",
                                           "GET PARENT_DATA_SET", "GET TIME_PROPERTIES_DATA_SET"};
[[nodiscard]] ClockAnswer read_ptp(std::string_view text, int state, const timex& kernel);

}  // namespace cotillion
