// Maps from elsewhere: foreign files, and maps out of nothing.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/number_checks.hpp"
#include "cli/settings.hpp"
#include "cli/verbs.hpp"
#include "cli/world.hpp"
#include "report/map_report.hpp"
#include "topology/generate_map.hpp"
#include "topology/import_map.hpp"
#include "topology/map_check.hpp"
#include "topology/map_writer.hpp"

namespace cotillion::cli {
namespace {

struct ImportVerbOptions {
  std::string file;
  std::string format;
  std::string name;
  std::string source;
  std::string payload = "1GB";
  std::string access = "20Gbps";
  std::string rate = "100Gbps";
  std::string memory = "32GB";
  bool merge_metros = false;
  bool round_trip = false;
  std::vector<std::string> islands;
  int count = 0;
  std::uint64_t seed = 1;
  std::string output;
  bool json = false;
};

BitsPerSecond positive_rate(const std::string& text, const char* option) {
  const BitsPerSecond rate = option_value(parse_rate(text), option);
  if (rate.value == 0)
    throw Stop{kUsedWrongly, fmt::format("{}: zero rate; write for example 20Gbps", option)};
  return rate;
}

Bytes positive_payload(const std::string& text) {
  const Bytes payload = option_value(parse_bytes(text), "--payload");
  if (payload.count == 0)
    throw Stop{kUsedWrongly, "--payload: zero payload; write for example 1GB"};
  return payload;
}

std::string file_name(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

// How the map was made, without the folders of this machine.
std::string command_of(const ImportVerbOptions& options) {
  const ImportVerbOptions usual;
  std::string text = "cotillion topology import " + file_name(options.file);
  const auto add = [&](const char* option, const std::string& value, const std::string& other) {
    if (value != other) text += fmt::format(" {} {}", option, value);
  };
  add("--format", options.format, usual.format);
  add("--payload", options.payload, usual.payload);
  add("--access", options.access, usual.access);
  add("--rate", options.rate, usual.rate);
  add("--memory", options.memory, usual.memory);
  if (options.merge_metros) text += " --merge-metros";
  if (options.round_trip) text += " --round-trip";
  if (!options.islands.empty())
    text += fmt::format(" --islands {}", fmt::join(options.islands, ","));
  return text;
}

// The map as JSON, or as TOML to a file or to stdout; then notes go where they do no harm.
void deliver(const Imported& made, const std::vector<std::string>& remarks,
             const ImportVerbOptions& options) {
  const std::string toml = write_map(made.map, remarks);
  if (!options.output.empty()) write_file(options.output, toml);
  std::string text;
  for (const std::string& note : made.notes) text += "note: " + note + "\n";
  if (options.json) {
    Json json = map_json(made.map, Routes(made.map));
    json["notes"] = made.notes;
    print_json(json);
  } else if (options.output.empty()) {
    print(toml);
    fmt::print(stderr, "{}", text);
  } else {
    print(text + fmt::format("{} written: {}, {}, {}\n", options.output,
                             counted(made.map.islands.size(), "island"),
                             counted(made.map.routers.size(), "router"),
                             counted(made.map.links.size(), "link")));
  }
}

void import(const ImportVerbOptions& options) {
  ImportOptions how;
  how.name = options.name;
  how.source = options.source.empty() ? file_name(options.file) : options.source;
  how.payload = positive_payload(options.payload);
  how.access = positive_rate(options.access, "--access");
  how.rate = positive_rate(options.rate, "--rate");
  how.memory = option_value(parse_bytes(options.memory), "--memory");
  how.merge_metros = options.merge_metros;
  how.round_trip = options.round_trip;
  how.islands = options.islands;
  std::optional<ImportFormat> format;
  if (!options.format.empty()) {
    format = import_format_named(options.format);
    if (!format)
      throw Stop{kUsedWrongly,
                 fmt::format("--format: '{}' is not one of gml, csv, doublezero", options.format)};
  }
  const auto imported = import_map(read_file(options.file), options.file, format, how);
  if (!imported) throw Stop{kUsedWrongly, to_text(imported.error())};
  std::vector<std::string> remarks{"Made by: " + command_of(options)};
  if (!options.source.empty()) remarks.push_back("Figures: " + options.source);
  for (const std::string& note : imported->notes) remarks.push_back("- " + note);
  deliver(*imported, remarks, options);
}

void generate(const ImportVerbOptions& options) {
  GenerateOptions how;
  how.payload = positive_payload(options.payload);
  how.access = positive_rate(options.access, "--access");
  how.memory = option_value(parse_bytes(options.memory), "--memory");
  const Imported made{generate_map(options.count, options.seed, how), {}};
  if (!payload_fits(made.map))
    throw Stop{kUsedWrongly, "--payload: more than 100 TB; check the unit"};
  deliver(made, {}, options);
}

void add_common(CLI::App* verb, ImportVerbOptions& options) {
  verb->add_option("--payload", options.payload,
                   "Model state that each island sends in a round (default 1GB)");
  verb->add_option("--access", options.access, "Access rate of every island (default 20Gbps)");
  verb->add_option("--memory", options.memory, "Memory of every edge (default 32GB)");
  verb->add_option("-o,--output", options.output, "Write the map here (TOML)");
  verb->add_flag("--json", options.json, "Print the map as one JSON object, with notes");
}

}  // namespace

void add_import(CLI::App& topology) {
  const auto options = std::make_shared<ImportVerbOptions>();
  CLI::App* importer = topology.add_subcommand(
      "import",
      "Make a map of a foreign file: GML, CSV, or what doublezero link list --json prints.");
  importer->add_option("FILE", options->file, "The foreign file (docs/reference/files.md)")
      ->required();
  importer->add_option("--format", options->format,
                       "gml, csv or doublezero (default: by the file's name or content)");
  importer->add_option("--name", options->name, "Name of the map");
  importer->add_option("--source", options->source, "Where the figures come from; kept in the map");
  importer->add_option("--rate", options->rate,
                       "Rate of links in formats that give none (default 100Gbps)");
  importer->add_flag("--merge-metros", options->merge_metros,
                     "Devices of one metro (NYC1, NYC2) become one island (NYC)");
  importer->add_flag("--round-trip", options->round_trip,
                     "The latencies of a CSV or JSON file are round trips: halve them");
  importer
      ->add_option("--islands", options->islands,
                   "Places that are islands, as LON,NYC,… (default: all); the others are routers")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_common(importer, *options);
  importer->callback([options] { import(*options); });
}

void add_generate(CLI::App& topology) {
  const auto options = std::make_shared<ImportVerbOptions>();
  CLI::App* generator = topology.add_subcommand(
      "generate",
      "Make up a map: islands on the globe, fibre latencies, three to five links each.");
  generator->add_option("--islands", options->count, "Number of islands")
      ->required()
      ->check(CLI::Range(1, kGeneratedIslandsMax));
  generator->add_option("--seed", options->seed, "Same seed, same map (default 1)")
      ->check(a_seed());
  add_common(generator, *options);
  generator->callback([options] { generate(*options); });
}

}  // namespace cotillion::cli
