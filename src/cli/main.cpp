// The flow, spoken aloud: a map, a plan, a run of it, a report.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>

#include "base/suggestion.hpp"
#include "base/text.hpp"
#include "cli/help_text.hpp"
#include "cli/verb_guide.hpp"
#include "cli/verbs.hpp"
#include "cli/world.hpp"
#include "commit.hpp"

namespace {

constexpr const char* kAbout =
    "Cotillion plans how islands of compute exchange model updates over a wide area network: who "
    "meets whom, when each sends and how fast, and how stale updates become.";

constexpr const char* kFooter =
    "Sizes, times and rates carry their unit: 32GB, 49.4ms, 100Gbps. `cotillion VERB --help` shows "
    "the options of a verb and an example.\n"
    "Exit codes: 0 done; 1 the answer is no (infeasible, never settles); 2 used wrongly "
    "(arguments, input files); 3 system error (disk, network).";

// CLI11 would only say that a verb is missing.
void refuse_unknown_verb(const CLI::App& app, const std::string& verb) {
  if (verb.starts_with("-")) return;
  std::vector<std::string> known;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    known.push_back(sub->get_name());
  if (std::find(known.begin(), known.end(), verb) != known.end()) return;
  throw cotillion::cli::Stop{
      cotillion::cli::kUsedWrongly,
      fmt::format(
          "no verb is called '{}'; {}", cotillion::shown(verb),
          cotillion::did_you_mean(verb, known, fmt::format("known: {}", fmt::join(known, ", "))))};
}

}  // namespace

int main(int argc, char** argv) {
  using namespace cotillion::cli;
  CLI::App app(kAbout, "cotillion");
  app.footer(kFooter);
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("--version",
                       fmt::format("cotillion {} ({})", COTILLION_VERSION, COTILLION_COMMIT));
  app.require_subcommand(1);
  Outcome outcome;
  const auto not_empty = [](const std::string& text) -> std::string {
    return text.empty() ? "must not be empty" : "";
  };
  add_topology(app, outcome);
  add_plan(app, outcome);
  add_whatif(app, outcome);
  add_simulate(app, outcome);
  add_routes(app, outcome);
  add_lab(app, outcome);
  add_coordinator(app, outcome);
  add_edge(app, outcome);
  add_island(app, outcome);
  add_clock(app, outcome);
  add_train(app, outcome);
  add_compare(app, outcome);
  add_sweep(app, outcome);
  add_report(app, outcome);
  guide(app);
  for (CLI::App* verb : app.get_subcommands([](CLI::App*) { return true; }))
    for (CLI::Option* option : verb->get_options())
      if (option->get_items_expected_max() > 0) option->check(not_empty);
  try {
    if (argc > 1) refuse_unknown_verb(app, argv[1]);
    app.parse(argc, argv);
    return outcome.code;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kUsedWrongly;
  } catch (const Stop& stop) {
    if (!stop.message.empty()) fmt::print(stderr, "{}\n", stop.message);
    return stop.code;
  } catch (const std::exception& error) {
    fmt::print(stderr, "cotillion: {}\n", error.what());
    return kSystemError;
  }
}
