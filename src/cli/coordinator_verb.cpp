#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/fingerprint.hpp"
#include "base/text.hpp"
#include "cli/daemon_options.hpp"
#include "cli/interrupt.hpp"
#include "cli/played_exchange.hpp"
#include "cli/settings.hpp"
#include "cli/verbs.hpp"
#include "daemon/control_host.hpp"
#include "daemon/coordinator_status.hpp"
#include "daemon/notify.hpp"
#include "daemon/published_status.hpp"
#include "job/measured.hpp"
#include "job/outcome_file.hpp"
#include "plan/file/plan_loader.hpp"
#include "protocol/merge.hpp"

namespace cotillion::cli {
namespace {

struct CoordinatorOptions {
  std::string plan;
  std::string listen = "127.0.0.1:29800";
  int rounds = 0;
  std::string start_in = "2s";
  std::string grace = "1ms";
  std::string join_within = "60s";
  PlayedExchange exchange;
  double progress = 1;
  std::string missing = "mean";
  std::string element = "f32";
  int exponent = 0;
  int shards = 1;
  int port = kUdpPort;
  std::string on_loss = "go-on";
  std::string output;
  bool json = false;
  DaemonOptions daemon;
};

Element element_of(const std::string& name) {
  for (const Element element : {Element::kBf16, Element::kI32})
    if (name == name_of(element)) return element;
  return Element::kF32;
}

CoordinatorSettings settings_of(const CoordinatorOptions& options, const PlanFile& plan) {
  CoordinatorSettings settings;
  settings.version = provenance().version;
  settings.zero = wall_clock_now();
  settings.rounds = options.rounds > 0 ? options.rounds : int(plan.plan.rounds.size());
  settings.shards = options.shards;
  settings.port = std::uint16_t(options.port);
  settings.exponent = options.exponent;
  settings.job_settings.element = element_of(options.element);
  settings.lead = option_value(parse_duration(options.start_in), "--start-in");
  settings.join_timeout = option_value(parse_duration(options.join_within), "--join-within");
  settings.on_loss = options.on_loss == "go-on" ? OnLoss::kGoOn : OnLoss::kStop;
  settings.job_settings.grace = option_value(parse_duration(options.grace), "--grace");
  const PlayedExchange exchange = exchange_of(plan.plan, options.exchange);
  settings.job_settings.exchange = exchange.streamed() ? Exchange::kStreamed : Exchange::kWhole;
  settings.job_settings.fragments = exchange.fragments;
  settings.progress = options.progress;
  if (options.missing == "own") settings.missing = Missing::kOwnForMissing;
  if (const auto safe = checked(MergeSettings{.progress = options.progress}, false); !safe)
    throw Stop{kUsedWrongly, "--progress: " + safe.error().message};
  if (options.progress == 0 && !exchange.streamed())
    throw Stop{kUsedWrongly,
               "--progress 0: of whole copies every step is made in flight, and nothing would be "
               "learned; give more, or --exchange streamed"};
  return settings;
}

// How the job was played, as far as its outcome does not tell by itself.
std::vector<std::pair<std::string, std::string>> said_settings(const CoordinatorOptions& options,
                                                               const PlayedExchange& exchange) {
  std::vector<std::pair<std::string, std::string>> said{{"exchange", exchange.exchange},
                                                        {"grace", options.grace}};
  if (exchange.streamed()) said.emplace_back("fragments", std::to_string(exchange.fragments));
  if (options.element != "f32") said.emplace_back("element", options.element);
  if (options.progress != 1) said.emplace_back("progress", fmt::format("{}", options.progress));
  if (options.missing != "mean") said.emplace_back("missing", options.missing);
  return said;
}

// "waiting for island TYO, edge of TYO and 3 more to join".
std::string waiting_text(const Map& map, const Coordinator& coordinator) {
  const std::vector<Who> awaited = coordinator.awaited();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < awaited.size() && i < 3; ++i)
    names.push_back(to_text(map, awaited[i]));
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (awaited.size() > names.size())
    text += fmt::format(" and {} more", awaited.size() - names.size());
  switch (coordinator.state()) {
    case CoordinatorState::kGathering:
      return fmt::format("waiting for {} to join", text);
    case CoordinatorState::kAssigned:
      return fmt::format("waiting for {} to be ready", text);
    case CoordinatorState::kMeasuring:
      return fmt::format("measuring the clocks of {}", text);
    case CoordinatorState::kPlaying:
      return fmt::format("playing: {} rounds are reported; round {} by all but {}",
                         coordinator.rounds_reported(), coordinator.rounds_reported() + 1, text);
    case CoordinatorState::kStopping:
      return fmt::format("waiting for {} to stop", text);
    default:
      return "waiting for round one";
  }
}

// What others may see of the coordinator while it runs: systemd and whoever asks for the pages.
class Shown {
 public:
  Shown(const Coordinator& coordinator, CoordinatorStatus about)
      : coordinator_(coordinator), about_(std::move(about)) {
    publish();
  }

  [[nodiscard]] StatusPages pages() {
    return {"coordinator", [this] { return published_.metrics(); },
            [this] { return published_.json(); }};
  }
  void ready() { notifier_.ready(waiting_text(about_.map, coordinator_)); }
  // At every turn of the loop: what is shown is at most a fifth of a second old.
  void look() {
    notifier_.alive();
    const auto now = std::chrono::steady_clock::now();
    const CoordinatorState state = coordinator_.state();
    if (state == state_ && now - published_at_ < std::chrono::milliseconds(200)) return;
    if (state != state_ && state >= CoordinatorState::kStopping)
      notifier_.stopping(coordinator_.reason());
    else if (state != state_)
      notifier_.status(waiting_text(about_.map, coordinator_));
    publish();
    published_at_ = now;
  }

 private:
  void publish() {
    published_.publish(to_metrics(coordinator_, about_), to_status(coordinator_, about_));
    state_ = coordinator_.state();
  }

  const Coordinator& coordinator_;
  CoordinatorStatus about_;
  Notifier notifier_ = Notifier::from_environment();
  PublishedStatus published_;
  CoordinatorState state_ = CoordinatorState::kGathering;
  std::chrono::steady_clock::time_point published_at_{};
};

void log(DaemonLog& log, const ClockTrust& clock) {
  if (clock.estimate.known())
    log.info("clock is trusted", {{"source", clock.source},
                                  {"error_ms", double(clock.estimate.error_ns) / 1e6},
                                  {"detail", clock.detail}});
  else
    log.info("clock is vouched for by nobody", {{"detail", clock.detail}});
}

// Why the answer is no although every round was played.
void warn_of(const cotillion::Outcome& outcome, DaemonLog& said) {
  std::uint64_t incomplete = 0, by_deadline = 0, by_newer = 0;
  for (const RoundOutcome& round : outcome.rounds) incomplete += round.absences.empty() ? 0 : 1;
  for (const EdgeOutcome& edge : outcome.edges) {
    by_deadline += edge.counters[EdgeCount::kTimeouts];
    by_newer += edge.counters[EdgeCount::kConflicts];
  }
  said.warn("not as planned", {{"rounds_with_somebody_missing", incomplete},
                               {"sums_put_out_by_deadline", by_deadline},
                               {"sums_put_out_by_newer_chunks", by_newer},
                               {"remedy", "more --grace, better clocks, or idler machines"}});
}

// From the first member that calls until the last one has left. True: a signal asked it to stop.
bool conduct(const CoordinatorOptions& options, const CoordinatorStatus& about,
             Coordinator& coordinator, WallClock zero, DaemonLog& said, bool words) {
  const Interrupt interrupt;
  auto server = ControlServer::listen(options.listen);
  if (!server) throw Stop{kSystemError, server.error().message};
  Shown shown(coordinator, about);
  const auto status = open_status(options.daemon, shown.pages(), said);
  const auto progress = progress_line();
  CoordinatorHooks hooks;
  hooks.note = [&](const std::string& line) {
    if (words) end_progress();
    said.info(line);
  };
  hooks.look = [&] {
    shown.look();
    if (words) progress(waiting_text(about.map, coordinator));
  };
  hooks.asked_to_stop = [&] { return interrupt.asked() ? "asked to stop by a signal" : ""; };
  hooks.note(fmt::format("coordinator on port {}: {} islands, {} to be played", server->port(),
                         about.map.islands.size(), counted(std::size_t(about.rounds), "round")));
  shown.ready();
  host(*server, coordinator, zero, hooks);
  if (words) end_progress();
  return interrupt.asked();
}

// Writes and prints what was measured; true: everybody played every round as planned. A job that
// failed on its way has something to show for it, too.
bool conclude(const CoordinatorOptions& options, const LoadedPlan& loaded, int rounds,
              const Coordinator& coordinator, DaemonLog& said) {
  for (const Loss& loss : coordinator.losses())
    said.warn("lost", {{"who", to_text(loaded.plan.map, loss.who)},
                       {"after_round", loss.after},
                       {"reason", loss.reason}});
  Provenance made_by = provenance();
  made_by.inputs.emplace_back("plan", loaded.fingerprint);
  auto outcome =
      measured_outcome(loaded.plan, coordinator.job_assignment(), coordinator.accounts());
  outcome.settings = said_settings(options, exchange_of(loaded.plan.plan, options.exchange));
  const bool as_planned = holds(outcome);
  if (!as_planned) warn_of(outcome, said);
  const bool whole = outcome.rounds.size() == std::size_t(rounds);
  const Json json =
      to_json(outcome_file(loaded.plan, std::move(outcome), made_by, OutcomeKind::kMeasured));
  if (coordinator.state() != CoordinatorState::kFailed || !coordinator.accounts().empty()) {
    if (!options.output.empty()) write_file(options.output, json.dump(1) + "\n");
    if (options.json) print_json(json);
  }
  return as_planned && whole;
}

void run_coordinator(const CoordinatorOptions& options, Outcome& code) {
  expect_port("--listen", options.listen);
  if (!options.output.empty()) expect_writable(options.output);
  const LoadedPlan loaded = load_plan(options.plan);
  CoordinatorSettings settings = settings_of(options, loaded.plan);
  const ClockTrust clock = ask_clock_trust();
  settings.clock = clock.estimate;
  auto coordinator =
      Coordinator::make(instant_now(settings.zero), loaded.plan, loaded.text, settings);
  if (!coordinator) throw Stop{kAnswerIsNo, options.plan + ": " + coordinator.error().message};
  const DaemonLogSettings spoken = log_settings(options.daemon, "coordinator");
  const bool words = spoken.form == LogForm::kWords;
  DaemonLog said(spoken);
  log(said, clock);
  const CoordinatorStatus about{loaded.plan.map, settings.version, loaded.fingerprint,
                                settings.rounds, clock};
  const bool stopped = conduct(options, about, *coordinator, settings.zero, said, words);
  const bool good = conclude(options, loaded, settings.rounds, *coordinator, said);
  if (coordinator->state() == CoordinatorState::kFailed) {
    if (!words) said.error("the job failed", {{"reason", coordinator->reason()}});
    throw Stop{kSystemError, words ? "the job failed: " + coordinator->reason() : ""};
  }
  if (!options.json)
    print(fmt::format("{}: {} of {} rounds reported by everyone\n", coordinator->reason(),
                      coordinator->rounds_reported(), settings.rounds));
  code.code = (good || stopped) && coordinator->losses().empty() ? kDone : kAnswerIsNo;
}

}  // namespace

void add_coordinator(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<CoordinatorOptions>();
  CLI::App* verb = app.add_subcommand(
      "coordinator",
      "Hand a plan to islands and edges, start round one, collect what they report.");
  verb->add_option("PLAN", options->plan, "A plan, as `cotillion plan -o` writes it")->required();
  verb->add_option(
      "--listen", options->listen,
      "Address on which members call (default 127.0.0.1:29800). There is no encryption");
  verb->add_option("--rounds", options->rounds, "Number of rounds (default: one period)")
      ->check(CLI::Range(1, 1'000'000));
  verb->add_option("--start-in", options->start_in,
                   "Time from when everyone is ready to round one (default 2s)");
  verb->add_option("--join-within", options->join_within,
                   "How long the coordinator waits for members to join (default 60s)");
  verb->add_option("--grace", options->grace,
                   "How long an edge waits for a chunk beyond its latest planned arrival (default "
                   "1ms). Clocks must be known better than that");
  add_played_exchange(*verb, options->exchange);
  verb->add_option("--progress", options->progress,
                   "Share that a merge keeps of what an island learned while its copy was in "
                   "flight (default 1: all, as in the paper; docs/understand/study.md)");
  verb->add_option("--missing", options->missing,
                   "What replaces a contribution that is missing. mean (default): the average of "
                   "those that came; own: the island's own copy")
      ->check(CLI::IsMember({"mean", "own"}));
  verb->add_option("--element", options->element, "Format of numbers on the wire (default f32)")
      ->check(CLI::IsMember({"f32", "bf16", "i32"}));
  verb->add_option("--exponent", options->exponent,
                   "With i32, values are whole multiples of 2^exponent (default 0)")
      ->check(CLI::Range(-128, 127));
  verb->add_option("--port", options->port,
                   "UDP port of the multicast groups (default 29900); shard s uses port + s")
      ->check(CLI::Range(1, 65'536 - kShardsMax));
  verb->add_option("--shards", options->shards,
                   "Number of threads that share the work at every member (default 1)")
      ->check(CLI::Range(1, kShardsMax));
  verb->add_option("--on-loss", options->on_loss,
                   "What happens when a member is lost. go-on (default): the others play on; stop: "
                   "the job ends")
      ->check(CLI::IsMember({"go-on", "stop"}));
  verb->add_option("-o,--output", options->output, "Write the outcome as JSON");
  verb->add_flag("--json", options->json, "Print the outcome as JSON");
  add_daemon_options(*verb, options->daemon);
  verb->callback([options, &outcome] { run_coordinator(*options, outcome); });
}

}  // namespace cotillion::cli
