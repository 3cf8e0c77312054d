// What `cotillion edge` and `cotillion island` have in common on the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/daemon_options.hpp"
#include "daemon/member_daemon.hpp"

namespace cotillion::cli {

struct MemberOptions {
  std::string island, coordinator = "127.0.0.1:29800", listen, interface;
  std::string join_within = "60s";
  std::vector<int> cores;
  DaemonOptions daemon;

  void add_to(CLI::App& verb);
};

// Read and checked.
[[nodiscard]] MemberPlace place_of(const MemberOptions& options);

// Calls the coordinator and plays until the end; the exit code.
[[nodiscard]] int perform(const MemberOptions& options, const MemberPlace& place, Role role,
                          MemberRole& member_role, DaemonLog& log);

}  // namespace cotillion::cli
