#include "base/units.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

namespace cotillion {
namespace {

struct Scale {
  double size;
  std::string_view unit;
};

// Four significant digits, without trailing zeros: 14.29, 32, 0.5, 1235.
std::string significant(double value) {
  const double magnitude = std::fabs(value);
  int decimals = 3;
  if (magnitude >= 1000)
    decimals = 0;
  else if (magnitude >= 100)
    decimals = 1;
  else if (magnitude >= 10)
    decimals = 2;
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

template <std::size_t kCount>
std::string scaled(double value, const std::array<Scale, kCount>& scales) {
  for (const Scale& scale : scales)
    if (std::fabs(value) >= 0.99995 * scale.size) {  // 999.99 would round to 1000 of the smaller
      return fmt::format("{} {}", significant(value / scale.size), scale.unit);
    }
  return fmt::format("{} {}", significant(value / scales.back().size), scales.back().unit);
}

}  // namespace

Duration rounded(RealDuration time) {
  return {std::llround(time.ps)};
}

std::string to_text(RealDuration time) {
  if (std::isinf(time.ps)) return "∞";
  // Milliseconds are the paper's unit, with one decimal.
  if (std::fabs(time.ps) >= kPicosecondsPerMillisecond || time.ps == 0)
    return fmt::format("{:.1f} ms", time.ms());
  return scaled(time.ps, std::array<Scale, 3>{{{1e6, "µs"}, {1e3, "ns"}, {1, "ps"}}});
}

std::string to_text(Duration duration) {
  return to_text(RealDuration(duration));
}

std::string to_text(Bytes bytes) {
  return scaled(
      double(bytes.count),
      std::array<Scale, 5>{{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}}});
}

std::string to_text(BitsPerSecond rate) {
  return scaled(rate.value,
                std::array<Scale, 5>{
                    {{1e12, "Tbps"}, {1e9, "Gbps"}, {1e6, "Mbps"}, {1e3, "kbps"}, {1, "bps"}}});
}

std::string wait_text(Duration wait) {
  const std::int64_t tenths = wait.ps / 100'000'000'000;
  if (tenths < 10) return to_text(wait);
  return tenths % 10 == 0 ? fmt::format("{} s", tenths / 10)
                          : fmt::format("{}.{} s", tenths / 10, tenths % 10);
}

}  // namespace cotillion
