// tshark with tools/cotillion.lua, as a function from a capture to its fields. It sees a folder of
// its own as home, so nobody's settings or plugins have a say, and nothing is left behind.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace cotillion::testing {

[[nodiscard]] bool tshark_is_installed();

// What tshark prints for this capture with these arguments. That it succeeds and complains of
// nothing is expected, in the sense of the test.
[[nodiscard]] std::string tshark(const std::string& capture, const std::string& arguments);

// All that the script registers, remarks of an expert left out.
[[nodiscard]] std::vector<std::string> tshark_field_names();

// By name of the field, for each packet. Values of a field that is there several times are joined
// by commas; truth is "1" or "0".
using Row = std::map<std::string, std::string>;
[[nodiscard]] std::vector<Row> tshark_fields(const std::string& capture,
                                             const std::vector<std::string>& fields,
                                             const std::string& arguments = "");

}  // namespace cotillion::testing
