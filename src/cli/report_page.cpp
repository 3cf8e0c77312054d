#include "cli/report_page.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/png.hpp"
#include "report/svg_palette.hpp"

namespace cotillion::cli {

void make_folder(const std::string& path, const char* option) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error || !std::filesystem::is_directory(path))
    throw Stop{kUsedWrongly,
               fmt::format("{}: cannot be a folder: {}; choose another place for {}", path,
                           error ? error.message() : "it is something else", option)};
}

Json write_page(const PageOptions& options, const IllustratedPage& page,
                const std::function<void(const std::string&)>& progress) {
  Json files = Json::array();
  const auto write = [&](const std::string& name, const std::string& bytes) {
    const std::string path = options.output + "/" + name;
    write_file(path, bytes);
    files.push_back(path);
  };
  for (const NamedFigure& figure : page.figures) {
    if (progress) progress("writing " + figure.name);
    write(figure.name + ".svg", figure.svg);
    if (options.dark) write(figure.name + "-dark.svg", on_dark_ground(figure.svg));
    if (!options.png) continue;
    const auto png = png_of_svg(figure.svg, options.scale);
    if (!png) throw Stop{kSystemError, figure.name + ".png: " + png.error().message};
    write(figure.name + ".png", *png);
  }
  write("report.html", page_html(page.page));
  return files;
}

std::string written_text(const PageOptions& options, const IllustratedPage& page) {
  return fmt::format("{} ({}) and report.html written to {}\n",
                     counted(page.figures.size(), "figure"), options.png ? "SVG and PNG" : "SVG",
                     options.output);
}

}  // namespace cotillion::cli
