#include "base/quantity.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>

#include "base/text.hpp"
#include "base/wide.hpp"

namespace cotillion {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t size;  // in picoseconds, bytes or bits per second
};

struct Family {
  std::string_view noun;
  std::string_view example;
  std::span<const Unit> units;
  std::string_view smallest;
};

constexpr Unit kTimeUnits[] = {
    {"ps", 1},         {"ns", 1'000},         {"us", 1'000'000},
    {"µs", 1'000'000}, {"ms", 1'000'000'000}, {"s", 1'000'000'000'000},
};
constexpr Unit kByteUnits[] = {
    {"B", 1},           {"kB", 1'000},         {"KB", 1'000},
    {"MB", 1'000'000},  {"GB", 1'000'000'000}, {"TB", 1'000'000'000'000},
    {"KiB", 1LL << 10}, {"MiB", 1LL << 20},    {"GiB", 1LL << 30},
    {"TiB", 1LL << 40},
};
constexpr Unit kRateUnits[] = {
    {"bps", 1},
    {"kbps", 1'000},
    {"Mbps", 1'000'000},
    {"Gbps", 1'000'000'000},
    {"Tbps", 1'000'000'000'000},
};
constexpr Family kTime{"time", "49.4ms", kTimeUnits, "a picosecond"};
constexpr Family kBytes{"size", "32GB", kByteUnits, "a byte"};
constexpr Family kRate{"rate", "100Gbps", kRateUnits, "a bit per second"};

// Doubles hold integers exactly up to here, and the planner computes in doubles.
constexpr std::int64_t kLargest = std::int64_t{1} << 53;

Unexpected<QuantityError> refuse(std::string message, std::string remedy) {
  return {QuantityError{std::move(message), std::move(remedy)}};
}

std::string unit_list(const Family& family) {
  std::string list;
  for (const Unit& unit : family.units) {
    if (!list.empty()) list += ", ";
    list += unit.name;
  }
  return list;
}

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string quoted(std::string_view text) {
  return '"' + shown(text) + '"';
}

// An exact decimal, mantissa * 10^-decimals, from "49.4".
struct Decimal {
  std::int64_t mantissa = 0;
  int decimals = 0;
};

// Consumes digits from the front of `text`; false when they do not fit.
bool read_digits(std::string_view& text, Decimal& number, bool fraction) {
  while (!text.empty() && is_digit(text.front())) {
    if (number.mantissa > (INT64_MAX - 9) / 10) return false;
    number.mantissa = number.mantissa * 10 + (text.front() - '0');
    number.decimals += fraction ? 1 : 0;
    text.remove_prefix(1);
  }
  return true;
}

Quantity<std::int64_t> parse(std::string_view text, const Family& family) {
  const std::string_view whole = text;
  const std::string example = fmt::format("write for example \"{}\"", family.example);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.empty()) return refuse(fmt::format("empty {}", family.noun), example);
  if (text.front() == '-')
    return refuse(fmt::format("negative {} {}", family.noun, quoted(whole)),
                  fmt::format("a {} cannot be below zero; {}", family.noun, example));

  Decimal number;
  const std::size_t before = text.size();
  if (!is_digit(text.front()))
    return refuse(fmt::format("{} is not a {}", quoted(whole), family.noun), example);
  bool fits = read_digits(text, number, false);
  if (fits && text.size() > 1 && text.front() == '.' && is_digit(text[1])) {
    text.remove_prefix(1);
    fits = read_digits(text, number, true);
  }
  if (!fits)
    return refuse(fmt::format("{} has more digits than any {} needs", quoted(whole), family.noun),
                  example);
  const std::string_view digits = whole.substr(whole.find_first_not_of(' '), before - text.size());
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  if (text.empty())
    return refuse(
        fmt::format("{} {} has no unit", family.noun, quoted(whole)),
        fmt::format("write for example \"{}{}\" (units: {})", digits,
                    family.example.substr(family.example.find_first_not_of("0123456789.")),
                    unit_list(family)));
  const Unit* found = nullptr;
  for (const Unit& unit : family.units)
    if (unit.name == text) found = &unit;
  if (found == nullptr)
    return refuse(
        fmt::format("{} has the unknown unit {}", quoted(whole), quoted(text)),
        fmt::format("a {} is in {}; upper and lower case matter", family.noun, unit_list(family)));

  Int128 value = Int128(number.mantissa) * found->size;
  for (int i = 0; i < number.decimals; ++i) {
    if (value % 10 != 0)
      return refuse(fmt::format("{} is finer than {}", quoted(whole), family.smallest),
                    "leave out the digits that cannot be represented");
    value /= 10;
  }
  if (value > kLargest)
    return refuse(fmt::format("{} is larger than Cotillion can compute with", quoted(whole)),
                  fmt::format("check the unit; {}", example));
  return static_cast<std::int64_t>(value);
}

}  // namespace

Quantity<Duration> parse_duration(std::string_view text) {
  const auto ps = parse(text, kTime);
  if (!ps) return Unexpected{ps.error()};
  return Duration{*ps};
}

Quantity<Bytes> parse_bytes(std::string_view text) {
  const auto count = parse(text, kBytes);
  if (!count) return Unexpected{count.error()};
  return Bytes{*count};
}

Quantity<BitsPerSecond> parse_rate(std::string_view text) {
  const auto bits = parse(text, kRate);
  if (!bits) return Unexpected{bits.error()};
  return BitsPerSecond{double(*bits)};
}

}  // namespace cotillion
