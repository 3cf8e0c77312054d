#include <fmt/format.h>

#include <memory>

#include "base/fingerprint.hpp"
#include "cli/interrupt.hpp"
#include "cli/settings.hpp"
#include "cli/verbs.hpp"
#include "plan/plan_loader.hpp"
#include "report/outcome_report.hpp"
#include "sim/simulation.hpp"

namespace cotillion::cli {
namespace {

struct Options {
  std::string plan;
  std::string faults;
  int rounds = 0;
  std::uint64_t seed = 1;
  std::string patience = "1ms";
  std::string exchange = "whole";
  int fragments = 8;
  std::string output;
  bool json = false;
};

void run(const Options& options, Outcome& code) {
  if (!options.output.empty()) expect_writable(options.output);
  const std::string text = read_file(options.plan);
  const auto plan = read_plan(text, options.plan);
  if (!plan) throw Stop{kUsedWrongly, to_text(plan.error())};
  Provenance made_by = provenance();
  made_by.seed = options.seed;
  made_by.inputs.emplace_back("plan", fingerprint(text));

  SimulationSettings settings;
  settings.rounds = options.rounds > 0 ? options.rounds : int(plan->plan.rounds.size());
  settings.seed = options.seed;
  settings.actors.casting.patience = option_value(parse_duration(options.patience), "--patience");
  settings.actors.casting.exchange =
      options.exchange == "whole" ? Exchange::kWhole : Exchange::kStreamed;
  settings.actors.casting.fragments = options.fragments;
  if (!options.faults.empty()) {
    const std::string scenario = read_file(options.faults);
    auto faults = read_faults(scenario, options.faults, *plan);
    if (!faults) throw Stop{kUsedWrongly, to_text(faults.error())};
    settings.faults = std::move(*faults);
    made_by.inputs.emplace_back("faults", fingerprint(scenario));
  }
  const auto say = progress_line();
  const Interrupt interrupt;
  settings.progress = [&](Duration played, Duration of) {
    say(fmt::format("simulating: {} of {}", cotillion::to_text(played), cotillion::to_text(of)));
    return interrupt.asked();
  };
  auto outcome = simulate(*plan, settings);
  end_progress();
  if (!outcome) throw Stop{kAnswerIsNo, options.plan + ": " + outcome.error().message};
  if (interrupt.asked()) throw Stop{kWorldFailed, "stopped; nothing was written"};
  outcome->settings = {{"exchange", options.exchange}, {"patience", options.patience}};
  if (options.exchange == "streamed")
    outcome->settings.emplace_back("fragments", fmt::format("{}", options.fragments));
  const Json json = outcome_json(*plan, *outcome, made_by);
  if (!options.output.empty()) write_file(options.output, json.dump(1) + "\n");
  if (options.json)
    print_json(json);
  else
    print(outcome_text(*plan, *outcome));
  code.code = holds(*outcome) ? kDone : kAnswerIsNo;
}

}  // namespace

void add_simulate(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<Options>();
  CLI::App* simulate = app.add_subcommand(
      "simulate", "Play a plan packet by packet in virtual time, with faults if you like");
  simulate->add_option("PLAN", options->plan, "What `cotillion plan -o` wrote")->required();
  simulate->add_option("--faults", options->faults,
                       "A scenario file: loss, duplicates, links down, dead islands, … "
                       "(docs/files.md)");
  simulate->add_option("--rounds", options->rounds, "How many (default: one period)")
      ->check(CLI::Range(1, 1'000'000));
  add_seed(*simulate, options->seed, "the faults");
  simulate->add_option("--patience", options->patience,
                       "How long an edge waits for a chunk beyond its latest planned arrival "
                       "(default 1ms)");
  simulate
      ->add_option("--exchange", options->exchange,
                   "whole: copied at a round's start, merged at its end; streamed: by fragments")
      ->check(CLI::IsMember({"whole", "streamed"}));
  simulate->add_option("--fragments", options->fragments, "Of a streamed exchange (default 8)")
      ->check(CLI::Range(1, 4096));
  simulate->add_option("-o,--output", options->output, "Write the outcome as JSON");
  simulate->add_flag("--json", options->json, "Print the outcome as JSON");
  simulate->callback([options, &outcome] { run(*options, outcome); });
}

}  // namespace cotillion::cli
