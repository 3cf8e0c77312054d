#include "cli/lab_runs.hpp"

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
#include "lab/crossings.hpp"
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
  settings.islands.job_settings.grace = option_value(parse_duration(options.grace), "--grace");
  const PlayedExchange exchange = exchange_of(plan.plan, options.exchange);
  settings.islands.job_settings.exchange =
      exchange.streamed() ? Exchange::kStreamed : Exchange::kWhole;
  settings.islands.job_settings.fragments = exchange.fragments;
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
  if (!plan) throw Stop{kSystemError, to_text(plan.error())};
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
    if (!rival) throw Stop{kSystemError, command + ": " + rival.error().message};
    rivals.push_back(std::move(*rival));
  }
  return rivals;
}

// Whoever reads may have gone; the first process of a namespace is not ended by SIGPIPE, and comes
// here instead.
void complain(const std::string& message) {
  (void)std::fputs((message + "\n").c_str(), stderr);
}

// What play_rounds has to show.
struct PlayedRounds {
  const CheckedRun& checked;
  const Played& played;
  const Crossings& crossings;
  const std::vector<RivalOutcome>& rivals;
  double load = 0;  // of the machine, before anything began
};

PlaySettings play_settings(const LabOptions& options, const LabJob& job, int rounds) {
  PlaySettings settings;
  settings.rounds = rounds;
  const auto folder = private_folder();
  if (!folder) throw Stop{kSystemError, folder.error().message};
  settings.program = "/proc/self/exe";
  settings.folder = *folder;
  settings.grace = options.grace;
  const PlayedExchange exchange = exchange_of(job.plan.plan, options.exchange);
  settings.exchange = exchange.exchange;
  settings.fragments = exchange.fragments;
  settings.element = options.element;
  for (const IslandFault& fault : job.settings.faults.islands)
    settings.deaths.push_back({fault.island, fault.from});
  const auto say = progress_line();
  settings.progress = [say](const std::string& line) { say(line); };
  settings.asked_to_end = asked_to_end;
  return settings;
}

std::unique_ptr<World> make_world(const PlanFile& plan, const WorldSettings& settings) {
  auto world = World::make(plan, settings);
  if (!world)
    throw Stop{kSystemError,
               world.error().message + "; `cotillion lab doctor` says what this machine lacks"};
  return std::move(*world);
}

// The coordinator's outcome, with what links counted; complete.
cotillion::Outcome measured_in(const Played& played, const PlanFile& plan) {
  const auto complain_of_all = [&] {
    for (const std::string& problem : played.problems) complain(problem);
  };
  auto measured = read_outcome(played.outcome, "the coordinator's outcome");
  if (!measured) {
    complain_of_all();
    throw Stop{kSystemError, played.outcome.empty() ? "nothing was measured"
                                                    : cotillion::to_text(measured.error().front())};
  }
  if (measured->outcome.rounds.empty()) {  // of which everything could be said
    if (!asked_to_end()) complain_of_all();
    throw Stop{kAnswerIsNo, "it ended before round one was over: nothing was measured"};
  }
  add_lanes(played.counters, measured->outcome);
  return complete_outcome(plan, std::move(measured->outcome));
}

void show(const LabOptions& options, const PlayedRounds& run) {
  const cotillion::Outcome& simulated = run.checked.outcomes.front().file.outcome;
  const OutcomeFile& measured = run.checked.outcomes.back().file;
  const auto ours = averaging_of(run.checked.plan.plan, measured.outcome);
  const auto sides = side_by_side(run.checked.outcomes);
  if (!sides) throw Stop{kSystemError, to_text(sides.error())};
  const auto period = period_of(run.checked.plan.plan, measured.outcome);
  if (options.json) {
    Json json = to_json(run.checked.made_by);
    json["scale"] = options.scale;
    json["load"] = run.load;
    json["emulator"] = accuracy_json(run.played.counters);
    json["multicast"] = crossings_json(run.crossings);
    json["period"] =
        period ? Json{{"planned_ms", period->planned.ms()}, {"measured_ms", period->measured.ms()}}
               : Json(nullptr);
    json["problems"] = run.played.problems;
    if (!run.rivals.empty()) json["rivals"] = rivals_json(ours, run.rivals);
    json["sides"] = cotillion::to_json(sides->front());
    json["measured"] = to_json(measured);
    return print_json(json);
  }
  const std::string rivals =
      run.rivals.empty() ? "" : "\n" + rivals_text(run.checked.plan, ours, run.rivals);
  if (options.plans.size() > 1) {
    print(summary_line(run.checked.plan, simulated, measured.outcome, run.played.counters,
                       run.crossings, run.load) +
          rivals);
    if (!run.crossings.problems.empty()) print("! " + crossings_text(run.crossings) + "\n");
  } else {
    print(
        fmt::format("At a scale of 1:{}; the machine's load before was {:.1f}. Every sum was "
                    "checked at its island.\n\n",
                    options.scale, run.load));
    print(side_by_side_text(sides->front(), true));
    if (period) print("\n" + period_text(*period) + "\n");
    print("\n" + crossings_text(run.crossings) + "\n");
    print(accuracy_text(run.played.counters) + "\n" + rivals);
  }
  for (const std::string& problem : run.played.problems) print("! " + problem + "\n");
}

bool is_good(const PlayedRounds& run) {
  return run.played.problems.empty() && run.crossings.problems.empty() && run.played.code == 0 &&
         std::all_of(run.rivals.begin(), run.rivals.end(),
                     [](const RivalOutcome& rival) { return rival.problem.empty(); });
}

// In the confined process.
int play_rounds(const LabOptions& options, const LabJob& job, CheckedRun& checked, bool last) {
  const PlaySettings settings = play_settings(options, job, checked.rounds);
  double load = 0;
  (void)::getloadavg(&load, 1);
  go_before_others();
  const auto world = make_world(checked.plan, job.settings);
  const auto played = cotillion::play(*world, checked.text, settings);
  end_progress();
  if (!played) throw Stop{kSystemError, played.error().message};
  cotillion::Outcome measured = measured_in(*played, checked.plan);
  const Crossings crossings = crossings_of(checked.plan, world->groups(), played->counters,
                                           measured.rounds.size(), the_dead(job.settings.faults));
  checked.outcomes.push_back({"measured", outcome_file(checked.plan, std::move(measured),
                                                       checked.made_by, OutcomeKind::kMeasured)});
  const auto keep = [](const std::string& path, const NamedOutcome& outcome) {
    if (!path.empty()) write_file(path, to_json(outcome.file).dump(1) + "\n");
  };
  keep(options.output, checked.outcomes.back());
  keep(options.simulated, checked.outcomes.front());
  std::vector<RivalOutcome> rivals;
  if (last) rivals = run_rivals(options, *world, settings.folder);
  const PlayedRounds run{checked, *played, crossings, rivals, load};
  show(options, run);
  return is_good(run) ? kDone : kAnswerIsNo;
}

// In the confined process.
int probe_links(const LabOptions& options, const LabJob& job) {
  const Instant began = steady_now();
  const auto world = make_world(job.plan, job.settings);
  const Duration built = steady_now() - began;
  ProbeSettings settings;
  settings.rounds = options.rounds;
  settings.trains = options.trains;
  const auto outcome = probe(*world, settings);
  if (!outcome) throw Stop{kSystemError, outcome.error().message};
  if (options.json) {
    Json json = to_json(job.made_by);
    json["scale"] = options.scale;
    json["built_ms"] = built.ms();
    json.update(probe_json(job.plan.map, *outcome));
    print_json(json);
  } else {
    print(fmt::format("At a scale of 1:{}, rates and payload alike; {} namespaces, built in {}.\n",
                      options.scale, world->blueprint().spaces.size(), cotillion::to_text(built)));
    print(probe_text(job.plan.map, *outcome));
  }
  return outcome->problems.empty() ? kDone : kAnswerIsNo;
}

}  // namespace

Confinement confinement_of(const LabOptions& options) {
  Confinement confinement = confinement_at_hand();
  confinement.rootless = confinement.rootless || options.rootless;
  return confinement;
}

int run_in_lab(const LabOptions& options, const std::string& name, bool last) {
  const LabJob job = load_lab_job(options, name);
  std::optional<CheckedRun> checked;
  if (!options.probe) checked.emplace(rehearse(options, job));
  const auto ended = confined(confinement_of(options), [&]() -> int {
    try {
      return checked ? play_rounds(options, job, *checked, last) : probe_links(options, job);
    } catch (const Stop& stop) {
      complain(stop.message);
      return stop.code;
    } catch (const std::exception& error) {
      complain(fmt::format("cotillion: {}", error.what()));
      return kSystemError;
    }
  });
  if (!ended)
    throw Stop{kSystemError, ended.error().message +
                                 "\n`cotillion lab doctor` says what else this machine lacks"};
  return *ended;
}

}  // namespace cotillion::cli
