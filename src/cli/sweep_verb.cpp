#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/settings.hpp"
#include "cli/verbs.hpp"
#include "report/compare_report.hpp"

namespace cotillion::cli {
namespace {

struct SweepOptions : Settings {
  std::string access, rate;
  int steps = 21;
  bool log = false;
  std::uint64_t seed = 1;
};

struct Range {
  double low = 0, high = 0;
};

// "0B..1GB" read with the parser of the knob's quantity.
template <class Parse, class Number>
std::optional<Range> range_of(const std::string& text, const char* option, Parse parse,
                              Number number) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) return std::nullopt;
  const Range range{number(option_value(parse(text.substr(0, dots)), option)),
                    number(option_value(parse(text.substr(dots + 2)), option))};
  if (!(range.low < range.high))
    throw Stop{kUsedWrongly, fmt::format("{}: the range {} does not rise", option, text)};
  return range;
}

std::vector<double> range_steps(const Range& range, const SweepOptions& options,
                                const char* option) {
  if (options.log && range.low <= 0)
    throw Stop{kUsedWrongly, fmt::format("{}: --log needs a range that begins above zero", option)};
  std::vector<double> values;
  for (int i = 0; i < options.steps; ++i) {
    const double t = double(i) / (options.steps - 1);
    values.push_back(options.log ? range.low * std::pow(range.high / range.low, t)
                                 : range.low + (range.high - range.low) * t);
  }
  return values;
}

struct Turning {
  Knob knob = Knob::kMemory;
  std::vector<KnobSetting> settings;
};

double bytes_number(Bytes bytes) {
  return double(bytes.count);
}
double rate_number(BitsPerSecond rate) {
  return rate.value;
}
double time_number(Duration time) {
  return time.ms();
}

// The one option that was given as a range; it is taken out of the settings.
Turning turning_of(SweepOptions& options) {
  std::vector<Turning> found;
  const auto numbers = [&](Knob knob, const std::optional<Range>& range, const char* option,
                           auto text) {
    if (!range) return;
    Turning turning{knob, {}};
    for (const double value : range_steps(*range, options, option)) {
      // Bytes and bits are whole.
      const double number = knob == Knob::kStepTime ? value : std::round(value);
      turning.settings.push_back({text(number), number, {}});
    }
    found.push_back(std::move(turning));
  };
  const auto as_bytes = [](double value) { return to_text(Bytes{std::int64_t(value)}); };
  const auto as_rate = [](double value) { return to_text(BitsPerSecond{value}); };
  const auto as_time = [](double value) {
    return to_text(RealDuration::from_ps(value * kPicosecondsPerMillisecond));
  };
  if (options.memory.size() == 1) {
    const auto range = range_of(options.memory[0], "--memory", parse_bytes, bytes_number);
    if (range) options.memory.clear();
    numbers(Knob::kMemory, range, "--memory", as_bytes);
  }
  const auto payload = range_of(options.payload, "--payload", parse_bytes, bytes_number);
  if (payload) options.payload.clear();
  if (payload && payload->low < 1) throw Stop{kUsedWrongly, "--payload: begins at zero"};
  numbers(Knob::kPayload, payload, "--payload", as_bytes);
  const auto step_time = range_of(options.step_time, "--step-time", parse_duration, time_number);
  if (step_time) options.step_time = "169ms";
  if (step_time && step_time->low <= 0) throw Stop{kUsedWrongly, "--step-time: begins at zero"};
  numbers(Knob::kStepTime, step_time, "--step-time", as_time);
  for (const auto& [knob, text, option] : {std::tuple(Knob::kAccess, options.access, "--access"),
                                           {Knob::kRate, options.rate, "--rate"}}) {
    if (text.empty()) continue;
    const auto range = range_of(text, option, parse_rate, rate_number);
    if (!range || range->low <= 0)
      throw Stop{kUsedWrongly,
                 fmt::format("{}: give a range above zero, as in 5Gbps..100Gbps", option)};
    numbers(knob, range, option, as_rate);
  }
  if (options.technology == "all") {
    Turning turning{Knob::kTechnology, {}};
    for (const char* name : {"neither", "multicast", "aggregation", "both"})
      turning.settings.push_back({name, double(turning.settings.size()), *technology_named(name)});
    options.technology = "both";
    found.push_back(std::move(turning));
  }
  if (found.size() != 1)
    throw Stop{kUsedWrongly,
               fmt::format("{} options are ranges; turn exactly one: --memory 0B..1GB, --access, "
                           "--rate, --payload, --step-time, or --technology all",
                           found.size())};
  return std::move(found.front());
}

void run_sweep(SweepOptions options) {
  const Turning turning = turning_of(options);
  const LoadedMap loaded = load_map(options);
  CompareSettings settings;
  settings.plan = plan_settings(options, loaded.map);
  settings.seed = options.seed;
  settings.progress = progress_line();
  const Sweep result =
      sweep(loaded.map, network_settings(options), settings, turning.knob, turning.settings);
  end_progress();
  Provenance made_by = made_from(loaded);
  made_by.seed = options.seed;
  if (options.json)
    print_json(sweep_json(loaded.map, result, settings.plan.objective, made_by));
  else
    print(sweep_text(result, settings.plan.objective));
}

}  // namespace

void add_sweep(CLI::App& app, Outcome&) {
  const auto options = std::make_shared<SweepOptions>();
  CLI::App* verb = app.add_subcommand(
      "sweep",
      "Show how policies move with one setting, and where the winner changes. Give one option as "
      "a range: --memory 0B..1GB, --payload 100MB..10GB, --step-time 10ms..1s, --access "
      "5Gbps..80Gbps, --rate 10Gbps..400Gbps, or --technology all.");
  add_settings(*verb, *options);
  verb->add_option("--access", options->access, "Access rate of every island, as a range");
  verb->add_option("--rate", options->rate, "Rate of every link, as a range");
  verb->add_option("--steps", options->steps, "Number of points in the range (default 21)")
      ->check(CLI::Range(2, 10'000));
  verb->add_flag("--log", options->log, "Space the points evenly by ratio");
  add_seed(*verb, options->seed, "the random pairs");
  verb->callback([options] { run_sweep(*options); });
}

}  // namespace cotillion::cli
