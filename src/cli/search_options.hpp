// Options of verbs that search: how long, from where, and what users will not have.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/settings.hpp"
#include "search/search.hpp"

namespace cotillion::cli {

struct SearchOptions {
  std::uint64_t seed = 1;
  std::string steps;
  std::string budget;
  int threads = 0;
  bool exact = true;
  int frontier = 0;
  std::string resume;
  std::vector<std::string> together, apart;
  int clique_max = 0;
  int period_max = 0;
  std::string rest;
  std::string pin;
};

void add_search_options(CLI::App& verb, SearchOptions& options);

// The first of them that was given, as "--steps"; empty when none was.
[[nodiscard]] std::string search_option_given(const CLI::App& verb);

// What the options say on this map. Files that they name are read, and added to what the answer
// was made from. Throws Stop, also when constraints contradict each other.
[[nodiscard]] SearchSettings search_settings(const SearchOptions& options, const PlanSettings& plan,
                                             const NetworkModel& network, Provenance& made_by);

}  // namespace cotillion::cli
