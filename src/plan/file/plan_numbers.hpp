// Times in milliseconds and rates in Gbps, as plan files carry them, without losing a bit.
//
// The program counts picoseconds and bits per second; a file says a billionth of that, for people.
// Multiplying it again gives back every whole number below 2⁵², which all latencies are, but not
// every double: 64 bits hold about one in sixteen of them only together with its neighbour. Those
// few are written in full too, under "exact" in the same object, by the name of the field.
#pragma once

#include <initializer_list>
#include <optional>
#include <utility>

#include "plan/file/plan_fields.hpp"

namespace cotillion {

// The number that a file stands for by a billionth of it, where it says nothing under "exact": a
// whole one below 2⁵² if there is one.
[[nodiscard]] double from_billionth(double written);

// Adds those of the values to object["exact"] that their billionths do not give back.
void note_exact(Json& object, std::initializer_list<std::pair<const char*, double>> values);

// The value, neither negative nor infinite, whose billionth is object.key. Reported where there is
// none, or where `exact` (that of the object, unless another one is given) says something else.
[[nodiscard]] std::optional<double> read_billionth(const PlanField& object, const char* key);
[[nodiscard]] std::optional<double> read_billionth(const PlanField& object, const char* key,
                                                   const PlanField& exact);

// The same for what must be above zero, and for a latency: a whole number of picoseconds.
[[nodiscard]] std::optional<double> read_positive_billionth(const PlanField& object,
                                                            const char* key);
[[nodiscard]] std::optional<Duration> read_latency(const PlanField& object, const char* key,
                                                   Duration most);

}  // namespace cotillion
