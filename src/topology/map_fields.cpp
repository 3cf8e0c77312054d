#include "topology/map_fields.hpp"

#include <fmt/format.h>

namespace cotillion {
namespace {

// A rate that is not zero, in a node that `find` returned.
std::optional<BitsPerSecond> positive_rate_in(Fields& fields, std::string_view key,
                                              const toml::node& node) {
  auto rate = fields.read_rate(node, fields.name_of(key));
  if (rate && rate->value == 0) {
    fields.problem_at(node, key, "zero rate",
                      "give a rate above zero, or leave the link or island out");
    rate.reset();
  }
  return rate;
}

// One quantity for both directions, or a pair: there and back, in the order of `ends`.
template <class T, class Read>
std::optional<BothWays<T>> read_both(Fields& fields, std::string_view key, Need need,
                                     std::string_view example, Read read) {
  const toml::node* node = fields.find(key, need, example);
  if (node == nullptr) return std::nullopt;
  const toml::array* pair = node->as_array();
  if (pair == nullptr) {
    const std::optional<T> value = read(*node);
    return value ? std::optional(BothWays<T>{*value, *value}) : std::nullopt;
  }
  if (pair->size() != 2) {
    fields.problem(key, fmt::format("a list of {}, not of two", pair->size()),
                   "give one value for both directions, or two: there and back");
    return std::nullopt;
  }
  const std::optional<T> there = read((*pair)[0]);
  const std::optional<T> back = read((*pair)[1]);
  return there && back ? std::optional(BothWays<T>{*there, *back}) : std::nullopt;
}

}  // namespace

// Text for people; control characters would upset terminals and tables.
std::optional<std::string> plain_text(Fields& fields, std::string_view key, Need need,
                                      std::string_view example) {
  auto text = fields.text(key, need, example);
  if (!text) return text;
  const bool control = !is_plain(*text);
  if (control || text->size() > 400) {
    fields.problem(key, control ? "control characters in the text" : "more than 400 bytes of text",
                   "write plain text on one line");
    return std::nullopt;
  }
  return text;
}

std::optional<Coordinates> read_coordinates(Fields& fields) {
  constexpr std::string_view kExample = "coordinates = [51.51, -0.13]";
  const toml::node* node = fields.find("coordinates", Need::kOptional, kExample);
  if (node == nullptr) return std::nullopt;
  const toml::array* pair = node->as_array();
  if (pair == nullptr || pair->size() != 2 || !(*pair)[0].is_number() || !(*pair)[1].is_number()) {
    fields.problem("coordinates", "not a pair of numbers",
                   fmt::format("write latitude and longitude: {}", kExample));
    return std::nullopt;
  }
  const Coordinates at{*(*pair)[0].value<double>(), *(*pair)[1].value<double>()};
  if (!(at.latitude >= -90 && at.latitude <= 90 && at.longitude >= -180 && at.longitude <= 180)) {
    fields.problem("coordinates", "not a point on the Earth",
                   "latitude is within ±90 degrees, longitude within ±180");
    return std::nullopt;
  }
  return at;
}

std::optional<BitsPerSecond> positive_rate(Fields& fields, std::string_view key, Need need) {
  const toml::node* node = fields.find(key, need, fmt::format("{} = \"20Gbps\"", key));
  return node == nullptr ? std::nullopt : positive_rate_in(fields, key, *node);
}

// access = "20Gbps", or access = { up = "20Gbps", down = "40Gbps" }.
std::optional<AccessRates> read_access(Fields& fields, Need need) {
  const toml::node* node = fields.find("access", need, "access = \"20Gbps\"");
  if (node == nullptr) return std::nullopt;
  if (!node->is_table()) {
    const auto rate = positive_rate_in(fields, "access", *node);
    return rate ? std::optional(AccessRates{*rate, *rate}) : std::nullopt;
  }
  auto both = fields.table("access", need, "");
  const auto up = positive_rate(*both, "up", Need::kRequired);
  const auto down = positive_rate(*both, "down", Need::kRequired);
  both->finish();
  return up && down ? std::optional(AccessRates{*up, *down}) : std::nullopt;
}

std::optional<BothWays<Duration>> read_latency(Fields& fields) {
  const auto read = [&](const toml::node& node) {
    auto latency = fields.read_duration(node, fields.name_of("latency"));
    if (latency && *latency > kLatencyMax) {
      fields.problem_at(node, "latency",
                        fmt::format("absurd latency of {} one way", to_text(*latency)),
                        "half the Earth by fibre is 150 ms; check the unit");
      latency.reset();
    }
    return latency;
  };
  return read_both<Duration>(fields, "latency", Need::kRequired, "latency = \"32.2ms\"", read);
}

std::optional<BothWays<BitsPerSecond>> read_rates(Fields& fields, Need need) {
  const auto read = [&](const toml::node& node) { return positive_rate_in(fields, "rate", node); };
  return read_both<BitsPerSecond>(fields, "rate", need, "rate = \"100Gbps\"", read);
}

}  // namespace cotillion
