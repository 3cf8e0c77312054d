// The real daemons of a job as programs in a lab: the coordinator in the control namespace,
// an edge and an island in every city. All of them end with the World they are in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/play.hpp"

namespace cotillion {

inline constexpr Duration kLabStartIn{1'000'000'000'000};     // from ready to round one
inline constexpr Duration kLabPrepares{120'000'000'000'000};  // everyone joins and gets ready
inline constexpr Duration kLabTakesLeave{20'000'000'000'000};

// One program and what it says.
struct LabProcess {
  std::string name, log;
  pid_t process = 0;
  bool killed = false;  // by us, because faults say so
};

class LabProcesses {
 public:
  // Both must outlive it.
  LabProcesses(World& world, const PlaySettings& settings) : world_(world), settings_(settings) {}

  // `words` follow the program's own name.
  [[nodiscard]] Result<pid_t> start(const std::string& name, NamespaceRole role,
                                    std::vector<std::string> words);
  // The coordinator and all of its members, by a plan's file.
  [[nodiscard]] Result<void> start_everyone(const std::string& plan);
  // Whether round one has been agreed on.
  [[nodiscard]] bool playing() const;
  // The coordinator's exit code, once it has ended.
  [[nodiscard]] std::optional<int> code() const;
  void ask_to_end() const;
  // Islands whose death the settings foresee by now.
  void kill_the_doomed(Instant first_round);
  // Of those who failed; empty: all is well so far.
  [[nodiscard]] std::vector<std::string> failures() const;
  // The same, and of those who have not ended.
  [[nodiscard]] std::vector<std::string> problems() const;
  // Processes of islands.
  [[nodiscard]] std::vector<pid_t> agents() const;
  // What the coordinator said last.
  [[nodiscard]] std::string last_words() const;

 private:
  [[nodiscard]] static std::string last_line(const LabProcess& part);

  World& world_;
  const PlaySettings& settings_;
  struct Doomed {
    std::size_t part = 0;
    Duration at;
  };
  std::vector<LabProcess> parts_;  // the coordinator first
  std::vector<Doomed> doomed_;
};

// Where an island's agent awaits training code.
[[nodiscard]] std::string exchange_socket(const std::string& folder, IslandId island);

}  // namespace cotillion
