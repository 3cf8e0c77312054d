// The verbs for whoever reads --help: sorted by what a person wants, in the order of the flow from
// a map to a job, and each with its example. This is the only list of verbs besides main's.
#pragma once

#include <CLI/CLI.hpp>

namespace cotillion::cli {

// Gives every verb its group and its example. Requires that all verbs were added before.
void guide(CLI::App& app);

}  // namespace cotillion::cli
