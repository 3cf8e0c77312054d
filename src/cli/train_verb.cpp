#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/fingerprint.hpp"
#include "cli/interrupt.hpp"
#include "cli/number_checks.hpp"
#include "cli/report_page.hpp"
#include "cli/settings.hpp"
#include "cli/torch_module.hpp"
#include "cli/train_exchange.hpp"
#include "cli/verbs.hpp"
#include "lab/confinement.hpp"
#include "policy/recipes.hpp"
#include "report/training_report.hpp"
#include "train/lab_island.hpp"
#include "train/output_paths.hpp"
#include "train/run_identity.hpp"
#include "train/study.hpp"
#include "train/training_file.hpp"
#include "train/training_options.hpp"

namespace cotillion::cli {
namespace {

struct TrainOptions {
  std::string plan;
  std::vector<std::string> policies = {"plan"};
  std::vector<std::string> from;
  std::string step_time;
  std::vector<double> island_weights;
  double lose = 0;
  std::string missing = "mean";
  ExchangeOptions exchanges;
  std::string as_island;
  std::string export_recipes;
  std::string output;
  std::string figures;
  bool json = false;
  StudySettings study;
};

PlanFile plan_of(const TrainOptions& options, Provenance& made_by) {
  LoadedPlan loaded = load_plan(options.plan);
  made_by.inputs.emplace_back("plan", loaded.fingerprint);
  return std::move(loaded.plan);
}

Faults faults_of(const TrainOptions& options, const PlanFile& plan, Provenance& made_by) {
  if (options.exchanges.faults.empty()) return {};
  const std::string text = read_file(options.exchanges.faults);
  auto faults = read_faults(text, options.exchanges.faults, plan);
  if (!faults) throw Stop{kUsedWrongly, to_text(faults.error())};
  if (!faults->islands.empty())
    throw Stop{
        kUsedWrongly,
        fmt::format("{}: {}; take [[dead]], [[slow]], [[restart]] and [[clock]] out, or play "
                    "them with cotillion simulate",
                    options.exchanges.faults, kFaultsOfLinksOnly)};
  made_by.inputs.emplace_back("faults", fingerprint(text));
  return std::move(*faults);
}

std::vector<Recipe> recipes_of(const TrainOptions& options, const PlanFile& plan) {
  RecipeSettings settings;
  if (!options.step_time.empty()) {
    settings.step_time =
        RealDuration(option_value(parse_duration(options.step_time), "--step-time")).seconds();
    if (!(settings.step_time > 0))
      throw Stop{kUsedWrongly, fmt::format("--step-time {}: a step takes time", options.step_time)};
  }
  settings.shares = options.island_weights;
  settings.lost = options.lose;
  settings.missing = options.missing == "own" ? Missing::kOwnForMissing : Missing::kMeanOfPresent;
  settings.seed = options.study.seeds.front();
  std::vector<Recipe> recipes;
  for (const std::string& policy : options.policies) {
    auto recipe = recipe_for(plan, policy, settings);
    if (!recipe) throw Stop{kUsedWrongly, recipe.error().message};
    recipes.push_back(std::move(*recipe));
  }
  return recipes;
}

Json file_of(const Provenance& made_by, const std::vector<Training>& trainings) {
  Json file = cotillion::to_json(made_by);
  file["trainings"] = Json::array();
  for (const Training& training : trainings) file["trainings"].push_back(to_json(training));
  return file;
}

void export_recipes(const TrainOptions& options, const Provenance& made_by,
                    const std::vector<Recipe>& recipes) {
  Json file = cotillion::to_json(made_by);
  file["recipes"] = Json::array();
  for (const Recipe& recipe : recipes) file["recipes"].push_back(to_json(recipe));
  write_file(options.export_recipes, file.dump() + "\n");
  print(fmt::format("{} recipes written to {}\n", recipes.size(), options.export_recipes));
}

// With what was there before, but for records of the same run: stopped then, or the same once more.
std::vector<Training> gathered(std::vector<Training> earlier, const std::vector<Training>& made) {
  for (const Training& training : made)
    std::erase_if(earlier, [&](const Training& old) {
      return (!old.finished && what_differs(old, training).empty()) ||
             line_of(old) == line_of(training);
    });
  earlier.insert(earlier.end(), made.begin(), made.end());
  return earlier;
}

std::vector<Training> train_all(const TrainOptions& options, const PlanFile& plan,
                                const Faults& faults, const std::vector<Recipe>& recipes,
                                const Provenance& made_by, const std::vector<Training>& earlier) {
  const auto say = progress_line();
  const Interrupt interrupt;
  StudyEvents events;
  events.progress = [&](const Recipe& recipe, std::uint64_t seed, const Progress& progress,
                        const ClockSummary& account) {
    say(progress_text(recipe, seed, progress, account));
    return interrupt.asked();
  };
  // Hours may have gone into what is there already.
  events.finished = [&](const std::vector<Training>& so_far) {
    if (options.output.empty()) return;
    write_file(options.output, file_of(made_by, gathered(earlier, so_far)).dump(1) + "\n");
  };
  StudySettings study = options.study;
  settle_length(study, recipes);
  auto trained = train_by(options.exchanges, study, plan, faults, recipes, std::move(events));
  end_progress();
  if (!trained)
    throw Stop{trained.error().used_wrongly ? kUsedWrongly : kSystemError, trained.error().message};
  return std::move(*trained);
}

std::vector<Training> read_trainings(const TrainOptions& options, Provenance& made_by) {
  std::vector<Training> all;
  std::set<std::string> known;
  for (const std::string& path : options.from) {
    const std::string text = read_file(path);
    auto read = cotillion::read_trainings(text);
    if (!read) throw Stop{kUsedWrongly, path + ": " + read.error().message};
    made_by.inputs.emplace_back("trainings", fingerprint(text));
    // A run that is in two files is one run.
    for (Training& training : *read)
      if (known.insert(line_of(training)).second) all.push_back(std::move(training));
  }
  return all;
}

// An option that would change nothing, because of what is asked for, is refused.
void expect_only(const CLI::App& train, const std::set<std::string>& useful, const char* why) {
  for (const CLI::Option* option : train.get_options())
    if (option->count() > 0 && !useful.contains(option->get_name()))
      throw Stop{kUsedWrongly, fmt::format("{}: {}", option->get_name(), why)};
}

void expect_use(const CLI::App& train, const TrainOptions& options) {
  if (options.plan.empty())
    expect_only(train, {"--from", "--output", "--figures", "--json"},
                "nothing is trained without a PLAN; give one, or leave it out");
  if (!options.export_recipes.empty())
    expect_only(train,
                {"PLAN", "--policy", "--step-time", "--island-weights", "--lose", "--missing",
                 "--seeds", "--export-recipes"},
                "--export-recipes trains nothing; give it to train_study, or leave it out");
}

void check_options(const TrainOptions& options) {
  const std::string& checkpoint = options.study.training.checkpoint;
  for (const std::string& file : {options.output, options.export_recipes, checkpoint})
    if (!file.empty()) expect_writable(file);
  // But -o may gather what --from has.
  const std::vector<NamedFile> inputs = {{"PLAN", options.plan},
                                         {"--faults", options.exchanges.faults}};
  std::vector<NamedFile> read = inputs;
  for (const std::string& file : options.from) read.push_back({"--from", file});
  const NamedFile kept{"--checkpoint", checkpoint};
  for (const std::string& why :
       {why_not_apart({kept, {"-o", options.output}}, inputs), why_not_apart({kept}, read),
        why_not_apart({{"--export-recipes", options.export_recipes}}, read)})
    if (!why.empty()) throw Stop{kUsedWrongly, why};
  if (!options.exchanges.faults.empty() && !options.exchanges.of_packets())
    throw Stop{kUsedWrongly,
               "--faults needs --exchange simulated or lab; --lose is for ideal ones"};
  if (options.missing == "own" && options.lose == 0 && !options.exchanges.of_packets())
    throw Stop{kUsedWrongly,
               "--missing own: nothing is missing from ideal exchanges but by --lose"};
  if (!options.exchanges.grace.empty() && !options.exchanges.of_packets())
    throw Stop{kUsedWrongly, "--grace is for packets; it needs --exchange simulated or lab"};
  if ((options.exchanges.pace != 1 || options.exchanges.rootless) && !options.exchanges.has("lab"))
    throw Stop{kUsedWrongly, "--pace and --rootless are for a lab; they need --exchange lab"};
  if (!options.study.training.checkpoint.empty() && options.exchanges.of_packets())
    throw Stop{kUsedWrongly,
               "--checkpoint: an exchange of packets has some of them in flight, and cannot be "
               "taken up again"};
  if (options.plan.empty() && options.from.empty())
    throw Stop{kUsedWrongly, "PLAN is required, or --from"};
}

void run_train(TrainOptions& options, Outcome& code) {
  TrainingSettings& training = options.study.training;
  if (training.steps == 0 && training.seconds == 0 && options.study.steps_long == 0)
    training.steps = 300;
  Provenance made_by = provenance();
  made_by.seed = options.study.seeds.front();
  std::vector<Training> trainings = read_trainings(options, made_by);
  if (!options.plan.empty()) {
    const PlanFile plan = plan_of(options, made_by);
    const Faults faults = faults_of(options, plan, made_by);
    const std::vector<Recipe> recipes = recipes_of(options, plan);
    if (options.lose > 0 && std::none_of(recipes.begin(), recipes.end(), [](const Recipe& recipe) {
          return is_a<RotationRecipe>(recipe);
        }))
      throw Stop{kUsedWrongly, "--lose: none of these policies is ours; nothing would be lost"};
    if (!options.export_recipes.empty()) return export_recipes(options, made_by, recipes);
    if (!options.figures.empty()) make_folder(options.figures, "--figures");
    trainings = gathered(trainings, train_all(options, plan, faults, recipes, made_by, trainings));
  }
  if (trainings.empty()) throw Stop{kUsedWrongly, "there is no training in these files"};
  if (!options.output.empty())
    write_file(options.output, file_of(made_by, trainings).dump(1) + "\n");
  std::string text = training_text(trainings);
  if (!options.figures.empty()) {
    make_folder(options.figures, "--figures");
    const PageOptions page_options{options.figures};
    const IllustratedPage page = training_page(
        trainings, fmt::format("Cotillion {} ({}).", made_by.version, made_by.commit));
    write_page(page_options, page, progress_line());
    end_progress();
    text += "\n" + written_text(page_options, page);
  }
  if (options.json)
    print_json(file_of(made_by, trainings));
  else
    print(text);
  if (!options.plan.empty() && !trainings.back().finished) {
    const std::string& checkpoint = options.study.training.checkpoint;
    fmt::print(stderr, "stopped after {} steps; {}\n", trainings.back().steps,
               checkpoint.empty() ? "with --checkpoint FILE it could be taken up again"
                                  : fmt::format("the same command goes on from {}", checkpoint));
    code.code = kSystemError;
  }
}

// A lab is built in a process of its own, from which nothing gets out; all else is done there too.
void run_confined(TrainOptions& options, Outcome& code) {
  Confinement confinement = confinement_at_hand();
  confinement.rootless = confinement.rootless || options.exchanges.rootless;
  const auto ended = confined(confinement, [&]() -> int {
    try {
      run_train(options, code);
      return code.code;
    } catch (const Stop& stop) {
      fmt::print(stderr, "{}\n", stop.message);
      return stop.code;
    } catch (const std::exception& error) {
      fmt::print(stderr, "cotillion: {}\n", error.what());
      return kSystemError;
    }
  });
  if (!ended)
    throw Stop{kSystemError, ended.error().message +
                                 "\n`cotillion lab doctor` says what else this machine lacks"};
  code.code = *ended;
}

std::string policy_help() {
  std::string text =
      "What to train by (default plan); may be repeated. NAME[:key=value,…], any with "
      "learning-rate=, wire=f32|bf16|i32 and payload= (a factor):";
  for (const PolicyName& policy : policy_names())
    text += fmt::format("\n  {}: {}", policy.name, policy.help);
  return text;
}

// Those that train_study has, too: one table has their names, bounds and words.
void add_training_options(CLI::App& train, StudySettings& study) {
  for (const TrainingOption& option : training_options()) {
    if (option.of_studies) continue;
    const auto take = [&study, &option](const std::string& text) {
      const std::string wrong = option.take(study, text);
      if (!wrong.empty()) throw CLI::ValidationError(option.name, wrong);
    };
    if (*option.value == '\0') {
      train.add_flag_callback(
          option.name, [take] { take(""); }, option.help);
      continue;
    }
    CLI::Option* const added =
        train.add_option_function<std::string>(option.name, take, option.help);
    added->type_name(option.value);
    if (option.name == std::string("--seeds")) added->join(',');
  }
}

void add_recipe_options(CLI::App& train, TrainOptions& options) {
  train.add_option("--step-time", options.step_time, "τ (default: the plan's)");
  train
      .add_option("--island-weights", options.island_weights,
                  "Of every island, as 1,2,1,…; averages conserve the weighted mean")
      ->delimiter(',')
      ->allow_extra_args(false);
  train
      .add_option("--lose", options.lose,
                  "Share of contributions that never come, of our policies (default 0)")
      ->check(from_to(0, 0.9));
  train
      .add_option("--missing", options.missing,
                  "In their place: mean of those present (default), or one's own")
      ->check(CLI::IsMember({"mean", "own"}));
}

void add_exchange_options(CLI::App& train, ExchangeOptions& exchanges) {
  train
      .add_option(
          "--exchange", exchanges.names,
          "ideal (default): averages as planned; simulated: packet by packet, of the plan "
          "itself; lab: by the daemons on real sockets, islands as processes. Several may be "
          "given, and go by one clock")
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"ideal", "simulated", "lab"}));
  train.add_option("--faults", exchanges.faults,
                   "Faults of links, for a simulated exchange or in a lab");
  train.add_option(
      "--grace", exchanges.grace,
      "How long edges wait for a late packet (default 1ms; with a lab 50ms; times the pace)");
  train
      .add_option("--pace", exchanges.pace,
                  "In a lab, play a second of the plan in so many (default 1), so that a slow "
                  "machine's steps fit into the plan's")
      ->check(CLI::Range(1, 1000));
  train.add_flag("--rootless", exchanges.rootless,
                 "A lab in a user namespace, as without privileges, even as root");
}

}  // namespace

void add_train(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<TrainOptions>();
  CLI::App* train = app.add_subcommand(
      "train", "Train real models under a plan, and under what people use today, on one clock");
  train->add_option("PLAN", options->plan, "What `cotillion plan -o` wrote");
  train->add_option("--policy", options->policies, policy_help())->allow_extra_args(false);
  add_training_options(*train, options->study);
  add_recipe_options(*train, *options);
  add_exchange_options(*train, options->exchanges);
  train->add_option("--as-island", options->as_island)->group("");
  train->add_option("--export-recipes", options->export_recipes,
                    "Train nothing: write the policies for train_study, on a machine with a GPU");
  train->add_option("--from", options->from, "Show trainings that were written before, too")
      ->allow_extra_args(false);
  train->add_option("-o,--output", options->output, "Write the trainings as JSON");
  train->add_option("--figures", options->figures, "Write figures and a page into this folder");
  train->add_flag("--json", options->json, "Print them as JSON");
  train->callback([options, train, &outcome] {
    if (!options->as_island.empty()) {
      const auto served = serve_lab_island(options->as_island, load_learner);
      if (!served) throw Stop{kSystemError, served.error().message};
      return;
    }
    check_options(*options);
    expect_use(*train, *options);
    if (options->exchanges.has("lab"))
      run_confined(*options, outcome);
    else
      run_train(*options, outcome);
  });
}

}  // namespace cotillion::cli
