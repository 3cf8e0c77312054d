#include "topology/imported_network.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "topology/toml_fields.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kListedMax = 8;

}  // namespace

int PlaceIndex::operator[](const std::string& label) {
  const auto [known, fresh] = ids_.emplace(label, int(network_.places.size()));
  if (fresh) network_.places.push_back({label, {}});
  return known->second;
}

std::optional<double> parse_number(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Duration> latency_of_ms(double ms, Position at, const std::string& field,
                                      Problems& problems) {
  if (!std::isfinite(ms))
    problems.add(at, field, "a latency that is no finite number", "give milliseconds");
  else if (ms < 0)
    problems.add(at, field, fmt::format("negative latency of {} ms", ms),
                 "a latency cannot be below zero");
  else if (ms > kLatencyMax.ms())
    problems.add(at, field, fmt::format("absurd latency of {:g} ms one way", ms),
                 "half the Earth by fibre is 150 ms; check the unit");
  else
    return Duration{std::int64_t(std::floor(ms * 1e6 + 0.5)) * 1000};
  return std::nullopt;
}

std::optional<BitsPerSecond> rate_of_bps(double bps, Position at, const std::string& field,
                                         Problems& problems) {
  if (!std::isfinite(bps))
    problems.add(at, field, "a rate that is no finite number", "give the rate as a number");
  else if (bps < 0)
    problems.add(at, field, fmt::format("negative rate of {:g} bit/s", bps),
                 "a rate cannot be below zero");
  else if (bps < 1)
    problems.add(at, field, "zero rate", "leave out a link that carries nothing");
  else if (bps > kImportedRateMax)
    problems.add(at, field, fmt::format("absurd rate of {:g} bit/s", bps), "check the unit");
  else
    return BitsPerSecond{std::floor(bps + 0.5)};
  return std::nullopt;
}

std::string listed(const std::vector<std::string>& items) {
  if (items.size() <= kListedMax) return fmt::format("{}", fmt::join(items, ", "));
  return fmt::format("{} and {} more", fmt::join(items.begin(), items.begin() + kListedMax, ", "),
                     items.size() - kListedMax);
}

}  // namespace cotillion
