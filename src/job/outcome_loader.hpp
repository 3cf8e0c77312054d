// An outcome read back from its file, to the last picosecond: what it says, whoever played it.
#pragma once

#include <string>
#include <string_view>

#include "base/diagnostic.hpp"
#include "base/result.hpp"
#include "job/outcome_file.hpp"

namespace cotillion {

// An outcome that is read is sound in structure: the islands of each round meet in one clique each,
// rounds follow each other, rows of Ŵ add up to one, nothing is below zero. What follows from other
// fields (`holds`, `loss` as realised) is not read. Fields in messages are paths into the JSON:
// "rounds[1].cliques[0].measured_ms". Unknown fields are ignored.
[[nodiscard]] Expected<OutcomeFile, Diagnostics> read_outcome(std::string_view text,
                                                              const std::string& file);

}  // namespace cotillion
