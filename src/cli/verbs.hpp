// The verbs: each adds its subcommand to the parser and is run by it.
#pragma once

#include <CLI/CLI.hpp>

namespace cotillion::cli {

// The exit code of the verb that ran.
struct Outcome {
  int code = 0;
};

void add_topology(CLI::App& app, Outcome& outcome);
void add_import(CLI::App& topology);  // subcommands of topology, which calls these two
void add_generate(CLI::App& topology);
void add_plan(CLI::App& app, Outcome& outcome);
void add_whatif(CLI::App& app, Outcome& outcome);
void add_simulate(CLI::App& app, Outcome& outcome);
void add_routes(CLI::App& app, Outcome& outcome);
void add_lab(CLI::App& app, Outcome& outcome);
void add_coordinator(CLI::App& app, Outcome& outcome);
void add_edge(CLI::App& app, Outcome& outcome);
void add_island(CLI::App& app, Outcome& outcome);
void add_clock(CLI::App& app, Outcome& outcome);
void add_train(CLI::App& app, Outcome& outcome);
void add_compare(CLI::App& app, Outcome& outcome);
void add_sweep(CLI::App& app, Outcome& outcome);
void add_report(CLI::App& app, Outcome& outcome);

}  // namespace cotillion::cli
