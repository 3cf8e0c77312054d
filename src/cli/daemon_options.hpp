// What all daemons have in common on the command line: where they can be looked at, and how they
// speak.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "daemon/daemon_log.hpp"
#include "daemon/status_server.hpp"

namespace cotillion::cli {

struct DaemonOptions {
  std::string metrics;
  std::string log;
};

// --metrics and --log.
void add_daemon_options(CLI::App& verb, DaemonOptions& options);

[[nodiscard]] DaemonLogSettings log_settings(const DaemonOptions& options, std::string daemon,
                                             std::string island = {});
// Throws Stop unless it ends in a port: gRPC takes 99999 for another one, and waits for what has
// none.
void expect_port(const std::string& option, const std::string& where);
// Nothing unless asked for; throws Stop when the address is refused. Says where it is.
[[nodiscard]] std::optional<StatusServer> open_status(const DaemonOptions& options,
                                                      StatusPages pages, DaemonLog& log);

}  // namespace cotillion::cli
