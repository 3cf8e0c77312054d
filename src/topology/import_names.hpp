// Labels of foreign files as names that a map may carry: short, without spaces, each once. What
// a label said is kept beside the name.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace cotillion {

// Gives out names, each once: "Miami, Florida" is "Miami-Florida", a second one "Miami-Florida-2".
class ImportNames {
 public:
  [[nodiscard]] std::string name_for(std::string_view label);

 private:
  std::set<std::string> taken_{"net"};
  std::map<std::string, int> counts_;  // by name wanted: a thousand equal labels stay cheap
};

// The label as text for people: plain, on one line, of bounded length.
[[nodiscard]] std::string plain_label(std::string_view label);

// The metro in a device's label: letters before digits ("NYC3" is in NYC), or before "-dz" and
// digits as DoubleZero's devices are called ("nyc-dz001", "ny5-dz01"). Otherwise the label.
[[nodiscard]] std::string metro_of(std::string_view label);

}  // namespace cotillion
