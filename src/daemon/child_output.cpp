#include "daemon/child_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "base/check.hpp"

namespace cotillion {
namespace {

using Clock = std::chrono::steady_clock;

// Until the descriptor is readable or hung up; false when the time is over.
bool await(int fd, Clock::time_point until) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return false;
    pollfd polled{fd, POLLIN, 0};
    const int ready = ::poll(&polled, 1, int(left));
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

// In a process group of its own, so that what it starts can be ended with it.
int spawn(const std::string& path, const std::vector<std::string>& words, int out, pid_t& child) {
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::string language = "LC_ALL=C", search = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
  std::array<char*, 3> environment = {language.data(), search.data(), nullptr};
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out, 1);
  ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  const int error = ::posix_spawn(&child, path.c_str(), &actions, &attributes, arguments.data(),
                                  environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  return error;
}

// Whether it ended by itself in time; it has ended in any case.
bool reap(pid_t child, Clock::time_point until, int& status) {
  const int fd = int(::syscall(SYS_pidfd_open, child, 0));  // glibc 2.36 declares it for C only
  const bool ended = fd >= 0 && await(fd, until);
  if (fd >= 0) ::close(fd);
  ::kill(-child, SIGKILL);  // the rest of its group, or all of it
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return ended;
}

}  // namespace

std::string program_path(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? name : "";
  for (const char* folder : {"/usr/sbin/", "/usr/bin/", "/usr/local/sbin/", "/usr/local/bin/"})
    if (::access((folder + name).c_str(), X_OK) == 0) return folder + name;
  return "";
}

Result<std::string> child_output(const std::vector<std::string>& words, const ChildLimits& limits) {
  COTILLION_CHECK(!words.empty());
  const Clock::time_point until = Clock::now() + std::chrono::nanoseconds(limits.time.ps / 1000);
  const std::string path = program_path(words.front());
  if (path.empty()) return failure(words.front() + " is not installed");
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return failure(fmt::format("{}: {}", words.front(), std::strerror(errno)));
  pid_t child = 0;
  const int error = spawn(path, words, ends[1], child);
  ::close(ends[1]);
  std::string text;
  bool in_time = true;
  while (error == 0 && text.size() <= limits.bytes) {
    std::array<char, 4096> buffer{};
    if (in_time = await(ends[0], until); !in_time) break;
    const ssize_t got = ::read(ends[0], buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer.data(), std::size_t(got));
  }
  ::close(ends[0]);
  if (error != 0) return failure(fmt::format("{}: {}", words.front(), std::strerror(error)));
  const bool too_much = text.size() > limits.bytes;
  int status = 0;
  if (!reap(child, too_much ? Clock::now() : until, status)) in_time = false;
  if (too_much) return failure(words.front() + " does not stop talking");
  if (!in_time)
    return failure(fmt::format("{} was not done within {}", words.front(), to_text(limits.time)));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return failure(fmt::format("{} failed", words.front()));
  return text;
}

}  // namespace cotillion
