#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/number_checks.hpp"
#include "cli/report_outcomes.hpp"
#include "cli/search_run.hpp"
#include "cli/settings.hpp"
#include "cli/verbs.hpp"
#include "report/map_study.hpp"

namespace cotillion::cli {
namespace {

struct ReportOptions : Settings {
  std::vector<std::string> files;
  PageOptions page;
  bool seeks = true;
  SearchOptions search;
};

constexpr int kFrontierPoints = 15;
constexpr const char* kOfOutcomes[] = {"FILE",   "--output", "--no-png",
                                       "--dark", "--scale",  "--json"};

// The best schedule for the map, to be shown beside the named ones. After Ctrl-C the best so far.
SearchStory search_story(const ReportOptions& options, const LoadedMap& loaded,
                         const PlanSettings& plan, Provenance& made_by) {
  const Routes routes(loaded.map);
  const NetworkModel network(loaded.map, routes, network_settings(options));
  const SearchSettings settings = search_settings(options.search, plan, network, made_by);
  SearchRun run_report(options.search);
  SearchStory story{run_report.search(network, settings), {}, settings.constraints};
  story.conduct = run_report.conduct(settings);
  return story;
}

void report_map(const CLI::App& verb, const ReportOptions& options, const std::string& text) {
  if (options.page.output.empty())
    throw Stop{kUsedWrongly, "-o is required: the folder to write figures and page of a map to"};
  if (const std::string unused = search_option_given(verb); !options.seeks && !unused.empty())
    throw Stop{kUsedWrongly, fmt::format("{}: with --no-search nothing is searched; leave out one "
                                         "of the two",
                                         unused)};
  const LoadedMap loaded = load_map(options, text);
  CompareSettings settings;
  settings.plan = plan_settings(options, loaded.map);
  Provenance made_by = made_from(loaded);
  make_folder(options.page.output);
  std::optional<SearchStory> story;
  if (options.seeks) story = search_story(options, loaded, settings.plan, made_by);
  settings.progress = progress_line();
  const MapStudy study = study_map(loaded.map, network_settings(options), settings,
                                   fmt::format("Cotillion {} ({}), map {}", made_by.version,
                                               made_by.commit, loaded.fingerprint.substr(0, 19)),
                                   story ? &*story : nullptr);
  const Json files = write_page(options.page, study, settings.progress);
  end_progress();
  if (options.json) {
    Json json = to_json(made_by);
    json["files"] = files;
    if (story) json["search"] = search_json(story->result, story->conduct);
    print_json(json);
  } else {
    if (story)
      print(story->result.found ? search_text(story->result, story->conduct)
                                : nothing_found_text(story->result, story->conduct) + "\n");
    print(written_text(options.page, study));
  }
}

enum class Content { kMap, kOutcome, kNeither };

// Outcomes are JSON objects; no map in TOML begins like one. What begins like neither is told so,
// before a parser stumbles over it.
Content content_of(const std::string& text) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string::npos) return Content::kNeither;
  const char first = text[start];
  if (first == '{') return Content::kOutcome;
  const bool letter = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
  const bool digit = first >= '0' && first <= '9';
  const bool byte_order_mark = text.starts_with("\xef\xbb\xbf");
  return letter || digit || byte_order_mark ||
                 std::string("#[_-\"'").find(first) != std::string::npos
             ? Content::kMap
             : Content::kNeither;
}

// Options that are about planning, given together with what was played already.
void refuse_planning(const CLI::App& verb) {
  for (const CLI::Option* option : verb.get_options()) {
    const std::string name = option->get_name();
    const bool fits = std::any_of(std::begin(kOfOutcomes), std::end(kOfOutcomes),
                                  [&](const char* known) { return name == known; });
    if (option->count() > 0 && !fits)
      throw Stop{kUsedWrongly, name +
                                   ": is for maps; an outcome was played as it was planned, and "
                                   "nothing is planned again"};
  }
}

void run_report(const CLI::App& verb, const ReportOptions& given) {
  std::vector<InputFile> files;
  std::size_t outcomes = 0;
  for (const std::string& path : given.files) {
    files.push_back({path, read_file(path)});
    const Content content = content_of(files.back().text);
    if (content == Content::kNeither)
      throw Stop{kUsedWrongly, path +
                                   ": neither a map (TOML) nor an outcome (JSON); give a map, or "
                                   "what cotillion simulate -o wrote"};
    outcomes += content == Content::kOutcome ? 1 : 0;
  }
  if (outcomes == 0 && files.size() > 1)
    throw Stop{kUsedWrongly, files[1].path + ": a second map; report draws one at a time"};
  if (outcomes > 0 && outcomes < files.size())
    throw Stop{kUsedWrongly, "maps and outcomes in one report; give a map, or outcomes"};
  if (outcomes > 0) {
    refuse_planning(verb);
    return report_outcomes(files, given.page, given.json);
  }
  ReportOptions options = given;
  options.map = files.front().path;
  report_map(verb, options, files.front().text);
}

}  // namespace

void add_report(CLI::App& app, Outcome&) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App* verb = app.add_subcommand(
      "report",
      "Draw figures and one HTML page: of a map, or of outcomes beside their plan.\n\n"
      "Of a map: the map itself, its schedules and their rivals, and the best schedule that a "
      "search finds. Ctrl-C ends the search, and the best so far is drawn.\n\n"
      "Of outcomes: planned | simulated | measured side by side, clique by clique, with memory, "
      "evictions and links. Outcomes of one plan share a table; those that differ by seed alone "
      "share a column. Without -o they are only printed.");
  verb->add_option("FILE", options->files,
                   "A map (TOML), or outcomes as cotillion simulate -o writes them (JSON); "
                   "docs/reference/files.md")
      ->required();
  add_map_settings(*verb, *options);
  verb->add_option("-o,--output", options->page.output,
                   "Folder to write to; without it outcomes are only printed");
  verb->add_flag("!--no-png", options->page.png, "Write SVG only");
  verb->add_flag("--dark", options->page.dark,
                 "Write each figure a second time, NAME-dark.svg, for pages with a dark ground");
  verb->add_option("--scale", options->page.scale, "Pixels per unit of the drawing (default 2)")
      ->check(from_to(0.5, 8));
  verb->add_flag("!--no-search", options->seeks, "Draw named schedules and rivals only");
  options->search.frontier = kFrontierPoints;
  add_search_options(*verb, options->search);
  verb->get_option("--frontier")
      ->description(fmt::format("Number of round lengths at which to find the least area "
                                "(default {})",
                                kFrontierPoints));
  verb->callback([options, verb] { run_report(*verb, *options); });
}

}  // namespace cotillion::cli
