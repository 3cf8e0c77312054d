// The small things a map file is made of: plain text, coordinates, rates that are not zero, and
// quantities given once for both directions or twice. Each reports what is wrong and returns
// nothing then.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "topology/map.hpp"
#include "topology/toml_fields.hpp"

namespace cotillion {

struct AccessRates {
  BitsPerSecond up, down;
};

// In the order of a link's ends.
template <class T>
struct BothWays {
  T there, back;
};

// Text for people; control characters would upset terminals and tables.
[[nodiscard]] std::optional<std::string> plain_text(Fields& fields, std::string_view key, Need need,
                                                    std::string_view example);

// coordinates = [51.51, -0.13]
[[nodiscard]] std::optional<Coordinates> read_coordinates(Fields& fields);

[[nodiscard]] std::optional<BitsPerSecond> positive_rate(Fields& fields, std::string_view key,
                                                         Need need);

// access = "20Gbps", or access = { up = "20Gbps", down = "40Gbps" }
[[nodiscard]] std::optional<AccessRates> read_access(Fields& fields, Need need);

// latency = "49.4ms", or latency = ["49.4ms", "51ms"]; the same for rate.
[[nodiscard]] std::optional<BothWays<Duration>> read_latency(Fields& fields);
[[nodiscard]] std::optional<BothWays<BitsPerSecond>> read_rates(Fields& fields, Need need);

}  // namespace cotillion
