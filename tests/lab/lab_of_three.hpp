// A lab of three islands as a program, and what it could leave on this machine: processes,
// namespaces, routes, files.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "lab/doctor.hpp"

namespace cotillion::testing {

namespace fs = std::filesystem;

inline std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::string target_of(const fs::path& link) {
  std::error_code error;
  return fs::read_symlink(link, error).string();
}

inline std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    entries.push_back(at->path());
  return entries;
}

inline bool is_process(const fs::path& path) {
  const std::string name = path.filename();
  return name.find_first_not_of("0123456789") == std::string::npos;
}

// Processes that carry this mark in their environment, however far down they were started.
inline std::set<std::string> marked(const std::string& mark) {
  std::set<std::string> found;
  for (const fs::path& path : entries_of("/proc"))
    if (is_process(path) && text_of(path / "environ").find(mark) != std::string::npos)
      found.insert(path.filename());
  return found;
}

// Network namespaces in which a process is, or of which it holds a descriptor.
inline void add_spaces(const fs::path& process, std::set<std::string>& spaces) {
  if (const std::string own = target_of(process / "ns/net"); !own.empty()) spaces.insert(own);
  for (const fs::path& file : entries_of(process / "fd"))
    if (const std::string held = target_of(file); held.starts_with("net:[")) spaces.insert(held);
}

class LabOfThree : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto findings = examine(confinement_at_hand());
    if (!can_run(findings)) GTEST_SKIP() << "no lab can be made here:\n" << findings_text(findings);
    folder_ = fs::temp_directory_path() / ("cotillion-lab-" + std::to_string(::getpid()));
    fs::create_directories(folder_ / "tmp");
    std::ofstream(folder_ / "map.toml") << R"(
name = "three"
payload = "200MB"
edge = { memory = "1GB" }
islands = [ { name = "A", access = "20Gbps" }, { name = "B", access = "20Gbps" },
            { name = "C", access = "20Gbps" } ]
links = [ { ends = ["A", "B"], latency = "5ms", rate = "50Gbps" },
          { ends = ["B", "C"], latency = "7ms", rate = "50Gbps" } ]
)";
    ASSERT_EQ(wait_for(start({"plan", (folder_ / "map.toml").string(), "--schedule", "all-to-all",
                              "-o", (folder_ / "plan.json").string()},
                             "/dev/null")),
              0);
    before_ = machine();
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Files, interfaces and routes that a lab could have left on this machine.
  [[nodiscard]] std::vector<std::string> machine() const {
    std::vector<std::string> seen{text_of("/proc/self/net/ip_mr_vif"),
                                  text_of("/proc/self/net/ip_mr_cache"),
                                  text_of("/proc/self/net/route")};
    for (const fs::path& place :
         {folder_ / "tmp", fs::path("/run/netns"), fs::path("/sys/class/net")})
      for (const fs::path& entry : entries_of(place)) seen.push_back(entry);
    return seen;
  }

  [[nodiscard]] pid_t start(std::vector<std::string> arguments, const std::string& output) const {
    arguments.insert(arguments.begin(), COTILLION_BINARY);
    const pid_t child = ::fork();
    if (child != 0) return child;
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    ::setenv("COTILLION_TEST_MARK", mark_.c_str(), 1);
    ::setenv("TMPDIR", (folder_ / "tmp").c_str(), 1);
    const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    ::dup2(file, 1);
    ::dup2(file, 2);
    if (::chdir((folder_ / "tmp").c_str()) == 0) ::execv(argv[0], argv.data());
    ::_exit(127);
  }

  [[nodiscard]] pid_t start_lab(const std::vector<std::string>& further) const {
    std::vector<std::string> arguments{"lab", (folder_ / "plan.json").string()};
    arguments.insert(arguments.end(), further.begin(), further.end());
    return start(arguments, (folder_ / "said").string());
  }
  [[nodiscard]] std::string said() const { return text_of(folder_ / "said"); }

  static int wait_for(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  // The namespaces of a lab that is up: routers, edges, islands, the control namespace and the one
  // in which it began.
  std::set<std::string> wait_until_built(pid_t lab) {
    std::set<std::string> spaces;
    const std::string ours = target_of("/proc/self/ns/net");
    for (int look = 0; look < 2000 && ::waitpid(lab, nullptr, WNOHANG) == 0; ++look) {
      spaces.clear();
      for (const std::string& process : marked(mark_))
        add_spaces(fs::path("/proc") / process, spaces);
      spaces.erase(ours);
      if (spaces.size() >= 11) return spaces;
      ::usleep(5000);
    }
    ADD_FAILURE() << "the lab was never built: " << said();
    return spaces;
  }

  // What the kernel ends, it ends soon but not at once.
  void expect_nothing_left(const std::set<std::string>& spaces) {
    std::set<std::string> processes, held;
    for (int look = 0; look < 2000; ++look) {
      processes = marked(mark_);
      held.clear();
      for (const fs::path& process : entries_of("/proc"))
        if (is_process(process)) add_spaces(process, held);
      std::erase_if(held, [&](const std::string& space) { return !spaces.contains(space); });
      if (processes.empty() && held.empty()) break;
      ::usleep(5000);
    }
    for (const std::string& process : processes)
      ADD_FAILURE() << "left: " << text_of("/proc/" + process + "/cmdline");
    for (const std::string& space : held) ADD_FAILURE() << "left: " << space;
    for (const std::string& space : spaces)
      EXPECT_EQ(text_of("/proc/self/mountinfo").find(space), std::string::npos);
    EXPECT_EQ(machine(), before_);
  }

  fs::path folder_;
  std::string mark_ = "lab-of-three-" + std::to_string(::getpid());
  std::vector<std::string> before_;
};

}  // namespace cotillion::testing
