// The verb in builds without gRPC (-DCOTILLION_CONTROL=OFF), so that all builds have the same
// verbs.
#include "cli/verbs.hpp"
#include "cli/world.hpp"

namespace cotillion::cli {

void add_coordinator(CLI::App& app, Outcome&) {
  CLI::App* verb = app.add_subcommand("coordinator", "Not in this build: it was made without gRPC");
  verb->allow_extras();
  verb->callback([] {
    throw Stop{kWorldFailed,
               "this build has no coordinator: configure it with -DCOTILLION_CONTROL=ON"};
  });
}

}  // namespace cotillion::cli
