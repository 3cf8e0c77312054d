#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/lab_runs.hpp"
#include "cli/settings.hpp"
#include "cli/verbs.hpp"
#include "lab/doctor.hpp"
#include "lab/rival.hpp"
#include "report/probe_report.hpp"
#include "report/summary.hpp"

namespace cotillion::cli {
namespace {

// Options that would do nothing.
std::string unused_option(const CLI::App& verb, bool probe) {
  constexpr const char* kOfPlays[] = {"--grace", "--exchange",    "--fragments", "--element",
                                      "--rival", "--rival-times", "--output",    "--simulated"};
  if (!probe) return verb.count("--trains") > 0 ? "--trains" : "";
  for (const char* name : kOfPlays)
    if (verb.count(name) > 0) return name;
  return "";
}

void run_lab(const CLI::App& verb, const LabOptions& options, Outcome& code) {
  const bool several = options.plans.size() > 1;
  if (several &&
      (options.probe || options.json || !options.output.empty() || !options.simulated.empty()))
    throw Stop{kUsedWrongly, "--probe, --json, --simulated and -o are for one plan at a time"};
  if (const std::string unused = unused_option(verb, options.probe); !unused.empty())
    throw Stop{kUsedWrongly,
               unused + (options.probe
                             ? ": with --probe nobody sums, and nothing is played; leave out one "
                               "of the two"
                             : ": is for --probe; give that too, or leave it out")};
  if (!options.output.empty()) expect_writable(options.output);
  if (!options.simulated.empty()) expect_writable(options.simulated);
  if (const auto there = check_rivals(options.rivals); !there)
    throw Stop{kUsedWrongly, "--rival: " + there.error().message};
  if (confinement_of(options).rootless)
    fmt::print(stderr,
               "rootless: without real-time priority, unless RLIMIT_RTPRIO grants it, and with "
               "socket buffers of at most net.core.rmem_max; run as root for exact links\n");
  if (several) print(summary_titles());
  for (const std::string& plan : options.plans) {
    code.code = std::max(code.code, run_in_lab(options, plan, plan == options.plans.back()));
    if (code.code > kAnswerIsNo) return;  // a system error, or somebody wants it to end
  }
}

void consult(const LabOptions& options, Outcome& code) {
  const auto findings = examine(confinement_of(options));
  if (options.json)
    print_json(findings_json(findings));
  else
    print(findings_text(findings));
  code.code = can_run(findings) ? kDone : kAnswerIsNo;
}

// Options of a verb keep the order in which they are added.
void add_link_options(CLI::App& lab, LabOptions& options) {
  lab.add_option("--scale", options.scale,
                 "Divide rates, payload and memory by this; times stay (default 1000)")
      ->check(CLI::Range(std::int64_t(1), std::int64_t(1'000'000'000)));
  lab.add_option("--rounds", options.rounds, "Number of rounds (default: one period)")
      ->check(CLI::Range(1, 1'000'000));
  lab.add_option("--trains", options.trains,
                 "Number of packet trains over each link in a probe (default 9)")
      ->check(CLI::Range(1, 1000));
  lab.add_option("--faults", options.faults,
                 "A file of faults, as for `simulate`, of links and islands that die "
                 "(docs/reference/files.md)");
}

void add_play_options(CLI::App& lab, LabOptions& options) {
  lab.add_option("--grace", options.grace,
                 "How long an edge waits for a chunk beyond its latest planned arrival (default "
                 "50ms). Rounds that do not overlap have twice that as slack");
  add_played_exchange(lab, options.exchange);
  lab.add_option("--element", options.element, "Format of numbers on the wire (default f32)")
      ->check(CLI::IsMember({"f32", "bf16", "i32"}));
  lab.add_option("--rival", options.rivals,
                 "A program that averages the same states over the same links afterwards "
                 "(docs/use/lab.md); may be repeated")
      ->type_name("COMMAND")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  lab.add_option("--rival-times", options.rival_times,
                 "Number of times that a rival averages; the first is not counted (default 6)")
      ->check(CLI::Range(2, 900));
  lab.add_option("-o,--output", options.output, "Write the measured outcome as JSON");
  lab.add_option("--simulated", options.simulated,
                 "Also write the simulated outcome; `cotillion report` puts both beside the plan");
  lab.add_option("--queue", options.queue,
                 "Longest wait at a link; longer queues lose their tail (default 100ms)");
}

}  // namespace

void add_lab(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<LabOptions>();
  CLI::App* lab = app.add_subcommand(
      "lab",
      "Make a plan's WAN on this machine and play the plan in it with the real daemons. Uses "
      "namespaces, emulated links and kernel multicast.");
  const auto add_shared = [&](CLI::App* verb) {
    verb->add_flag("--rootless", options->rootless,
                   "Work in a user namespace, as without privileges, even as root");
    verb->add_flag("--json", options->json, "Print one JSON object instead of text");
  };
  lab->add_option(
      "PLAN", options->plans,
      "A plan, as `cotillion plan -o` writes it. Several are played one after the other and have "
      "one line each");
  lab->add_flag(
      "--probe", options->probe,
      "Only send packets over every link and along every tree. Tells how exact links are, "
      "and that each stream crosses its tree once");
  add_link_options(*lab, *options);
  add_play_options(*lab, *options);
  add_seed(*lab, options->seed, "the faults");
  add_shared(lab);
  CLI::App* doctor =
      lab->add_subcommand("doctor", "Say what this machine lacks for a lab, and how to get it.");
  add_shared(doctor);
  doctor->callback([options, &outcome] { consult(*options, outcome); });
  lab->callback([options, &outcome, lab, doctor] {
    if (doctor->parsed()) return;
    if (options->plans.empty()) throw CLI::RequiredError(lab->get_option("PLAN")->get_name());
    run_lab(*lab, *options, outcome);
  });
}

}  // namespace cotillion::cli
