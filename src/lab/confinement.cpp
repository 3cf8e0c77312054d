#include "lab/confinement.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "lab/descriptor.hpp"

namespace cotillion {
namespace {

// What a handler may touch. The warden is the process between us and the confined one.
std::atomic<pid_t> the_warden = 0;
std::atomic<pid_t> the_confined = 0;
std::atomic<int> signals_seen = 0;
static_assert(std::atomic<pid_t>::is_always_lock_free);

extern "C" void pass_on(int) {
  const pid_t warden = the_warden, inner = the_confined;
  if (signals_seen.fetch_add(1) > 0) {
    if (warden > 0) ::kill(warden, SIGKILL);
  } else if (inner > 0) {
    ::kill(inner, SIGTERM);
  }
}

std::atomic<bool> end_asked = false;
extern "C" void remember_to_end(int) {
  end_asked = true;
}

class PassingOn {
 public:
  PassingOn() {
    signals_seen = 0;
    struct sigaction action {};
    action.sa_handler = pass_on;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGINT, &action, &interrupt_);
    ::sigaction(SIGTERM, &action, &terminate_);
  }
  PassingOn(const PassingOn&) = delete;
  PassingOn& operator=(const PassingOn&) = delete;
  ~PassingOn() {
    ::sigaction(SIGINT, &interrupt_, nullptr);
    ::sigaction(SIGTERM, &terminate_, nullptr);
    the_warden = 0;
    the_confined = 0;
  }

 private:
  struct sigaction interrupt_ {};
  struct sigaction terminate_ {};
};

// How far the warden came, told to its parent.
struct Notice {
  enum class Step : int { kStarted, kUser, kMap, kNamespaces, kFork };
  Step step = Step::kStarted;
  int error = 0;
  pid_t confined = 0;
};

bool write_text(const char* path, const std::string& text) {
  const Descriptor file(::open(path, O_WRONLY | O_CLOEXEC));
  return file.is_open() && ::write(file.get(), text.data(), text.size()) == ssize_t(text.size());
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return 255;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

[[noreturn]] void be_confined(Descriptor alive, const std::function<int()>& play) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The warden may have died before that call: then nobody holds the other end of this pipe.
  pollfd warden{alive.get(), POLLIN, 0};
  if (::poll(&warden, 1, 0) > 0) ::_exit(128 + SIGKILL);
  const int code = play();
  std::fflush(nullptr);
  ::_exit(code);
}

[[noreturn]] void be_warden(const Confinement& confinement, Descriptor notices, pid_t parent,
                            const std::function<int()>& play) {
  Notice notice;
  const auto give_up = [&](Notice::Step step) {
    notice.step = step;
    notice.error = errno;
    (void)!::write(notices.get(), &notice, sizeof notice);
    ::_exit(1);
  };
  // Ctrl-C is for the process that was started; it passes it on.
  ::setpgid(0, 0);
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (confinement.rootless) {
    if (::unshare(CLONE_NEWUSER) != 0) give_up(Notice::Step::kUser);
    (void)write_text("/proc/self/setgroups", "deny");
    if (!write_text("/proc/self/uid_map", fmt::format("0 {} 1", user)) ||
        !write_text("/proc/self/gid_map", fmt::format("0 {} 1", group)))
      give_up(Notice::Step::kMap);
    // The change of user hides a process from its own user's tools; nothing here is secret.
    ::prctl(PR_SET_DUMPABLE, 1);
  }
  if (::unshare(CLONE_NEWPID | CLONE_NEWNET) != 0) give_up(Notice::Step::kNamespaces);
  // After the change of user, which would undo it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(128 + SIGKILL);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) give_up(Notice::Step::kFork);
  Descriptor alive(ends[0]), held(ends[1]);
  const pid_t inner = ::fork();
  if (inner < 0) give_up(Notice::Step::kFork);
  if (inner == 0) {
    held.close();
    notices.close();
    be_confined(std::move(alive), play);
  }
  notice.confined = inner;
  (void)!::write(notices.get(), &notice, sizeof notice);
  notices.close();
  ::_exit(wait_for(inner));
}

std::string remedy_for(const Notice& notice, bool rootless) {
  if (!rootless)
    return "; root lacks CAP_SYS_ADMIN here: in a container, start it with --privileged or "
           "--cap-add SYS_ADMIN, or use --rootless";
  if (notice.error == EINVAL) return "; a process with several threads cannot have one";
  if (notice.error == ENOSPC || notice.error == EUSERS)
    return "; user.max_user_namespaces, max_net_namespaces or max_pid_namespaces is reached: "
           "raise it with sysctl";
  return "; unprivileged user namespaces are switched off: as root, `sysctl "
         "kernel.unprivileged_userns_clone=1` (Debian) or `sysctl "
         "kernel.apparmor_restrict_unprivileged_userns=0` (Ubuntu), or run the lab as root";
}

}  // namespace

Confinement confinement_at_hand() {
  return {.rootless = ::geteuid() != 0};
}

bool asked_to_end() {
  return end_asked;
}

Result<int> confined(const Confinement& confinement, const std::function<int()>& play) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return failure(fmt::format("no pipe: {}", std::strerror(errno)));
  Descriptor news(ends[0]), notices(ends[1]);
  std::fflush(nullptr);
  const pid_t self = ::getpid();
  const PassingOn passing_on;
  const pid_t warden = ::fork();
  if (warden < 0) return failure(fmt::format("no new process: {}", std::strerror(errno)));
  if (warden == 0) {
    // Before there is anyone to send it: the confined process inherits it, and misses none.
    std::signal(SIGINT, remember_to_end);
    std::signal(SIGTERM, remember_to_end);
    news.close();
    be_warden(confinement, std::move(notices), self, play);
  }
  the_warden = warden;
  notices.close();
  Notice notice;
  ssize_t got = 0;
  do {
    got = ::read(news.get(), &notice, sizeof notice);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof notice && notice.step != Notice::Step::kStarted) {
    (void)wait_for(warden);
    const char* attempt = notice.step == Notice::Step::kUser  ? "a user namespace"
                          : notice.step == Notice::Step::kMap ? "the map of a user namespace"
                          : notice.step == Notice::Step::kNamespaces
                              ? "namespaces of processes and network"
                              : "a process in there";
    return failure(fmt::format("{}: {}{}", attempt, std::strerror(notice.error),
                               remedy_for(notice, confinement.rootless)));
  }
  if (got == sizeof notice) the_confined = notice.confined;
  // A signal that came before there was anyone to pass it on to.
  if (signals_seen > 0 && notice.confined > 0) ::kill(notice.confined, SIGTERM);
  return wait_for(warden);
}

}  // namespace cotillion
