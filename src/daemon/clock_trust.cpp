#include "daemon/clock_trust.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <vector>

#include "base/text.hpp"
#include "daemon/child_output.hpp"

namespace cotillion {
namespace {

// A number and nothing else; never NaN or an infinity.
std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

ClockAnswer within(double error_ns, const char* source, std::string detail) {
  if (!(error_ns >= 0) || error_ns > double(kClockOffMost))
    return failure("a bound of more than a day");
  ClockTrust trust;
  trust.estimate = {0, std::int64_t(std::ceil(error_ns))};
  trust.source = source;
  trust.detail = std::move(detail);
  return trust;
}

// IEEE 1588, clockAccuracy: from 25 ns to 10 s, by steps.
std::optional<double> accuracy_ns(std::string_view code) {
  if (!code.starts_with("0x") || code.size() != 4) return std::nullopt;
  unsigned value = 0;
  const auto [end, error] = std::from_chars(code.data() + 2, code.data() + 4, value, 16);
  if (error != std::errc() || end != code.data() + 4) return std::nullopt;
  constexpr double kAccuracies[] = {25,  100,   250,  1e3,  2.5e3, 10e3,  25e3, 100e3, 250e3,
                                    1e6, 2.5e6, 10e6, 25e6, 100e6, 250e6, 1e9,  10e9};
  if (value < 0x20 || value >= 0x20 + std::size(kAccuracies)) return std::nullopt;
  return kAccuracies[value - 0x20];
}

// The value of `name value` in pmc's words; nothing when it is missing or there are two.
std::optional<std::string_view> ptp_value(std::string_view text, std::string_view name) {
  std::optional<std::string_view> found;
  for (std::string_view line : split(text, '\n')) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.starts_with(name)) continue;
    line.remove_prefix(name.size());
    if (line.find_first_of(" \t") != 0) continue;
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (found) return std::nullopt;
    found = line.substr(0, line.find_last_not_of(" \t\r") + 1);
  }
  return found;
}

bool is_synchronised(int state, const timex& kernel) {
  return state >= 0 && state != TIME_ERROR && (kernel.status & STA_UNSYNC) == 0;
}

// Where pmc may hear ptp4l's answers. A service's own /tmp would not do: ptp4l does not see it.
std::string folder_for_answers() {
  if (const char* given = std::getenv("RUNTIME_DIRECTORY"); given != nullptr && *given == '/')
    return std::string(split(given, ':').front());
  return ::access("/run", W_OK) == 0 ? "/run" : "/tmp";
}

ClockAnswer ask_ptp(const ClockTrustSettings& settings, int state, const timex& kernel) {
  std::string socket = settings.ptp4l + "ro";
  if (::access(socket.c_str(), F_OK) != 0) socket = settings.ptp4l;
  if (::access(socket.c_str(), F_OK) != 0) return failure("ptp4l does not run");
  const std::string own = fmt::format("{}/cotillion-pmc-{}", folder_for_answers(), ::getpid());
  std::vector<std::string> words = {settings.pmc, "-u", "-b", "0", "-s", socket, "-i", own};
  for (const char* set : kPtpSets) words.emplace_back(set);
  const auto said = child_output(words, {.time = settings.timeout});
  ::unlink(own.c_str());  // left behind where it was ended
  if (!said) return Unexpected<Error>{said.error()};
  return read_ptp(*said, state, kernel);
}

ClockAnswer ask_chrony(const ClockTrustSettings& settings) {
  // Without -n it would ask for names of addresses.
  const auto said =
      child_output({settings.chronyc, "-n", "-c", "tracking"}, {.time = settings.timeout});
  if (!said) return Unexpected<Error>{said.error()};
  return read_chrony(*said);
}

}  // namespace

ClockAnswer read_chrony(std::string_view csv) {
  while (!csv.empty() && (csv.back() == '\n' || csv.back() == '\r')) csv.remove_suffix(1);
  const auto fields = split(csv, ',');
  // id, address, stratum, time, offset, last, rms, frequency, residual, skew, delay, dispersion,
  // interval, leap; later versions may add more behind.
  if (fields.size() < 14) return failure("chronyc says something else than expected");
  const auto stratum = parse_number(fields[2]), offset = parse_number(fields[4]);
  const auto delay = parse_number(fields[10]), dispersion = parse_number(fields[11]);
  if (!stratum || !offset || !delay || !dispersion || *dispersion < 0)
    return failure("chronyc says something else than expected");
  const std::string_view leap = fields[13];
  if (leap != "Normal" && leap != "Insert second" && leap != "Delete second")
    return failure("chrony is not synchronised");
  if (*stratum < 1 || *stratum > 15) return failure("chrony is not synchronised");
  if (fields[0] == "7F7F0101") return failure("chrony follows nothing but this clock (local)");
  // A hardware reference may show a delay slightly below zero.
  return within((std::abs(*offset) + *dispersion + std::abs(*delay) / 2) * 1e9, "chrony",
                fmt::format("stratum {}, follows {}", int(*stratum), shown(fields[1])));
}

ClockAnswer read_kernel(int state, const timex& kernel) {
  if (!is_synchronised(state, kernel)) return failure("the kernel's clock is not synchronised");
  if (kernel.esterror <= 0 || kernel.maxerror <= 0 || kernel.esterror > kernel.maxerror)
    return failure("whoever sets the kernel's clock does not say how well");
  const double unit = (kernel.status & STA_NANO) != 0 ? 1 : 1e3;
  return within(double(kernel.maxerror) * 1e3 + std::abs(double(kernel.offset)) * unit, "kernel",
                "its largest error, which grows until the clock is set again");
}

ClockAnswer read_ptp(std::string_view text, int state, const timex& kernel) {
  const auto value = [&](std::string_view name) {
    return ptp_value(text, name).value_or(std::string_view{});
  };
  const auto offset = parse_number(value("offsetFromMaster")),
             path = parse_number(value("meanPathDelay"));
  const auto accuracy = accuracy_ns(value("gm.ClockAccuracy"));
  if (value("gmPresent") != "true") return failure("ptp4l follows no grandmaster");
  if (!offset || !path) return failure("pmc says something else than expected");
  if (value("timeTraceable") != "1")
    return failure("the PTP grandmaster does not claim to know the true time");
  if (!accuracy) return failure("the PTP grandmaster does not say how accurate it is");
  if (!is_synchronised(state, kernel) || kernel.maxerror < 0)
    return failure("ptp4l runs, but the system's clock does not follow it; run phc2sys");
  // What the path's two directions differ by is not known: at most all of it.
  return within(std::abs(*offset) + std::abs(*path) + *accuracy + double(kernel.maxerror) * 1e3,
                "PTP", fmt::format("grandmaster {}", shown(value("gmIdentity"))));
}

ClockTrust ask_clock_trust(const ClockTrustSettings& settings) {
  timex kernel{};
  const int state = ::adjtimex(&kernel);
  const ClockAnswer answers[] = {ask_ptp(settings, state, kernel), ask_chrony(settings),
                                 read_kernel(state, kernel)};
  ClockTrust nobody;
  for (const ClockAnswer& answer : answers) {
    if (answer) return *answer;
    nobody.detail += (nobody.detail.empty() ? "" : "; ") + answer.error().message;
  }
  return nobody;
}

std::string to_text(const ClockTrust& trust) {
  if (!trust.estimate.known())
    return fmt::format("nobody vouches for this clock ({})", trust.detail);
  return fmt::format("{} says within {} of true time ({})", trust.source,
                     to_text(Duration{trust.estimate.error_ns * 1000}), trust.detail);
}

}  // namespace cotillion
