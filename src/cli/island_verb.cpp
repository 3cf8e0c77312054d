#include <fmt/format.h>

#include <memory>

#include "cli/member_options.hpp"
#include "cli/settings.hpp"
#include "cli/verbs.hpp"
#include "daemon/island_daemon.hpp"

namespace cotillion::cli {
namespace {

struct IslandOptions {
  MemberOptions common;
  std::string socket;
  bool rehearse = false;
};

int run_island(const IslandOptions& options) {
  const MemberPlace place = place_of(options.common);
  DaemonLog log(log_settings(options.common.daemon, "island", options.common.island));
  IslandDaemonSettings settings;
  settings.place = place;
  settings.log = &log;
  const std::string path = options.socket.empty()
                               ? fmt::format("/run/cotillion/{}.sock", options.common.island)
                               : options.socket;
  std::optional<AgentListener> listener;
  if (!options.rehearse) {
    auto opened = AgentListener::open(path);
    if (!opened) throw Stop{kSystemError, opened.error().message};
    listener.emplace(std::move(*opened));
  }
  IslandDaemon island(settings, std::move(listener));
  return perform(options.common, place, Role::kIsland, island, log);
}

}  // namespace

void add_island(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<IslandOptions>();
  CLI::App* verb = app.add_subcommand(
      "island", "The daemon beside training code: sends its fragments and hands corrections back.");
  options->common.add_to(*verb);
  verb->add_option("--socket", options->socket,
                   "Socket on which training code finds it (default /run/cotillion/ISLAND.sock)");
  verb->add_flag(
      "--rehearse", options->rehearse,
      "Run without training code: send numbers that every island knows and check every sum");
  verb->callback([options, &outcome] { outcome.code = run_island(*options); });
}

}  // namespace cotillion::cli
