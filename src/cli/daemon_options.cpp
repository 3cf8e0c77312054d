#include "cli/daemon_options.hpp"

#include <fmt/format.h>

#include <utility>

#include "cli/world.hpp"

namespace cotillion::cli {

void add_daemon_options(CLI::App& verb, DaemonOptions& options) {
  verb.add_option(
      "--metrics", options.metrics,
      "Serve /metrics (Prometheus) and /status (JSON) on ADDRESS:PORT, without a password "
      "(default: nowhere)");
  verb.add_option(
          "--log", options.log,
          "Form of the log on stderr, one line for each event (default: words on a terminal, "
          "logfmt elsewhere)")
      ->check(CLI::IsMember({"logfmt", "json"}));
}

DaemonLogSettings log_settings(const DaemonOptions& options, std::string daemon,
                               std::string island) {
  DaemonLogSettings settings;
  settings.daemon = std::move(daemon);
  settings.island = std::move(island);
  settings.form = log_form_named(options.log).value_or(LogForm::kLogfmt);
  return settings;
}

void expect_port(const std::string& option, const std::string& where) {
  const std::size_t colon = where.rfind(':');
  const std::string port = colon == std::string::npos ? "" : where.substr(colon + 1);
  const bool digits = !port.empty() && port.size() <= 5 &&
                      port.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || std::stoi(port) > 65'535)
    throw Stop{
        kUsedWrongly,
        fmt::format("{}: \"{}\" ends in no port; write it like 192.0.2.1:29800", option, where)};
}

std::optional<StatusServer> open_status(const DaemonOptions& options, StatusPages pages,
                                        DaemonLog& log) {
  if (options.metrics.empty()) return std::nullopt;
  auto server = StatusServer::listen(options.metrics, std::move(pages));
  if (!server) throw Stop{kSystemError, "--metrics: " + server.error().message};
  log.info("metrics", {{"address", options.metrics}, {"port", server->port()}});
  return std::move(*server);
}

}  // namespace cotillion::cli
