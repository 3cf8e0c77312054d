// The flow, spoken aloud: a map, a plan, a run of it, a report.
#include <fmt/format.h>

#include <exception>

#include "cli/verbs.hpp"
#include "cli/world.hpp"
#include "commit.hpp"

namespace {

constexpr const char* kAbout =
    "Cotillion plans how islands of compute exchange model updates over a wide area network:\n"
    "who meets whom, when each sends and how fast, and how stale updates become.\n\n"
    "  cotillion topology check MAP.toml     what is wrong with a map\n"
    "  cotillion topology show  MAP.toml     islands, links, latencies, trees\n"
    "  cotillion plan           MAP.toml     price a schedule; -o PLAN.json\n\n"
    "Sizes, times and rates carry their unit: 32GB, 49.4ms, 100Gbps.";

constexpr const char* kFooter =
    "Exit codes: 0 done; 1 the answer is no (infeasible, never settles); 2 used wrongly\n"
    "(arguments, input files); 3 the world failed (disk, network).";

}  // namespace

int main(int argc, char** argv) {
  using namespace cotillion::cli;
  CLI::App app(kAbout, "cotillion");
  app.footer(kFooter);
  app.set_version_flag("--version",
                       fmt::format("cotillion {} ({})", COTILLION_VERSION, COTILLION_COMMIT));
  app.require_subcommand(1);
  Outcome outcome;
  add_topology(app, outcome);
  add_plan(app, outcome);
  try {
    app.parse(argc, argv);
    return outcome.code;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kUsedWrongly;
  } catch (const Stop& stop) {
    if (!stop.message.empty()) fmt::print(stderr, "{}\n", stop.message);
    return stop.code;
  } catch (const std::exception& error) {
    fmt::print(stderr, "cotillion: {}\n", error.what());
    return kWorldFailed;
  }
}
