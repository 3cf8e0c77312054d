#include <memory>

#include "cli/member_options.hpp"
#include "cli/number_checks.hpp"
#include "cli/settings.hpp"
#include "cli/verbs.hpp"
#include "daemon/edge_daemon.hpp"

namespace cotillion::cli {
namespace {

struct EdgeOptions {
  MemberOptions common;
  bool direct = false;
  double lose = 0, lose_sums = 0;
  std::uint64_t seed = 1;
};

int run_edge(const EdgeOptions& options) {
  const MemberPlace place = place_of(options.common);
  DaemonLog log(log_settings(options.common.daemon, "edge", options.common.island));
  EdgeDaemonSettings settings;
  settings.place = place;
  settings.direct = options.direct;
  settings.on_receive.loss = options.lose / 100;
  settings.on_send.loss = options.lose_sums / 100;
  settings.on_receive.seed = settings.on_send.seed = options.seed;
  EdgeDaemon edge(settings);
  return perform(options.common, place, Role::kEdge, edge, log);
}

}  // namespace

void add_edge(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<EdgeOptions>();
  CLI::App* verb = app.add_subcommand(
      "edge",
      "The daemon in front of an island: sums the streams of its clique and sends one stream in.");
  options->common.add_to(*verb);
  verb->add_flag("--direct", options->direct,
                 "Take packets from the driver by AF_XDP where it can; needs root and one shard");
  verb->add_option("--lose", options->lose,
                   "Lose this percentage of the packets that come, to see what happens (default 0)")
      ->check(from_to(0, 100));
  verb->add_option("--lose-sums", options->lose_sums,
                   "Lose this percentage of the packets to the island (default 0)")
      ->check(from_to(0, 100));
  verb->add_option("--seed", options->seed, "Seed of these losses (default 1)")->check(a_seed());
  verb->callback([options, &outcome] { outcome.code = run_edge(*options); });
}

}  // namespace cotillion::cli
