#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "base/text.hpp"
#include "cli/png.hpp"
#include "cli/settings.hpp"
#include "cli/verbs.hpp"
#include "report/map_study.hpp"

namespace cotillion::cli {
namespace {

struct Options : Settings {
  std::string output;
  bool png = true;
  double scale = 2;
};

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error || !std::filesystem::is_directory(path))
    throw Stop{kUsedWrongly, fmt::format("{}: cannot be a folder: {}; choose another place for -o",
                                         path, error ? error.message() : "it is something else")};
}

void run(const Options& options) {
  const LoadedMap loaded = load_map(options);
  CompareSettings settings;
  settings.plan = plan_settings(options);
  settings.progress = progress_line();
  const Provenance made_by = made_from(loaded);
  const MapStudy study = study_map(loaded.map, stage_settings(options), settings,
                                   fmt::format("Cotillion {} ({}), map {}", made_by.version,
                                               made_by.commit, loaded.fingerprint.substr(0, 19)));
  make_folder(options.output);
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
    print_json(json);
  } else {
    print(fmt::format("{} ({}) and report.html written to {}\n",
                      counted(study.figures.size(), "figure"), options.png ? "SVG and PNG" : "SVG",
                      options.output));
  }
}

}  // namespace

void add_report(CLI::App& app, Outcome&) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "report", "Draw a map, its schedules and their rivals: figures and one HTML page");
  add_settings(*verb, *options);
  verb->add_option("-o,--output", options->output, "The folder to write to")->required();
  verb->add_flag("!--no-png", options->png, "Write SVG only");
  verb->add_option("--scale", options->scale, "Pixels per unit of the drawing (default 2)")
      ->check(CLI::Range(0.5, 8.0));
  verb->callback([options] { run(*options); });
}

}  // namespace cotillion::cli
