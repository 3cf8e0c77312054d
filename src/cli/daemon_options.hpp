// What `cotillion edge` and `cotillion island` have in common on the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "run/member_daemon.hpp"

namespace cotillion::cli {

struct DaemonOptions {
  std::string island, coordinator = "127.0.0.1:29800", listen, interface;
  std::string join_within = "60s";
  std::vector<int> cores;

  void add_to(CLI::App& verb);
};

// Where a daemon stands, read and checked.
struct DaemonPlace {
  Endpoint own;
  Ipv4Address interface = 0;
  WallClock zero = 0;
  BootId boot = 0;
};
[[nodiscard]] DaemonPlace place_of(const DaemonOptions& options);

// Calls the coordinator and plays until the end; the exit code.
[[nodiscard]] int perform(const DaemonOptions& options, const DaemonPlace& place, Role role,
                          Performer& performer, const Note& note);

// To stderr.
void print_note(const LogLine& line);

}  // namespace cotillion::cli
