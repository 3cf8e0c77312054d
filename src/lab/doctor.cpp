#include "lab/doctor.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/file.hpp"
#include "base/table.hpp"
#include "daemon/multicast_router.hpp"
#include "exchange/clock.hpp"
#include "lab/descriptor.hpp"
#include "lab/netlink.hpp"
#include "lab/network_setting.hpp"
#include "lab/network_space.hpp"
#include "lab/priority.hpp"
#include "lab/steady.hpp"

namespace cotillion {
namespace {

using State = Finding::State;
using Findings = std::vector<Finding>;

constexpr std::int64_t kMemoryMb = 1024;
constexpr rlim_t kFiles = 1024;
constexpr Duration kLate{500'000'000};  // a timer that is later than that spoils short links

std::string first_line(const char* path) {
  const std::string text = read_if_there(path);
  return text.substr(0, text.find('\n'));
}

std::string why() {
  return std::strerror(errno);
}

Finding try_tun() {
  const Descriptor tun(::open("/dev/net/tun", O_RDWR | O_CLOEXEC));
  const std::string remedy =
      "`modprobe tun`; in a container --device /dev/net/tun; /dev/net/tun must be writable";
  if (!tun.is_open()) return {"TUN interfaces", State::kMissing, "/dev/net/tun: " + why(), remedy};
  ifreq request{};
  std::strcpy(request.ifr_name, "tried");
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (::ioctl(tun.get(), TUNSETIFF, &request) != 0)
    return {"TUN interfaces", State::kMissing, "refused: " + why(), remedy};
  return {"TUN interfaces", State::kFine, "one was made", ""};
}

Finding try_wires() {
  const std::string remedy = "`modprobe veth`: the kernel needs CONFIG_VETH";
  const auto fail = [&](const std::string& found) {
    return Finding{"wires (veth)", State::kMissing, found, remedy};
  };
  const auto one = NetworkSpace::make(), other = NetworkSpace::make();
  if (!one) return fail(one.error().message);
  if (!other) return fail(other.error().message);
  auto netlink = Netlink::open();
  if (!netlink) return fail(netlink.error().message);
  const auto made = netlink->add_wire({one->fd(), "a"}, {other->fd(), "b"}, 1500);
  if (!made) return fail(made.error().message);
  return {"wires (veth)", State::kFine, "two namespaces were joined", ""};
}

Finding try_multicast() {
  const auto router = MulticastRouter::open();
  if (!router)
    return {"multicast routing", State::kMissing, router.error().message,
            "a kernel with CONFIG_IP_MROUTE"};
  return {"multicast routing", State::kFine, "a table was opened", ""};
}

Finding try_settings() {
  if (set_network_setting("ipv4/ip_forward", "1"))
    return {"network settings", State::kFine, "/proc/sys/net can be written", ""};
  return {"network settings", State::kMissing, "/proc/sys/net is read-only",
          "in a container, --privileged, or mount /proc/sys for writing"};
}

Finding try_priority() {
  if (run_first(1)) {
    run_in_turn();
    return {"real-time priority", State::kFine, "SCHED_FIFO is granted", ""};
  }
  return {"real-time priority", State::kLost,
          "SCHED_FIFO is refused; links are late by milliseconds when the machine is busy",
          "run the lab as root of the machine, or raise RLIMIT_RTPRIO (`ulimit -r 50`, "
          "/etc/security/limits.conf)"};
}

Finding try_awake() {
  if (keep_awake().is_open())
    return {"processors stay awake", State::kFine, "/dev/cpu_dma_latency is granted", ""};
  return {"processors stay awake", State::kLost,
          "/dev/cpu_dma_latency cannot be written; a virtual machine's processors sleep between "
          "packets, and may wake late by milliseconds",
          "run the lab as root of the machine"};
}

// Those that must be tried within a lab's own namespaces, one line each.
int report_from_within(int pipe) {
  for (const Finding& finding :
       {try_tun(), try_wires(), try_multicast(), try_settings(), try_priority(), try_awake()}) {
    const std::string line = fmt::format("{}\t{}\t{}\t{}\n", finding.what, int(finding.state),
                                         finding.found, finding.remedy);
    if (::write(pipe, line.data(), line.size()) != ssize_t(line.size())) return 1;
  }
  return 0;
}

Findings parsed(const std::string& text) {
  Findings findings;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::array<std::string, 4> fields;
    std::size_t field = 0;
    for (; at < end; ++at)
      if (text[at] == '\t')
        field = std::min(field + 1, fields.size() - 1);
      else
        fields[field] += text[at];
    ++at;
    const int state = fields[1] == "0" ? 0 : fields[1] == "1" ? 1 : 2;
    findings.push_back({fields[0], State(state), fields[2], fields[3]});
  }
  return findings;
}

Findings from_within(const Confinement& confinement) {
  std::array<int, 2> ends{};
  const std::string what = confinement.rootless ? "namespaces (rootless)" : "namespaces (as root)";
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {{what, State::kMissing, why(), ""}};
  Descriptor reading(ends[0]), writing(ends[1]);
  const auto code = confined(confinement, [&] { return report_from_within(writing.get()); });
  writing.close();
  if (!code) {
    const std::string& message = code.error().message;
    const std::size_t semicolon = message.find("; ");
    return {{what, State::kMissing, message.substr(0, semicolon),
             semicolon == std::string::npos ? "" : message.substr(semicolon + 2)}};
  }
  Findings findings{
      {what, State::kFine,
       confinement.rootless ? "of users, processes and network" : "of processes and network", ""}};
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t got = 0; (got = ::read(reading.get(), buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), std::size_t(got));
  const Findings inner = parsed(text);
  findings.insert(findings.end(), inner.begin(), inner.end());
  return findings;
}

Finding count_cores() {
  const long cores = ::sysconf(_SC_NPROCESSORS_ONLN);
  const std::string found = fmt::format("{} online", cores);
  if (cores >= 2) return {"processor cores", State::kFine, found, ""};
  return {"processor cores", State::kLost, found,
          "two or more: one for the links, one for islands and edges"};
}

Finding try_clock() {
  wake_on_time();
  std::vector<Duration> late;
  const timespec nap = timespec_of(Duration{200'000'000});
  for (int i = 0; i < 200; ++i) {
    const Instant begin = steady_now();
    (void)::nanosleep(&nap, nullptr);
    late.push_back(steady_now() - begin - Duration{200'000'000});
  }
  std::sort(late.begin(), late.end());
  const Duration middle = late[late.size() / 2];
  const std::string source =
      first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  const std::string found = fmt::format(
      "{}; timers are {:.3f} ms late at the median, {:.3f} at p99 (no priority)",
      source.empty() ? "unknown source" : source, middle.ms(), late[late.size() * 99 / 100].ms());
  if (middle < kLate) return {"clock", State::kFine, found, ""};
  return {"clock", State::kLost, found,
          "a kernel with high-resolution timers (CONFIG_HIGH_RES_TIMERS), a less busy machine"};
}

Finding measure_memory() {
  std::istringstream file(read_if_there("/proc/meminfo"));
  std::string name, unit;
  std::int64_t kilobytes = 0;
  while (file >> name >> kilobytes >> unit && name != "MemAvailable:") {
  }
  const std::int64_t megabytes = kilobytes / 1000;
  const std::string found = fmt::format("{} MB available", megabytes);
  if (megabytes >= kMemoryMb) return {"memory", State::kFine, found, ""};
  return {"memory", State::kLost, found,
          fmt::format("{} MB for nine cities at a scale of 1000", kMemoryMb)};
}

Finding measure_files() {
  rlimit limit{};
  (void)::getrlimit(RLIMIT_NOFILE, &limit);
  const std::string found = fmt::format("{} at most", limit.rlim_max);
  if (limit.rlim_max >= kFiles) return {"open files", State::kFine, found, ""};
  return {"open files", State::kLost, found, "raise `ulimit -Hn`"};
}

// Privileged sockets need not care.
Finding measure_buffers(const Confinement& confinement) {
  std::istringstream file(read_if_there("/proc/sys/net/core/rmem_max"));
  std::int64_t most = 0;
  file >> most;
  const std::string found = fmt::format("net.core.rmem_max is {}", most);
  if (!confinement.rootless || most >= 4'000'000)
    return {"socket buffers", State::kFine, found, ""};
  return {"socket buffers", State::kLost, found + "; bursts may be lost at listeners",
          "as root, `sysctl net.core.rmem_max=16777216 net.core.wmem_max=4194304`"};
}

const char* state_word(State state) {
  switch (state) {
    case State::kFine:
      return "fine";
    case State::kLost:
      return "lost";
    case State::kMissing:
      return "missing";
  }
  return "";
}

}  // namespace

std::vector<Finding> examine(const Confinement& confinement) {
  Findings findings = from_within(confinement);
  findings.push_back(count_cores());
  findings.push_back(try_clock());
  findings.push_back(measure_memory());
  findings.push_back(measure_files());
  findings.push_back(measure_buffers(confinement));
  return findings;
}

bool can_run(const std::vector<Finding>& findings) {
  return std::none_of(findings.begin(), findings.end(),
                      [](const Finding& finding) { return finding.state == State::kMissing; });
}

std::string findings_text(const std::vector<Finding>& findings) {
  Table table({{""}, {""}, {""}});
  for (const Finding& finding : findings)
    table.add({finding.what, state_word(finding.state), finding.found});
  std::string text = table.text();
  text = text.substr(text.find('\n') + 1);  // there are no titles
  for (const Finding& finding : findings)
    if (finding.state != State::kFine && !finding.remedy.empty())
      text += fmt::format("{}: {}\n", finding.what, finding.remedy);
  const bool lost = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.state == State::kLost;
  });
  text += !can_run(findings) ? "No lab can run here until what is missing is there.\n"
          : lost             ? "A lab can run here; what is lost makes it less exact.\n"
                             : "A lab can run here, and lacks nothing.\n";
  return text;
}

Json findings_json(const std::vector<Finding>& findings) {
  Json json;
  json["can_run"] = can_run(findings);
  json["findings"] = Json::array();
  for (const Finding& finding : findings)
    json["findings"].push_back({{"what", finding.what},
                                {"state", state_word(finding.state)},
                                {"found", finding.found},
                                {"remedy", finding.remedy}});
  return json;
}

}  // namespace cotillion
