#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "base/text.hpp"
#include "cli/png.hpp"
#include "cli/search_run.hpp"
#include "cli/settings.hpp"
#include "cli/verbs.hpp"
#include "report/map_study.hpp"

namespace cotillion::cli {
namespace {

struct Options : Settings {
  std::string output;
  bool png = true;
  double scale = 2;
  bool seeks = true;
  SearchOptions search;
};

constexpr int kFrontierPoints = 15;

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error || !std::filesystem::is_directory(path))
    throw Stop{kUsedWrongly, fmt::format("{}: cannot be a folder: {}; choose another place for -o",
                                         path, error ? error.message() : "it is something else")};
}

// The best schedule for the map, to be shown beside the named ones. After Ctrl-C the best so far.
SearchStory seek(const Options& options, const LoadedMap& loaded, const PlanSettings& plan,
                 Provenance& made_by) {
  const Routes routes(loaded.map);
  const Stage stage(loaded.map, routes, stage_settings(options));
  const SearchSettings settings = search_settings(options.search, plan, stage, made_by);
  SearchRun run(options.search);
  SearchStory story{run.search(stage, settings), {}, settings.constraints};
  story.conduct = run.conduct(settings);
  return story;
}

void run(const CLI::App& verb, const Options& options) {
  if (const std::string unused = search_option_given(verb); !options.seeks && !unused.empty())
    throw Stop{kUsedWrongly, fmt::format("{}: with --no-search nothing is searched; leave out one "
                                         "of the two",
                                         unused)};
  const LoadedMap loaded = load_map(options);
  CompareSettings settings;
  settings.plan = plan_settings(options, loaded.map);
  Provenance made_by = made_from(loaded);
  make_folder(options.output);
  std::optional<SearchStory> story;
  if (options.seeks) story = seek(options, loaded, settings.plan, made_by);
  settings.progress = progress_line();
  const MapStudy study = study_map(loaded.map, stage_settings(options), settings,
                                   fmt::format("Cotillion {} ({}), map {}", made_by.version,
                                               made_by.commit, loaded.fingerprint.substr(0, 19)),
                                   story ? &*story : nullptr);
  Json files = Json::array();
  const auto write = [&](const std::string& name, const std::string& bytes) {
    const std::string path = options.output + "/" + name;
    write_file(path, bytes);
    files.push_back(path);
  };
  for (const NamedFigure& figure : study.figures) {
    if (settings.progress) settings.progress("writing " + figure.name);
    write(figure.name + ".svg", figure.svg);
    if (!options.png) continue;
    const auto png = png_of_svg(figure.svg, options.scale);
    if (!png) throw Stop{kWorldFailed, figure.name + ".png: " + png.error().message};
    write(figure.name + ".png", *png);
  }
  write("report.html", page_html(study.page));
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
    print(fmt::format("{} ({}) and report.html written to {}\n",
                      counted(study.figures.size(), "figure"), options.png ? "SVG and PNG" : "SVG",
                      options.output));
  }
}

}  // namespace

void add_report(CLI::App& app, Outcome&) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "report",
      "Draw a map, its schedules and their rivals, and the best schedule that a search finds:\n"
      "figures and one HTML page. Ctrl-C ends the search, and the best so far is drawn");
  add_settings(*verb, *options);
  verb->add_option("-o,--output", options->output, "The folder to write to")->required();
  verb->add_flag("!--no-png", options->png, "Write SVG only");
  verb->add_option("--scale", options->scale, "Pixels per unit of the drawing (default 2)")
      ->check(CLI::Range(0.5, 8.0));
  verb->add_flag("!--no-search", options->seeks, "Draw named schedules and rivals only");
  options->search.frontier = kFrontierPoints;
  add_search_options(*verb, options->search);
  verb->get_option("--frontier")
      ->description(fmt::format("Round lengths at which to seek the best area, for the figure "
                                "(default {})",
                                kFrontierPoints));
  verb->callback([options, verb] { run(*verb, *options); });
}

}  // namespace cotillion::cli
