#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/fingerprint.hpp"
#include "cli/settings.hpp"
#include "cli/verbs.hpp"
#include "job/complete_outcome.hpp"
#include "job/outcome_loader.hpp"
#include "lab/confinement.hpp"
#include "lab/crossings.hpp"
#include "lab/doctor.hpp"
#include "lab/play.hpp"
#include "lab/priority.hpp"
#include "lab/probe.hpp"
#include "lab/rival.hpp"
#include "lab/scale.hpp"
#include "lab/steady.hpp"
#include "plan/file/plan_loader.hpp"
#include "report/probe_report.hpp"
#include "report/side_by_side_report.hpp"
#include "report/summary.hpp"
#include "sim/simulation.hpp"

namespace cotillion::cli {
namespace {

struct LabOptions {
  std::vector<std::string> plans;
  std::string faults;
  std::int64_t scale = 1000;
  int rounds = 0;
  int trains = 9;
  std::uint64_t seed = 1;
  std::string queue = "100ms";
  std::string grace = "50ms";
  std::string exchange = "whole";
  int fragments = 8;
  std::string element = "f32";
  std::string output;
  std::string simulated;
  std::vector<std::string> rivals;
  int rival_times = 6;
  bool probe = false;
  bool rootless = false;
  bool json = false;
};

Confinement confinement_of(const LabOptions& options) {
  Confinement confinement = confinement_at_hand();
  confinement.rootless = confinement.rootless || options.rootless;
  return confinement;
}

// The plan as it will be played, and what goes wrong.
struct LabJob {
  PlanFile plan;
  WorldSettings settings;
  Provenance made_by;
};

LabJob load_lab_job(const LabOptions& options, const std::string& name) {
  LabJob job;
  LoadedPlan loaded = load_plan(name);
  job.made_by = provenance();
  job.made_by.seed = options.seed;
  job.made_by.inputs.emplace_back("plan", loaded.fingerprint);
  if (!options.faults.empty()) {
    const std::string scenario = read_file(options.faults);
    auto faults = read_faults(scenario, options.faults, loaded.plan,
                              options.probe ? FaultPlayer::kSimulator : FaultPlayer::kLab);
    if (!faults) throw Stop{kUsedWrongly, to_text(faults.error())};
    job.settings.faults = std::move(*faults);
    job.made_by.inputs.emplace_back("faults", fingerprint(scenario));
  }
  job.settings.queue = option_value(parse_duration(options.queue), "--queue");
  job.settings.seed = options.seed;
  auto small = scaled(std::move(loaded.plan), options.scale);
  if (!small) throw Stop{kUsedWrongly, "--scale: " + small.error().message};
  job.plan = std::move(*small);
  if (const auto groups = groups_of(job.plan.plan); !groups)
    throw Stop{kAnswerIsNo, name + ": " + groups.error().message};
  return job;
}

std::vector<IslandId> the_dead(const Faults& faults) {
  std::vector<IslandId> dead;
  for (const IslandFault& fault : faults.islands) dead.push_back(fault.island);
  return dead;
}

OutcomeFile simulated(const LabOptions& options, const PlanFile& plan, const Provenance& made_by,
                      const Faults& faults, int rounds) {
  SimulationSettings settings;
  settings.rounds = rounds;
  settings.seed = options.seed;
  settings.faults = faults;
  settings.actors.job_settings.grace = option_value(parse_duration(options.grace), "--grace");
  settings.actors.job_settings.exchange =
      options.exchange == "whole" ? Exchange::kWhole : Exchange::kStreamed;
  settings.actors.job_settings.fragments = options.fragments;
  auto outcome = simulate(plan, settings);
  if (!outcome) throw Stop{kAnswerIsNo, outcome.error().message};
  return outcome_file(plan, std::move(*outcome), made_by);
}

// Before the lab is built, because the answer may be no.
struct CheckedRun {
  std::string text;  // of the scaled plan
  PlanFile plan;
  Provenance made_by;
  int rounds = 1;
  std::vector<NamedOutcome> outcomes;  // the simulated one
};

CheckedRun rehearse(const LabOptions& options, const LabJob& job) {
  auto text = plan_text(job.plan);
  if (!text) throw Stop{kAnswerIsNo, text.error().message};
  auto plan = read_plan(*text, "the scaled plan");
  if (!plan) throw Stop{kWorldFailed, to_text(plan.error())};
  CheckedRun done{std::move(*text), std::move(*plan), job.made_by, options.rounds, {}};
  if (done.rounds == 0) done.rounds = int(done.plan.plan.rounds.size());
  done.made_by.inputs.front().second = fingerprint(done.text);
  done.outcomes.push_back(
      {"simulated", simulated(options, done.plan, done.made_by, job.settings.faults, done.rounds)});
  return done;
}

std::vector<RivalOutcome> run_rivals(const LabOptions& options, World& world,
                                     const std::string& folder) {
  std::vector<RivalOutcome> rivals;
  RivalSettings settings;
  settings.folder = folder;
  settings.times = options.rival_times;
  settings.asked_to_end = asked_to_end;
  for (const std::string& command : options.rivals) {
    if (asked_to_end()) break;
    auto rival = run_rival(world, command, settings);
    if (!rival) throw Stop{kWorldFailed, command + ": " + rival.error().message};
    rivals.push_back(std::move(*rival));
  }
  return rivals;
}

// Whoever reads may have gone; the first process of a namespace is not ended by SIGPIPE, and comes
// here instead.
void complain(const std::string& message) {
  (void)std::fputs((message + "\n").c_str(), stderr);
}

// In the confined process. Rivals come after the last plan.
int play_rounds(const LabOptions& options, const LabJob& job, CheckedRun& rehearsed, bool last) {
  PlaySettings settings;
  settings.rounds = rehearsed.rounds;
  const auto folder = private_folder();
  if (!folder) throw Stop{kWorldFailed, folder.error().message};
  settings.program = "/proc/self/exe";
  settings.folder = *folder;
  settings.grace = options.grace;
  settings.exchange = options.exchange;
  settings.fragments = options.fragments;
  settings.element = options.element;
  for (const IslandFault& fault : job.settings.faults.islands)
    settings.deaths.push_back({fault.island, fault.from});
  const auto say = progress_line();
  settings.progress = [&](const std::string& line) { say(line); };
  settings.asked_to_end = asked_to_end;
  double load_lab_job = 0;
  (void)::getloadavg(&load_lab_job, 1);
  go_before_others();
  const auto world = World::make(rehearsed.plan, job.settings);
  if (!world)
    throw Stop{kWorldFailed,
               world.error().message + "; `cotillion lab doctor` says what this machine lacks"};
  auto played = cotillion::play(**world, rehearsed.text, settings);
  end_progress();
  if (!played) throw Stop{kWorldFailed, played.error().message};
  auto measured = read_outcome(played->outcome, "the coordinator's outcome");
  if (!measured) {
    for (const std::string& problem : played->problems) complain(problem);
    throw Stop{kWorldFailed, played->outcome.empty()
                                 ? "nothing was measured"
                                 : cotillion::to_text(measured.error().front())};
  }
  if (measured->outcome.rounds.empty()) {  // of which everything could be said
    if (!asked_to_end())
      for (const std::string& problem : played->problems) complain(problem);
    throw Stop{kAnswerIsNo, "it ended before round one was over: nothing was measured"};
  }
  add_lanes(played->counters, measured->outcome);
  measured->outcome = complete_outcome(rehearsed.plan, std::move(measured->outcome));
  const Crossings crossings =
      crossings_of(rehearsed.plan, (*world)->groups(), played->counters,
                   measured->outcome.rounds.size(), the_dead(job.settings.faults));
  const OutcomeFile file =
      outcome_file(rehearsed.plan, measured->outcome, rehearsed.made_by, OutcomeKind::kMeasured);
  rehearsed.outcomes.push_back({"measured", file});
  if (!options.output.empty()) write_file(options.output, to_json(file).dump(1) + "\n");
  if (!options.simulated.empty())
    write_file(options.simulated, to_json(rehearsed.outcomes.front().file).dump(1) + "\n");
  std::vector<RivalOutcome> rivals;
  if (last) rivals = run_rivals(options, **world, settings.folder);
  const auto ours = averaging_of(rehearsed.plan.plan, measured->outcome);
  const auto sides = side_by_side(rehearsed.outcomes);
  if (!sides) throw Stop{kWorldFailed, to_text(sides.error())};
  if (options.json) {
    Json json = to_json(job.made_by);
    json["scale"] = options.scale;
    json["load"] = load_lab_job;
    json["emulator"] = accuracy_json(played->counters);
    json["multicast"] = crossings_json(crossings);
    json["problems"] = played->problems;
    if (!rivals.empty()) json["rivals"] = rivals_json(ours, rivals);
    json["sides"] = cotillion::to_json(sides->front());
    json["measured"] = to_json(file);
    print_json(json);
  } else if (options.plans.size() > 1) {
    print(summary_line(rehearsed.plan, rehearsed.outcomes.front().file.outcome, file.outcome,
                       played->counters, crossings, load_lab_job));
    if (!rivals.empty()) print("\n" + rivals_text(rehearsed.plan, ours, rivals));
    if (!crossings.problems.empty()) print("! " + crossings_text(crossings) + "\n");
    for (const std::string& problem : played->problems) print("! " + problem + "\n");
  } else {
    print(
        fmt::format("At a scale of 1:{}; the machine's load before was {:.1f}. Every sum was "
                    "checked at its island.\n\n",
                    options.scale, load_lab_job));
    print(side_by_side_text(sides->front(), true));
    print("\n" + crossings_text(crossings) + "\n");
    print(accuracy_text(played->counters) + "\n");
    if (!rivals.empty()) print("\n" + rivals_text(rehearsed.plan, ours, rivals));
    for (const std::string& problem : played->problems) print("! " + problem + "\n");
  }
  const bool good = played->problems.empty() && crossings.problems.empty() && played->code == 0 &&
                    std::all_of(rivals.begin(), rivals.end(),
                                [](const RivalOutcome& rival) { return rival.problem.empty(); });
  return good ? kDone : kAnswerIsNo;
}

// In the confined process.
int probe_links(const LabOptions& options, const LabJob& job) {
  const Instant began = steady_now();
  const auto world = World::make(job.plan, job.settings);
  const Duration built = steady_now() - began;
  if (!world)
    throw Stop{kWorldFailed,
               world.error().message + "; `cotillion lab doctor` says what this machine lacks"};
  ProbeSettings settings;
  settings.rounds = options.rounds;
  settings.trains = options.trains;
  const auto outcome = probe(**world, settings);
  if (!outcome) throw Stop{kWorldFailed, outcome.error().message};
  if (options.json) {
    Json json = to_json(job.made_by);
    json["scale"] = options.scale;
    json["built_ms"] = built.ms();
    json.update(probe_json(job.plan.map, *outcome));
    print_json(json);
  } else {
    print(fmt::format("At a scale of 1:{}, rates and payload alike; {} namespaces, built in {}.\n",
                      options.scale, (*world)->blueprint().spaces.size(),
                      cotillion::to_text(built)));
    print(probe_text(job.plan.map, *outcome));
  }
  return outcome->problems.empty() ? kDone : kAnswerIsNo;
}

// One plan in a lab of its own; its exit code.
int run_one(const LabOptions& options, const std::string& name, bool last) {
  const LabJob job = load_lab_job(options, name);
  std::optional<CheckedRun> rehearsed;
  if (!options.probe) rehearsed.emplace(rehearse(options, job));
  const auto ended = confined(confinement_of(options), [&]() -> int {
    try {
      return rehearsed ? play_rounds(options, job, *rehearsed, last) : probe_links(options, job);
    } catch (const Stop& stop) {
      complain(stop.message);
      return stop.code;
    } catch (const std::exception& error) {
      complain(fmt::format("cotillion: {}", error.what()));
      return kWorldFailed;
    }
  });
  if (!ended)
    throw Stop{kWorldFailed, ended.error().message +
                                 "\n`cotillion lab doctor` says what else this machine lacks"};
  return *ended;
}

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
    code.code = std::max(code.code, run_one(options, plan, plan == options.plans.back()));
    if (code.code > kAnswerIsNo) return;  // the world failed, or somebody wants it to end
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
  lab->add_option("--scale", options->scale,
                  "Divide rates, payload and memory by this; times stay (default 1000)")
      ->check(CLI::Range(std::int64_t(1), std::int64_t(1'000'000'000)));
  lab->add_option("--rounds", options->rounds, "Number of rounds (default: one period)")
      ->check(CLI::Range(1, 1'000'000));
  lab->add_option("--trains", options->trains,
                  "Number of packet trains over each link in a probe (default 9)")
      ->check(CLI::Range(1, 1000));
  lab->add_option("--faults", options->faults,
                  "A file of faults, as for `simulate`, of links and islands that die "
                  "(docs/reference/files.md)");
  lab->add_option("--grace", options->grace,
                  "How long an edge waits for a chunk beyond its latest planned arrival (default "
                  "50ms). Rounds have twice that as slack");
  lab->add_option(
         "--exchange", options->exchange,
         "whole (default): the model is copied when a round starts and merged when it ends; "
         "streamed: in fragments")
      ->check(CLI::IsMember({"whole", "streamed"}));
  lab->add_option("--fragments", options->fragments,
                  "Number of fragments in a streamed exchange (default 8)")
      ->check(CLI::Range(1, 4096));
  lab->add_option("--element", options->element, "Format of numbers on the wire (default f32)")
      ->check(CLI::IsMember({"f32", "bf16", "i32"}));
  lab->add_option("--rival", options->rivals,
                  "A program that averages the same states over the same links afterwards "
                  "(docs/use/lab.md); may be repeated")
      ->type_name("COMMAND")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  lab->add_option("--rival-times", options->rival_times,
                  "Number of times that a rival averages; the first is not counted (default 6)")
      ->check(CLI::Range(2, 900));
  lab->add_option("-o,--output", options->output, "Write the measured outcome as JSON");
  lab->add_option("--simulated", options->simulated,
                  "Also write the simulated outcome; `cotillion report` puts both beside the plan");
  lab->add_option("--queue", options->queue,
                  "Longest wait at a link; longer queues lose their tail (default 100ms)");
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
