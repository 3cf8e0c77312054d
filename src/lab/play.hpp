// A plan played in a lab by the real daemons: the coordinator in the control namespace, an
// edge and an island in every city, as programs in theirs, over the emulated links.
#pragma once

#include <functional>
#include <string>

#include "lab/world.hpp"

namespace cotillion {

// A program that is killed while rounds are played.
struct Death {
  IslandId island = 0;
  Duration at;  // from the start of the first round
};

struct PlaySettings {
  std::string program;  // cotillion itself
  std::string folder;   // for the plan, the outcome and logs; nobody else's
  int rounds = 1;
  std::string grace = "20ms";
  std::string exchange = "whole";
  int fragments = 8;
  std::string element = "f32";
  int exponent = 0;          // of i32
  double progress_kept = 1;  // by merges, of what was learned in flight
  std::string missing = "mean";
  std::vector<Death> deaths;
  bool rehearse = true;  // without training code; otherwise agents wait for it at exchange_socket()
  std::function<void(const std::string&)> progress = [](const std::string&) {};
  std::function<bool()> asked_to_end = [] { return false; };
};

struct Played {
  std::string outcome;  // the coordinator's file, as it wrote it
  int code = 0;         // its exit code
  WanCounters counters;
  std::vector<std::string> problems;  // sentences: who failed, what is in whose log
};

// Every wait has an end; whoever is late is named by the coordinator. An Error: nothing was played.
[[nodiscard]] Result<Played> play(World& world, const std::string& plan_text,
                                  const PlaySettings& settings);

// A folder that only this confined process and its children see, and that is gone with them.
[[nodiscard]] Result<std::string> private_folder();

}  // namespace cotillion
