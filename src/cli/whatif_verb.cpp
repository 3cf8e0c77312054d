#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/search_run.hpp"
#include "cli/verbs.hpp"
#include "topology/map_edit.hpp"

namespace cotillion::cli {
namespace {

struct WhatIfOptions : Settings {
  std::vector<std::string> without, without_island, access, rate, latency;
  std::string output;
  SearchOptions search;
};

struct Change {
  std::string name, value;
};

// "TYO-FRA=200Gbps" in two.
Change change_of(const std::string& text, const char* option, const char* example) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw Stop{kUsedWrongly, fmt::format("{}: '{}' does not say what becomes what; write for "
                                         "example {}",
                                         option, shown(text), example)};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

Map changed(Result<Map> map, const char* option, const std::string& text) {
  if (!map)
    throw Stop{kUsedWrongly, fmt::format("{} {}: {}", option, shown(text), map.error().message)};
  return std::move(*map);
}

// Islands leave last, so that other changes may still name them.
Map edited(Map map, const WhatIfOptions& options) {
  for (const std::string& text : options.access) {
    const auto [name, value] = change_of(text, "--access", "LAX=40Gbps");
    const BitsPerSecond rate = option_value(parse_rate(value), "--access");
    map = changed(with_access(std::move(map), name, rate), "--access", text);
  }
  for (const std::string& text : options.rate) {
    const auto [name, value] = change_of(text, "--rate", "TYO-FRA=200Gbps");
    const BitsPerSecond rate = option_value(parse_rate(value), "--rate");
    map = changed(with_link_rate(std::move(map), name, rate), "--rate", text);
  }
  for (const std::string& text : options.latency) {
    const auto [name, value] = change_of(text, "--latency", "TYO-FRA=40ms");
    const Duration latency = option_value(parse_duration(value), "--latency");
    map = changed(with_link_latency(std::move(map), name, latency), "--latency", text);
  }
  for (const std::string& text : options.without)
    map = changed(without_link(std::move(map), text), "--without", text);
  for (const std::string& text : options.without_island)
    map = changed(without_island(map, text), "--without-island", text);
  return map;
}

std::vector<std::string> changes_of(const WhatIfOptions& options) {
  std::vector<std::string> changes;
  const auto add = [&](const std::string& what, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) changes.push_back(what + " " + shown(text));
  };
  add("without", options.without);
  add("without island", options.without_island);
  add("memory", options.memory);
  add("access", options.access);
  add("rate", options.rate);
  add("latency", options.latency);
  if (!options.payload.empty()) add("payload", {options.payload});
  if (changes.empty())
    throw Stop{kUsedWrongly,
               "whatif: nothing changes; give --without A-B, --without-island A, --memory A=8GB, "
               "--access A=40Gbps, --rate A-B=200Gbps, --latency A-B=40ms or --payload 2GB"};
  return changes;
}

// The schedule on a map from which islands may have gone.
Schedule kept_schedule(const Schedule& schedule, const Map& before, const Map& after) {
  std::vector<std::optional<IslandId>> now;
  for (const Island& island : before.islands) now.push_back(find_island(after, island.name));
  Schedule kept{schedule.name, {}};
  for (const Round& round : schedule.rounds) {
    std::vector<Clique> cliques;
    for (const Clique& clique : round.cliques) {
      Clique rest;
      for (const IslandId island : clique.islands)
        if (now[island]) rest.islands.push_back(*now[island]);
      if (!rest.islands.empty()) cliques.push_back(std::move(rest));
    }
    kept.rounds.push_back(completed(std::move(cliques), after.island_count()));
  }
  return kept;
}

void run_what_if(const WhatIfOptions& options, Outcome& outcome) {
  WhatIf what;
  what.changes = changes_of(options);
  expect_writable(options.output);
  const LoadedMap loaded = load_map(options.map);
  const Map after_map = edited(load_map(options).map, options);
  const Routes before_routes(loaded.map), after_routes(after_map);
  const NetworkModel before(loaded.map, before_routes, network_settings(options));
  const NetworkModel after(after_map, after_routes, network_settings(options));
  Provenance made_by = made_from(loaded), made_after = made_by;
  const SearchSettings settings_before =
      search_settings(options.search, plan_settings(options, loaded.map), before, made_by);
  SearchOptions later = options.search;
  // A plan for the map as it is is no plan for one with fewer islands; what was kept of it is.
  later.resume.clear();
  SearchSettings settings_after =
      search_settings(later, plan_settings(options, after_map), after, made_after);

  SearchRun search_run(options.search);
  what.before = search_run.search(before, settings_before, "before");
  if (what.before.found) {
    const Schedule kept = kept_schedule(what.before.schedule, loaded.map, after_map);
    what.kept = make_plan(after, kept, settings_after.plan);
    settings_after.starts.push_back(kept);
  }
  what.after = search_run.search(after, settings_after, "after");
  what.conduct = search_run.conduct(settings_after);

  std::string text = whatif_text(before, after, what);
  if (!options.output.empty() && what.after.found) {
    Json plan = to_json(after, what.after.plan, made_by);
    plan["search"] = search_json(what.after, what.conduct);
    write_file(options.output, plan.dump(1) + "\n");
    text += fmt::format("the plan after the change was written to {}\n", options.output);
  }
  if (options.json) {
    Json json = to_json(made_by);
    json.update(whatif_json(before, after, what));
    print_json(json);
  } else {
    print(text);
  }
  if (!what.after.found)
    throw Stop{kAnswerIsNo, "after: " + nothing_found_text(what.after, what.conduct)};
  outcome.code = kDone;
}

}  // namespace

void add_whatif(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<WhatIfOptions>();
  CLI::App* verb = app.add_subcommand(
      "whatif",
      "Plan before and after a change to the map, and price the old schedule after it. Here "
      "--memory and --payload are changes too; all other settings hold before and after.");
  add_settings(*verb, *options);
  const auto change = [&](const char* name, std::vector<std::string>& texts, const char* help) {
    verb->add_option(name, texts, help)->delimiter(',')->allow_extra_args(false)->group("Changes");
  };
  change("--without", options->without, "Remove a link: TYO-FRA");
  change("--without-island", options->without_island,
         "Remove an island: HKG. Its place goes on forwarding");
  change("--access", options->access, "Set an island's access rate, both ways: LAX=40Gbps");
  change("--rate", options->rate, "Set a link's rate, both ways: TYO-FRA=200Gbps");
  change("--latency", options->latency, "Set a link's latency, both ways: TYO-FRA=40ms");
  verb->get_option("--memory")->group("Changes");
  verb->get_option("--payload")->group("Changes");
  add_egress_cap(*verb, *options);
  add_search_options(*verb, options->search);
  verb->add_option("-o,--output", options->output, "Write the plan after the change here (JSON)");
  verb->callback([options, &outcome] { run_what_if(*options, outcome); });
}

}  // namespace cotillion::cli
