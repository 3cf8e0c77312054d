// What verbs have to do with the outside: files that users name, standard output, exit codes, and
// what is said when something goes wrong.
#pragma once

#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/result.hpp"
#include "plan/file/plan_loader.hpp"
#include "topology/map.hpp"

namespace cotillion::cli {

enum Exit {
  kDone = 0,
  kAnswerIsNo = 1,   // infeasible, never settles, disagreement
  kUsedWrongly = 2,  // arguments or input files
  kSystemError = 3,  // the disk is full, a socket is refused
};

// Thrown by verbs, caught once in main: the exit code and what to say on stderr.
struct Stop {
  Exit code;
  std::string message;
};

// As base/file, but they throw Stop.
// `remedy`: what to do where there is no such file.
[[nodiscard]] std::string read_file(const std::string& path, const std::string& remedy = "");
void write_file(const std::string& path, const std::string& text);

// Throws Stop when a file could not be written there, before hours are spent on what goes into it.
void expect_writable(const std::string& path);

void print(const std::string& text);  // to stdout; Stop when stdout is gone
void print_json(const Json& json);

[[nodiscard]] std::string to_text(const Diagnostics& diagnostics);
[[nodiscard]] Json to_json(const Diagnostics& diagnostics);

struct LoadedMap {
  Map map;
  std::string fingerprint;
};
// Throws Stop with every mistake in the file.
[[nodiscard]] LoadedMap load_map(const std::string& path);
[[nodiscard]] LoadedMap map_of(const std::string& text, const std::string& path);

struct LoadedPlan {
  PlanFile plan;
  std::string text;  // as it was read
  std::string fingerprint;
};
[[nodiscard]] LoadedPlan load_plan(const std::string& path);

[[nodiscard]] Provenance provenance();

}  // namespace cotillion::cli
