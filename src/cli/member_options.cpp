#include "cli/member_options.hpp"

#include <fmt/format.h>

#include "cli/interrupt.hpp"
#include "cli/settings.hpp"
#include "daemon/control_client.hpp"

namespace cotillion::cli {
namespace {

template <class T>
T value_of(const Result<T>& read, const char* option) {
  if (!read) throw Stop{kUsedWrongly, std::string(option) + ": " + read.error().message};
  return *read;
}

}  // namespace

void MemberOptions::add_to(CLI::App& verb) {
  verb.add_option("--island", island, "Name of the island in the plan's map")->required();
  verb.add_option("--coordinator", coordinator,
                  "Address of the coordinator (default 127.0.0.1:29800)");
  verb.add_option(
          "--listen", listen,
          "Own address for packets, ADDRESS[:PORT], which others are told. The port is 29900 "
          "unless given; shard s uses port + s")
      ->required();
  verb.add_option("--interface", interface,
                  "Address of the interface that multicast uses (default: that of --listen)");
  verb.add_option("--cores", cores,
                  "Processor cores on which threads run, one for each shard (default: any)")
      ->delimiter(',');
  add_daemon_options(verb, daemon);
  verb.add_option("--join-within", join_within,
                  "How long to wait for the coordinator (default 60s)");
}

MemberPlace place_of(const MemberOptions& options) {
  expect_port("--coordinator", options.coordinator);
  MemberPlace place;
  place.own = value_of(read_endpoint(options.listen), "--listen");
  if (place.own.address == 0 || is_group(place.own.address) || place.own.port == 0)
    throw Stop{kUsedWrongly, "--listen: others send packets to " + to_text(place.own) +
                                 "; name one address and port of this host"};
  place.interface = options.interface.empty()
                        ? place.own.address
                        : value_of(read_address(options.interface), "--interface");
  place.zero = wall_clock_now();
  place.boot = boot_now();
  place.cores = options.cores;
  return place;
}

int perform(const MemberOptions& options, const MemberPlace& place, Role role,
            MemberRole& member_role, DaemonLog& log) {
  const Interrupt interrupt;
  const Duration timeout = option_value(parse_duration(options.join_within), "--join-within");
  log.info("waits for the coordinator",
           {{"address", options.coordinator}, {"within", options.join_within}});
  auto line =
      ControlClient::connect(options.coordinator, timeout, [&] { return interrupt.asked(); });
  if (!line && interrupt.asked()) {
    log.info("done", {{"reason", line.error().message}});
    return kDone;
  }
  if (!line) throw Stop{kSystemError, line.error().message};
  MemberDaemonSettings settings;
  settings.hello.island = options.island;
  settings.hello.role = role;
  settings.hello.boot = place.boot;
  settings.hello.address = to_text(place.own);
  settings.hello.version = provenance().version;
  settings.zero = place.zero;
  settings.clock = ask_clock_trust();
  settings.hello.clock = settings.clock.estimate;
  settings.log = &log;
  settings.asked_to_stop = [&] { return interrupt.asked(); };
  MemberDaemon daemon(*line, member_role, settings);
  const auto pages = open_status(
      options.daemon,
      {fmt::format("{} {}", name_of(role), options.island),
       [&] { return daemon.status().metrics(); }, [&] { return daemon.status().json(); }},
      log);
  if (daemon.run() || interrupt.asked()) return kDone;
  return kSystemError;  // and the log says why
}

}  // namespace cotillion::cli
