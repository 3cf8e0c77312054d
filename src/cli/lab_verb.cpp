#include <fmt/format.h>

#include <memory>

#include "base/fingerprint.hpp"
#include "cli/settings.hpp"
#include "cli/verbs.hpp"
#include "lab/confinement.hpp"
#include "lab/doctor.hpp"
#include "lab/probe.hpp"
#include "lab/probe_report.hpp"
#include "lab/scale.hpp"
#include "lab/steady.hpp"
#include "plan/plan_loader.hpp"

namespace cotillion::cli {
namespace {

struct Options {
  std::string plan;
  std::string faults;
  std::int64_t scale = 1000;
  int rounds = 0;
  int trains = 9;
  std::uint64_t seed = 1;
  std::string queue = "100ms";
  bool probe = false;
  bool rootless = false;
  bool json = false;
};

Confinement confinement_of(const Options& options) {
  Confinement confinement = confinement_at_hand();
  confinement.rootless = confinement.rootless || options.rootless;
  return confinement;
}

// The plan as it will be played, and what goes wrong.
struct Lesson {
  PlanFile plan;
  WorldSettings settings;
  Provenance made_by;
};

Lesson load(const Options& options) {
  Lesson lesson;
  const std::string text = read_file(options.plan);
  auto plan = read_plan(text, options.plan);
  if (!plan) throw Stop{kUsedWrongly, to_text(plan.error())};
  lesson.made_by = provenance();
  lesson.made_by.seed = options.seed;
  lesson.made_by.inputs.emplace_back("plan", fingerprint(text));
  if (!options.faults.empty()) {
    const std::string scenario = read_file(options.faults);
    auto faults = read_faults(scenario, options.faults, *plan);
    if (!faults) throw Stop{kUsedWrongly, to_text(faults.error())};
    lesson.settings.faults = std::move(*faults);
    lesson.made_by.inputs.emplace_back("faults", fingerprint(scenario));
  }
  lesson.settings.queue = option_value(parse_duration(options.queue), "--queue");
  lesson.settings.seed = options.seed;
  auto small = scaled(std::move(*plan), options.scale);
  if (!small) throw Stop{kUsedWrongly, "--scale: " + small.error().message};
  lesson.plan = std::move(*small);
  if (const auto groups = groups_of(lesson.plan.plan); !groups)
    throw Stop{kAnswerIsNo, options.plan + ": " + groups.error().message};
  return lesson;
}

// In the confined process.
int play(const Options& options, const Lesson& lesson) {
  const Instant began = steady_now();
  const auto world = World::make(lesson.plan, lesson.settings);
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
    Json json = to_json(lesson.made_by);
    json["scale"] = options.scale;
    json["built_ms"] = built.ms();
    json.update(probe_json(lesson.plan.map, *outcome));
    print_json(json);
  } else {
    print(fmt::format("At a scale of 1:{}, rates and payload alike; {} namespaces, built in {}.\n",
                      options.scale, (*world)->blueprint().spaces.size(),
                      cotillion::to_text(built)));
    print(probe_text(lesson.plan.map, *outcome));
  }
  return outcome->problems.empty() ? kDone : kAnswerIsNo;
}

void run(const Options& options, Outcome& code) {
  if (!options.probe)
    throw Stop{kUsedWrongly,
               "the lab cannot play whole rounds yet: --probe sends packets along the plan's trees "
               "and measures the links"};
  const Lesson lesson = load(options);
  const Confinement confinement = confinement_of(options);
  if (!lesson.settings.faults.islands.empty())
    fmt::print(stderr,
               "{}: a probe has no islands that die, slow down or restart; faults of links "
               "are played\n",
               options.faults);
  if (confinement.rootless)
    fmt::print(stderr,
               "rootless: without real-time priority, unless RLIMIT_RTPRIO grants it, and with "
               "socket buffers of at most net.core.rmem_max; run as root for exact links\n");
  const auto ended = confined(confinement, [&]() -> int {
    try {
      return play(options, lesson);
    } catch (const Stop& stop) {
      fmt::print(stderr, "{}\n", stop.message);
      return stop.code;
    } catch (const std::exception& error) {
      fmt::print(stderr, "cotillion: {}\n", error.what());
      return kWorldFailed;
    }
  });
  if (!ended)
    throw Stop{kWorldFailed, ended.error().message +
                                 "\n`cotillion lab doctor` says what else this machine lacks"};
  code.code = *ended;
}

void consult(const Options& options, Outcome& code) {
  const auto findings = examine(confinement_of(options));
  if (options.json)
    print_json(findings_json(findings));
  else
    print(findings_text(findings));
  code.code = can_run(findings) ? kDone : kAnswerIsNo;
}

}  // namespace

void add_lab(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<Options>();
  CLI::App* lab = app.add_subcommand(
      "lab", "A plan's WAN on this machine: namespaces, emulated links, kernel multicast");
  const auto add_shared = [&](CLI::App* verb) {
    verb->add_flag("--rootless", options->rootless,
                   "In a user namespace, as without privileges, even as root");
    verb->add_flag("--json", options->json, "Print one JSON object instead of text");
  };
  lab->add_option("PLAN", options->plan, "What `cotillion plan -o` wrote");
  lab->add_flag("--probe", options->probe,
                "Packets over every link and along every stream's tree, and nobody sums: how exact "
                "links are, and that each stream crosses its tree once");
  lab->add_option("--scale", options->scale,
                  "Rates, payload and memory divided by this; times stay (default 1000)")
      ->check(CLI::Range(std::int64_t(1), std::int64_t(1'000'000'000)));
  lab->add_option("--rounds", options->rounds, "How many (default: one period)")
      ->check(CLI::Range(1, 1'000'000));
  lab->add_option("--trains", options->trains, "Over each link alone (default 9)")
      ->check(CLI::Range(1, 1000));
  lab->add_option("--faults", options->faults,
                  "A scenario file, as for `simulate`: what befalls links (docs/files.md)");
  lab->add_option("--queue", options->queue,
                  "The longest wait at a link; longer queues lose their tail (default 100ms)");
  add_seed(*lab, options->seed, "the faults");
  add_shared(lab);
  CLI::App* doctor = lab->add_subcommand("doctor", "What this machine lacks, and how to get it");
  add_shared(doctor);
  doctor->callback([options, &outcome] { consult(*options, outcome); });
  lab->callback([options, &outcome, lab, doctor] {
    if (doctor->parsed()) return;
    if (options->plan.empty()) throw CLI::RequiredError(lab->get_option("PLAN")->get_name());
    run(*options, outcome);
  });
}

}  // namespace cotillion::cli
