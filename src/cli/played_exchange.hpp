// Whole models or fragments: what users say of it, and what the plan says where they do not.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "plan/plan.hpp"

namespace cotillion::cli {

struct PlayedExchange {
  std::string exchange;  // "whole" or "streamed"; empty: as the plan's rounds are
  int fragments = 0;     // 0: as many as the plan has where its rounds overlap, else 8

  [[nodiscard]] bool streamed() const { return exchange == "streamed"; }
};

// Adds --exchange and --fragments to a verb that plays plans.
void add_played_exchange(CLI::App& verb, PlayedExchange& said);

// What was not said comes from the plan. Rounds that overlap are streamed; whoever says that they
// are whole is refused by whoever plays them.
[[nodiscard]] PlayedExchange exchange_of(const Plan& plan, PlayedExchange said);

}  // namespace cotillion::cli
