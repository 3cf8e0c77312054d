#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/fingerprint.hpp"
#include "cli/interrupt.hpp"
#include "cli/played_exchange.hpp"
#include "cli/settings.hpp"
#include "cli/verbs.hpp"
#include "plan/file/plan_loader.hpp"
#include "report/outcome_report.hpp"
#include "sim/simulation.hpp"
#include "sim/tap.hpp"
#include "sim/trace.hpp"

namespace cotillion::cli {
namespace {

struct SimulateOptions {
  std::string plan;
  std::string faults;
  int rounds = 0;
  std::uint64_t seed = 1;
  std::string grace = "1ms";
  std::string memory;
  PlayedExchange exchange;
  std::string trace;
  int trace_round = 1;
  std::string pcap;
  std::vector<std::string> pcap_on;
  std::string output;
  bool json = false;
};

constexpr std::size_t kCaptureMost = std::size_t(2) << 30u;

// Who watches, and the files they leave.
class Watching {
 public:
  Watching(const SimulateOptions& options, const PlanFile& plan, SimulationSettings& settings)
      : options_(options) {
    if (!options.trace.empty()) {
      if (options.trace_round > settings.rounds)
        throw Stop{kUsedWrongly, fmt::format("--trace-round {}: only {} rounds are played",
                                             options.trace_round, settings.rounds)};
      const auto assignment = JobAssignment::make(plan, settings.islands.job_settings);
      if (assignment) {
        const auto start = [&](int round) {
          return assignment->start_of(RoundId(round), Instant{0}) - Instant{0};
        };
        trace_.emplace(plan, start(options.trace_round), start(options.trace_round + 1));
        settings.observers.push_back(&*trace_);
      }
    }
    if (!options.pcap.empty()) {
      std::vector<LaneId> lanes;
      for (const std::string& on : options.pcap_on) {
        const auto named = lanes_named(plan.map, on);
        if (named.empty())
          throw Stop{kUsedWrongly,
                     fmt::format("--pcap-on {}: no such link in the plan; {}", on, kLaneForms)};
        lanes.insert(lanes.end(), named.begin(), named.end());
      }
      tap_.emplace(plan, lanes, kCaptureMost);
      settings.observers.push_back(&*tap_);
    }
  }

  void write() {
    if (trace_) write_file(options_.trace, trace_->json());
    if (!tap_) return;
    write_file(options_.pcap, tap_->file());
    if (tap_->left_out() > 0)
      fmt::print(stderr, "{}: full after {} packets; {} more are left out\n", options_.pcap,
                 tap_->packets(), tap_->left_out());
  }

 private:
  const SimulateOptions& options_;
  std::optional<Trace> trace_;
  std::optional<Tap> tap_;
};

void run_simulate(const SimulateOptions& options, Outcome& code) {
  for (const std::string& file : {options.output, options.trace, options.pcap})
    if (!file.empty()) expect_writable(file);
  const LoadedPlan loaded = load_plan(options.plan);
  const PlanFile& plan = loaded.plan;
  Provenance made_by = provenance();
  made_by.seed = options.seed;
  made_by.inputs.emplace_back("plan", loaded.fingerprint);

  SimulationSettings settings;
  settings.rounds = options.rounds > 0 ? options.rounds : int(plan.plan.rounds.size());
  settings.seed = options.seed;
  settings.islands.job_settings.grace = option_value(parse_duration(options.grace), "--grace");
  if (!options.memory.empty())
    settings.islands.job_settings.memory = option_value(parse_bytes(options.memory), "--memory");
  const PlayedExchange exchange = exchange_of(plan.plan, options.exchange);
  settings.islands.job_settings.exchange =
      exchange.streamed() ? Exchange::kStreamed : Exchange::kWhole;
  settings.islands.job_settings.fragments = exchange.fragments;
  if (!options.faults.empty()) {
    const std::string scenario = read_file(options.faults);
    auto faults = read_faults(scenario, options.faults, plan);
    if (!faults) throw Stop{kUsedWrongly, to_text(faults.error())};
    settings.faults = std::move(*faults);
    made_by.inputs.emplace_back("faults", fingerprint(scenario));
  }
  settings.islands.step_time = rounded(plan.plan.settings.step_time);
  Watching watching(options, plan, settings);
  const auto say = progress_line();
  const Interrupt interrupt;
  settings.progress = [&](Duration played, Duration of) {
    say(fmt::format("simulating: {} of {}", cotillion::to_text(played), cotillion::to_text(of)));
    return interrupt.asked();
  };
  auto outcome = simulate(plan, settings);
  end_progress();
  if (interrupt.asked()) throw Stop{kSystemError, "stopped; nothing was written"};
  if (!outcome) throw Stop{kAnswerIsNo, options.plan + ": " + outcome.error().message};
  watching.write();
  outcome->settings = {{"exchange", exchange.exchange}, {"grace", options.grace}};
  if (!options.memory.empty()) outcome->settings.emplace_back("memory", options.memory);
  if (exchange.streamed())
    outcome->settings.emplace_back("fragments", fmt::format("{}", exchange.fragments));
  const OutcomeFile file = outcome_file(plan, std::move(*outcome), made_by);
  if (!options.output.empty()) write_file(options.output, to_json(file).dump(1) + "\n");
  if (options.json)
    print_json(to_json(file));
  else
    print(outcome_text(file));
  code.code = holds(file.outcome) ? kDone : kAnswerIsNo;
}

}  // namespace

void add_simulate(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<SimulateOptions>();
  CLI::App* simulate = app.add_subcommand(
      "simulate", "Play a plan packet by packet in virtual time, with faults from a file.");
  simulate->add_option("PLAN", options->plan, "A plan, as `cotillion plan -o` writes it")
      ->required();
  simulate->add_option("--faults", options->faults,
                       "A file of faults: loss, duplicates, links down, dead islands, … "
                       "(docs/reference/files.md)");
  simulate->add_option("--rounds", options->rounds, "Number of rounds (default: one period)")
      ->check(CLI::Range(1, 1'000'000));
  add_seed(*simulate, options->seed, "the faults");
  simulate->add_option("--grace", options->grace,
                       "How long an edge waits for a chunk beyond its latest planned arrival "
                       "(default 1ms)");
  simulate->add_option("--memory", options->memory,
                       "Memory that every edge really has, whatever the plan was made for. "
                       "Slots for hops and grace come on top; 0B shows an edge overflow");
  add_played_exchange(*simulate, options->exchange);
  simulate->add_option("--trace", options->trace,
                       "Write one round as a trace for ui.perfetto.dev or chrome://tracing");
  simulate->add_option("--trace-round", options->trace_round, "Which round to trace (default 1)")
      ->check(CLI::Range(1, 1'000'000));
  CLI::Option* pcap = simulate->add_option(
      "--pcap", options->pcap, "Write packets for Wireshark (with tools/cotillion.lua)");
  simulate
      ->add_option(
          "--pcap-on", options->pcap_on,
          "Links whose packets are written, as in fault files: TYO-HKG, TYO>HKG, TYO, core, "
          "last-hops, … (default everywhere; 2 GiB at most)")
      ->needs(pcap)
      ->default_val(std::vector<std::string>{"everywhere"});
  simulate->add_option("-o,--output", options->output, "Write the outcome as JSON");
  simulate->add_flag("--json", options->json, "Print the outcome as JSON");
  simulate->callback([options, &outcome] { run_simulate(*options, outcome); });
}

}  // namespace cotillion::cli
