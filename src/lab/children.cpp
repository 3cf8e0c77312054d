#include "lab/children.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/check.hpp"
#include "exchange/clock.hpp"
#include "lab/priority.hpp"
#include "lab/steady.hpp"

namespace cotillion {
namespace {

constexpr Duration kChildrenLook{5'000'000'000};

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Between fork and exec in a program with threads: nothing that could wait for one of them.
[[noreturn]] void become(int space, int output, int errors, int priority, char* const* argv,
                         char* const* environment) {
  if (priority > 0) take_turns_first(priority);
  bool ready = ::setns(space, CLONE_NEWNET) == 0;
  if (output >= 0) ready = ready && ::dup2(output, 1) >= 0 && ::dup2(output, 2) >= 0;
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (ready) ::execve(argv[0], argv, environment);
  const int error = errno;
  (void)!::write(errors, &error, sizeof error);
  ::_exit(127);
}

}  // namespace

Children::~Children() {
  end(Duration{0});
}

Result<pid_t> Children::start(const NetworkSpace& space, const Program& program) {
  COTILLION_CHECK(!program.argv.empty());
  const std::string& name = program.argv.front();
  Descriptor output;
  if (!program.output.empty()) {
    output =
        Descriptor(::open(program.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (!output.is_open())
      return failure(fmt::format("{}: {}", program.output, std::strerror(errno)));
  }
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return failure(fmt::format("{}: {}", name, std::strerror(errno)));
  Descriptor news(ends[0]), errors(ends[1]);
  std::vector<std::string> arguments = program.argv, environment = program.environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  const auto argv = pointers_to(arguments), variables = pointers_to(environment);
  const pid_t child = ::fork();
  if (child < 0) return failure(fmt::format("{}: {}", name, std::strerror(errno)));
  if (child == 0)
    become(space.fd(), output.get(), errors.get(), program.priority, argv.data(), variables.data());
  errors.close();
  int error = 0;
  ssize_t got = 0;
  do {
    got = ::read(news.get(), &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof error) {
    (void)::waitpid(child, nullptr, 0);
    return failure(fmt::format("{}: {}", name, std::strerror(error)));
  }
  // A number may come again, once the child that had it was collected.
  const auto known = children_.find(child);
  COTILLION_CHECK(known == children_.end() || known->second.has_value());
  children_[child] = std::nullopt;
  return child;
}

// Also those that our children left behind: the first process of a namespace inherits them.
void Children::reap() {
  int status = 0;
  for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;)
    if (const auto known = children_.find(ended); known != children_.end())
      known->second = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::optional<int> Children::code_of(pid_t child) {
  reap();
  const auto known = children_.find(child);
  return known == children_.end() ? std::nullopt : known->second;
}

void Children::signal(pid_t child, int number) {
  if (const auto known = children_.find(child); known != children_.end() && !known->second)
    ::kill(child, number);
}

int Children::running() {
  reap();
  return int(std::count_if(children_.begin(), children_.end(),
                           [](const auto& child) { return !child.second; }));
}

bool Children::wait(Duration timeout) {
  const Instant deadline = steady_now() + timeout;
  while (running() > 0) {
    if (steady_now() >= deadline) return false;
    const timespec look = timespec_of(kChildrenLook);
    (void)::nanosleep(&look, nullptr);
  }
  return true;
}

void Children::end(Duration timeout) {
  if (running() == 0) return;
  if (timeout > Duration{0}) {
    for (const auto& [child, code] : children_) signal(child, SIGTERM);
    if (wait(timeout)) return;
  }
  for (const auto& [child, code] : children_) signal(child, SIGKILL);
  (void)wait(Duration{std::int64_t(kPicosecondsPerSecond) * 10});
}

}  // namespace cotillion
