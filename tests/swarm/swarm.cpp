// The swarm by hand: one seed with its smallest failing case, or the long run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "tests/swarm/swarm_run.hpp"

namespace {

using namespace cotillion::testing;

int play_one(std::uint64_t seed, bool show) {
  if (show) fmt::print("{}", to_text(swarm_case(seed)));
  const std::string failure = failure_text(seed);
  fmt::print("{}", failure.empty() ? fmt::format("seed {}: everything holds\n", seed) : failure);
  return failure.empty() ? 0 : 1;
}

int play_many(std::uint64_t first, std::uint64_t count) {
  Tally all;
  std::uint64_t failed = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Verdict verdict = in_a_child([&] { return examined(seed); });
    if (!verdict.holds() || !verdict.playable) {
      fmt::print("seed {}: {}: {}\n  {}\n", seed, verdict.wrong.invariant, verdict.wrong.what,
                 replay_command_of(seed));
      std::fflush(stdout);
      ++failed;
    }
    all.add(verdict.tally);
    if ((seed + 1 - first) % 100 == 0 || seed + 1 == first + count)
      fmt::print(stderr, "\r{} of {}, {} failed", seed + 1 - first, count, failed);
  }
  fmt::print(stderr, "\n");
  fmt::print("{}; {} failed\n", to_text(all), failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Plays random worlds with random faults and checks everything that comes out.",
               "swarm");
  std::uint64_t seed = 0, seeds = 10'000, first = 1;
  bool show = false;
  app.add_option("SEED", seed, "Play this one alone, and shrink it if it fails");
  app.add_option("--seeds", seeds, "How many (default 10000)");
  app.add_option("--first", first, "The first of them (default 1)");
  app.add_flag("--show", show, "Print the case");
  CLI11_PARSE(app, argc, argv);
  return seed != 0 ? play_one(seed, show) : play_many(first, seeds);
}
