// A program that a test starts: what it says goes to a file, and it never outlives the test.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cotillion::testing {

inline constexpr auto kProcessTimeout = std::chrono::seconds(60);

class Process {
 public:
  Process(std::vector<std::string> words, std::string log) : log_(std::move(log)) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log_.c_str(),
                                       O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    if (::posix_spawn(&id_, arguments[0], &actions, nullptr, arguments.data(), environ) != 0)
      id_ = -1;
    ::posix_spawn_file_actions_destroy(&actions);
  }
  Process(Process&& other) noexcept
      : id_(std::exchange(other.id_, -1)), code_(other.code_), log_(std::move(other.log_)) {}
  Process& operator=(Process&&) = delete;
  ~Process() {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }

  void signal(int number) const {
    if (id_ > 0) ::kill(id_, number);
  }
  // The exit code, −signal of one that was killed, or −1000 when timeout ends.
  int wait() {
    const auto end = std::chrono::steady_clock::now() + kProcessTimeout;
    while (id_ > 0) {
      int status = 0;
      if (::waitpid(id_, &status, WNOHANG) == id_) {
        code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
        id_ = -1;
      } else if (std::chrono::steady_clock::now() > end) {
        return -1000;
      } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    }
    return code_;
  }
  [[nodiscard]] std::string said() const {
    std::stringstream text;
    text << std::ifstream(log_).rdbuf();
    return text.str();
  }
  // Whether it said so before timeout ended.
  [[nodiscard]] bool says(const std::string& words) const {
    const auto end = std::chrono::steady_clock::now() + kProcessTimeout;
    while (said().find(words) == std::string::npos) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }

 private:
  pid_t id_ = -1;
  int code_ = -1;
  std::string log_;
};

}  // namespace cotillion::testing
