// The long run of the oracle: make oracle. The unit tests run the same check on fewer seeds.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "tests/support/plan/oracle_run.hpp"

int main(int argc, char** argv) {
  using namespace cotillion::testing;
  CLI::App app("Prices random cliques with the planner and with CLP, and compares.", "oracle");
  std::uint64_t instances = 60'000, seed = 1;
  app.add_option("--instances", instances, "How many (default 60000)");
  app.add_option("--seed", seed, "The first of consecutive seeds (default 1)");
  CLI11_PARSE(app, argc, argv);

  OracleCount count;
  int mismatches = 0;
  for (std::uint64_t i = 0; i < instances; ++i) {
    const std::string mismatch = disagreement(seed + i, count);
    if (!mismatch.empty()) {
      fmt::print("{}\n", mismatch);
      ++mismatches;
    }
    if ((i + 1) % 1000 == 0 || i + 1 == instances) {
      fmt::print(stderr, "\r{} of {}", i + 1, instances);
      std::fflush(stderr);
    }
  }
  fmt::print(stderr, "\n");
  fmt::print("{} feasible, {} infeasible, {} mismatches, worst relative gap {:.2g}\n",
             count.feasible, count.infeasible, mismatches, count.worst_relative_gap);
  return mismatches == 0 ? 0 : 1;
}
