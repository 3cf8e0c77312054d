// The daemons in builds without gRPC (-DCOTILLION_CONTROL=OFF), so that all builds have the same
// verbs.
#include "cli/verbs.hpp"
#include "cli/world.hpp"

namespace cotillion::cli {

namespace {

void add(CLI::App& app, const char* name) {
  CLI::App* verb = app.add_subcommand(name, "Not in this build: it was made without gRPC");
  verb->allow_extras();
  verb->callback([name] {
    throw Stop{kSystemError, std::string("this build has no ") + name +
                                 ": configure it with -DCOTILLION_CONTROL=ON"};
  });
}

}  // namespace

void add_coordinator(CLI::App& app, Outcome&) {
  add(app, "coordinator");
}
void add_edge(CLI::App& app, Outcome&) {
  add(app, "edge");
}
void add_island(CLI::App& app, Outcome&) {
  add(app, "island");
}

}  // namespace cotillion::cli
