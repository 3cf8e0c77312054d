#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.hpp"
#include "cli/settings.hpp"
#include "cli/verbs.hpp"
#include "cli/world.hpp"
#include "report/map_drawing.hpp"
#include "report/map_report.hpp"
#include "topology/map_file.hpp"

namespace cotillion::cli {
namespace {

struct TopologyOptions {
  std::string map;
  std::string tree;
  std::vector<std::string> to;
  std::string svg;
  bool json = false;
};

void check_map(const TopologyOptions& options, Outcome& outcome) {
  const auto map = read_map(read_file(options.map), options.map);
  if (options.json) {
    Json json{{"file", options.map}, {"ok", map.has_value()}};
    json["errors"] = map ? Json::array() : to_json(map.error());
    print_json(json);
    outcome.code = map ? kDone : kUsedWrongly;
    return;
  }
  if (!map) throw Stop{kUsedWrongly, to_text(map.error())};
  print(fmt::format("{}: sound: {}, {}, {}, {}\n", options.map,
                    counted(map->islands.size(), "island"), counted(map->routers.size(), "router"),
                    counted(map->links.size(), "link"), counted(map->aggregators.size(), "edge")));
}

void show_map(const TopologyOptions& options) {
  const LoadedMap loaded = load_map(options.map);
  const Map& map = loaded.map;
  const Routes routes(map);
  if (!options.svg.empty()) {
    write_file(options.svg, map_svg(map, routes));
    if (!options.json) print(fmt::format("map drawn in {}\n", options.svg));
  }
  if (options.tree.empty()) {
    if (!options.to.empty()) throw Stop{kUsedWrongly, "--to: needs --tree SENDER"};
    if (options.json)
      print_json(map_json(map, routes));
    else
      print(map_text(map, routes));
    return;
  }
  const IslandId sender = island_named(map, options.tree, "--tree");
  std::vector<IslandId> receivers;
  for (const std::string& name : options.to) {
    const IslandId receiver = island_named(map, name, "--to");
    const bool known = std::find(receivers.begin(), receivers.end(), receiver) != receivers.end();
    if (receiver != sender && !known) receivers.push_back(receiver);
  }
  if (receivers.empty())
    for (IslandId i = 0; i < map.island_count(); ++i)
      if (i != sender) receivers.push_back(i);
  if (options.json)
    print_json(tree_json(map, routes, sender, receivers));
  else
    print(tree_text(map, routes, sender, receivers));
}

}  // namespace

void add_topology(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<TopologyOptions>();
  CLI::App* topology =
      app.add_subcommand("topology", "Check, show, import or generate a map of the network.");
  topology->require_subcommand(1);
  const auto add_common = [&](CLI::App* verb) {
    verb->add_option("MAP", options->map, "Map file (TOML; docs/reference/files.md)")->required();
    verb->add_flag("--json", options->json, "Print one JSON object instead of text");
  };

  CLI::App* checker = topology->add_subcommand(
      "check",
      "Report every mistake in a map, with line, field and remedy. Exits with 2 if there is one.");
  add_common(checker);
  checker->callback([options, &outcome] { check_map(*options, outcome); });

  CLI::App* shower = topology->add_subcommand(
      "show",
      "Print islands, links and shortest-path latencies, or the multicast tree of one sender.");
  add_common(shower);
  shower->add_option("--tree", options->tree, "Show the multicast tree of this sender");
  shower
      ->add_option("--to", options->to, "Receivers in that tree, as LON,NYC,… (default: everyone)")
      ->delimiter(',')
      ->allow_extra_args(false);
  shower->add_option("--svg", options->svg, "Also draw the map into this file");
  shower->callback([options] { show_map(*options); });
  add_import(*topology);
  add_generate(*topology);
}

}  // namespace cotillion::cli
